package scan

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
)

// scalar is a function of values: what it computes depends on its arguments'
// values only, or on the session.
type scalar struct {
	*definition
	args []sql.Expression
}

// definition describes a function.
type definition struct {
	name       string // lower case, as in error messages
	least      int    // number of arguments
	most       int    // -1: any number
	acceptNull bool   // eval sees NULL arguments; else they make the result NULL
	volatile   bool   // equal arguments may give different results
	resultType func(ctx *sql.Context, args []sql.Expression) sql.Type
	eval       func(ctx *sql.Context, args []sql.Expression, values []any) (any, error)
	evalRow    func(ctx *sql.Context, args []sql.Expression, row sql.Row) (any, error) // instead of eval
}

var _ sql.FunctionExpression = (*scalar)(nil)

// always makes a result type that does not depend on arguments.
func always(t sql.Type) func(*sql.Context, []sql.Expression) sql.Type {
	return func(*sql.Context, []sql.Expression) sql.Type { return t }
}

// registerScalar adds a function under its name and others.
func registerScalar(d *definition, others ...string) {
	register(sql.FunctionN{Name: d.name, Fn: func(_ *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		if len(args) < d.least || d.most >= 0 && len(args) > d.most {
			return nil, mysql.NewSQLError(1582, "42000", "Incorrect parameter count in the call to native function '%s'", strings.ToUpper(d.name))
		}
		return &scalar{definition: d, args: args}, nil
	}}, append(others, d.name)...)
}

// Eval implements sql.Expression.
func (s *scalar) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	if s.evalRow != nil {
		return s.evalRow(ctx, s.args, row)
	}
	values := make([]any, len(s.args))
	for i, a := range s.args {
		v, err := a.Eval(ctx, row)
		if err == nil {
			v, err = sql.UnwrapAny(ctx, v)
		}
		if err != nil {
			return nil, err
		}
		if v == nil && !s.acceptNull {
			return nil, nil
		}
		values[i] = v
	}
	return s.eval(ctx, s.args, values)
}

// Type implements sql.Expression.
func (s *scalar) Type(ctx *sql.Context) sql.Type { return s.resultType(ctx, s.args) }

// IsNullable implements sql.Expression.
func (s *scalar) IsNullable(*sql.Context) bool { return true }

// IsNonDeterministic implements sql.NonDeterministicExpression.
func (s *scalar) IsNonDeterministic() bool { return s.volatile }

// Resolved implements sql.Expression.
func (s *scalar) Resolved() bool {
	for _, a := range s.args {
		if !a.Resolved() {
			return false
		}
	}
	return true
}

// String implements sql.Expression.
func (s *scalar) String() string {
	var parts []string
	for _, a := range s.args {
		parts = append(parts, a.String())
	}
	return s.name + "(" + strings.Join(parts, ", ") + ")"
}

// FunctionName implements sql.FunctionExpression.
func (s *scalar) FunctionName() string { return s.name }

// Description implements sql.FunctionExpression.
func (s *scalar) Description() string { return "computes " + s.name }

// Children implements sql.Expression.
func (s *scalar) Children() []sql.Expression { return s.args }

// WithChildren implements sql.Expression.
func (s *scalar) WithChildren(_ *sql.Context, c ...sql.Expression) (sql.Expression, error) {
	if len(c) != len(s.args) {
		return nil, sql.ErrInvalidChildrenNumber.New(s, len(c), len(s.args))
	}
	n := *s
	n.args = c
	return &n, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (s *scalar) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	if t, ok := s.Type(ctx).(sql.TypeWithCollation); ok && types.IsTextOnly(s.Type(ctx)) {
		return t.Collation(), 4
	}
	return sql.Collation_binary, 5
}
