package rowcodec

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
)

// Key encoding, one column after the other:
//
//	nullable column  u8 0 = NULL (nothing follows) | 1
//	Int64            8 bytes big endian, sign bit flipped
//	Uint64           8 bytes big endian
//	Float32/64       4/8 bytes big endian: sign bit flipped if positive, all bits if negative; -0 as +0, any NaN as one NaN below -Inf
//	Bytes            content with 00 written as 00 FF, then 00 01
const (
	keyNull    = 0
	keyNotNull = 1

	escapeByte = 0x00 // starts an escape pair inside bytes
	escapedNul = 0xFF // 00 FF: a 00 byte of the content
	terminator = 0x01 // 00 01: end; below escapedNul, so that a prefix sorts first

	// canonical NaNs; their key form (all bits flipped) lies below that of -Inf.
	keyNaN64 = 0xFFF8000000000000
	keyNaN32 = 0xFFC00000
)

// AppendKey appends the order-preserving encoding of vals to dst: for two
// lists of values, bytes.Compare of the keys equals Compare of the values,
// column by column. len(vals) must be len(cols). A value of the wrong kind, or
// NULL in a column that is not nullable, is a bug of the caller and panics.
func AppendKey(dst []byte, cols []KeyColumn, vals []Datum) []byte {
	if len(vals) != len(cols) {
		panic(fmt.Sprintf("BUG: %d values for %d key columns", len(vals), len(cols)))
	}
	for i := range cols {
		dst = appendKeyColumn(dst, &cols[i], vals[i], i)
	}
	return dst
}

func appendKeyColumn(dst []byte, c *KeyColumn, v Datum, i int) []byte {
	if c.Nullable {
		if v.IsNull() {
			return append(dst, keyNull)
		}
		dst = append(dst, keyNotNull)
	}
	if v.kind != c.Kind {
		panic(fmt.Sprintf("BUG: %v value in %v key column %d", v.kind, c.Kind, i))
	}
	switch c.Kind {
	case KindInt64:
		return binary.BigEndian.AppendUint64(dst, v.bits^(1<<63))
	case KindUint64:
		return binary.BigEndian.AppendUint64(dst, v.bits)
	case KindFloat32:
		return binary.BigEndian.AppendUint32(dst, keyFloat32(v.F32()))
	case KindFloat64:
		return binary.BigEndian.AppendUint64(dst, keyFloat64(v.F64()))
	default:
		return appendKeyBytes(dst, v.Bytes())
	}
}

func keyFloat64(f float64) uint64 {
	b := math.Float64bits(f)
	switch {
	case f == 0:
		b = 0
	case f != f:
		b = keyNaN64
	}
	if b>>63 != 0 {
		return ^b
	}
	return b | 1<<63
}

func keyFloat32(f float32) uint32 {
	b := math.Float32bits(f)
	switch {
	case f == 0:
		b = 0
	case f != f:
		b = keyNaN32
	}
	if b>>31 != 0 {
		return ^b
	}
	return b | 1<<31
}

func appendKeyBytes(dst, b []byte) []byte {
	for {
		i := bytes.IndexByte(b, escapeByte)
		if i < 0 {
			break
		}
		dst = append(append(dst, b[:i]...), escapeByte, escapedNul)
		b = b[i+1:]
	}
	return append(append(dst, b...), escapeByte, terminator)
}

// DecodeKey decodes the columns cols from the front of key, appends them to
// dst and returns what follows them. Byte values alias key unless they hold a
// 00 byte. Bytes that AppendKey can't have written are an error wrapping ErrMalformed.
func DecodeKey(key []byte, cols []KeyColumn, dst []Datum) ([]Datum, []byte, error) {
	d := decoder{b: key}
	for i := range cols {
		dst = append(dst, decodeKeyColumn(&d, &cols[i]))
		if d.err != nil {
			return dst, nil, fmt.Errorf("key column %d: %w", i, d.err)
		}
	}
	return dst, d.b, nil
}

