package rowcodec

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"strconv"
	"unsafe"
)

// Kind is the physical type of a column. SQL types are mapped to kinds far
// above this package. The numbers are persistent: do not reorder, only append.
type Kind uint8

const (
	// KindNull is the kind of the NULL datum; it is not legal in a column.
	KindNull Kind = 0
	// KindInt64 is a signed 64-bit integer.
	KindInt64 Kind = 1
	// KindUint64 is an unsigned 64-bit integer.
	KindUint64 Kind = 2
	// KindFloat32 is an IEEE 754 single.
	KindFloat32 Kind = 3
	// KindFloat64 is an IEEE 754 double.
	KindFloat64 Kind = 4
	// KindBytes is a byte string of any length and content.
	KindBytes Kind = 5
)

// Valid reports whether k may be the kind of a column.
func (k Kind) Valid() bool { return k >= KindInt64 && k <= KindBytes }

// String returns the name of the kind.
func (k Kind) String() string {
	switch k {
	case KindNull:
		return "null"
	case KindInt64:
		return "int64"
	case KindUint64:
		return "uint64"
	case KindFloat32:
		return "float32"
	case KindFloat64:
		return "float64"
	case KindBytes:
		return "bytes"
	}
	return "kind(" + strconv.Itoa(int(k)) + ")"
}

// Datum is one value of any kind, or NULL (the zero value). It is 24 bytes,
// passed by value and never allocates: fixed kinds live in bits, bytes are a
// pointer with bits as the length, so a Datum aliases the slice it was made
// of. Two datums are compared with Compare or Equal, not with ==.
type Datum struct {
	_    [0]func() // forbids ==, which would compare pointers
	ptr  *byte
	bits uint64
	kind Kind
}

// Null returns the NULL datum.
func Null() Datum { return Datum{} }

// Int returns a KindInt64 datum.
func Int(v int64) Datum { return Datum{kind: KindInt64, bits: uint64(v)} }

// Uint returns a KindUint64 datum.
func Uint(v uint64) Datum { return Datum{kind: KindUint64, bits: v} }

// F32 returns a KindFloat32 datum.
func F32(v float32) Datum { return Datum{kind: KindFloat32, bits: uint64(math.Float32bits(v))} }

// F64 returns a KindFloat64 datum.
func F64(v float64) Datum { return Datum{kind: KindFloat64, bits: math.Float64bits(v)} }

// Bytes returns a KindBytes datum that aliases b; nil is the empty string, not NULL.
func Bytes(b []byte) Datum {
	return Datum{kind: KindBytes, ptr: unsafe.SliceData(b), bits: uint64(len(b))}
}

// String returns a KindBytes datum that aliases the bytes of s, which must not be written to.
func String(s string) Datum {
	return Datum{kind: KindBytes, ptr: unsafe.StringData(s), bits: uint64(len(s))}
}

// FromBits returns the datum of a fixed-width kind whose bit pattern is bits
// (two's complement, IEEE 754; a Float32 in the low 32 bits). It is the inverse of Bits.
func FromBits(k Kind, bits uint64) Datum { return Datum{kind: k, bits: bits} }

// Kind returns the kind, KindNull for NULL.
func (d Datum) Kind() Kind { return d.kind }

// IsNull reports whether the datum is NULL.
func (d Datum) IsNull() bool { return d.kind == KindNull }

// Int returns the value of a KindInt64 datum. On another kind it is meaningless.
func (d Datum) Int() int64 { return int64(d.bits) }

// Uint returns the value of a KindUint64 datum. On another kind it is meaningless.
func (d Datum) Uint() uint64 { return d.bits }

// Bits returns the bit pattern of a fixed-width datum (see FromBits), the length of a KindBytes datum, 0 for NULL.
func (d Datum) Bits() uint64 { return d.bits }

// F32 returns the value of a KindFloat32 datum. On another kind it is meaningless.
func (d Datum) F32() float32 { return math.Float32frombits(uint32(d.bits)) }

// F64 returns the value of a KindFloat64 datum, or that of a KindFloat32 datum widened.
func (d Datum) F64() float64 {
	if d.kind == KindFloat32 {
		return float64(d.F32())
	}
	return math.Float64frombits(d.bits)
}

// Bytes returns the bytes of a KindBytes datum without copying, nil for other kinds.
func (d Datum) Bytes() []byte {
	if d.kind != KindBytes {
		return nil
	}
	if d.bits == 0 {
		return []byte{}
	}
	return unsafe.Slice(d.ptr, int(d.bits))
}

// String formats the datum for messages and tests.
func (d Datum) String() string {
	switch d.kind {
	case KindNull:
		return "NULL"
	case KindInt64:
		return strconv.FormatInt(d.Int(), 10)
	case KindUint64:
		return strconv.FormatUint(d.bits, 10)
	case KindFloat32:
		return strconv.FormatFloat(d.F64(), 'g', -1, 32)
	case KindFloat64:
		return strconv.FormatFloat(d.F64(), 'g', -1, 64)
	case KindBytes:
		return strconv.Quote(string(d.Bytes()))
	}
	return fmt.Sprintf("%v(%#x)", d.kind, d.bits)
}

// Compare orders two datums of one kind: -1, 0 or +1. NULL is first and equal
// to NULL; floats follow cmp.Compare (NaN below -Inf and equal to itself, -0
// equal to +0); bytes compare lexicographically. It is the order of AppendKey.
// Datums of different kinds are ordered by kind number, so the order is total.
func Compare(a, b Datum) int {
	if a.kind != b.kind {
		return cmp.Compare(a.kind, b.kind)
	}
	switch a.kind {
	case KindInt64:
		return cmp.Compare(a.Int(), b.Int())
	case KindUint64:
		return cmp.Compare(a.bits, b.bits)
	case KindFloat32:
		return cmp.Compare(a.F32(), b.F32())
	case KindFloat64:
		return cmp.Compare(a.F64(), b.F64())
	case KindBytes:
		return bytes.Compare(a.Bytes(), b.Bytes())
	}
	return 0
}

// Equal reports whether two datums are the same value bit for bit: unlike
// Compare it tells -0 from +0. It is the equality of change lists.
func Equal(a, b Datum) bool {
	if a.kind != b.kind || a.bits != b.bits {
		return false
	}
	return a.kind != KindBytes || bytes.Equal(a.Bytes(), b.Bytes())
}
