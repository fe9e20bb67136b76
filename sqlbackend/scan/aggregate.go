package scan

import (
	"errors"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
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

// Aggregate is SUM, AVG or a statistical aggregate with MySQL's result types: SUM
// and AVG are DECIMAL for exact arguments and DOUBLE for others, the rest is DOUBLE
// (https://dev.mysql.com/doc/refman/8.4/en/aggregate-functions.html).
type Aggregate struct {
	kind     kind
	child    sql.Expression
	distinct bool
	window   *sql.WindowDefinition
	id       sql.ColumnId
}

// kind is what an Aggregate computes; its text is the function's name.
type kind string

const (
	sum             kind = "SUM"
	average         kind = "AVG"
	deviation       kind = "STDDEV_POP"
	sampleDeviation kind = "STDDEV_SAMP"
	variance        kind = "VAR_POP"
	sampleVariance  kind = "VAR_SAMP"
)

var _ sql.Aggregation = (*Aggregate)(nil)

// newAggregate makes an aggregate; DISTINCT arrives as an expression that compares
// bytes, and is taken over.
func newAggregate(k kind, child sql.Expression) *Aggregate {
	if d, ok := child.(*expression.DistinctExpression); ok {
		return &Aggregate{kind: k, child: d.Child, distinct: true}
	}
	return &Aggregate{kind: k, child: child}
}

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
func (a *Aggregate) Type(ctx *sql.Context) sql.Type {
	if a.kind != sum && a.kind != average {
		return types.Float64
	}
	var p, s uint8
	if d, ok := a.child.Type(ctx).(sql.DecimalType); ok {
		p, s = d.Precision(), d.Scale()
	} else if n, ok := digits(a.child.Type(ctx)); ok {
		p = n
	} else {
		return types.Float64
	}
	if a.kind == average {
		return types.MustCreateDecimalType(min(types.DecimalTypeMaxPrecision, p+4), min(types.DecimalTypeMaxScale, s+4))
	}
	return types.MustCreateDecimalType(min(types.DecimalTypeMaxPrecision, p+22), s)
}

// FunctionName implements sql.FunctionExpression.
func (a *Aggregate) FunctionName() string { return string(a.kind) }

// Description implements sql.FunctionExpression.
func (a *Aggregate) Description() string { return "computes " + string(a.kind) + " over all rows" }

// String names the window too: the planner takes equal names for equal columns.
func (a *Aggregate) String() string {
	s := string(a.kind) + "("
	if a.distinct {
		s += "DISTINCT "
	}
	s += a.child.String() + ")"
	if a.window != nil {
		s += " " + a.window.String()
	}
	return s
}

// Resolved implements sql.Expression.
func (a *Aggregate) Resolved() bool {
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
func (a *Aggregate) IsNullable(*sql.Context) bool { return true }

// Id implements sql.IdExpression.
func (a *Aggregate) Id() sql.ColumnId { return a.id }

// WithId implements sql.IdExpression.
func (a *Aggregate) WithId(id sql.ColumnId) sql.IdExpression {
	n := *a
	n.id = id
	return &n
}

// Window implements sql.WindowAdaptableExpression.
func (a *Aggregate) Window() *sql.WindowDefinition { return a.window }

// WithWindow implements sql.WindowAdaptableExpression.
func (a *Aggregate) WithWindow(_ *sql.Context, w *sql.WindowDefinition) sql.WindowAdaptableExpression {
	n := *a
	n.window = w
	return &n
}

// Children implements sql.Expression.
func (a *Aggregate) Children() []sql.Expression {
	return append([]sql.Expression{a.child}, a.window.ToExpressions()...)
}

// WithChildren implements sql.Expression.
func (a *Aggregate) WithChildren(ctx *sql.Context, c ...sql.Expression) (sql.Expression, error) {
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
func (a *Aggregate) Eval(*sql.Context, sql.Row) (any, error) {
	return nil, errors.New("BUG: an aggregate was evaluated as a scalar")
}

// NewBuffer implements sql.Aggregation.
func (a *Aggregate) NewBuffer(ctx *sql.Context) (sql.AggregationBuffer, error) {
	child, err := transform.Clone(ctx, a.child)
	if err != nil {
		return nil, err
	}
	var buf sql.AggregationBuffer
	switch a.kind {
	case deviation:
		buf = aggregation.NewStdDevPopBuffer(child)
	case sampleDeviation:
		buf = aggregation.NewStdDevSampBuffer(child)
	case variance:
		buf = aggregation.NewVarPopBuffer(child)
	case sampleVariance:
		buf = aggregation.NewVarSampBuffer(child)
	default:
		buf = &sumBuffer{child: child, total: newTotal(a.Type(ctx), a.kind == average)}
	}
	if a.distinct {
		exprs := []sql.Expression{child}
		return &distinctBuffer{AggregationBuffer: buf, exprs: exprs, seen: newKeySet(ctx, exprs)}, nil
	}
	return buf, nil
}

// NewWindowFunction is never called: a windowCall uses buffers.
func (a *Aggregate) NewWindowFunction(*sql.Context) (sql.WindowFunction, error) {
	return nil, errors.New("BUG: SUM was run as a window function by the engine")
}
