package scan

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// total adds up one group or window frame.
type total struct {
	exact   bool
	average bool
	scale   int32
	rows    int64
	whole   int64 // integers, as long as they fit
	dec     decimal.Decimal
	float   float64
}

func newTotal(t sql.Type, average bool) total {
	n := total{average: average}
	if d, ok := t.(sql.DecimalType); ok {
		n.exact, n.scale = true, int32(d.Scale())
	}
	return n
}

// add takes one value in, or with sign -1 out again; only exact totals can do that.
func (t *total) add(ctx *sql.Context, v any, sign int64) error {
	if v == nil {
		return nil
	}
	t.rows += sign
	if !t.exact {
		f, _, err := types.Float64.Convert(ctx, v)
		if err != nil && f == nil {
			return err
		}
		if f, ok := f.(float64); ok { // text that is no number counts as its prefix
			t.float += f
		}
		return nil
	}
	if n, ok := small(v); ok {
		if s := t.whole + sign*n; n == 0 || (s > t.whole) == (sign*n > 0) {
			t.whole = s
			return nil
		}
		t.dec = t.dec.Add(decimal.NewFromInt(t.whole)) // it would overflow
		t.whole = sign * n
		return nil
	}
	d, ok := v.(decimal.Decimal)
	if !ok {
		c, _, err := types.InternalDecimalType.Convert(ctx, v)
		if err != nil {
			return err
		}
		d = c.(decimal.Decimal)
	}
	if sign < 0 {
		d = d.Neg()
	}
	t.dec = t.dec.Add(d)
	return nil
}

// small returns an integer whose negative is one too.
func small(v any) (int64, bool) {
	switch n := v.(type) {
	case int8:
		return int64(n), true
	case int16:
		return int64(n), true
	case int32:
		return int64(n), true
	case int64:
		return n, n != -1<<63
	case uint8:
		return int64(n), true
	case uint16:
		return int64(n), true
	case uint32:
		return int64(n), true
	case uint64:
		return int64(n), n < 1<<63
	}
	return 0, false
}

// value is the result: NULL without rows; decimals have exactly the type's scale,
// because the wire prints a decimal's own digits.
func (t *total) value() any {
	switch {
	case t.rows == 0:
		return nil
	case t.exact:
		d := t.dec.Add(decimal.NewFromInt(t.whole))
		if t.average {
			return d.DivRound(decimal.NewFromInt(t.rows), t.scale)
		}
		return d.Round(t.scale)
	case t.average:
		return t.float / float64(t.rows)
	}
	return t.float
}

// sumBuffer is the state of one group.
type sumBuffer struct {
	child sql.Expression
	total
}

// Dispose implements sql.Disposable.
func (b *sumBuffer) Dispose(ctx *sql.Context) { expression.Dispose(ctx, b.child) }

// Update implements sql.AggregationBuffer.
func (b *sumBuffer) Update(ctx *sql.Context, row sql.Row) error {
	v, err := b.child.Eval(ctx, row)
	if err != nil {
		return err
	}
	return b.add(ctx, v, 1)
}

// Eval implements sql.AggregationBuffer.
func (b *sumBuffer) Eval(*sql.Context) (any, error) { return b.value(), nil }