func decodeKeyColumn(d *decoder, c *KeyColumn) Datum {
	if c.Nullable && !d.bool() {
		return Null()
	}
	switch c.Kind {
	case KindInt64:
		return Int(int64(d.bigUint64() ^ (1 << 63)))
	case KindUint64:
		return Uint(d.bigUint64())
	case KindFloat32:
		u := d.bigUint32()
		b := u &^ (1 << 31)
		if u>>31 == 0 {
			b = ^u
		}
		f := math.Float32frombits(b)
		if d.err == nil && keyFloat32(f) != u {
			d.fail("float %#x is not canonical", u)
		}
		return F32(f)
	case KindFloat64:
		u := d.bigUint64()
		b := u &^ (1 << 63)
		if u>>63 == 0 {
			b = ^u
		}
		f := math.Float64frombits(b)
		if d.err == nil && keyFloat64(f) != u {
			d.fail("float %#x is not canonical", u)
		}
		return F64(f)
	case KindBytes:
		return decodeKeyBytes(d)
	}
	d.fail("unknown %v", c.Kind)
	return Null()
}

// decodeKeyBytes reads escaped bytes up to and including the terminator.
func decodeKeyBytes(d *decoder) Datum {
	n, escapes := scanKeyBytes(d.b)
	if n < 0 {
		d.fail("bytes without a terminator")
		return Null()
	}
	enc := d.take(n)
	enc = enc[: n-2 : n-2]
	if escapes == 0 {
		return Bytes(enc)
	}
	out := make([]byte, 0, len(enc)-escapes)
	for {
		i := bytes.IndexByte(enc, escapeByte)
		if i < 0 {
			return Bytes(append(out, enc...))
		}
		out = append(out, enc[:i+1]...)
		enc = enc[i+2:]
	}
}

// scanKeyBytes returns the encoded length of the bytes at the front of b, terminator included, and how many escape pairs they hold; -1 if malformed.
func scanKeyBytes(b []byte) (n, escapes int) {
	for {
		i := bytes.IndexByte(b[n:], escapeByte)
		if i < 0 || n+i+1 >= len(b) {
			return -1, 0
		}
		n += i + 2
		switch b[n-1] {
		case terminator:
			return n, escapes
		case escapedNul:
			escapes++
		default:
			return -1, 0
		}
	}
}

// KeyPrefixLen returns the length in bytes of the first n encoded columns of key.
func KeyPrefixLen(key []byte, cols []KeyColumn, n int) (int, error) {
	if n < 0 || n > len(cols) {
		return 0, fmt.Errorf("key prefix of %d columns of %d: %w", n, len(cols), ErrMalformed)
	}
	pos := 0
	for i := range cols[:n] {
		size, ok := keyColumnLen(key[pos:], &cols[i])
		if !ok {
			return 0, fmt.Errorf("key column %d: %w", i, ErrMalformed)
		}
		pos += size
	}
	return pos, nil
}

func keyColumnLen(b []byte, c *KeyColumn) (int, bool) {
	mark := 0
	if c.Nullable {
		if len(b) == 0 || b[0] > keyNotNull {
			return 0, false
		}
		if b[0] == keyNull {
			return 1, true
		}
		mark = 1
	}
	size := 8
	switch c.Kind {
	case KindFloat32:
		size = 4
	case KindBytes:
		if size, _ = scanKeyBytes(b[mark:]); size < 0 {
			return 0, false
		}
	}
	return mark + size, mark+size <= len(b)
}

// PrefixSuccessor returns the smallest key that is greater than every key with
// that prefix, nil if there is none (the prefix is empty or all FF): nil is +inf as an upper bound.
func PrefixSuccessor(key []byte) []byte {
	n := len(key)
	for n > 0 && key[n-1] == 0xFF {
		n--
	}
	if n == 0 {
		return nil
	}
	out := append(make([]byte, 0, n), key[:n]...)
	out[n-1]++
	return out
}

func (d *decoder) bigUint64() uint64 {
	if b := d.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

func (d *decoder) bigUint32() uint32 {
	if b := d.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}
