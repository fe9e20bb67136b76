package scan

import (
	"errors"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
)

// windowCall is a window function, or an aggregate used as one. The parser sends
// all of them here, because the engine takes two calls with different frames for
// one and has defaults of its own.
type windowCall struct {
	name   string // lower case
	args   []sql.Expression
	window *sql.WindowDefinition
	id     sql.ColumnId
}

var _ sql.WindowAggregation = (*windowCall)(nil)

// newWindowCall makes a call from the function's name, a literal, and its arguments.
func newWindowCall(_ *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	if len(args) > 0 {
		if l, ok := args[0].(*expression.Literal); ok {
			if name, ok := l.Value().(string); ok {
				return makeWindowCall(name, args[1:])
			}
		}
	}
	return nil, sql.ErrFunctionNotFound.New("count_distinct")
}

func makeWindowCall(name string, args []sql.Expression) (sql.Expression, error) {
	limits, ok := windowArguments[name]
	if !ok {
		return nil, sql.ErrFunctionNotFound.New(name)
	}
	if len(args) < limits[0] || len(args) > limits[1] {
		return nil, mysql.NewSQLError(1582, "42000", "Incorrect parameter count in the call to native function '%s'", name)
	}
	return &windowCall{name: name, args: args}, nil
}

// windowArguments is how many arguments each function takes, at least and at most.
var windowArguments = map[string][2]int{
	"row_number": {0, 0}, "rank": {0, 0}, "dense_rank": {0, 0}, "percent_rank": {0, 0}, "cume_dist": {0, 0},
	"ntile": {1, 1}, "lag": {1, 3}, "lead": {1, 3}, "first_value": {1, 1}, "last_value": {1, 1}, "nth_value": {2, 2},
	"sum": {1, 1}, "avg": {1, 1}, "count": {1, 1}, "min": {1, 1}, "max": {1, 1}, "any_value": {1, 1},
	"std": {1, 1}, "stddev": {1, 1}, "stddev_pop": {1, 1}, "stddev_samp": {1, 1},
	"variance": {1, 1}, "var_pop": {1, 1}, "var_samp": {1, 1},
	"bit_and": {1, 1}, "bit_or": {1, 1}, "bit_xor": {1, 1},
	"json_arrayagg": {1, 1}, "json_objectagg": {2, 2},
}

// aggregate returns the aggregate that the call computes over each frame, nil for
// window functions proper.
func (w *windowCall) aggregate(ctx *sql.Context) sql.Aggregation {
	if len(w.args) == 0 {
		return nil
	}
	a := w.args[0]
	switch w.name {
	case "sum":
		return newAggregate(sum, a)
	case "avg":
		return newAggregate(average, a)
	case "count":
		return aggregation.NewCount(a)
	case "min":
		return aggregation.NewMin(a)
	case "max":
		return aggregation.NewMax(a)
	case "any_value":
		return aggregation.NewAnyValue(a)
	case "std", "stddev", "stddev_pop":
		return newAggregate(deviation, a)
	case "stddev_samp":
		return newAggregate(sampleDeviation, a)
	case "variance", "var_pop":
		return newAggregate(variance, a)
	case "var_samp":
		return newAggregate(sampleVariance, a)
	case "bit_and":
		return aggregation.NewBitAnd(a)
	case "bit_or":
		return aggregation.NewBitOr(a)
	case "bit_xor":
		return aggregation.NewBitXor(a)
	case "json_arrayagg":
		return aggregation.NewJsonArray(a)
	case "json_objectagg":
		if agg, ok := aggregation.NewJSONObjectAgg(ctx, a, w.args[1]).(sql.Aggregation); ok {
			return agg
		}
	}
	return nil
}

