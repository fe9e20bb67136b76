package catalog

import (
	"bytes"
	"slices"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// TestRangesLossless: through the types of BoundTypes the engine's own range
// builder keeps constants precise; through the columns' types it loses rows.
func TestRangesLossless(t *testing.T) {
	ctx := codecContext(t, "+00:00")
	dec := types.MustCreateColumnDecimalType(5, 2)
	date := func(s string) any { return timeOf(micros(t, s)) }
	for _, c := range []struct {
		typ     sql.Type
		lo, hi  any // lo < column < hi
		in, out []any
	}{
		{types.Date, date("2019-12-31 18:00:00"), date("2020-01-01 12:00:00"), []any{date("2020-01-01 00:00:00")}, []any{date("2019-12-31 00:00:00"), date("2020-01-02 00:00:00")}},
		{types.Datetime, "2020-01-01 00:00:00.6", "2020-01-01 00:00:01.4", []any{date("2020-01-01 00:00:01")}, []any{date("2020-01-01 00:00:00"), date("2020-01-01 00:00:02")}},
		{timestampType(0), "1960-01-01", "2050-01-01", []any{date("2020-01-01 00:00:01")}, nil},
		{dec, "1.009", "1.011", []any{randomDecimalOf("1.01")}, []any{randomDecimalOf("1.00"), randomDecimalOf("1.02")}},
		{dec, -1e30, 1e30, []any{randomDecimalOf("-999.99"), randomDecimalOf("999.99")}, nil},
	} {
		table := codecTable(t, []codecType{{typ: c.typ}, {typ: types.Int64}}, 1)
		index, err := newIndexCodec(table, []int{0}, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		b := sql.NewMySQLIndexBuilder(ctx, boundIndex{typ: index.BoundTypes()[0]})
		coll := b.GreaterThan(ctx, "t.c", types.LongText, c.lo).LessThan(ctx, "t.c", types.LongText, c.hi).Ranges(ctx)
		if coll, err = sql.RemoveOverlappingRanges(coll...); err != nil {
			t.Fatalf("%s: %v", c.typ, err)
		}
		got, precise, err := index.Ranges(ctx, coll)
		if err != nil || len(got) != 1 {
			t.Fatalf("%s: %s: %v, %v", c.typ, coll.DebugString(ctx), got, err)
		}
		if !precise {
			t.Errorf("%s: not precise", c.typ)
		}
		for i, v := range append(slices.Clone(c.in), c.out...) {
			key, _, err := index.Key(ctx, sql.Row{v, int64(1)}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if in := containsKey(got, key); in != (i < len(c.in)) {
				t.Errorf("%s: %v is inside: %v (%s)", c.typ, v, in, coll.DebugString(ctx))
			}
		}
	}
}

// TestRangesOutside: constants that the column's type has no value for are
// neither errors nor rounded.
func TestRangesOutside(t *testing.T) {
	ctx := codecContext(t, "+00:00")
	type op func(*sql.MySQLIndexBuilder, any) *sql.MySQLIndexBuilder
	build := func(f func(*sql.MySQLIndexBuilder, *sql.Context, string, sql.Type, any) *sql.MySQLIndexBuilder) op {
		return func(b *sql.MySQLIndexBuilder, v any) *sql.MySQLIndexBuilder { return f(b, ctx, "t.c", types.Int64, v) }
	}
	eq := op(func(b *sql.MySQLIndexBuilder, v any) *sql.MySQLIndexBuilder {
		return b.Equals(ctx, "t.c", types.LongText, v)
	})
	gt, lt := build((*sql.MySQLIndexBuilder).GreaterThan), build((*sql.MySQLIndexBuilder).LessThan)
	ge, ne := build((*sql.MySQLIndexBuilder).GreaterOrEqual), build((*sql.MySQLIndexBuilder).NotEquals)
	bit, year := types.MustCreateBitType(8), types.Year
	set := types.MustCreateSetType([]string{"x", "y"}, sql.Collation_utf8mb4_0900_ai_ci)
	for _, c := range []struct {
		name    string
		typ     sql.Type
		op      op
		v       any
		in, out []any
	}{
		{"= 300", bit, eq, int64(300), nil, []any{uint64(255)}},
		{"< 300", bit, lt, int64(300), []any{uint64(255), uint64(0)}, []any{nil}},
		{"> -1", bit, gt, int64(-1), []any{uint64(255), uint64(0)}, []any{nil}},
		{"< 5.5", bit, lt, randomDecimalOf("5.5"), []any{uint64(5)}, []any{uint64(6)}},
		{"= b'101'", bit, eq, []byte{5}, []any{uint64(5)}, []any{uint64(6)}},
		{"= nine bytes", bit, eq, make([]byte, 9), nil, []any{uint64(0)}},
		{"> 3000", year, gt, int64(3000), nil, []any{int16(2155)}},
		{"< 3000", year, lt, int64(3000), []any{int16(2155), int16(1901)}, []any{nil}},
		{"= '99'", year, eq, "99", []any{int16(1999)}, []any{int16(2000)}},
		{"= no member", testEnum, eq, "nosuch", nil, []any{uint16(1), uint16(2)}},
		{"<> no member", testEnum, ne, "nosuch", []any{uint16(1), uint16(2)}, []any{nil}},
		{"= 3 of 2", testEnum, eq, int64(3), nil, []any{uint16(2)}},
		{">= 0", testEnum, ge, int64(0), []any{uint16(0), uint16(2)}, []any{nil}},
		{"= member", testEnum, eq, "A", []any{uint16(2)}, []any{uint16(1)}},
		{"= no subset", set, eq, "x,q", nil, []any{uint64(1)}},
		{"= subset", set, eq, "y,X", []any{uint64(3)}, []any{uint64(1)}},
	} {
		index, err := newIndexCodec(codecTable(t, []codecType{{typ: c.typ}, {typ: types.Int64}}, 1), []int{0}, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		b := c.op(sql.NewMySQLIndexBuilder(ctx, boundIndex{typ: index.BoundTypes()[0]}), c.v)
		if _, err := b.Build(ctx); err != nil {
			t.Errorf("%s %s: %v", c.typ, c.name, err)
			continue
		}
		got, _, err := index.Ranges(ctx, b.Ranges(ctx))
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range append(slices.Clone(c.in), c.out...) {
			key, _, err := index.Key(ctx, sql.Row{v, int64(1)}, []byte{1})
			if err != nil {
				t.Fatal(err)
			}
			if in := containsKey(got, key); in != (i < len(c.in)) {
				t.Errorf("%s %s: %v is inside: %v (%v)", c.typ, c.name, v, in, got)
			}
		}
	}
}

func containsKey(ranges []keyRange, key []byte) bool {
	return slices.ContainsFunc(ranges, func(r keyRange) bool {
		return bytes.Compare(key, r.Lower) >= 0 && (r.Upper == nil || bytes.Compare(key, r.Upper) < 0)
	})
}

// TestBoundTypes: in everything but constants they are the columns' types.
func TestBoundTypes(t *testing.T) {
	for _, c := range keyTypes() {
		typ, b := c.typ, codecTable(t, []codecType{c}, 0).BoundTypes()[0]
		if !b.Equals(typ) || !b.Equals(b) || b.Equals(types.JSON) || b.Type() != typ.Type() || b.String() != typ.String() || b.ValueType() != typ.ValueType() {
			t.Errorf("%s: its bound type is another type", typ)
		}
		r, ctx := codecRand(t), codecContext(t, "+00:00")
		for range 50 {
			v, w := c.value(t, ctx, r), c.value(t, ctx, r)
			want, err := typ.Compare(ctx, v, w)
			if err != nil {
				t.Fatal(err)
			}
			v2, inRange, err := b.Convert(ctx, v)
			if err != nil || inRange != sql.InRange {
				t.Fatalf("%s: convert %v: %v, %v", typ, v, inRange, err)
			}
			if got, err := b.Compare(ctx, v2, w); err != nil || got != want {
				t.Fatalf("%s: %v and %v compare %d, %v; want %d", typ, v, w, got, err, want)
			}
		}
	}
}

// boundIndex is an index over one column for the engine's range builder.
type boundIndex struct {
	sql.Index
	typ sql.Type
}

func (x boundIndex) Expressions() []string { return []string{"t.c"} }
func (x boundIndex) ID() string            { return "i" }
func (x boundIndex) ColumnExpressionTypes(*sql.Context) []sql.ColumnExpressionType {
	return []sql.ColumnExpressionType{{Expression: "t.c", Type: x.typ}}
}
