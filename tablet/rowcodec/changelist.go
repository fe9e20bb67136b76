package rowcodec

import (
	"encoding/binary"
	"fmt"
)

// ChangeList holds the new values of the changed columns of one row, in
// ascending column order; empty = nothing changed. Per column:
//
//	uvarint (column - previous column - 1)·2 + (1 if NULL)      the first column counts from -1
//	Int64    uvarint, zigzag
//	Uint64   uvarint
//	Float32  4 bytes little endian
//	Float64  8 bytes little endian
//	Bytes    uvarint length, content
type ChangeList []byte

// Diff returns the change list that turns old into new, both validated rows of
// s. Values are compared bit for bit (Equal), so a change from -0 to +0 or of a
// string's spelling is a change.
func Diff(s *Schema, old, new Row) ChangeList { return AppendDiff(nil, s, old, new) }

// AppendDiff appends what Diff returns to dst.
func AppendDiff(dst []byte, s *Schema, old, new Row) ChangeList {
	prev := -1
	for i := range s.Columns {
		v := new.Datum(s, i)
		if !Equal(old.Datum(s, i), v) {
			dst = appendChange(dst, prev, i, v)
			prev = i
		}
	}
	return dst
}

// AppendChange appends one column to a change list of s whose last column is
// prev (-1 for an empty list); col must be greater than prev.
func AppendChange(dst ChangeList, prev, col int, v Datum) ChangeList {
	if col <= prev {
		panic(fmt.Sprintf("BUG: change of column %d after column %d", col, prev))
	}
	return appendChange(dst, prev, col, v)
}

func appendChange(dst []byte, prev, col int, v Datum) []byte {
	tag := uint64(col-prev-1) << 1
	if v.IsNull() {
		return binary.AppendUvarint(dst, tag|1)
	}
	dst = binary.AppendUvarint(dst, tag)
	switch v.kind {
	case KindInt64:
		return binary.AppendUvarint(dst, v.bits<<1^uint64(int64(v.bits)>>63))
	case KindUint64:
		return binary.AppendUvarint(dst, v.bits)
	case KindFloat32:
		return binary.LittleEndian.AppendUint32(dst, uint32(v.bits))
	case KindFloat64:
		return binary.LittleEndian.AppendUint64(dst, v.bits)
	default:
		dst = binary.AppendUvarint(dst, v.bits)
		return append(dst, v.Bytes()...)
	}
}

// Changes reads a change list column by column; bytes need not be valid:
//
//	for c := cl.Changes(s); c.Next(); { use(c.Column(), c.Value()) }
//	if err := c.Err() …
type Changes struct {
	s   *Schema
	d   decoder
	col int
	val Datum
}

// Changes returns a reader positioned before the first changed column.
func (cl ChangeList) Changes(s *Schema) Changes {
	return Changes{s: s, d: decoder{b: cl}, col: -1}
}

// Next moves to the next changed column; false at the end or at an error.
func (c *Changes) Next() bool {
	if c.d.err != nil || len(c.d.b) == 0 {
		return false
	}
	tag := c.d.uvarint(MaxColumns << 1)
	if c.d.err != nil {
		return false
	}
	c.col += int(tag>>1) + 1
	if c.col >= len(c.s.Columns) {
		c.d.fail("change list: column %d of %d", c.col, len(c.s.Columns))
		return false
	}
	col := &c.s.Columns[c.col]
	if tag&1 != 0 {
		if !col.Nullable {
			c.d.fail("change list: NULL in column %d", c.col)
		}
		c.val = Null()
		return c.d.err == nil
	}
	c.val = c.value(col.Kind)
	return c.d.err == nil
}

func (c *Changes) value(k Kind) Datum {
	switch k {
	case KindInt64:
		u := c.d.uvarint(1<<64 - 1)
		return Int(int64(u>>1) ^ -int64(u&1))
	case KindUint64:
		return Uint(c.d.uvarint(1<<64 - 1))
	case KindFloat32:
		return FromBits(KindFloat32, uint64(c.d.uint32()))
	case KindFloat64:
		return FromBits(KindFloat64, c.d.uint64())
	default:
		return Bytes(c.d.take(int(c.d.uvarint(MaxRowSize))))
	}
}

// Column returns the current column's position in the schema.
func (c *Changes) Column() int { return c.col }

// Value returns the current column's new value. Bytes alias the change list.
func (c *Changes) Value() Datum { return c.val }

// Err returns why Next stopped early; it wraps ErrMalformed.
func (c *Changes) Err() error { return c.d.err }

// ValidateChangeList checks every byte of a change list against s. It never panics; errors wrap ErrMalformed.
func ValidateChangeList(s *Schema, cl ChangeList) error {
	c := cl.Changes(s)
	for c.Next() {
	}
	return c.Err()
}

// Apply appends to dst the row that results from old, a validated row of s,
// when the columns in cl take their new values. The change list may be any
// bytes; dst must not overlap old or cl. Errors: ErrMalformed, or a row above MaxRowSize.
func Apply(dst []byte, s *Schema, old Row, cl ChangeList) (Row, error) {
	var buf [32]Datum
	vals := old.Datums(s, buf[:0])
	c := cl.Changes(s)
	for c.Next() {
		vals[c.Column()] = c.Value()
	}
	if err := c.Err(); err != nil {
		return dst, err
	}
	return AppendProjected(dst, s, vals)
}

// AppendMerge appends to dst the change list whose effect is that of older
// followed by newer. Both may be any bytes; errors wrap ErrMalformed.
func AppendMerge(dst []byte, s *Schema, older, newer ChangeList) (ChangeList, error) {
	a, b := older.Changes(s), newer.Changes(s)
	okA, okB := a.Next(), b.Next()
	prev := -1
	for okA || okB {
		var col int
		if takeB := okB && (!okA || b.Column() <= a.Column()); takeB {
			col = b.Column()
			dst = appendChange(dst, prev, col, b.Value())
			if okA && a.Column() == col {
				okA = a.Next()
			}
			okB = b.Next()
		} else {
			col = a.Column()
			dst = appendChange(dst, prev, col, a.Value())
			okA = a.Next()
		}
		prev = col
	}
	if err := a.Err(); err != nil {
		return dst, err
	}
	return dst, b.Err()
}
