package parser

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// What mysqldump writes and sends, and what frameworks send, must be read.
func TestDumpStatements(t *testing.T) {
	f, err := os.Open("testdata/dump.sql")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, p, n := NewSplitter(f), New(), 0
	for ; ; n++ {
		st, err := s.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.ParseSimple(st.Text); err != nil && !errors.Is(err, ast.ErrEmpty) {
			t.Errorf("line %d: %v\n%s", st.Line, err, st.Text)
		}
	}
	if n < 70 {
		t.Fatalf("only %d statements", n)
	}
}

func TestAsOfValues(t *testing.T) {
	ctx := sql.NewContext(context.Background())
	for _, c := range []struct {
		in   sql.Expression
		want any // nil: an error
	}{
		{expression.NewBindVar("v1"), UnboundAsOf},
		{expression.NewLiteral(int64(12), types.Int64), "epoch:12"},
		{expression.NewLiteral("epoch:3", types.LongText), "epoch:3"},
		{expression.NewLiteral([]byte("x"), types.LongBlob), "x"},
		{expression.NewLiteral(types.ZeroTime, types.Datetime), types.ZeroTime},
		{expression.NewLiteral(nil, types.Null), nil},
	} {
		got, err := asOfValue{}.WithResolvedChildren(ctx, []any{c.in})
		if c.want == nil {
			if err == nil {
				t.Errorf("%v: no error", c.in)
			}
			continue
		}
		if err != nil || got.(*expression.Literal).Value() != c.want {
			t.Errorf("%v: %v, %v", c.in, got, err)
		}
	}
}
