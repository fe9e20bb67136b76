package catalog

import (
	"math"
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

// placeBit takes bit strings besides numbers.
func placeBit(e *rowEnv, t sql.Type, v any) bound {
	switch v.(type) {
	case string, []byte:
		conv, _, err := t.Convert(e.context(), v)
		if n, ok := conv.(uint64); ok && err == nil {
			return bound{low: rowcodec.Uint(n), high: rowcodec.Uint(n), pos: at}
		}
		return bound{pos: unknown}
	}
	return placeUnsigned(e, v)
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
// the instants that it may mean are far apart.
func placeTimestamp(e *rowEnv, v any) bound {
	micros, whole, ok := wallOf(e, v)
	if !ok {
		return bound{pos: unknown}
	}
	if micros == zeroMicros {
		return exactly(rowcodec.Int(micros))
	}
	low, high := e.zone.bracket(micros)
	if low > high { // the zone skips it
		return integerBound(rowcodec.Int(high), false, true)
	}
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
