package rowcodec

import (
	"encoding/binary"
	"fmt"
)

// Row is one packed row; it holds all columns, those of the key included.
//
//	0              NULL bitmap, (columns+7)/8 bytes: bit i%8 of byte i/8 is set if column i is NULL
//	b              one 8-byte slot a column, little endian:
//	                 Int64, Uint64, Float64  the bits
//	                 Float32                 the bits in the low 4 bytes, 0 above
//	                 Bytes                   u32 start, u32 end, relative to v
//	                 NULL                    0
//	v = b + 8·columns   the contents of the Bytes columns in column order, without gaps
//
// Slots are uniform so that a column's place needs nothing but its number: no
// table of offsets has to be built, cached or kept in step with a schema.
type Row []byte

const slotSize = 8

func bitmapLen(columns int) int { return (columns + 7) / 8 }

// fixedLen returns the length of bitmap and slots.
func fixedLen(columns int) int { return bitmapLen(columns) + slotSize*columns }

// AppendRow appends the packed row of vals to dst and returns the extended
// slice (with an empty dst that is the row). Errors: the number of values, a
// value of the wrong kind, NULL in a column that is not nullable, more than MaxRowSize bytes.
func AppendRow(dst []byte, s *Schema, vals []Datum) (Row, error) {
	if len(vals) != len(s.Columns) {
		return dst, fmt.Errorf("pack row: %d values for %d columns", len(vals), len(s.Columns))
	}
	for i := range vals {
		c := &s.Columns[i]
		if vals[i].kind != c.Kind && (!vals[i].IsNull() || !c.Nullable) {
			return dst, fmt.Errorf("pack row: %v value in %v column %d (nullable %v)", vals[i].kind, c.Kind, i, c.Nullable)
		}
	}
	return AppendProjected(dst, s, vals)
}

// AppendProjected is AppendRow for a projection: NULL is allowed in every
// column, standing for "not read". Kinds are not checked; a value of another
// kind than its column's is a bug of the caller.
func AppendProjected(dst []byte, s *Schema, vals []Datum) (Row, error) {
	n := len(s.Columns)
	size := uint64(fixedLen(n))
	for i := range vals {
		if vals[i].kind == KindBytes {
			size += vals[i].bits
		}
		if size > MaxRowSize {
			return dst, fmt.Errorf("pack row: more than %d bytes", MaxRowSize)
		}
	}
	base := len(dst)
	dst = grow(dst, int(size))
	row := dst[base:]
	clear(row[:bitmapLen(n)])
	slots := row[bitmapLen(n):fixedLen(n)]
	data := row[fixedLen(n):]
	pos := 0
	for i := range vals {
		slot := slots[i*slotSize : i*slotSize+slotSize]
		switch v := &vals[i]; v.kind {
		case KindNull:
			row[i/8] |= 1 << (i % 8)
			binary.LittleEndian.PutUint64(slot, 0)
		case KindBytes:
			end := pos + copy(data[pos:], v.Bytes())
			binary.LittleEndian.PutUint64(slot, uint64(pos)|uint64(end)<<32)
			pos = end
		default:
			binary.LittleEndian.PutUint64(slot, v.bits)
		}
	}
	return dst, nil
}

// grow extends b by n bytes of any content.
func grow(b []byte, n int) []byte {
	if total := len(b) + n; total <= cap(b) {
		return b[:total]
	}
	return append(b, make([]byte, n)...)
}

// IsNull reports whether column col of a validated row is NULL.
func (r Row) IsNull(col int) bool { return r[col/8]&(1<<(col%8)) != 0 }

// Datum returns column col of a validated row in O(1). Bytes alias the row.
func (r Row) Datum(s *Schema, col int) Datum {
	if r[col/8]&(1<<(col%8)) != 0 {
		return Datum{}
	}
	n := len(s.Columns)
	bits := binary.LittleEndian.Uint64(r[bitmapLen(n)+col*slotSize:])
	k := s.Columns[col].Kind
	if k == KindBytes {
		return Bytes(r[fixedLen(n):][uint32(bits) : bits>>32])
	}
	return Datum{kind: k, bits: bits}
}

// Datums appends all columns of a validated row to dst. Bytes alias the row.
func (r Row) Datums(s *Schema, dst []Datum) []Datum {
	for i := range s.Columns {
		dst = append(dst, r.Datum(s, i))
	}
	return dst
}

// ValidateRow checks that r is a row which AppendRow can have written for s;
// only such rows may be given to the accessors. It never panics; errors wrap ErrMalformed.
func ValidateRow(s *Schema, r Row) error {
	n := len(s.Columns)
	fixed := fixedLen(n)
	if len(r) < fixed || len(r) > MaxRowSize {
		return fmt.Errorf("row of %d bytes for %d columns: %w", len(r), n, ErrMalformed)
	}
	if n%8 != 0 && r[n/8]>>(n%8) != 0 {
		return fmt.Errorf("row: spare NULL bits are set: %w", ErrMalformed)
	}
	slots := r[bitmapLen(n):fixed]
	pos, limit := uint64(0), uint64(len(r)-fixed)
	for i := range s.Columns {
		c := &s.Columns[i]
		bits := binary.LittleEndian.Uint64(slots[i*slotSize:])
		switch {
		case r.IsNull(i):
			if bits != 0 || !c.Nullable {
				return fmt.Errorf("row: column %d is NULL (nullable %v) with slot %#x: %w", i, c.Nullable, bits, ErrMalformed)
			}
		case c.Kind == KindBytes:
			start, end := bits&0xFFFFFFFF, bits>>32
			if start != pos || end < start || end > limit {
				return fmt.Errorf("row: column %d is bytes %d to %d, want from %d, at most %d: %w", i, start, end, pos, limit, ErrMalformed)
			}
			pos = end
		case c.Kind == KindFloat32 && bits>>32 != 0:
			return fmt.Errorf("row: column %d is a float32 of %#x: %w", i, bits, ErrMalformed)
		}
	}
	if pos != limit {
		return fmt.Errorf("row: %d bytes belong to no column: %w", limit-pos, ErrMalformed)
	}
	return nil
}
