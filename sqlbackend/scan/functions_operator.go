package scan

import (
	"context"
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/expression/function/json"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"ksql/sqlbackend/parser"
)

// The functions that the parser makes out of syntax which the engine lacks, and
// small functions of MySQL's.
func init() {
	// Not volatile: (SELECT @n := 0) beside a table must run once, not for each row.
	registerScalar(&definition{name: parser.AssignFunction, least: 2, most: 2, acceptNull: true,
		resultType: func(ctx *sql.Context, a []sql.Expression) sql.Type { return a[1].Type(ctx) }, eval: assign})
	registerScalar(&definition{name: parser.IntervalFunction, least: 2, most: -1, acceptNull: true, resultType: always(types.Int64), eval: intervalIndex})
	registerScalar(&definition{name: "benchmark", least: 2, most: 2, volatile: true, resultType: always(types.Int64), evalRow: benchmark})
	register(sql.FunctionN{Name: parser.MemberOfFunction, Fn: newMemberOf}, parser.MemberOfFunction)
	register(sql.FunctionN{Name: parser.QuantifiedFunction, Fn: newQuantified}, parser.QuantifiedFunction)
	register(sql.Function0{Name: "user", Fn: function.NewUser}, "session_user", "system_user")
	register(sql.FunctionN{Name: "instr", Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		if len(args) != 2 {
			return nil, mysql.NewSQLError(1582, "42000", "Incorrect parameter count in the call to native function 'INSTR'")
		}
		return function.NewLocate(ctx, args[1], args[0]) // heeds the collation
	}}, "instr")
	for name, make := range map[string]sql.CreateFuncNArgs{
		"regexp_like": function.NewRegexpLike, "regexp_instr": function.NewRegexpInstr,
		"regexp_replace": function.NewRegexpReplace, "regexp_substr": function.NewRegexpSubstr,
	} {
		register(sql.FunctionN{Name: name, Fn: guarded(make)}, name)
	}
}

// assign is @name := value inside of an expression.
func assign(ctx *sql.Context, args []sql.Expression, v []any) (any, error) {
	name, ok := v[0].(string)
	if !ok {
		return nil, fmt.Errorf("BUG: user variable named by %T", v[0])
	}
	return v[1], ctx.SetUserVariable(ctx, name, v[1], args[1].Type(ctx))
}

// intervalIndex is INTERVAL(n, a, b, …): how many of the numbers, which ascend, are
// not greater than n; -1 for NULL.
func intervalIndex(ctx *sql.Context, _ []sql.Expression, v []any) (any, error) {
	if v[0] == nil {
		return int64(-1), nil
	}
	n := int64(0)
	for _, x := range v[1:] {
		if x != nil {
			c, err := types.InternalDecimalType.Compare(ctx, v[0], x)
			if err != nil {
				return nil, err
			}
			if c < 0 {
				break
			}
		}
		n++
	}
	return n, nil
}

// benchmark is BENCHMARK(n, expression): it evaluates the expression n times, and
// is 0.
func benchmark(ctx *sql.Context, args []sql.Expression, row sql.Row) (any, error) {
	v, err := args[0].Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	n, ok := wholeArg(ctx, v)
	if !ok || n < 0 {
		return nil, nil
	}
	for i := int64(0); i < n; i++ {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if _, err := args[1].Eval(ctx, row); err != nil {
			return nil, err
		}
	}
	return int64(0), nil
}

// newMemberOf makes value MEMBER OF (array) from JSON_CONTAINS.
func newMemberOf(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	if len(args) != 2 {
		return nil, sql.ErrInvalidArgumentNumber.New("MEMBER OF", 2, len(args))
	}
	value, array := args[0], args[1]
	if types.IsTextOnly(value.Type(ctx)) { // text is a JSON string, not a document
		value = json.NewJSONQuote(ctx, value)
	}
	contains, err := json.NewJSONContains(ctx, array, value)
	if err != nil {
		return nil, fmt.Errorf("MEMBER OF: %w", err)
	}
	return contains, nil
}

// quantified is left op ALL|ANY (subquery).
type quantified struct {
	expression.BinaryExpressionStub
	op  string
	all bool
}

func newQuantified(_ *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	if len(args) == 4 {
		op, ok1 := args[0].(*expression.Literal)
		quantifier, ok2 := args[1].(*expression.Literal)
		if _, ok := args[3].(*plan.Subquery); ok && ok1 && ok2 {
			return &quantified{
				BinaryExpressionStub: expression.BinaryExpressionStub{LeftChild: args[2], RightChild: args[3]},
				op:                   fmt.Sprint(op.Value()), all: quantifier.Value() == "all",
			}, nil
		}
	}
	return nil, sql.ErrFunctionNotFound.New(parser.QuantifiedFunction)
}

