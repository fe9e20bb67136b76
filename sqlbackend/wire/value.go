package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// rowEncoder turns rows into packets of one protocol. It is made once a
// result.
type rowEncoder struct {
	ctx    *sql.Context
	schema sql.Schema
	cols   []column
	plain  []bool // text needs no conversion
	// scratch holds one value's text between the engine and the packet.
	scratch []byte
}

func newRowEncoder(ctx *sql.Context, schema sql.Schema, res results) *rowEncoder {
	e := &rowEncoder{ctx: ctx, schema: schema, cols: make([]column, len(schema)),
		plain: make([]bool, len(schema)), scratch: make([]byte, 0, 256)}
	for i, c := range schema {
		e.cols[i] = describe(ctx, c, res)
		e.plain[i] = res.plain && types.IsTextOnly(c.Type)
	}
	return e
}

// appendText appends row in the text protocol.
func (e *rowEncoder) appendText(b []byte, row sql.Row) ([]byte, error) {
	if len(row) != len(e.schema) {
		return nil, fmt.Errorf("row of %d values for %d columns", len(row), len(e.schema))
	}
	for i, v := range row {
		if v == nil {
			b = append(b, hdrNull)
			continue
		}
		if n, ok := e.appendShortText(b, i, v); ok {
			b = n
			continue
		}
		raw, null, err := e.text(i, v)
		if err != nil {
			return nil, err
		}
		if null {
			b = append(b, hdrNull)
			continue
		}
		b = appendLenencBytes(b, raw)
	}
	return b, nil
}

// appendShortText handles numbers without going through the engine's values:
// the text of a number is shorter than 251 bytes, so its length is one byte.
func (e *rowEncoder) appendShortText(b []byte, i int, v any) ([]byte, bool) {
	at := len(b)
	switch e.cols[i].kind {
	case typeTiny, typeShort, typeInt24, typeLong, typeLongLong:
		n, signed, ok := integer(v)
		if !ok {
			return b, false
		}
		b = append(b, 0)
		if signed {
			b = strconv.AppendInt(b, int64(n), 10)
		} else {
			b = strconv.AppendUint(b, n, 10)
		}
	case typeDouble, typeFloat:
		f, ok := v.(float64)
		bits := 64
		if f32, is := v.(float32); is {
			f, ok = float64(f32), true
		}
		if e.cols[i].kind == typeFloat {
			bits = 32
		}
		if !ok {
			return b, false
		}
		b = appendFloat(append(b, 0), f, bits)
	default:
		return b, false
	}
	b[at] = byte(len(b) - at - 1)
	return b, true
}

// integer reads any Go integer; signed tells how to read the bits.
func integer(v any) (bits uint64, signed, ok bool) {
	switch n := v.(type) {
	case int8:
		return uint64(n), true, true
	case int16:
		return uint64(n), true, true
	case int32:
		return uint64(n), true, true
	case int64:
		return uint64(n), true, true
	case int:
		return uint64(n), true, true
	case uint8:
		return uint64(n), false, true
	case uint16:
		return uint64(n), false, true
	case uint32:
		return uint64(n), false, true
	case uint64:
		return n, false, true
	case uint:
		return uint64(n), false, true
	case bool:
		if n {
			return 1, false, true
		}
		return 0, false, true
	}
	return 0, false, false
}

// text is the value as the engine prints it. The bytes are valid until the
// next call.
func (e *rowEncoder) text(i int, v any) (raw []byte, null bool, err error) {
	switch s := v.(type) {
	case string:
		if e.plain[i] {
			e.scratch = append(e.scratch[:0], s...)
			return e.scratch, false, nil
		}
	case float64: // the engine drops the sign of numbers in text columns
		if e.plain[i] {
			return appendFloat(e.scratch[:0], s, 64), false, nil
		}
	case float32:
		if e.plain[i] {
			return appendFloat(e.scratch[:0], float64(s), 32), false, nil
		}
	}
	val, err := e.schema[i].Type.SQL(e.ctx, e.scratch[:0], v)
	if err != nil {
		return nil, false, err
	}
	if val.IsNull() {
		return nil, true, nil
	}
	if e.cols[i].kind == typeTime {
		return trimTime(val.Raw(), e.schema[i].Type), false, nil
	}
	return val.Raw(), false, nil
}

