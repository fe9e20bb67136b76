package cfile

import (
	"encoding/binary"

	"ksql/tablet/rowcodec"
)

// Iterator walks a range of ordinals in one direction. It holds the vectors of
// the rows at hand itself, so a step costs no cache look-up. It is used by one
// goroutine and needs no Close.
//
//	for it.Next() { use(it.Ordinal(), it.Key(), it.Row()) }
//	if err := it.Err(); err != nil …
type Iterator struct {
	r        *Reader
	lo, hi   int
	ordinal  int
	step     int
	proj     []int
	skipKeys bool
	err      error

	vec     int // of the vectors below; -1 at the start
	columns []*Vector
	hasLong bool // some projected vector has long values: Next reads them
	memos   []blobMemo
	vals    []rowcodec.Datum // one a column; NULL outside of proj
	row     rowcodec.Row
	packed  bool // row is that of ordinal
	keys    keyCursor
}

// NewIterator returns an iterator over the ordinals lo…hi-1, from the end if
// reverse. proj lists the columns that Row holds, nil = all; the others are
// NULL in it. The range is cut to the rows that exist.
func (r *Reader) NewIterator(lo, hi int, proj []int, reverse bool) *Iterator {
	if proj == nil {
		for i := range r.schema.Columns {
			proj = append(proj, i)
		}
	}
	it := &Iterator{r: r, lo: max(lo, 0), hi: min(hi, r.rows), step: 1, proj: proj, vec: -1}
	it.ordinal = it.lo - 1
	if reverse {
		it.step, it.ordinal = -1, it.hi
	}
	it.columns = make([]*Vector, len(proj))
	it.memos = make([]blobMemo, len(proj))
	it.vals = make([]rowcodec.Datum, len(r.schema.Columns))
	return it
}

// SkipKeys tells before the first Next that Key won't be called, which saves reading the keys.
func (it *Iterator) SkipKeys() { it.skipKeys = true }

// Next moves to the next row. It reads all that Key and Row need, so that these
// can't fail. After an error it stays false.
func (it *Iterator) Next() bool {
	it.packed = false
	next := it.ordinal + it.step
	if it.err != nil || next < it.lo || next >= it.hi {
		return false
	}
	it.ordinal = next
	if vec := next >> vectorShift; vec != it.vec {
		if it.err = it.load(vec); it.err != nil {
			return false
		}
	}
	if it.hasLong {
		it.pack()
	}
	return it.err == nil
}

func (it *Iterator) load(vec int) error {
	it.hasLong = false
	for i, col := range it.proj {
		v, err := it.r.Vector(col, vec)
		if err != nil {
			return err
		}
		it.columns[i] = v
		it.hasLong = it.hasLong || v.HasLong()
	}
	if !it.skipKeys {
		keys, err := it.r.keyVector(vec)
		if err != nil {
			return err
		}
		it.keys.reset(keys)
	}
	it.vec = vec
	return nil
}

// pack builds the row at hand.
func (it *Iterator) pack() {
	slot := it.ordinal & slotMask
	for i, v := range it.columns {
		d, err := v.datum(slot, &it.memos[i])
		if err != nil {
			it.err = err
			return
		}
		it.vals[it.proj[i]] = d
	}
	it.row, it.err = rowcodec.AppendProjected(it.row[:0], it.r.schema, it.vals)
	it.packed = true
}

// Ordinal returns the ordinal of the current row.
func (it *Iterator) Ordinal() int { return it.ordinal }

// Key returns the key of the current row, valid until Next; nil after SkipKeys.
func (it *Iterator) Key() []byte {
	if it.skipKeys {
		return nil
	}
	return it.keys.key(it.ordinal & slotMask)
}

// Row returns the current row with the projected columns, valid until Next.
func (it *Iterator) Row() rowcodec.Row {
	if !it.packed {
		it.pack()
	}
	return it.row
}

// Vectors returns the decoded vectors of the projected columns around the current row, in the order of the projection.
func (it *Iterator) Vectors() []*Vector { return it.columns }

// Err returns why Next stopped early.
func (it *Iterator) Err() error { return it.err }

// keyCursor unpacks keys group by group (from restart to restart), which serves both directions.
type keyCursor struct {
	v     *keyVector
	group int
	ends  [restartInterval]int
	arena []byte
	fixed [8]byte
}

func (c *keyCursor) reset(v *keyVector) { c.v, c.group = v, -1 }

func (c *keyCursor) key(slot int) []byte {
	if c.v.fixed != nil {
		binary.BigEndian.PutUint64(c.fixed[:], c.v.fixed[slot])
		return c.fixed[:]
	}
	if g := slot / restartInterval; g != c.group {
		c.unpack(g)
	}
	i := slot % restartInterval
	start := 0
	if i > 0 {
		start = c.ends[i-1]
	}
	return c.arena[start:c.ends[i]:c.ends[i]]
}

func (c *keyCursor) unpack(group int) {
	c.group, c.arena = group, c.arena[:0]
	pos, last := int(c.v.restarts[group]), 0
	for i := 0; i < restartInterval && group*restartInterval+i < c.v.rows; i++ {
		shared, rest, next := c.v.entry(pos)
		start := len(c.arena)
		c.arena = append(c.arena, c.arena[last:last+shared]...)
		c.arena = append(c.arena, rest...)
		c.ends[i] = len(c.arena)
		last, pos = start, next
	}
}
