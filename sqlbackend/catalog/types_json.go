package catalog

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/shopspring/decimal"

	"ksql/tablet/rowcodec"
)

// A stored JSON document is one version byte and one value. Unlike JSON text
// it keeps what MySQL keeps: whether a number is an integer, unsigned, a
// double or a DECIMAL, and dates. Equal documents have equal bytes: the keys
// of an object are sorted as MySQL sorts them, by length, then by bytes.
//
//	value  = u8 tag, payload
//	int    = varint · uint = uvarint · double = 8 bytes little endian
//	string = uvarint length, text · decimal = varint exponent, string of digits
//	date   = varint µs since 1970 · time = varint µs
//	array  = uvarint n, n values · object = uvarint n, n × (string without tag, value)
const (
	jsonVersion = 1

	jsonNull    = 0 // the tags are persistent: do not reorder, only append
	jsonFalse   = 1
	jsonTrue    = 2
	jsonInt     = 3
	jsonUint    = 4
	jsonDouble  = 5
	jsonString  = 6
	jsonArray   = 7
	jsonObject  = 8
	jsonDecimal = 9
	jsonDate    = 10
	jsonTime    = 11

	// maxJSONDepth is MySQL's limit on nesting.
	maxJSONDepth = 100
)

var errMalformedJSON = errors.New("stored JSON document is malformed")

func errJSONTooDeep() error {
	return mysql.NewSQLError(3157, "22032", "The JSON document exceeds the maximum depth.")
}

func jsonConverter() converter {
	return converter{
		kind: rowcodec.KindBytes,
		encode: func(e *rowEnv, v any) (rowcodec.Datum, bool, error) {
			w, ok := v.(sql.JSONWrapper)
			if !ok {
				return rowcodec.Datum{}, false, nil
			}
			val, err := w.ToInterface(e.context())
			if err != nil {
				return rowcodec.Datum{}, true, err
			}
			b, err := appendJSON([]byte{jsonVersion}, val, 0)
			return rowcodec.Bytes(b), true, err
		},
		decode: func(_ *rowEnv, d rowcodec.Datum) (any, error) {
			val, err := parseJSON(d.Bytes())
			if err != nil {
				return nil, err
			}
			return types.JSONDocument{Val: val}, nil
		},
		place: func(*rowEnv, any) bound { return bound{pos: unknown} },
	}
}

func appendJSON(dst []byte, v any, depth int) ([]byte, error) {
	if depth > maxJSONDepth {
		return dst, errJSONTooDeep()
	}
	switch v := v.(type) {
	case nil:
		return append(dst, jsonNull), nil
	case bool:
		if v {
			return append(dst, jsonTrue), nil
		}
		return append(dst, jsonFalse), nil
	case string:
		return appendJSONText(append(dst, jsonString), v), nil
	case []any:
		dst = binary.AppendUvarint(append(dst, jsonArray), uint64(len(v)))
		var err error
		for i := 0; i < len(v) && err == nil; i++ {
			dst, err = appendJSON(dst, v[i], depth+1)
		}
		return dst, err
	case map[string]any:
		return appendJSONObject(dst, v, depth)
	case time.Time:
		return binary.AppendVarint(append(dst, jsonDate), wallMicros(v)), nil
	case types.Timespan:
		return binary.AppendVarint(append(dst, jsonTime), int64(v)), nil
	case decimal.Decimal:
		return appendJSONDecimal(dst, v), nil
	case sql.JSONWrapper:
		val, err := v.ToInterface(sql.NewEmptyContext())
		if err != nil {
			return dst, err
		}
		return appendJSON(dst, val, depth)
	}
	return appendJSONNumber(dst, v, depth)
}

func appendJSONNumber(dst []byte, v any, depth int) ([]byte, error) {
	switch v := v.(type) {
	case float64:
		return binary.LittleEndian.AppendUint64(append(dst, jsonDouble), math.Float64bits(v)), nil
	case float32:
		return appendJSONNumber(dst, float64(v), depth)
	case int64:
		return binary.AppendVarint(append(dst, jsonInt), v), nil
	case int:
		return appendJSONNumber(dst, int64(v), depth)
	case int32:
		return appendJSONNumber(dst, int64(v), depth)
	case int16:
		return appendJSONNumber(dst, int64(v), depth)
	case int8:
		return appendJSONNumber(dst, int64(v), depth)
	case uint64:
		return binary.AppendUvarint(append(dst, jsonUint), v), nil
	case uint:
		return appendJSONNumber(dst, uint64(v), depth)
	case uint32:
		return appendJSONNumber(dst, uint64(v), depth)
	case uint16:
		return appendJSONNumber(dst, uint64(v), depth)
	case uint8:
		return appendJSONNumber(dst, uint64(v), depth)
	}
	// Anything else becomes what its JSON text says.
	text, err := types.MarshallJsonValue(v)
	if err != nil {
		return dst, fmt.Errorf("store JSON value of Go type %T: %w", v, err)
	}
	var parsed any
	if err := json.Unmarshal(text, &parsed); err != nil {
		return dst, fmt.Errorf("store JSON value of Go type %T: %w", v, err)
	}
	return appendJSON(dst, parsed, depth)
}

