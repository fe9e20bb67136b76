package catalog

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// cutHolds reports whether v is on the inner side of a cut, by the engine's own Compare.
func cutHolds(t *testing.T, ctx *sql.Context, typ sql.Type, cut sql.MySQLRangeCut, v any, lower bool) bool {
	sign := 0 // of v compared with the cut's key
	var key any
	switch cut := cut.(type) {
	case nil:
		return true
	case sql.BelowNull:
		return lower
	case sql.AboveNull:
		return (v != nil) == lower
	case sql.AboveAll:
		return !lower
	case sql.Below:
		key = cut.Key
	case sql.Above:
		key = cut.Key
	}
	if key == nil {
		return false
	}
	if v == nil {
		return !lower // NULL is below every value
	}
	sign, err := typ.Compare(ctx, v, key)
	if err != nil {
		t.Fatalf("%s: compare %v with %v: %v", typ, v, key, err)
	}
	_, above := cut.(sql.Above)
	switch {
	case lower && above:
		return sign > 0
	case lower:
		return sign >= 0
	case above:
		return sign <= 0
	}
	return sign < 0
}

func rangeHolds(t *testing.T, ctx *sql.Context, cols []codecType, r sql.MySQLRange, vals sql.Row) bool {
	for i := range r {
		if !cutHolds(t, ctx, cols[i].typ, r[i].LowerBound, vals[i], true) || !cutHolds(t, ctx, cols[i].typ, r[i].UpperBound, vals[i], false) {
			return false
		}
	}
	return true
}

// randomColumnRange draws one of the shapes that the engine builds.
func randomColumnRange(r *rand.Rand, typ sql.Type, value func() any) sql.MySQLRangeColumnExpr {
	a, b := value(), value()
	switch r.IntN(15) {
	case 0:
		return sql.AllRangeColumnExpr(typ)
	case 1:
		return sql.NullRangeColumnExpr(typ)
	case 2:
		return sql.NotNullRangeColumnExpr(typ)
	case 3:
		return sql.GreaterThanRangeColumnExpr(a, typ)
	case 4:
		return sql.GreaterOrEqualRangeColumnExpr(a, typ)
	case 5:
		return sql.LessThanRangeColumnExpr(a, typ)
	case 6:
		return sql.LessOrEqualRangeColumnExpr(a, typ)
	case 7:
		return sql.OpenRangeColumnExpr(a, b, typ)
	case 8:
		return sql.MySQLRangeColumnExpr{LowerBound: sql.Below{Key: a, Typ: typ}, UpperBound: sql.Below{Key: b, Typ: typ}, Typ: typ}
	case 9:
		return sql.ClosedRangeColumnExpr(a, b, typ)
	case 10:
		return sql.MySQLRangeColumnExpr{LowerBound: sql.BelowNull{}, UpperBound: sql.Below{Key: a, Typ: typ}, Typ: typ}
	case 12: // nothing is above NULL and up to NULL
		return sql.MySQLRangeColumnExpr{LowerBound: sql.AboveNull{}, UpperBound: sql.AboveNull{}, Typ: typ}
	case 11:
		if r.IntN(4) == 0 {
			return sql.EmptyRangeColumnExpr(typ)
		}
		return sql.MySQLRangeColumnExpr{} // as EqualityIndexBuilder leaves columns that it does not restrict
	}
	return sql.ClosedRangeColumnExpr(a, a, typ)
}

// rangesCase is one index over one small table.
type rangesCase struct {
	cols     []codecType
	prefixes []uint16
	table    *tableCodec
	index    *indexCodec // nil: the primary key
	rows     []sql.Row   // index columns first, then a number that makes the row
	keys     [][]byte
	pool     [][]any // values of each column, few so that they meet
}

