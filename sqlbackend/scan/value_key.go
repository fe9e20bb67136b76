package scan

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// appendKey appends bytes that are equal for two values of a type exactly if the
// values are equal for MySQL: texts by their collation's weights, numbers by value
// whatever their Go types and trailing zeros. No key is the beginning of another.
func appendKey(ctx *sql.Context, dst []byte, t sql.Type, v any) ([]byte, error) {
	v, err := sql.UnwrapAny(ctx, v)
	if err != nil {
		return nil, fmt.Errorf("read a value to compare: %w", err)
	}
	if v == nil {
		return append(dst, 0), nil
	}
	if st, ok := t.(sql.StringType); ok && st.Collation() != sql.Collation_binary {
		s, ok := v.(string)
		if !ok {
			if s, err = types.ConvertToString(ctx, v, st, nil); err != nil {
				return nil, err
			}
		}
		return appendWeights(append(dst, 's'), st.Collation(), s), nil
	}
	switch v := v.(type) {
	case string:
		return appendBytes(append(dst, 'b'), v), nil
	case []byte:
		return appendBytes(append(dst, 'b'), string(v)), nil
	case time.Time:
		return binary.BigEndian.AppendUint64(append(dst, 't'), uint64(v.UnixMicro())), nil
	case types.Timespan:
		return binary.BigEndian.AppendUint64(append(dst, 'p'), uint64(v)), nil
	}
	if s, ok := number(v); ok {
		return appendBytes(append(dst, 'n'), s), nil
	}
	if j, ok := v.(sql.JSONWrapper); ok {
		s, err := types.JsonToMySqlString(ctx, j)
		if err != nil {
			return nil, fmt.Errorf("print JSON to compare it: %w", err)
		}
		return appendBytes(append(dst, 'j'), s), nil
	}
	return appendBytes(append(dst, 'x'), fmt.Sprintf("%v", v)), nil
}

// number writes a number so that equal ones are equal text.
func number(v any) (string, bool) {
	switch n := v.(type) {
	case bool:
		if n {
			return "1", true
		}
		return "0", true
	case decimal.Decimal:
		return n.String(), true
	case float32:
		return float(float64(n), 32), true
	case float64:
		return float(n, 64), true
	case uint64:
		return strconv.FormatUint(n, 10), true
	case uint:
		return strconv.FormatUint(uint64(n), 10), true
	case int:
		return strconv.Itoa(n), true
	}
	if n, ok := small(v); ok {
		return strconv.FormatInt(n, 10), true
	}
	if n, ok := v.(int64); ok { // the smallest one
		return strconv.FormatInt(n, 10), true
	}
	return "", false
}

func float(f float64, bits int) string {
	if f == 0 {
		return "0" // no negative zero
	}
	return strconv.FormatFloat(f, 'f', -1, bits)
}

func appendBytes(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// appendWeights appends the weights of a text and how many there are.
func appendWeights(dst []byte, c sql.CollationID, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(utf8.RuneCountInString(s)))
	weigh := c.Sorter()
	for i, r := range s {
		w := weigh(r)
		if r == utf8.RuneError && s[i] != "\uFFFD"[0] { // no valid text: every byte for itself
			w = int32(s[i]) - 1<<30
		}
		dst = binary.AppendVarint(dst, int64(w))
	}
	return dst
}

// keySet is a set of rows of values.
type keySet struct {
	types []sql.Type
	seen  map[string]struct{}
	buf   []byte
}

func newKeySet(ctx *sql.Context, exprs []sql.Expression) *keySet {
	s := &keySet{seen: map[string]struct{}{}}
	for _, e := range exprs {
		s.types = append(s.types, e.Type(ctx))
	}
	return s
}

func newSchemaSet(schema sql.Schema) *keySet {
	s := &keySet{seen: map[string]struct{}{}}
	for _, c := range schema {
		s.types = append(s.types, c.Type)
	}
	return s
}

// key returns the row's key, which is valid until the next call.
func (s *keySet) key(ctx *sql.Context, row sql.Row) ([]byte, error) {
	s.buf = s.buf[:0]
	for i, v := range row {
		var t sql.Type
		if i < len(s.types) {
			t = s.types[i]
		}
		var err error
		if s.buf, err = appendKey(ctx, s.buf, t, v); err != nil {
			return nil, err
		}
	}
	return s.buf, nil
}

// add takes a row in. It is false if an equal one is there already.
func (s *keySet) add(ctx *sql.Context, row sql.Row) (bool, error) {
	k, err := s.key(ctx, row)
	if err != nil {
		return false, err
	}
	if _, ok := s.seen[string(k)]; ok {
		return false, nil
	}
	s.seen[string(k)] = struct{}{}
	return true, nil
}