// Type implements sql.Expression.
func (q *quantified) Type(*sql.Context) sql.Type { return types.Boolean }

// String implements sql.Expression.
func (q *quantified) String() string {
	return fmt.Sprintf("%s %s %s %s", q.LeftChild, q.op, map[bool]string{true: "ALL", false: "ANY"}[q.all], q.RightChild)
}

// WithChildren implements sql.Expression.
func (q *quantified) WithChildren(_ *sql.Context, c ...sql.Expression) (sql.Expression, error) {
	if len(c) != 2 {
		return nil, sql.ErrInvalidChildrenNumber.New(q, len(c), 2)
	}
	n := *q
	n.LeftChild, n.RightChild = c[0], c[1]
	return &n, nil
}

// Eval implements sql.Expression: ALL is true and ANY false over no values; NULLs
// among the values leave open what they could decide.
func (q *quantified) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	sub, ok := q.RightChild.(*plan.Subquery)
	if !ok {
		return nil, fmt.Errorf("%s over %T", q.op, q.RightChild)
	}
	values, err := sub.EvalMultiple(ctx, row)
	if err != nil {
		return nil, err
	}
	left, err := q.LeftChild.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	open := false
	for _, v := range values {
		r, err := q.compare(ctx, left, v)
		if err != nil {
			return nil, err
		}
		if r == nil {
			open = true
		} else if truth, ok := r.(bool); ok && truth != q.all {
			return truth, nil
		}
	}
	if open {
		return nil, nil
	}
	return q.all, nil
}

func (q *quantified) compare(ctx *sql.Context, left, right any) (any, error) {
	if left == nil || right == nil {
		return nil, nil
	}
	l, r := expression.NewLiteral(left, q.LeftChild.Type(ctx)), expression.NewLiteral(right, q.RightChild.Type(ctx))
	switch q.op {
	case "=":
		return expression.NewEquals(l, r).Eval(ctx, nil)
	case "<":
		return expression.NewLessThan(l, r).Eval(ctx, nil)
	case "<=":
		return expression.NewLessThanOrEqual(l, r).Eval(ctx, nil)
	case ">":
		return expression.NewGreaterThan(l, r).Eval(ctx, nil)
	case ">=":
		return expression.NewGreaterThanOrEqual(l, r).Eval(ctx, nil)
	case "!=", "<>":
		return expression.NewNot(expression.NewEquals(l, r)).Eval(ctx, nil)
	}
	return nil, mysql.NewSQLError(1235, "42000", "This version of MySQL doesn't yet support '%s with ALL or ANY'", q.op)
}

// guard turns a panic of a regular expression engine into error 1139.
type guard struct{ sql.Expression }

// guarded wraps a function's constructor.
func guarded(make sql.CreateFuncNArgs) sql.CreateFuncNArgs {
	return func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		e, err := make(ctx, args...)
		if err != nil {
			return nil, err
		}
		return guard{e}, nil
	}
}

// Eval implements sql.Expression.
func (g guard) Eval(ctx *sql.Context, row sql.Row) (v any, err error) {
	defer func() {
		if p := recover(); p != nil {
			v, err = nil, mysql.NewSQLError(1139, "42000", "Got error '%.64v' from regexp", p)
		}
	}()
	return g.Expression.Eval(ctx, row)
}

// WithChildren implements sql.Expression.
func (g guard) WithChildren(ctx *sql.Context, c ...sql.Expression) (sql.Expression, error) {
	e, err := g.Expression.WithChildren(ctx, c...)
	if err != nil {
		return nil, err
	}
	return guard{e}, nil
}

// FunctionName implements sql.FunctionExpression.
func (g guard) FunctionName() string {
	if f, ok := g.Expression.(sql.FunctionExpression); ok {
		return f.FunctionName()
	}
	return strings.ToLower(g.Expression.String())
}

// Description implements sql.FunctionExpression.
func (g guard) Description() string { return "matches a regular expression" }

// IsNonDeterministic implements sql.NonDeterministicExpression.
func (g guard) IsNonDeterministic() bool { return false }

// CollationCoercibility implements sql.CollationCoercible.
func (g guard) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, g.Expression)
}

// Dispose implements sql.Disposable.
func (g guard) Dispose(ctx *sql.Context) { expression.Dispose(ctx, g.Expression) }