func newRangesCase(t *testing.T, ctx *sql.Context, r *rand.Rand, cols []codecType, kind int) *rangesCase {
	c := &rangesCase{cols: cols, prefixes: make([]uint16, len(cols))}
	ordinals := make([]int, len(cols))
	for i, col := range cols {
		ordinals[i] = i
		var pool []any
		for range 6 {
			pool = append(pool, stored(col.typ, col.value(t, ctx, r)))
		}
		c.pool = append(c.pool, pool)
		if kind != 0 && sql.IsStringType(col.typ) && r.IntN(3) == 0 {
			c.prefixes[i] = uint16(1 + r.IntN(4))
		}
	}
	all := append(slices.Clone(cols), codecType{typ: types.Int64})
	if kind == 0 {
		c.table = codecTable(t, all, ordinals...)
	} else {
		c.table = codecTable(t, all, len(cols))
		index, err := newIndexCodec(c.table, ordinals, c.prefixes, kind == 1)
		if err != nil {
			t.Fatal(err)
		}
		c.index = index
	}
	for n := range 60 {
		row := make(sql.Row, len(all))
		for i := range cols {
			if kind == 0 || r.IntN(6) > 0 {
				row[i] = c.pool[i][r.IntN(len(c.pool[i]))]
			}
		}
		row[len(cols)] = int64(n)
		c.rows = append(c.rows, row)
		pk, err := c.table.PrimaryKey(ctx, row)
		if err == nil && c.index != nil {
			pk, _, err = c.index.Key(ctx, row, pk)
		}
		if err != nil {
			t.Fatal(err)
		}
		c.keys = append(c.keys, pk)
	}
	return c
}

func (c *rangesCase) ranges(ctx *sql.Context, coll sql.MySQLRangeCollection) ([]keyRange, bool, error) {
	if c.index == nil {
		return c.table.Ranges(ctx, coll)
	}
	return c.index.Ranges(ctx, coll)
}

// rangesStats counts what the random ranges did, to see that nothing was tested in vain.
type rangesStats struct{ precise, full, excluded, matched int }

// check compares key ranges with brute force over all rows.
func (c *rangesCase) check(t *testing.T, ctx *sql.Context, coll sql.MySQLRangeCollection, stats *rangesStats) {
	t.Helper()
	got, precise, err := c.ranges(ctx, coll)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range got {
		if r.Upper != nil && bytes.Compare(r.Lower, r.Upper) >= 0 || i > 0 && bytes.Compare(r.Lower, got[i-1].Upper) < 0 || i > 0 && got[i-1].Upper == nil {
			t.Fatalf("%s: ranges %v are not ascending and disjoint", coll.DebugString(ctx), got)
		}
		if r.FullKey {
			stats.full++
		}
	}
	if precise {
		stats.precise++
	}
	for n, row := range c.rows {
		want := slices.ContainsFunc(coll, func(r sql.MySQLRange) bool { return rangeHolds(t, ctx, c.cols, r, row) })
		in := slices.IndexFunc(got, func(r keyRange) bool {
			return bytes.Compare(c.keys[n], r.Lower) >= 0 && (r.Upper == nil || bytes.Compare(c.keys[n], r.Upper) < 0)
		})
		describe := func() string {
			return fmt.Sprintf("%s (prefixes %d) over %v: row %v with key %x, ranges %v, precise %v", coll.DebugString(ctx), c.prefixes, c.types(), row, c.keys[n], got, precise)
		}
		switch {
		case want && in < 0:
			t.Fatalf("lost a row: %s", describe())
		case !want && in >= 0 && precise:
			t.Fatalf("not precise: %s", describe())
		case in >= 0 && got[in].FullKey && (!bytes.Equal(c.keys[n], got[in].Lower) || c.index != nil && !c.index.unique):
			t.Fatalf("not one full key: %s", describe())
		case want:
			stats.matched++
		case in < 0:
			stats.excluded++
		}
	}
}

func (c *rangesCase) types() []string {
	var out []string
	for _, col := range c.cols {
		out = append(out, col.typ.String())
	}
	return out
}

// TestRanges: random range collections over 1 to 3 columns of every type find
// the rows that brute force finds, through primary, unique and plain indexes.
func TestRanges(t *testing.T) {
	r := codecRand(t)
	all := keyTypes()
	var stats rangesStats
	for n := range 3 * len(all) {
		ctx := codecContext(t, "+00:00")
		cols := []codecType{all[n%len(all)]}
		for range r.IntN(3) {
			cols = append(cols, all[r.IntN(len(all))])
		}
		r.Shuffle(len(cols), func(i, j int) { cols[i], cols[j] = cols[j], cols[i] })
		c := newRangesCase(t, ctx, r, cols, n/len(all))
		for range 40 {
			c.check(t, ctx, c.random(t, ctx, r), &stats)
		}
	}
	t.Logf("%+v", stats)
	if stats.precise < 1000 || stats.full < 200 || stats.excluded < 10000 || stats.matched < 10000 {
		t.Errorf("the test is blind: %+v", stats)
	}
}

