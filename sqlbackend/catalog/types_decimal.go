package catalog

import (
	"math/big"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"

	"ksql/tablet/rowcodec"
)

// smallDecimalDigits is the greatest precision whose scaled values fit an int64.
const smallDecimalDigits = 18

func decimalConverter(t types.DecimalType_) converter {
	scale := int32(t.Scale())
	c := converter{keyable: true, loose: true}
	if t.Precision() <= smallDecimalDigits {
		c.kind = rowcodec.KindInt64
		c.encode = func(_ *rowEnv, v any) (rowcodec.Datum, bool, error) {
			d, ok := v.(decimal.Decimal)
			if !ok {
				return rowcodec.Datum{}, false, nil
			}
			if d.Exponent() == -scale && d.NumDigits() <= smallDecimalDigits {
				return rowcodec.Int(d.CoefficientInt64()), true, nil
			}
			n := scaledDecimal(d, scale)
			if !n.IsInt64() {
				return rowcodec.Datum{}, true, types.ErrConvertToDecimalLimit.New()
			}
			return rowcodec.Int(n.Int64()), true, nil
		}
		c.decode = func(_ *rowEnv, d rowcodec.Datum) (any, error) { return decimal.New(d.Int(), -scale), nil }
	} else {
		c.kind = rowcodec.KindBytes
		c.encode = func(_ *rowEnv, v any) (rowcodec.Datum, bool, error) {
			d, ok := v.(decimal.Decimal)
			if !ok {
				return rowcodec.Datum{}, false, nil
			}
			b, err := appendBigInt(nil, scaledDecimal(d, scale))
			return rowcodec.Bytes(b), true, err
		}
		c.decode = func(_ *rowEnv, d rowcodec.Datum) (any, error) {
			n, err := parseBigInt(d.Bytes())
			if err != nil {
				return nil, err
			}
			return decimal.NewFromBigInt(n, -scale), nil
		}
	}
	small := c.kind == rowcodec.KindInt64
	c.place = func(e *rowEnv, v any) bound { return placeDecimal(v, scale, small) }
	return c
}

// scaledDecimal returns d × 10^scale, rounded half away from zero.
func scaledDecimal(d decimal.Decimal, scale int32) *big.Int {
	if d.Exponent() == -scale {
		return d.Coefficient()
	}
	return d.Round(scale).Shift(scale).BigInt()
}

// maxBigIntBytes bounds the magnitude of a stored DECIMAL: 65 digits take 27 bytes.
const maxBigIntBytes = 27

// appendBigInt appends an integer so that byte order is numeric order: one
// byte 80 + length of the magnitude, 80 - length if negative, then the
// magnitude, big endian, inverted if negative.
func appendBigInt(dst []byte, n *big.Int) ([]byte, error) {
	size := (n.BitLen() + 7) / 8
	if size > maxBigIntBytes {
		return dst, types.ErrConvertToDecimalLimit.New()
	}
	if n.Sign() >= 0 {
		dst = append(dst, byte(0x80+size))
	} else {
		dst = append(dst, byte(0x80-size))
	}
	start := len(dst)
	dst = append(dst, make([]byte, size)...)
	n.FillBytes(dst[start:])
	if n.Sign() < 0 {
		for i := start; i < len(dst); i++ {
			dst[i] = ^dst[i]
		}
	}
	return dst, nil
}

// parseBigInt is the inverse of appendBigInt for any bytes.
func parseBigInt(b []byte) (*big.Int, error) {
	if len(b) == 0 || len(b) > maxBigIntBytes+1 {
		return nil, sql.ErrInvalidValue.New(b, "decimal")
	}
	size := int(b[0]) - 0x80
	negative := size < 0
	if negative {
		size = -size
	}
	if len(b) != 1+size {
		return nil, sql.ErrInvalidValue.New(b, "decimal")
	}
	n := new(big.Int)
	if !negative {
		return n.SetBytes(b[1:]), nil
	}
	var buf [maxBigIntBytes]byte
	for i, x := range b[1:] {
		buf[i] = ^x
	}
	return n.Neg(n.SetBytes(buf[:size])), nil
}
