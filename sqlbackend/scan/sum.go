package scan

import (
	"errors"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"ksql/sqlbackend/parser"
)

// The names under which the parser lets SUM and AVG through: the engine's planner
// makes every aggregate called sum or avg a double, whatever its type says.
const (
	sumName = parser.SumFunction
	avgName = parser.AvgFunction
)

// Sum is SUM or AVG with MySQL's result types: DECIMAL for exact arguments, DOUBLE
// for others (https://dev.mysql.com/doc/refman/8.4/en/aggregate-functions.html).
type Sum struct {
	child   sql.Expression
	average bool
	window  *sql.WindowDefinition
	id      sql.ColumnId
}

var (
	_ sql.Aggregation       = (*Sum)(nil)
	_ sql.WindowAggregation = (*Sum)(nil)
)

// digits is the precision of an integer type as a DECIMAL.
func digits(t sql.Type) (uint8, bool) {
	switch t {
	case types.Int8, types.Uint8, types.Boolean:
		return 3, true
	case types.Int16, types.Uint16, types.Year:
		return 5, true
	case types.Int24, types.Uint24:
		return 8, true
	case types.Int32, types.Uint32:
		return 10, true
	case types.Int64:
		return 19, true
	case types.Uint64:
		return 20, true
	}
	return 0, false
}

// Type is DECIMAL(p+22, s) for SUM and DECIMAL(p+4, s+4) for AVG of DECIMAL(p, s)
// and of integers, else DOUBLE.
func (a *Sum) Type(ctx *sql.Context) sql.Type {
	var p, s uint8
	if d, ok := a.child.Type(ctx).(sql.DecimalType); ok {
		p, s = d.Precision(), d.Scale()
	} else if n, ok := digits(a.child.Type(ctx)); ok {
		p = n
	} else {
		return types.Float64
	}
	if a.average {
		return types.MustCreateDecimalType(min(types.DecimalTypeMaxPrecision, p+4), min(types.DecimalTypeMaxScale, s+4))
	}
	return types.MustCreateDecimalType(min(types.DecimalTypeMaxPrecision, p+22), s)
}

// FunctionName implements sql.FunctionExpression.
func (a *Sum) FunctionName() string {
	if a.average {
		return "AVG"
	}
	return "SUM"
}

// Description implements sql.FunctionExpression.
func (a *Sum) Description() string {
	return "returns the " + map[bool]string{false: "sum", true: "average"}[a.average] + " of the expression over all rows"
}

// String names the window too: the planner takes equal names for equal columns.
func (a *Sum) String() string {
	s := a.FunctionName() + "(" + a.child.String() + ")"
	if a.window != nil {
		s += " " + a.window.String()
	}
	return s
}

// Resolved implements sql.Expression.
func (a *Sum) Resolved() bool {
	if !a.child.Resolved() {
		return false
	}
	for _, e := range a.window.ToExpressions() {
		if !e.Resolved() {
			return false
		}
	}
	return true
}

// IsNullable implements sql.Expression: no rows give NULL.
func (a *Sum) IsNullable(*sql.Context) bool { return true }

// Id implements sql.IdExpression.
func (a *Sum) Id() sql.ColumnId { return a.id }

// WithId implements sql.IdExpression.
func (a *Sum) WithId(id sql.ColumnId) sql.IdExpression {
	n := *a
	n.id = id
	return &n
}

// Window implements sql.WindowAdaptableExpression.
func (a *Sum) Window() *sql.WindowDefinition { return a.window }

// WithWindow implements sql.WindowAdaptableExpression.
func (a *Sum) WithWindow(_ *sql.Context, w *sql.WindowDefinition) sql.WindowAdaptableExpression {
	n := *a
	n.window = w
	return &n
}

// Children implements sql.Expression.
func (a *Sum) Children() []sql.Expression {
	return append([]sql.Expression{a.child}, a.window.ToExpressions()...)
}

// WithChildren implements sql.Expression.
func (a *Sum) WithChildren(ctx *sql.Context, c ...sql.Expression) (sql.Expression, error) {
	if len(c) != len(a.Children()) {
		return nil, sql.ErrInvalidChildrenNumber.New(a, len(c), len(a.Children()))
	}
	n := *a
	n.child = c[0]
	if a.window != nil {
		w, err := a.window.FromExpressions(ctx, c[1:])
		if err != nil {
			return nil, err
		}
		n.window = w
	}
	return &n, nil
}

// Eval is never called: aggregates have buffers.
func (a *Sum) Eval(*sql.Context, sql.Row) (any, error) {
	return nil, errors.New("BUG: an aggregate was evaluated as a scalar")
}

// NewBuffer implements sql.Aggregation.
func (a *Sum) NewBuffer(ctx *sql.Context) (sql.AggregationBuffer, error) {
	child, err := transform.Clone(ctx, a.child)
	if err != nil {
		return nil, err
	}
	return &sumBuffer{child: child, total: newTotal(a.Type(ctx), a.average)}, nil
}

// NewWindowFunction is never called: a windowCall uses buffers.
func (a *Sum) NewWindowFunction(*sql.Context) (sql.WindowFunction, error) {
	return nil, errors.New("BUG: SUM was run as a window function by the engine")
}
