package dml

import (
	"math"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/proto/query"
	"github.com/shopspring/decimal"
)

// integerBounds are the least and greatest values of the integer types.
var integerBounds = map[query.Type][2]decimal.Decimal{
	query.Type_INT8:   signedBounds(8),
	query.Type_INT16:  signedBounds(16),
	query.Type_INT24:  signedBounds(24),
	query.Type_INT32:  signedBounds(32),
	query.Type_INT64:  signedBounds(64),
	query.Type_UINT8:  {decimal.Zero, decimal.NewFromInt(math.MaxUint8)},
	query.Type_UINT16: {decimal.Zero, decimal.NewFromInt(math.MaxUint16)},
	query.Type_UINT24: {decimal.Zero, decimal.NewFromInt(1<<24 - 1)},
	query.Type_UINT32: {decimal.Zero, decimal.NewFromInt(math.MaxUint32)},
	query.Type_UINT64: {decimal.Zero, decimal.NewFromUint64(math.MaxUint64)},
}

func signedBounds(bits uint) [2]decimal.Decimal {
	return [2]decimal.Decimal{decimal.NewFromInt(-1 << (bits - 1)), decimal.NewFromInt(1<<(bits-1) - 1)}
}

// bounds returns the least and greatest value of an exact number type.
func bounds(t sql.Type) (b [2]decimal.Decimal, scale int32, ok bool) {
	if d, is := t.(sql.DecimalType); is && d.IsDecimalType() {
		scale = int32(d.Scale())
		most := d.ExclusiveUpperBound().Sub(decimal.New(1, -scale))
		return [2]decimal.Decimal{most.Neg(), most}, scale, true
	}
	b, ok = integerBounds[t.Type()]
	return b, 0, ok
}

// exact returns the exact value of a number or of text that is one.
func exact(v any) (decimal.Decimal, bool) {
	switch n := v.(type) {
	case decimal.Decimal:
		return n, true
	case string:
		d, err := decimal.NewFromString(strings.TrimSpace(n))
		return d, err == nil
	case float32:
		return exact(float64(n))
	case float64:
		if math.IsNaN(n) || math.IsInf(n, 0) {
			return decimal.Decimal{}, false
		}
		return decimal.NewFromFloat(n), true
	case uint64:
		return decimal.NewFromUint64(n), true
	case int64:
		return decimal.NewFromInt(n), true
	case int8:
		return decimal.NewFromInt(int64(n)), true
	case int16:
		return decimal.NewFromInt(int64(n)), true
	case int32:
		return decimal.NewFromInt(int64(n)), true
	case int:
		return decimal.NewFromInt(int64(n)), true
	}
	return decimal.Decimal{}, false
}

// blankNumber tells whether v is text without any digit for a number column,
// which the engine takes for 0 and MySQL refuses.
func blankNumber(t sql.Type, v any) bool {
	s, ok := v.(string)
	return ok && strings.TrimSpace(s) == "" && isNumber(t)
}

func isNumber(t sql.Type) bool { return sql.IsNumberType(t) || sql.IsDecimalType(t) }

// needsBounds tells whether the engine may take a value for one in range that is
// not: it converts DECIMALs and text to 64-bit integers carelessly.
func needsBounds(t sql.Type, v any) bool {
	if k := t.Type(); k != query.Type_INT64 && k != query.Type_UINT64 {
		return false
	}
	switch v.(type) {
	case decimal.Decimal, string:
		return true
	}
	return false
}

// boundNumber compares the exact value of v, rounded, with the bounds of a type.
// It returns the nearest value that the type has.
func boundNumber(ctx *sql.Context, t sql.Type, v any) (out any, in, known bool) {
	b, scale, ok := bounds(t)
	d, ok2 := exact(v)
	if !ok || !ok2 {
		return nil, false, false
	}
	d = d.Round(scale)
	in = true
	if d.LessThan(b[0]) {
		d, in = b[0], false
	}
	if d.GreaterThan(b[1]) {
		d, in = b[1], false
	}
	var whole any = d
	if !sql.IsDecimalType(t) {
		if whole = d.IntPart(); d.GreaterThan(integerBounds[query.Type_INT64][1]) {
			whole = d.BigInt().Uint64()
		}
	}
	out, _, err := t.Convert(ctx, whole)
	return out, in, err == nil
}

// cutSpaces shortens text that is too long for a column by the blanks at its
// end, if there are enough of them.
func cutSpaces(t sql.Type, v any) (string, bool) {
	st, ok := t.(sql.StringType)
	s, text := v.(string)
	if !ok || !text || st.Collation() == sql.Collation_binary {
		return "", false
	}
	most, n := st.MaxCharacterLength(), int64(0)
	for i := range s {
		if n++; n > most {
			return s[:i], strings.Trim(s[i:], " ") == ""
		}
	}
	return "", false
}
