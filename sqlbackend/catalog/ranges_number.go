package catalog

import (
	"math"
	"math/big"

	"github.com/shopspring/decimal"
)

// number is a SQL number of any Go type as the widest of its class.
type number struct {
	class numberClass
	i     int64
	u     uint64 // only for values above the int64s
	f     float64
	d     decimal.Decimal
	text  bool // it was written as text: comparisons may see more than the number
}

type numberClass uint8

const (
	notNumber numberClass = iota
	intNumber
	uintNumber
	floatNumber
	decimalNumber
)

func numberOf(v any) number {
	switch v := v.(type) {
	case int64:
		return number{class: intNumber, i: v}
	case int32:
		return number{class: intNumber, i: int64(v)}
	case int16:
		return number{class: intNumber, i: int64(v)}
	case int8:
		return number{class: intNumber, i: int64(v)}
	case int:
		return number{class: intNumber, i: int64(v)}
	case uint8:
		return number{class: intNumber, i: int64(v)}
	case uint16:
		return number{class: intNumber, i: int64(v)}
	case uint32:
		return number{class: intNumber, i: int64(v)}
	case uint:
		return unsignedNumber(uint64(v))
	case uint64:
		return unsignedNumber(v)
	case bool:
		if v {
			return number{class: intNumber, i: 1}
		}
		return number{class: intNumber}
	case float64:
		return number{class: floatNumber, f: v}
	case float32:
		return number{class: floatNumber, f: float64(v)}
	case decimal.Decimal:
		return decimalNumberOf(v)
	case string:
		d, err := decimal.NewFromString(v)
		if err != nil {
			return number{}
		}
		n := decimalNumberOf(d)
		n.text = true
		return n
	case []byte:
		return numberOf(string(v))
	}
	return number{}
}

func unsignedNumber(u uint64) number {
	if u > math.MaxInt64 {
		return number{class: uintNumber, u: u}
	}
	return number{class: intNumber, i: int64(u)}
}

// decimalNumberOf refuses exponents that would take long to compute with; no
// SQL literal has them.
func decimalNumberOf(d decimal.Decimal) number {
	if e := d.Exponent(); e > 400 || e < -400 {
		return number{}
	}
	return number{class: decimalNumber, d: d}
}

// floor returns the greatest integer that is not above n, and whether it is n.
// ok is false if n is no number, or a double beyond 2^53, where the engine
// compares in double precision and several integers are equal to it.
func (n number) floor() (i *big.Int, same, ok bool) {
	switch n.class {
	case intNumber:
		return big.NewInt(n.i), true, true
	case uintNumber:
		return new(big.Int).SetUint64(n.u), true, true
	case floatNumber:
		if !(math.Abs(n.f) <= 1<<53) {
			return nil, false, false
		}
		f := math.Floor(n.f)
		return big.NewInt(int64(f)), f == n.f, true
	case decimalNumber:
		f := n.d.Floor()
		return f.BigInt(), f.Equal(n.d), true
	}
	return nil, false, false
}

// beyond places doubles that are greater in magnitude than any 64-bit integer.
func (n number) beyond() (position, bool) {
	if n.class == floatNumber && n.f >= 1<<65 {
		return aboveAll, true
	}
	if n.class == floatNumber && n.f <= -(1<<65) {
		return belowAll, true
	}
	return unknown, false
}