// rangeType is the type that a range over column i names: the column's or, as our indexes say, its bound type.
func (c *rangesCase) rangeType(r *rand.Rand, i int) sql.Type {
	if r.IntN(3) == 0 {
		return c.cols[i].typ
	}
	return c.table.columns[i].boundType()
}

func (c *rangesCase) random(t *testing.T, ctx *sql.Context, r *rand.Rand) sql.MySQLRangeCollection {
	var coll sql.MySQLRangeCollection
	for range 1 + r.IntN(3) {
		one := make(sql.MySQLRange, 1+r.IntN(len(c.cols)))
		for i := range one {
			col := c.cols[i]
			one[i] = randomColumnRange(r, c.rangeType(r, i), func() any {
				if r.IntN(3) == 0 {
					return stored(col.typ, col.value(t, ctx, r))
				}
				return c.pool[i][r.IntN(len(c.pool[i]))]
			})
		}
		coll = append(coll, one)
	}
	return coll
}

// TestRangesTimestamp is TestRanges for TIMESTAMP in time zones with and
// without DST: the engine compares the session's wall clock, keys are in UTC.
func TestRangesTimestamp(t *testing.T) {
	r := codecRand(t)
	var fixed, dst rangesStats
	for _, name := range testZones {
		ctx, z := codecContext(t, name), zoneNamed(name)
		near := func(r *rand.Rand) any { // a wall clock within hours of a transition
			utc := 1_700_000_000*microsPerSecond + r.Int64N(3)*180*microsPerDay
			if p := z.periodAt(utc); !z.fixed && p.end < 2_000_000_000*microsPerSecond {
				utc = p.end + r.Int64N(12)*1800*microsPerSecond - 6*1800*microsPerSecond
			}
			row, err := codecTable(t, []codecType{{typ: timestampType(0)}}).DecodeRow(ctx, mustEncode(t, codecTable(t, []codecType{{typ: types.Datetime}}), ctx, sql.Row{timeOf(utc)}), nil)
			if err != nil {
				t.Fatal(err)
			}
			return row[0]
		}
		col := codecType{timestampType(0), near}
		skipped := codecType{timestampType(0), func(r *rand.Rand) any { // also those that are skipped
			return near(r).(time.Time).UTC().Add(time.Duration(r.IntN(9)-4) * 1800 * time.Second)
		}}
		for kind := range 3 {
			cols := []codecType{col, {types.Int8, func(r *rand.Rand) any { return int8(r.IntN(3)) }}}
			c := newRangesCaseNative(t, ctx, r, cols, kind)
			for range 60 {
				stats := &dst
				if z.fixed {
					stats = &fixed
				}
				c.check(t, ctx, c.randomNative(r, skipped), stats)
			}
		}
	}
	t.Logf("fixed %+v, DST %+v", fixed, dst)
	if fixed.full == 0 || dst.excluded < 5000 || dst.matched < 5000 {
		t.Errorf("the test is blind: %+v, %+v", fixed, dst)
	}
}

// TestRangesForeignBounds: limits of other Go types than the column's.
func TestRangesForeignBounds(t *testing.T) {
	for _, c := range foreignBounds() {
		ctx := codecContext(t, "+00:00")
		table := codecTable(t, []codecType{{typ: c.typ}, {typ: types.Int64}}, 1)
		index, err := newIndexCodec(table, []int{0}, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		got, precise, err := index.Ranges(ctx, sql.MySQLRangeCollection{{c.r}})
		if err != nil {
			t.Fatal(err)
		}
		if precise && !c.precise {
			t.Errorf("%s %s: precise", c.typ, c.name)
		}
		for _, v := range append(slices.Clone(c.in), c.out...) {
			key, _, err := index.Key(ctx, sql.Row{v, int64(1)}, []byte{1})
			if err != nil {
				t.Fatal(err)
			}
			in := containsKey(got, key)
			if want := slices.ContainsFunc(c.in, func(w any) bool { return sameValue(v, w) }); in != want {
				t.Errorf("%s %s: %v is inside: %v, want %v (%v)", c.typ, c.name, v, in, want, got)
			}
		}
	}
}
