package catalog

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

func timeOf(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

func randomDecimalOf(s string) decimal.Decimal { return decimal.RequireFromString(s) }

// newRangesCaseNative is newRangesCase for values that are as the codec decodes them.
func newRangesCaseNative(t *testing.T, ctx *sql.Context, r *rand.Rand, cols []codecType, kind int) *rangesCase {
	c := &rangesCase{cols: cols, prefixes: make([]uint16, len(cols))}
	all := append(append([]codecType{}, cols...), codecType{typ: types.Int64})
	ordinals := []int{0, 1}
	if kind == 0 {
		c.table = codecTable(t, all, ordinals...)
	} else {
		c.table = codecTable(t, all, 2)
		index, err := newIndexCodec(c.table, ordinals, nil, kind == 1)
		if err != nil {
			t.Fatal(err)
		}
		c.index = index
	}
	for n := range 80 {
		row := sql.Row{cols[0].gen(r), cols[1].gen(r), int64(n)}
		pk, err := c.table.PrimaryKey(ctx, row)
		if err == nil && c.index != nil {
			pk, _, err = c.index.Key(ctx, row, pk)
		}
		if err != nil {
			t.Fatal(err)
		}
		c.rows, c.keys = append(c.rows, row), append(c.keys, pk)
	}
	return c
}

// randomNative draws ranges whose limits on the first column come from the rows or from limits.
func (c *rangesCase) randomNative(r *rand.Rand, limits codecType) sql.MySQLRangeCollection {
	var coll sql.MySQLRangeCollection
	for range 1 + r.IntN(2) {
		one := make(sql.MySQLRange, 1+r.IntN(2))
		for i := range one {
			one[i] = randomColumnRange(r, c.rangeType(r, i), func() any {
				if i == 0 && r.IntN(2) == 0 {
					return limits.gen(r)
				}
				return c.rows[r.IntN(len(c.rows))][i]
			})
		}
		coll = append(coll, one)
	}
	return coll
}

// foreignBound is one range with a limit of a Go type that is not the
// column's: in are values of the column that match, out others; precise says
// that the codec may call the range precise.
type foreignBound struct {
	name    string
	typ     sql.Type
	r       sql.MySQLRangeColumnExpr
	in, out []any
	precise bool
}

func foreignBounds() []foreignBound {
	gt, ge := sql.GreaterThanRangeColumnExpr, sql.GreaterOrEqualRangeColumnExpr
	lt, le := sql.LessThanRangeColumnExpr, sql.LessOrEqualRangeColumnExpr
	eq := func(v any, typ sql.Type) sql.MySQLRangeColumnExpr { return sql.ClosedRangeColumnExpr(v, v, typ) }
	i8 := func(vs ...int8) (out []any) {
		for _, v := range vs {
			out = append(out, v)
		}
		return out
	}
	u64 := func(vs ...uint64) (out []any) {
		for _, v := range vs {
			out = append(out, v)
		}
		return out
	}
	d := randomDecimalOf
	dec := types.MustCreateColumnDecimalType(5, 2)
	wide := types.MustCreateColumnDecimalType(30, 2)
	t8, tu, t64 := types.Int8, types.Uint64, types.Int64
	year := types.Year
	return []foreignBound{
		{"> 5.5", t8, gt(5.5, t8), i8(6, 127), i8(5, -128), true},
		{">= 5.5", t8, ge(5.5, t8), i8(6, 127), i8(5, -128), true},
		{"<= 5.5", t8, le(5.5, t8), i8(5, -128), i8(6, 127), true},
		{"< 5.5", t8, lt(d("5.5"), t8), i8(5, -128), i8(6, 127), true},
		{"< -5.5", t8, lt(d("-5.5"), t8), i8(-6, -128), i8(-5), true},
		{"= 5.5", t8, eq(d("5.5"), t8), nil, i8(5, 6), true},
		{"= 5.0", t8, eq(5.0, t8), i8(5), i8(4, 6), true},
		{"> 300", t8, gt(int64(300), t8), nil, i8(127), true},
		{"< 300", t8, lt(uint16(300), t8), i8(127, -128), append(i8(), nil), true},
		{"> -300", t8, gt(int32(-300), t8), i8(127, -128), append(i8(), nil), true},
		{"< 2^64", t64, lt(d("18446744073709551616"), t64), []any{int64(math.MaxInt64)}, []any{nil}, true},
		{"> 2^64", t64, gt(d("18446744073709551616"), t64), nil, []any{int64(math.MaxInt64)}, true},
		{"> uint 2^63", t64, gt(uint64(1<<63), t64), nil, []any{int64(math.MaxInt64), nil}, true},
		{"< 1e300", t64, lt(1e300, t64), []any{int64(math.MaxInt64), int64(0)}, []any{nil}, true},
		{"= 2^53+1 as double", t64, eq(float64(1<<53+2), t64), []any{int64(1<<53 + 1), int64(1<<53 + 2)}, nil, false},
		{"> NaN", t64, gt(math.NaN(), t64), []any{int64(0)}, nil, false},
		{">= '5.5'", t8, ge("5.5", t8), i8(5, 6), i8(4), false},
		{"= '5'", t8, eq("5", t8), i8(5), i8(6), false},
		{"= '5abc'", t8, eq("5abc", t8), i8(5, 6), []any{nil}, false},
		{"= true", t8, eq(true, t8), i8(1), i8(0, 2), true},
		{"> -1", tu, gt(int64(-1), tu), u64(0, math.MaxUint64), []any{nil}, true},
		{"<= -1", tu, le(int64(-1), tu), nil, append(u64(0), nil), true},
		{"> max", tu, gt(uint64(math.MaxUint64), tu), nil, u64(math.MaxUint64), true},
		{">= 2^64-0.5", tu, ge(d("18446744073709551614.5"), tu), u64(math.MaxUint64), u64(math.MaxUint64 - 1), true},
		{"= 1.5", dec, eq(1.5, dec), []any{d("1.50")}, []any{d("1.49"), d("1.51")}, false},
		{"> 1.005", dec, gt(d("1.005"), dec), []any{d("1.01")}, []any{d("0.99")}, false},
		{"> 1.01 after rounding", dec, gt(d("1.01"), dec), []any{d("1.01"), d("1.02")}, []any{d("1.00")}, false},
		{"< 1.01 after rounding", dec, lt(d("1.01"), dec), []any{d("1.00"), d("1.01")}, []any{d("1.02")}, false},
		{">= int", wide, ge(int64(-3), wide), []any{d("-3.00"), d("5.00")}, []any{d("-3.01"), nil}, false},
		{"< 1e80", wide, lt(decimal.New(1, 80), wide), []any{d("9.99")}, []any{nil}, false},
		{"> 1e80", wide, gt(decimal.New(1, 80), wide), nil, []any{d("9.99"), nil}, true},
		{"> -1e80", wide, gt(decimal.New(-1, 80), wide), []any{d("9.99")}, []any{nil}, false},
		{"= 1.1 as DECIMAL", types.Float32, eq(d("1.1"), types.Float32), []any{float32(1.1)}, []any{float32(1.2), float32(1.0)}, false},
		{"> 1.1 as double", types.Float32, gt(1.1, types.Float32), []any{float32(1.1), float32(2)}, []any{float32(1)}, false},
		{"< 1e39", types.Float32, lt(1e39, types.Float32), []any{float32(math.MaxFloat32)}, []any{nil}, false},
		{"> 1e39", types.Float32, gt(1e39, types.Float32), nil, []any{float32(math.MaxFloat32), nil}, true},
		{">= 1 as int", types.Float64, ge(int8(1), types.Float64), []any{1.0, 1.5}, []any{0.5}, true},
		{"> -Inf", types.Float64, gt(math.Inf(-1), types.Float64), []any{-math.MaxFloat64}, []any{nil}, false},
		{">= -0", types.Float64, ge(math.Copysign(0, -1), types.Float64), []any{0.0, math.Copysign(0, -1)}, []any{-1e-300}, true},
		{"= '2020-01-01'", types.Datetime, eq("2020-01-01", types.Datetime), []any{timeOf(1577836800_000000)}, []any{timeOf(1577836801_000000)}, false},
		{"= 'x'", types.Datetime, eq("x", types.Datetime), []any{timeOf(1577836800_000000)}, []any{nil}, false},
		{"= '01:00:00'", types.Time, eq("01:00:00", types.Time), []any{types.Timespan(3600_000000)}, []any{types.Timespan(0)}, false},
		{"= number on text", types.LongText, eq(int64(1), types.LongText), []any{"1", "01", "1x", ""}, []any{nil}, false},
		{"= bytes on text", types.LongText, eq([]byte("a"), types.LongText), []any{"a", "A"}, []any{nil}, false},
		{"= text on blob", types.LongBlob, eq("a", types.LongBlob), []any{[]byte("a")}, []any{[]byte("A")}, true},
		{"> 90", year, gt(int64(90), year), []any{int16(1990), int16(1901)}, []any{nil}, false},
		{"= 'b'", testEnum, eq("b", testEnum), []any{uint16(1)}, []any{uint16(2)}, false},
		{"= 'nosuch'", testEnum, eq("nosuch", testEnum), []any{uint16(1), uint16(2)}, []any{nil}, false},
		{"> 'b' by index", testEnum, gt(uint16(1), testEnum), []any{uint16(2)}, []any{uint16(1), nil}, true},
		{"= '' of a set with ''", testSet, eq(uint64(0), testSet), []any{uint64(0), uint64(1)}, []any{nil}, false},
	}
}

var (
	testEnum = types.MustCreateEnumType([]string{"b", "a"}, sql.Collation_utf8mb4_0900_ai_ci)
	testSet  = types.MustCreateSetType([]string{"", "a"}, sql.Collation_utf8mb4_0900_ai_ci)
)
