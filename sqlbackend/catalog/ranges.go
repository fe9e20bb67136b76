package catalog

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"

	"ksql/tablet/rowcodec"
)

// keyRange is a range of keys, Lower ≤ key < Upper; nil is open.
type keyRange struct {
	Lower, Upper []byte
	// FullKey says that the range is one whole unique key, Lower.
	FullKey bool
}

// String returns the range for messages and tests, in hex.
func (r keyRange) String() string {
	upper := "∞"
	if r.Upper != nil {
		upper = fmt.Sprintf("%x", r.Upper)
	}
	if r.FullKey {
		upper += " full"
	}
	return fmt.Sprintf("[%x, %s)", r.Lower, upper)
}

// ranges translates ranges over the key's columns into ascending, disjoint key
// ranges that hold at least their rows. precise says that they hold no other
// rows, so that no filter is needed; it is false as soon as anything was
// widened. No ranges mean no rows.
func (k *keyShape) ranges(e *rowEnv, coll sql.MySQLRangeCollection) (out []keyRange, precise bool, err error) {
	precise = true
	out = make([]keyRange, 0, len(coll))
	for _, r := range coll {
		kr, exact, some, err := k.rangeOf(e, r)
		if err != nil {
			return nil, false, err
		}
		if some {
			out = append(out, kr)
			precise = precise && exact
		}
	}
	return mergeRanges(out), precise, nil
}

// mergeRanges sorts ranges and joins those that overlap, which widened ones may.
func mergeRanges(in []keyRange) []keyRange {
	if len(in) < 2 {
		return in
	}
	slices.SortFunc(in, func(a, b keyRange) int { return bytes.Compare(a.Lower, b.Lower) })
	out := in[:1]
	for _, r := range in[1:] {
		last := &out[len(out)-1]
		if last.Upper != nil && bytes.Compare(r.Lower, last.Upper) >= 0 {
			out = append(out, r)
			continue
		}
		if bytes.Equal(last.Lower, r.Lower) && last.FullKey && r.FullKey {
			continue
		}
		last.FullKey = false
		if last.Upper != nil && (r.Upper == nil || bytes.Compare(r.Upper, last.Upper) > 0) {
			last.Upper = r.Upper
		}
	}
	return out
}

// rangeOf translates one range: columns that are pinned to one value make the
// common prefix, the first other column gives the limits, and the rest can
// only be filtered. some is false if no row can match.
func (k *keyShape) rangeOf(e *rowEnv, r sql.MySQLRange) (out keyRange, exact, some bool, err error) {
	exact = true
	if len(r) > len(k.columns) {
		// Columns of an extended index: they restrict nothing, or not here.
		for _, c := range r[len(k.columns):] {
			exact = exact && c.Type() == sql.RangeType_All
		}
		r = r[:len(k.columns)]
	}
	full := k.unique && len(r) == len(k.columns)
	var prefix []byte
	limits := columnRange{lower: edge{kind: noEdge}, upper: edge{kind: noEdge}}
	limitColumn, done := 0, false
	for i := range r {
		cr, err := k.columnRange(e, i, r[i])
		if err != nil {
			return out, false, false, err
		}
		switch {
		case cr.empty:
			return out, true, false, nil
		case done:
			// A column behind the limits restricts nothing, or not exactly.
			exact = exact && cr.all()
		case cr.point(k, i):
			prefix = k.appendColumn(e, prefix, i, cr.lower.d)
			full = full && !cr.lower.d.IsNull()
			exact = exact && cr.exact
		default:
			limits, limitColumn, done, full = cr, i, true, false
			exact = exact && cr.exact
		}
	}
	out.FullKey = full
	var ok bool
	if out.Lower, ok = k.lowerKey(e, prefix, limitColumn, limits.lower); !ok {
		return out, true, false, nil
	}
	out.Upper = k.upperKey(e, prefix, limitColumn, limits.upper)
	if out.Upper != nil && bytes.Compare(out.Lower, out.Upper) >= 0 {
		return out, true, false, nil
	}
	return out, exact, true, nil
}

// lowerKey returns the smallest key behind the lower edge of column i; ok is
// false if no key is.
func (k *keyShape) lowerKey(e *rowEnv, prefix []byte, i int, edge edge) (key []byte, ok bool) {
	if edge.kind == noEdge {
		return prefix, true
	}
	key = k.appendColumn(e, slices.Clone(prefix), i, edge.d)
	if edge.inclusive {
		return key, true
	}
	key = rowcodec.PrefixSuccessor(key)
	return key, key != nil
}

// upperKey returns the smallest key behind everything up to the upper edge of
// column i, nil if there is none.
func (k *keyShape) upperKey(e *rowEnv, prefix []byte, i int, edge edge) []byte {
	if edge.kind == noEdge {
		return rowcodec.PrefixSuccessor(prefix)
	}
	key := k.appendColumn(e, slices.Clone(prefix), i, edge.d)
	if edge.inclusive {
		return rowcodec.PrefixSuccessor(key)
	}
	return key
}

// edge is one end of a column's range: none, or a value (NULL for "above
// NULL" and "up to NULL").
type edge struct {
	kind      edgeKind
	inclusive bool
	d         rowcodec.Datum
}

type edgeKind uint8

const (
	noEdge edgeKind = iota
	valueEdge
)

// columnRange is the range of one column in stored values.
type columnRange struct {
	lower, upper edge
	empty        bool
	exact        bool // all and only the values of the range
}

