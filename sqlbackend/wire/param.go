package wire

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// paramType is the type of one parameter as the client announces it.
type paramType struct {
	kind     byte
	unsigned bool
}

// textDecoder converts from the client's character set; nil means UTF-8.
type textDecoder interface{ Decode([]byte) ([]byte, bool) }

// decodeParam reads one value of the binary protocol as an expression for the
// engine.
func decodeParam(d *decoder, t paramType, dec textDecoder) (ast.Expr, error) {
	var out ast.Expr
	switch t.kind {
	case typeNull:
		return &ast.NullVal{}, nil
	case typeTiny:
		out = intParam(uint64(d.u8()), 8, t.unsigned)
	case typeShort, typeYear:
		out = intParam(uint64(d.u16()), 16, t.unsigned)
	case typeLong, typeInt24:
		out = intParam(uint64(d.u32()), 32, t.unsigned)
	case typeLongLong:
		out = intParam(d.u64(), 64, t.unsigned)
	case typeFloat:
		f := math.Float32frombits(d.u32())
		out = floatParam(float64(f), 32)
	case typeDouble:
		out = floatParam(math.Float64frombits(d.u64()), 64)
	case typeDate, typeDatetime, typeTimestamp:
		out = datetimeParam(d, t.kind)
	case typeTime:
		out = timeParam(d)
	case typeDecimal, typeNewDecimal, typeVarchar, typeBit, typeVector, typeJSON, typeEnum, typeSet,
		typeTinyBlob, typeMediumBlob, typeLongBlob, typeBlob, typeVarString, typeString, typeGeometry:
		raw := d.lenencBytes()
		if d.bad {
			return nil, errBadParams()
		}
		return stringParam(raw, t.kind, dec)
	default:
		return nil, errBadParams()
	}
	if d.bad || out == nil {
		return nil, errBadParams()
	}
	return out, nil
}

// intParam reads the low bits of v as a signed or unsigned number.
func intParam(v uint64, bits uint, unsigned bool) ast.Expr {
	if unsigned {
		return ast.NewIntVal(strconv.AppendUint(nil, v, 10))
	}
	return ast.NewIntVal(strconv.AppendInt(nil, int64(v<<(64-bits))>>(64-bits), 10))
}

// floatParam writes an exponent, without which the engine would take the
// number for a decimal. NaN and infinities have no place in SQL.
func floatParam(f float64, bits int) ast.Expr {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return &ast.NullVal{}
	}
	return ast.NewFloatVal(strconv.AppendFloat(nil, f, 'e', -1, bits))
}

// datetimeParam reads a DATE, DATETIME or TIMESTAMP of 0, 4, 7 or 11 bytes.
func datetimeParam(d *decoder, kind byte) ast.Expr {
	n := d.u8()
	switch n {
	case 0, 4, 7, 11:
	default:
		d.bad = true
		return nil
	}
	var c clock
	if n >= 4 {
		c.year, c.month, c.day = d.u16(), d.u8(), uint32(d.u8())
	}
	if n >= 7 {
		c.hour, c.minute, c.second = d.u8(), d.u8(), d.u8()
	}
	if n == 11 {
		c.micros = d.u32()
	}
	s := fmt.Sprintf("%04d-%02d-%02d", c.year, c.month, c.day)
	if kind != typeDate || n >= 7 {
		s += fmt.Sprintf(" %02d:%02d:%02d", c.hour, c.minute, c.second)
	}
	if c.micros != 0 {
		s += fmt.Sprintf(".%06d", c.micros)
	}
	return ast.NewStrVal([]byte(s))
}

// timeParam reads a TIME of 0, 8 or 12 bytes.
func timeParam(d *decoder) ast.Expr {
	n := d.u8()
	switch n {
	case 0, 8, 12:
	default:
		d.bad = true
		return nil
	}
	var c clock
	if n >= 8 {
		c.negative = d.u8() != 0
		c.day = d.u32()
		c.hour, c.minute, c.second = d.u8(), d.u8(), d.u8()
	}
	if n == 12 {
		c.micros = d.u32()
	}
	sign := ""
	if c.negative {
		sign = "-"
	}
	s := fmt.Sprintf("%s%02d:%02d:%02d", sign, uint64(c.day)*24+uint64(c.hour), c.minute, c.second)
	if c.micros != 0 {
		s += fmt.Sprintf(".%06d", c.micros)
	}
	return ast.NewStrVal([]byte(s))
}

// stringParam makes a text, decimal or binary literal; raw is copied.
func stringParam(raw []byte, kind byte, dec textDecoder) (ast.Expr, error) {
	switch kind {
	case typeDecimal, typeNewDecimal:
		if isDecimal(raw) {
			return ast.NewFloatVal(append([]byte(nil), raw...)), nil
		}
	case typeTinyBlob, typeMediumBlob, typeLongBlob, typeBlob, typeBit, typeGeometry:
		if !utf8.Valid(raw) {
			return binaryLiteral(raw), nil
		}
		return ast.NewStrVal(append([]byte(nil), raw...)), nil
	}
	if dec != nil {
		out, ok := dec.Decode(raw)
		if !ok {
			return nil, newError(erInvalidCharString, "Invalid character string in parameter")
		}
		return ast.NewStrVal(append([]byte(nil), out...)), nil
	}
	return ast.NewStrVal(append([]byte(nil), raw...)), nil
}

// isDecimal: digits with an optional sign and one point.
func isDecimal(s []byte) bool {
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		s = s[1:]
	}
	digits, points := 0, 0
	for _, c := range s {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c == '.':
			points++
		default:
			return false
		}
	}
	return digits > 0 && points <= 1
}

// binaryLiteral carries bytes that are no text past the parser's string
// literals, which the engine takes for UTF-8.
func binaryLiteral(raw []byte) ast.Expr {
	return ast.InjectedExpr{Expression: &bytesLiteral{
		Literal: expression.NewLiteral(append([]byte(nil), raw...), types.LongBlob),
	}}
}

// bytesLiteral is a literal that the engine's planner accepts ready-made.
type bytesLiteral struct{ *expression.Literal }

// WithResolvedChildren implements the injection of an expression.
func (b *bytesLiteral) WithResolvedChildren(context.Context, []any) (any, error) {
	return sql.Expression(b.Literal), nil
}