func appendJSONText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// maxJSONExponent bounds the exponents of stored DECIMALs; SQL has none beyond 65.
const maxJSONExponent = 1000

// appendJSONDecimal keeps trailing zeros; what can't be a DECIMAL becomes a double.
func appendJSONDecimal(dst []byte, v decimal.Decimal) []byte {
	if e := v.Exponent(); e > maxJSONExponent || e < -maxJSONExponent {
		f, _ := v.Float64()
		return binary.LittleEndian.AppendUint64(append(dst, jsonDouble), math.Float64bits(f))
	}
	dst = binary.AppendVarint(append(dst, jsonDecimal), int64(v.Exponent()))
	return appendJSONText(dst, v.Coefficient().String())
}

func (d *jsonDecoder) decimal() any {
	exponent := d.varint()
	n, ok := new(big.Int).SetString(d.text(), 10)
	if !ok || exponent > maxJSONExponent || exponent < -maxJSONExponent {
		return d.fail()
	}
	return decimal.NewFromBigInt(n, int32(exponent))
}

func appendJSONObject(dst []byte, m map[string]any, depth int) ([]byte, error) {
	dst = binary.AppendUvarint(append(dst, jsonObject), uint64(len(m)))
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int {
		if c := cmp.Compare(len(a), len(b)); c != 0 {
			return c
		}
		return strings.Compare(a, b)
	})
	var err error
	for i := 0; i < len(keys) && err == nil; i++ {
		dst, err = appendJSON(appendJSONText(dst, keys[i]), m[keys[i]], depth+1)
	}
	return dst, err
}

// parseJSON decodes a stored document; any bytes may be given.
func parseJSON(b []byte) (any, error) {
	if len(b) == 0 || b[0] != jsonVersion {
		return nil, errMalformedJSON
	}
	d := jsonDecoder{b: b[1:]}
	v := d.value(0)
	if d.bad || len(d.b) != 0 {
		return nil, errMalformedJSON
	}
	return v, nil
}

// jsonDecoder consumes b; bad is set once something is wrong, and stays set.
type jsonDecoder struct {
	b   []byte
	bad bool
}

func (d *jsonDecoder) fail() any {
	d.bad, d.b = true, nil
	return nil
}

func (d *jsonDecoder) uvarint() uint64 {
	u, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return u
}

func (d *jsonDecoder) varint() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *jsonDecoder) text() string {
	n := d.uvarint()
	if n > uint64(len(d.b)) {
		d.fail()
		return ""
	}
	s := string(d.b[:n])
	d.b = d.b[n:]
	return s
}

// count reads a number of elements, each of which takes at least size bytes.
func (d *jsonDecoder) count(size int) int {
	n := d.uvarint()
	if n > uint64(len(d.b)/size) {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *jsonDecoder) value(depth int) any {
	if len(d.b) == 0 || depth > maxJSONDepth {
		return d.fail()
	}
	tag := d.b[0]
	d.b = d.b[1:]
	switch tag {
	case jsonNull:
		return nil
	case jsonFalse, jsonTrue:
		return tag == jsonTrue
	case jsonInt:
		return d.varint()
	case jsonUint:
		return d.uvarint()
	case jsonDouble:
		if len(d.b) < 8 {
			return d.fail()
		}
		f := math.Float64frombits(binary.LittleEndian.Uint64(d.b))
		d.b = d.b[8:]
		return f
	case jsonString:
		return d.text()
	case jsonArray:
		return d.array(depth)
	case jsonObject:
		return d.object(depth)
	case jsonDecimal:
		return d.decimal()
	case jsonDate:
		return time.UnixMicro(d.varint()).UTC()
	case jsonTime:
		return types.Timespan(d.varint())
	}
	return d.fail()
}

func (d *jsonDecoder) array(depth int) any {
	out := make([]any, d.count(1))
	for i := 0; i < len(out) && !d.bad; i++ {
		out[i] = d.value(depth + 1)
	}
	return out
}

func (d *jsonDecoder) object(depth int) any {
	n := d.count(2)
	out := make(map[string]any, n)
	for i := 0; i < n && !d.bad; i++ {
		k := d.text()
		out[k] = d.value(depth + 1)
	}
	return out
}