// trimTime cuts the six fractional digits that the engine gives every TIME:
// to the type's precision if it has one, else when they are all zero.
func trimTime(s []byte, t sql.Type) []byte {
	point := bytes.IndexByte(s, '.')
	if point < 0 {
		return s
	}
	if _, knows := t.(interface{ Precision() int }); knows {
		if p := precisionOf(t); p > 0 {
			return s[:min(len(s), point+1+p)]
		}
		return s[:point]
	}
	if len(bytes.Trim(s[point+1:], "0")) == 0 {
		return s[:point]
	}
	return s
}

// appendBinary appends row in the binary protocol.
func (e *rowEncoder) appendBinary(b []byte, row sql.Row) ([]byte, error) {
	if len(row) != len(e.schema) {
		return nil, fmt.Errorf("row of %d values for %d columns", len(row), len(e.schema))
	}
	b = append(b, hdrOK)
	bitmap := len(b)
	b = append(b, make([]byte, (len(row)+9)/8)...)
	for i, v := range row {
		null := v == nil
		if !null {
			var err error
			if b, null, err = e.appendBinaryValue(b, i, v); err != nil {
				return nil, err
			}
		}
		if null {
			b[bitmap+(i+2)/8] |= 1 << ((i + 2) % 8)
		}
	}
	return b, nil
}

func (e *rowEncoder) appendBinaryValue(b []byte, i int, v any) (out []byte, null bool, err error) {
	kind := e.cols[i].kind
	switch kind {
	case typeTiny, typeShort, typeYear, typeInt24, typeLong, typeLongLong:
		n, _, ok := integer(v)
		if !ok {
			if n, null, err = e.parseInteger(i, v); err != nil || null {
				return b, null, err
			}
		}
		return appendInteger(b, kind, n), false, nil
	case typeFloat, typeDouble:
		f, null, err := e.float(i, v)
		if err != nil || null {
			return b, null, err
		}
		if kind == typeFloat {
			return binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(f))), false, nil
		}
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(f)), false, nil
	case typeDate, typeDatetime, typeTimestamp:
		if t, ok := v.(time.Time); ok {
			return appendDatetime(b, clockOf(t, kind, e.cols[i].decimals)), false, nil
		}
	}
	raw, null, err := e.text(i, v)
	if err != nil || null {
		return b, null, err
	}
	switch kind {
	case typeDate, typeDatetime, typeTimestamp:
		c, ok := parseDatetime(raw)
		if !ok {
			return b, false, fmt.Errorf("column %q: %q is not a date", e.cols[i].name, raw)
		}
		return appendDatetime(b, c), false, nil
	case typeTime:
		c, ok := parseTime(raw)
		if !ok {
			return b, false, fmt.Errorf("column %q: %q is not a time", e.cols[i].name, raw)
		}
		return appendTime(b, c), false, nil
	}
	return appendLenencBytes(b, raw), false, nil
}

func appendInteger(b []byte, kind byte, n uint64) []byte {
	switch kind {
	case typeTiny:
		return append(b, byte(n))
	case typeShort, typeYear:
		return binary.LittleEndian.AppendUint16(b, uint16(n))
	case typeInt24, typeLong:
		return binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	return binary.LittleEndian.AppendUint64(b, n)
}

// parseInteger reads an integer column's value that is no Go integer: decimals
// and text. EXPLAIN of the engine puts the word NULL into numeric columns.
func (e *rowEncoder) parseInteger(i int, v any) (n uint64, null bool, err error) {
	raw, null, err := e.text(i, v)
	if err != nil || null {
		return 0, null, err
	}
	if bytes.Equal(raw, []byte("NULL")) {
		return 0, true, nil
	}
	s := string(raw)
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return uint64(n), false, nil
	}
	if n, err = strconv.ParseUint(s, 10, 64); err == nil {
		return n, false, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.Abs(f) >= 1<<63 {
		return 0, false, fmt.Errorf("column %q: %q is not an integer", e.cols[i].name, s)
	}
	return uint64(int64(math.RoundToEven(f))), false, nil
}

func (e *rowEncoder) float(i int, v any) (f float64, null bool, err error) {
	switch n := v.(type) {
	case float64:
		return n, false, nil
	case float32:
		return float64(n), false, nil
	}
	raw, null, err := e.text(i, v)
	if err != nil || null {
		return 0, null, err
	}
	if bytes.Equal(raw, []byte("NULL")) {
		return 0, true, nil
	}
	f, err = strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return 0, false, fmt.Errorf("column %q: %q is not a number", e.cols[i].name, raw)
	}
	return f, false, nil
}