// all reports whether the range is every value and NULL.
func (cr *columnRange) all() bool {
	return cr.lower.kind == noEdge && cr.upper.kind == noEdge && cr.exact
}

// point reports whether the range is one key value of column i.
func (cr *columnRange) point(k *keyShape, i int) bool {
	l, u := cr.lower, cr.upper
	if l.kind != valueEdge || u.kind != valueEdge || !l.inclusive || !u.inclusive || l.d.IsNull() != u.d.IsNull() {
		return false
	}
	if l.d.IsNull() || rowcodec.Compare(l.d, u.d) == 0 {
		return true
	}
	if n := int(k.prefixes[i]); n > 0 && k.columns[i].collator == nil {
		return bytes.Equal(cutBytes(l.d.Bytes(), n), cutBytes(u.d.Bytes(), n))
	}
	return false
}

func cutBytes(b []byte, n int) []byte { return b[:min(n, len(b))] }

// columnRange translates the range of key column i.
func (k *keyShape) columnRange(e *rowEnv, i int, r sql.MySQLRangeColumnExpr) (columnRange, error) {
	c := k.columns[i]
	out := columnRange{exact: true}
	exclusive := !c.loose || lossless(r.Typ)
	if err := k.setLower(e, i, r.LowerBound, exclusive, &out); err != nil || out.empty {
		return out, err
	}
	if err := k.setUpper(e, i, r.UpperBound, exclusive, &out); err != nil || out.empty {
		return out, err
	}
	// "IS NULL" has no lower edge but is a point.
	if out.upper.kind == valueEdge && out.upper.d.IsNull() {
		if out.lower.kind == valueEdge {
			out.empty = true // above NULL and up to NULL
		}
		out.lower = edge{kind: valueEdge, inclusive: true, d: rowcodec.Null()}
	}
	return out, nil
}

// setLower fills in the lower edge. exclusive is false if > may have been ≥.
func (k *keyShape) setLower(e *rowEnv, i int, cut sql.MySQLRangeCut, exclusive bool, out *columnRange) error {
	var key any
	inclusive := false
	switch cut := cut.(type) {
	case nil, sql.BelowNull:
		return nil
	case sql.AboveNull:
		out.lower = k.aboveNull(i)
		return nil
	case sql.AboveAll:
		out.empty = true
		return nil
	case sql.Below:
		key, inclusive = cut.Key, true
	case sql.Above:
		key = cut.Key
	default:
		return fmt.Errorf("BUG: unknown range cut %T", cut)
	}
	b, none, err := k.place(e, i, key, exclusive)
	if err != nil || none {
		out.empty = none
		return err
	}
	out.exact = out.exact && b.exact
	switch b.pos {
	case belowAll, unknown:
		out.lower = k.aboveNull(i)
	case aboveAll:
		out.empty = true
	case after:
		out.lower = edge{kind: valueEdge, d: b.low, inclusive: !b.exact}
	default:
		out.lower = edge{kind: valueEdge, d: b.low, inclusive: inclusive || !b.exact}
	}
	return nil
}

// setUpper fills in the upper edge. exclusive is false if < may have been ≤.
func (k *keyShape) setUpper(e *rowEnv, i int, cut sql.MySQLRangeCut, exclusive bool, out *columnRange) error {
	var key any
	inclusive := false
	switch cut := cut.(type) {
	case nil, sql.AboveAll:
		return nil
	case sql.BelowNull:
		out.empty = true
		return nil
	case sql.AboveNull:
		out.empty = !k.columns[i].nullable
		out.upper = edge{kind: valueEdge, inclusive: true, d: rowcodec.Null()}
		return nil
	case sql.Below:
		key = cut.Key
	case sql.Above:
		key, inclusive = cut.Key, true
	default:
		return fmt.Errorf("BUG: unknown range cut %T", cut)
	}
	b, none, err := k.place(e, i, key, exclusive)
	if err != nil || none {
		out.empty = none
		return err
	}
	out.exact = out.exact && b.exact
	switch b.pos {
	case aboveAll, unknown:
	case belowAll:
		// Nothing but NULL is below; a NULL is in the range only if its lower end is open.
		if out.lower.kind == valueEdge || !k.columns[i].nullable {
			out.empty = true
		} else {
			out.upper = edge{kind: valueEdge, inclusive: true, d: rowcodec.Null()}
		}
	case after:
		out.upper = edge{kind: valueEdge, d: b.high, inclusive: true}
	default:
		out.upper = edge{kind: valueEdge, d: b.high, inclusive: inclusive || !b.exact}
	}
	return nil
}

// aboveNull is the lower edge of "IS NOT NULL".
func (k *keyShape) aboveNull(i int) edge {
	if !k.columns[i].nullable {
		return edge{kind: noEdge}
	}
	return edge{kind: valueEdge, d: rowcodec.Null()}
}

// place places a limit of column i; none says that nothing can match, which is
// so for NULL.
func (k *keyShape) place(e *rowEnv, i int, key any, exclusive bool) (b bound, none bool, err error) {
	if key, err = sql.UnwrapAny(e.context(), key); err != nil {
		return b, false, fmt.Errorf("read limit of an index range: %w", err)
	}
	if key == nil {
		return b, true, nil
	}
	c := k.columns[i]
	b = c.place(e, key)
	b.exact = b.exact && exclusive && k.prefixes[i] == 0
	return b, false, nil
}