// Type implements sql.Expression.
func (w *windowCall) Type(ctx *sql.Context) sql.Type {
	switch w.name {
	case "row_number", "rank", "dense_rank", "ntile":
		return types.Uint64
	case "percent_rank", "cume_dist":
		return types.Float64
	}
	if a := w.aggregate(ctx); a != nil {
		return a.Type(ctx)
	}
	if len(w.args) == 3 { // LAG and LEAD with a default
		return types.GeneralizeTypes(w.args[0].Type(ctx), w.args[2].Type(ctx))
	}
	return w.args[0].Type(ctx)
}

// IsNullable implements sql.Expression: frames can be empty.
func (w *windowCall) IsNullable(ctx *sql.Context) bool {
	switch w.name {
	case "row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "count", "bit_and", "bit_or", "bit_xor":
		return false
	}
	return true
}

// FunctionName implements sql.FunctionExpression.
func (w *windowCall) FunctionName() string { return w.name }

// Description implements sql.FunctionExpression.
func (w *windowCall) Description() string { return "computes " + w.name + " over the rows of a window" }

// String names the whole window: the planner takes equal names for equal columns.
func (w *windowCall) String() string {
	var b strings.Builder
	b.WriteString(w.name + "(")
	for i, a := range w.args {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(a.String())
	}
	b.WriteString(")")
	if w.window != nil {
		b.WriteString(" over (" + partitionText(w.window) + frameText(w.window.Frame) + ")")
	}
	return b.String()
}

// partitionText prints PARTITION BY and ORDER BY; windows with equal text share
// their sorting.
func partitionText(w *sql.WindowDefinition) string {
	var parts []string
	for _, e := range w.PartitionBy {
		parts = append(parts, e.String())
	}
	text := ""
	if len(parts) > 0 {
		text = "partition by " + strings.Join(parts, ", ")
	}
	parts = nil
	for _, f := range w.OrderBy {
		parts = append(parts, f.String())
	}
	if len(parts) > 0 {
		text += " order by " + strings.Join(parts, ", ")
	}
	return text
}

// Resolved implements sql.Expression.
func (w *windowCall) Resolved() bool {
	for _, e := range w.Children() {
		if !e.Resolved() {
			return false
		}
	}
	return true
}

// Id implements sql.IdExpression.
func (w *windowCall) Id() sql.ColumnId { return w.id }

// WithId implements sql.IdExpression.
func (w *windowCall) WithId(id sql.ColumnId) sql.IdExpression {
	n := *w
	n.id = id
	return &n
}

// Window implements sql.WindowAdaptableExpression.
func (w *windowCall) Window() *sql.WindowDefinition { return w.window }

// WithWindow implements sql.WindowAdaptableExpression.
func (w *windowCall) WithWindow(_ *sql.Context, d *sql.WindowDefinition) sql.WindowAdaptableExpression {
	n := *w
	n.window = d
	return &n
}

// Children implements sql.Expression: the arguments, then the window's expressions.
func (w *windowCall) Children() []sql.Expression {
	return append(append([]sql.Expression(nil), w.args...), w.window.ToExpressions()...)
}

// WithChildren implements sql.Expression.
func (w *windowCall) WithChildren(ctx *sql.Context, c ...sql.Expression) (sql.Expression, error) {
	if len(c) != len(w.Children()) {
		return nil, sql.ErrInvalidChildrenNumber.New(w, len(c), len(w.Children()))
	}
	n := *w
	n.args = c[:len(w.args):len(w.args)]
	if w.window != nil {
		d, err := w.window.FromExpressions(ctx, c[len(w.args):])
		if err != nil {
			return nil, err
		}
		n.window = d
	}
	return &n, nil
}

// Eval is never called: windowIter computes the values.
func (w *windowCall) Eval(*sql.Context, sql.Row) (any, error) {
	return nil, errors.New("BUG: a window function was evaluated as a scalar")
}

// NewWindowFunction is never called: windowIter computes the values.
func (w *windowCall) NewWindowFunction(*sql.Context) (sql.WindowFunction, error) {
	return nil, errors.New("BUG: a window function was run by the engine")
}
