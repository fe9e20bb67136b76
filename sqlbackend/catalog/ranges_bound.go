package catalog

import (
	"math"
	"math/big"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"

	"ksql/tablet/rowcodec"
)

// position says where a value lies relative to the values that a column can hold.
type position int8

const (
	at       position = iota // it is bound.low (= high), or between low and high if not exact
	after                    // between bound.low and the column's next value
	belowAll                 // below every value, above NULL
	aboveAll                 // above every value
	unknown                  // it can't be placed: the column must be searched whole
)

// bound is the place of one value of a comparison. Unless exact is set, the
// value may compare differently than its place says; then the limits of a
// range are taken as inclusive and its rows must be filtered.
type bound struct {
	low, high rowcodec.Datum
	pos       position
	exact     bool
}

func exactly(d rowcodec.Datum) bound { return bound{low: d, high: d, pos: at, exact: true} }

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

func placeSigned(_ *rowEnv, v any) bound {
	n := numberOf(v)
	if n.class == intNumber {
		return exactly(rowcodec.Int(n.i))
	}
	if p, ok := n.beyond(); ok {
		return bound{pos: p, exact: true}
	}
	i, same, ok := n.floor()
	switch {
	case !ok:
		return bound{pos: unknown}
	case !i.IsInt64() && i.Sign() > 0:
		return bound{pos: aboveAll, exact: !n.text}
	case !i.IsInt64():
		return bound{pos: belowAll, exact: !n.text}
	}
	return integerBound(rowcodec.Int(i.Int64()), same, !n.text)
}

func placeUnsigned(_ *rowEnv, v any) bound {
	n := numberOf(v)
	if n.class == intNumber && n.i >= 0 {
		return exactly(rowcodec.Uint(uint64(n.i)))
	}
	if p, ok := n.beyond(); ok {
		return bound{pos: p, exact: true}
	}
	i, same, ok := n.floor()
	switch {
	case !ok:
		return bound{pos: unknown}
	case i.Sign() < 0:
		return bound{pos: belowAll, exact: !n.text}
	case !i.IsUint64():
		return bound{pos: aboveAll, exact: !n.text}
	}
	return integerBound(rowcodec.Uint(i.Uint64()), same, !n.text)
}

func integerBound(d rowcodec.Datum, same, exact bool) bound {
	b := bound{low: d, high: d, pos: after, exact: exact}
	if same {
		b.pos = at
	}
	return b
}

// placeDecimal places v among DECIMALs of a scale; small tells their datum.
func placeDecimal(v any, scale int32, small bool) bound {
	n := numberOf(v)
	var d decimal.Decimal
	switch n.class {
	case intNumber:
		d = decimal.NewFromInt(n.i)
	case uintNumber:
		d = decimal.NewFromUint64(n.u)
	case decimalNumber:
		d = n.d
	case floatNumber:
		switch {
		case math.IsNaN(n.f):
			return bound{pos: unknown}
		case n.f >= 1e66:
			return bound{pos: aboveAll}
		case n.f <= -1e66:
			return bound{pos: belowAll}
		}
		// A double is compared by its shortest decimal form.
		d, n.text = decimal.NewFromFloat(n.f), true
	default:
		return bound{pos: unknown}
	}
	scaled := d.Shift(scale)
	f := scaled.Floor()
	i := f.BigInt()
	var datum rowcodec.Datum
	if small && i.IsInt64() {
		datum = rowcodec.Int(i.Int64())
	} else if b, err := appendBigInt(nil, i); !small && err == nil {
		datum = rowcodec.Bytes(b)
	} else if i.Sign() > 0 {
		return bound{pos: aboveAll, exact: !n.text}
	} else {
		return bound{pos: belowAll, exact: !n.text}
	}
	return integerBound(datum, f.Equal(scaled), !n.text)
}

func placeFloat64(_ *rowEnv, v any) bound {
	low, high, exact := doubleBracket(numberOf(v))
	switch {
	case math.IsNaN(low) || math.IsNaN(high):
		return bound{pos: unknown}
	case math.IsInf(low, 1):
		return bound{pos: aboveAll}
	case math.IsInf(high, -1):
		return bound{pos: belowAll}
	}
	return bound{low: rowcodec.F64(low), high: rowcodec.F64(high), pos: at, exact: exact}
}

