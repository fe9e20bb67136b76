package catalog

import (
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/shopspring/decimal"
)

// benchTable is a row as applications have them: key, reference, name, text,
// amount, state, time.
func benchTable(b *testing.B) (*tableCodec, *indexCodec, sql.Row, *sql.Context) {
	ai := sql.Collation_utf8mb4_0900_ai_ci
	table := codecTable(b, []codecType{
		{typ: types.Int64}, {typ: types.Int32}, {typ: types.MustCreateString(sqltypes.VarChar, 50, ai)},
		{typ: types.CreateText(ai)}, {typ: types.MustCreateColumnDecimalType(10, 2)},
		{typ: types.MustCreateEnumType([]string{"new", "paid"}, ai)}, {typ: types.Datetime}, {typ: types.Float64},
	}, 0)
	index, err := newIndexCodec(table, []int{2, 6}, nil, false)
	if err != nil {
		b.Fatal(err)
	}
	return table, index, sql.Row{
		int64(123456), int32(42), "Bertram Müller", "a text of forty characters or something", decimal.New(123456, -2),
		uint16(2), time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC), 1.25,
	}, codecContext(b, "+00:00")
}

func BenchmarkEncodeRow(b *testing.B) {
	table, _, row, ctx := benchTable(b)
	buf := make([]byte, 0, 512)
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if _, err = table.EncodeRow(ctx, buf, row); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeRow(b *testing.B) {
	table, _, row, ctx := benchTable(b)
	packed := mustEncode(b, table, ctx, row)
	for _, c := range []struct {
		name string
		proj []int
	}{{"8", nil}, {"1", []int{1}}} {
		b.Run("columns="+c.name, func(b *testing.B) {
			d := table.newDecoder(ctx, c.proj)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := d.Decode(packed); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDecodeColumn is the cost of each type: one column of a row.
func BenchmarkDecodeColumn(b *testing.B) {
	ctx := codecContext(b, "Europe/Berlin")
	for _, c := range []struct {
		name string
		typ  sql.Type
		v    any
	}{
		{"int", types.Int64, int64(123456)}, {"decimal10", types.MustCreateColumnDecimalType(10, 2), decimal.New(123456, -2)},
		{"decimal30", types.MustCreateColumnDecimalType(30, 2), decimal.New(123456, -2)},
		{"varchar", types.LongText, "Bertram Müller"}, {"datetime", types.Datetime, time.Now().UTC().Round(time.Second)},
		{"timestamp", types.Timestamp, time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)},
		{"json", types.JSON, types.MustJSON(`{"a": 1, "b": ["x", "y"], "c": {"d": null}}`)},
	} {
		b.Run("type="+c.name, func(b *testing.B) {
			table := codecTable(b, []codecType{{typ: c.typ}})
			packed := mustEncode(b, table, ctx, sql.Row{c.v})
			d := table.newDecoder(ctx, nil)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := d.Decode(packed); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPrimaryKey(b *testing.B) {
	table, _, row, ctx := benchTable(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := table.PrimaryKey(ctx, row); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkIndexKey(b *testing.B) {
	table, index, row, ctx := benchTable(b)
	pk, err := table.PrimaryKey(ctx, row)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := index.Key(ctx, row, pk); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRanges(b *testing.B) {
	table, index, _, ctx := benchTable(b)
	point := sql.MySQLRangeCollection{{sql.ClosedRangeColumnExpr(int64(5), int64(5), types.Int64)}}
	text := sql.MySQLRangeCollection{{
		sql.ClosedRangeColumnExpr("Müller", "Müller", types.LongText),
		sql.GreaterThanRangeColumnExpr(time.Date(2024, 5, 6, 0, 0, 0, 0, time.UTC), types.Datetime),
	}}
	for _, c := range []struct {
		name string
		f    func() ([]keyRange, bool, error)
	}{
		{"primary", func() ([]keyRange, bool, error) { return table.Ranges(ctx, point) }},
		{"index", func() ([]keyRange, bool, error) { return index.Ranges(ctx, text) }},
	} {
		b.Run("key="+c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := c.f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
