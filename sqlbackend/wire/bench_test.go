package wire

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
)

// benchTable makes table t of n rows.
func benchTable(b *testing.B, n int) *fixture {
	f := start(b)
	db := f.db("")
	f.exec(db, "create table t (a int, b bigint, s varchar(20))")
	for i := 0; i < n; i += 500 {
		var rows []string
		for j := i; j < i+500 && j < n; j++ {
			rows = append(rows, fmt.Sprintf("(%d,%d,'abcdefghij')", j, j%1000))
		}
		f.exec(db, "insert into t values "+strings.Join(rows, ","))
	}
	return f
}

// BenchmarkPing is the floor: a round trip without a statement.
func BenchmarkPing(b *testing.B) {
	db := start(b).db("")
	for b.Loop() {
		if err := db.Ping(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSelectLiteral(b *testing.B) {
	f := start(b)
	db := f.db("")
	b.Run("text", func(b *testing.B) {
		for b.Loop() {
			var n int
			if err := db.QueryRow("select 1").Scan(&n); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("prepared", func(b *testing.B) {
		st, err := db.Prepare("select ?")
		if err != nil {
			b.Fatal(err)
		}
		defer st.Close()
		for b.Loop() {
			var n int
			if err := st.QueryRow(1).Scan(&n); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("in process", func(b *testing.B) {
		s := f.r.Connect("", nil)
		defer s.Close()
		ctx := context.Background()
		if err := s.Login(ctx, ConnInfo{}); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			res, _, err := s.Query(ctx, "select 1", false)
			if err != nil {
				b.Fatal(err)
			}
			for err == nil {
				_, err = res.Next()
			}
		}
	})
}

func BenchmarkScan100k(b *testing.B) {
	const n = 100000
	f := benchTable(b, n)
	for _, q := range []struct {
		name, text string
		args       []any
	}{{"text", "select * from t", nil}, {"binary", "select * from t where a >= ?", []any{0}}} {
		b.Run(q.name, func(b *testing.B) {
			db := f.db("")
			for b.Loop() {
				rows, err := db.Query(q.text, q.args...)
				if err != nil {
					b.Fatal(err)
				}
				got := 0
				for rows.Next() {
					got++
				}
				if err := rows.Close(); err != nil || got != n {
					b.Fatal(got, err)
				}
			}
		})
	}
	b.Run("encode only", func(b *testing.B) {
		s := f.r.Connect("", nil)
		defer s.Close()
		ctx := context.Background()
		if err := s.Login(ctx, ConnInfo{Database: "d"}); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			res, _, err := s.Query(ctx, "select * from t", false)
			if err != nil {
				b.Fatal(err)
			}
			enc := newRowEncoder(res.Context(), res.Schema, sessionResults(res.Context(), 0))
			var out []byte
			for {
				row, err := res.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					b.Fatal(err)
				}
				if out, err = enc.appendText(out[:0], row); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