func placeFloat32(_ *rowEnv, v any) bound {
	low, high, _ := doubleBracket(numberOf(v))
	switch {
	case math.IsNaN(low) || math.IsNaN(high):
		return bound{pos: unknown}
	case low > math.MaxFloat32:
		return bound{pos: aboveAll}
	case high < -math.MaxFloat32:
		return bound{pos: belowAll}
	}
	l, h := float32(low), float32(high)
	if float64(l) > low {
		l = math.Nextafter32(l, float32(math.Inf(-1)))
	}
	if float64(h) < high {
		h = math.Nextafter32(h, float32(math.Inf(1)))
	}
	return bound{low: rowcodec.F32(l), high: rowcodec.F32(h), pos: at}
}

// doubleBracket returns doubles around n; one that n equals, if exact. A
// DECIMAL is compared with the shortest decimal form of a float, which rounds
// to the float: its neighbours are taken along.
func doubleBracket(n number) (low, high float64, exact bool) {
	switch n.class {
	case intNumber:
		return float64(n.i), float64(n.i), true
	case uintNumber:
		return float64(n.u), float64(n.u), true
	case floatNumber:
		return n.f, n.f, true
	case decimalNumber:
		f, _ := n.d.Float64()
		// Two steps of single precision cover both widths.
		slack := math.Abs(f)/(1<<22) + math.SmallestNonzeroFloat32
		return f - slack, f + slack, false
	}
	return math.NaN(), math.NaN(), false
}

// placeMember places v among the members of an ENUM or SET.
func placeMember(e *rowEnv, t sql.Type, v any) bound {
	native := false
	switch v := v.(type) {
	case uint16:
		native = true
	case uint64:
		native = true
	case string, []byte:
	default:
		if n := numberOf(v); n.class == intNumber && n.i == 0 {
			return bound{low: rowcodec.Uint(0), high: rowcodec.Uint(0), pos: at} // strict mode refuses to convert it
		}
	}
	conv, _, err := t.Convert(e.context(), v)
	if err != nil {
		return bound{pos: unknown}
	}
	var d rowcodec.Datum
	switch m := conv.(type) {
	case uint16:
		d = rowcodec.Uint(uint64(m))
	case uint64:
		d = rowcodec.Uint(m)
	default:
		return bound{pos: unknown}
	}
	return bound{low: d, high: d, pos: at, exact: native}
}

// placeText takes strings only: numbers and binary strings are not compared
// with text by the collation.
func placeText(_ *rowEnv, v any) bound {
	if s, ok := v.(string); ok {
		return exactly(rowcodec.String(s))
	}
	return bound{pos: unknown}
}

func placeBinary(_ *rowEnv, v any) bound {
	switch v := v.(type) {
	case []byte:
		return exactly(rowcodec.Bytes(v))
	case string:
		return exactly(rowcodec.String(v))
	}
	return bound{pos: unknown}
}

// wallOf returns the time of day and date that v means, in microseconds.
func wallOf(e *rowEnv, v any) (micros int64, whole, ok bool) {
	switch v := v.(type) {
	case time.Time:
		return wallMicros(v), v.Nanosecond()%1000 == 0, true
	case string:
		t, err := types.DatetimeMaxRange.ConvertWithoutRangeCheck(e.context(), v)
		if err != nil {
			return 0, false, false
		}
		return wallMicros(t), t.Nanosecond()%1000 == 0, true
	case []byte:
		return wallOf(e, string(v))
	}
	return 0, false, false
}

func placeDatetime(e *rowEnv, v any) bound {
	micros, whole, ok := wallOf(e, v)
	if !ok {
		return bound{pos: unknown}
	}
	return integerBound(rowcodec.Int(micros), whole, true)
}

// placeTimestamp converts the session's wall clock; where clocks are set back,
// a range of instants is needed.
func placeTimestamp(e *rowEnv, v any) bound {
	micros, whole, ok := wallOf(e, v)
	if !ok {
		return bound{pos: unknown}
	}
	if micros == zeroMicros {
		return exactly(rowcodec.Int(micros))
	}
	low, high := e.zone.bracket(micros)
	b := integerBound(rowcodec.Int(low), whole, low == high)
	b.high = rowcodec.Int(high)
	return b
}

func placeTimespan(_ *rowEnv, v any) bound {
	t, native := v.(types.Timespan)
	if !native {
		var err error
		if t, err = types.Time.ConvertToTimespan(v); err != nil {
			return bound{pos: unknown}
		}
	}
	return bound{low: rowcodec.Int(int64(t)), high: rowcodec.Int(int64(t)), pos: at, exact: native}
}
