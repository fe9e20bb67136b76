package wire

import (
	"math"
	"strconv"
)

// appendFloat prints a number as MySQL's my_gcvt does: the shortest digits
// that read back (six at most for FLOAT), without an exponent from 1e-15 up to
// fifteen digits before the point, otherwise as 1.5e20.
func appendFloat(b []byte, f float64, bits int) []byte {
	if f == 0 || math.IsNaN(f) || math.IsInf(f, 0) {
		return append(b, '0')
	}
	var buf [32]byte
	d := strconv.AppendFloat(buf[:0], math.Abs(f), 'e', -1, 64)
	if bits == 32 {
		d = strconv.AppendFloat(buf[:0], math.Abs(f), 'e', 5, 64)
	}
	digits, exp := splitExponent(d)
	if f < 0 {
		b = append(b, '-')
	}
	switch {
	case exp < -15 || exp >= 15:
		b = append(b, digits[0])
		if len(digits) > 1 {
			b = append(append(b, '.'), digits[1:]...)
		}
		return strconv.AppendInt(append(b, 'e'), int64(exp), 10)
	case exp < 0:
		b = append(b, "0."...)
		for ; exp < -1; exp++ {
			b = append(b, '0')
		}
		return append(b, digits...)
	}
	for i := 0; i <= exp; i++ {
		if i < len(digits) {
			b = append(b, digits[i])
		} else {
			b = append(b, '0')
		}
	}
	if len(digits) > exp+1 {
		b = append(append(b, '.'), digits[exp+1:]...)
	}
	return b
}

// splitExponent takes "1.250e+20" apart: significant digits without trailing
// zeros, moved together in place, and the exponent.
func splitExponent(d []byte) (digits []byte, exp int) {
	digits = d[:0]
	for i, c := range d {
		switch {
		case c >= '0' && c <= '9':
			digits = append(digits, c)
		case c == 'e':
			exp, _ = strconv.Atoi(string(d[i+1:])) // always a number: strconv wrote it
			for len(digits) > 1 && digits[len(digits)-1] == '0' {
				digits = digits[:len(digits)-1]
			}
			return digits, exp
		}
	}
	return digits, 0
}
