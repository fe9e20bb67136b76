package scan

import (
	"bytes"
	"context"
	"math/rand"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// Keys are equal exactly if the type says that the values are.
func TestKeysAgreeWithCompare(t *testing.T) {
	ctx := sql.NewContext(context.Background())
	seed := time.Now().UnixNano()
	rng := rand.New(rand.NewSource(seed))
	alphabet := []rune("aAäÄàbBß éz\x00\uFFFD😀")
	text := func() any {
		var s []rune
		for range rng.Intn(4) {
			s = append(s, alphabet[rng.Intn(len(alphabet))])
		}
		return string(s)
	}
	numbers := []any{int64(1), int8(1), uint64(1), decimal.RequireFromString("1"), decimal.RequireFromString("1.00"), 1.0, float32(1),
		int64(-1), 0.0, decimal.Zero, decimal.RequireFromString("0.000"), true, decimal.RequireFromString("1.01"), int64(-1 << 63), uint64(1 << 63)}
	for _, c := range []struct {
		t     sql.Type
		value func() any
	}{
		{types.MustCreateStringWithDefaults(types.LongText.Type(), 100), text},
		{types.CreateLongText(sql.Collation_utf8mb4_bin), text},
		{types.CreateLongText(sql.Collation_utf8mb4_general_ci), text},
		{types.CreateLongText(sql.Collation_utf8mb4_0900_ai_ci), text},
		{types.InternalDecimalType, func() any { return numbers[rng.Intn(len(numbers))] }},
		{types.DatetimeMaxPrecision, func() any { return time.Unix(int64(rng.Intn(3)), int64(rng.Intn(2)*1000)).UTC() }},
	} {
		for range 3000 {
			a, b := c.value(), c.value()
			n, err := c.t.Compare(ctx, a, b)
			if err != nil {
				continue // the engine does not compare U+FFFD
			}
			x, err1 := appendKey(ctx, nil, c.t, a)
			y, err2 := appendKey(ctx, nil, c.t, b)
			if err1 != nil || err2 != nil {
				t.Fatal(seed, err1, err2)
			}
			if bytes.Equal(x, y) != (n == 0) {
				t.Fatalf("seed=%d %s: %#v and %#v compare as %d, keys %x %x", seed, c.t, a, b, n, x, y)
			}
			if !bytes.Equal(x, y) && (bytes.HasPrefix(x, y) || bytes.HasPrefix(y, x)) {
				t.Fatalf("seed=%d: key %x begins with %x", seed, x, y)
			}
		}
	}
}

func TestKeysOfRows(t *testing.T) {
	ctx := sql.NewContext(context.Background())
	s := newSchemaSet(sql.Schema{{Type: types.CreateLongText(sql.Collation_utf8mb4_0900_ai_ci)}, {Type: types.Int64}})
	for _, c := range []struct {
		row   sql.Row
		fresh bool
	}{
		{sql.Row{"a", int64(1)}, true}, {sql.Row{"A", int64(1)}, false}, {sql.Row{"a", nil}, true}, {sql.Row{nil, nil}, true},
		{sql.Row{nil, nil}, false}, {sql.Row{"", int64(1)}, true}, {sql.Row{"\xff", int64(1)}, true}, {sql.Row{"\xfe", int64(1)}, true},
		{sql.Row{"\uFFFD", int64(1)}, true}, {sql.Row{"\xff", int64(1)}, false},
	} {
		fresh, err := s.add(ctx, c.row)
		if err != nil || fresh != c.fresh {
			t.Errorf("%q: %v, %v", c.row, fresh, err)
		}
	}
}

// Sessions must not share variables; contexts that only print expressions may.
func TestFullVariables(t *testing.T) {
	InstallGlobals()
	InstallGlobals()
	ctx := sql.NewContext(context.Background())
	var a, b *sql.BaseSession
	FullVariables(func() { a, b = sql.NewBaseSession(), sql.NewBaseSession() })
	if err := a.SetSessionVariable(ctx, "sql_select_limit", uint64(7)); err != nil {
		t.Fatal(err)
	}
	if v, err := b.GetSessionVariable(ctx, "sql_select_limit"); err != nil || v == uint64(7) {
		t.Fatal(v, err)
	}
	if n := testing.AllocsPerRun(100, func() { sql.NewEmptyContext() }); n > 60 {
		t.Errorf("an empty context costs %v allocations", n)
	}
	if v, err := b.GetSessionVariable(ctx, "collation_connection"); err != nil || v != "utf8mb4_0900_ai_ci" {
		t.Fatal(v, err)
	}
}

func TestGuard(t *testing.T) {
	_, err := guard{panics{}}.Eval(nil, nil)
	if err == nil || err.Error() != "Got error 'boom' from regexp (errno 1139) (sqlstate 42000)" {
		t.Fatal(err)
	}
}

type panics struct{ sql.Expression }

func (panics) Eval(*sql.Context, sql.Row) (any, error) { panic("boom") }
