package parser

import (
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// operator turns operators that the engine computes itself, or that its grammar
// lacks, into calls of functions, which can be exchanged: x REGEXP y becomes
// regexp_like(x, y) = 1.
func (w *walker) operator(c *ast.ComparisonExpr) {
	if f, ok := c.Right.(*ast.FuncExpr); ok {
		name := f.Name.Lowered()
		if q := quantifiers[name]; q != "" && len(f.Exprs) == 1 {
			op := c.Operator
			c.Left = call(QuantifiedFunction, ast.NewStrVal([]byte(op)), ast.NewStrVal([]byte(q)), c.Left, argument(f.Exprs[0]))
			c.Operator, c.Right = ast.EqualStr, ast.NewIntVal([]byte("1"))
			return
		}
		if name == MemberOfFunction && len(f.Exprs) == 1 && strings.EqualFold(c.Operator, ast.RegexpStr) {
			c.Left = call(MemberOfFunction, c.Left, argument(f.Exprs[0]))
			c.Operator, c.Right = ast.EqualStr, ast.NewIntVal([]byte("1"))
			return
		}
	}
	truth := "1"
	switch strings.ToLower(c.Operator) {
	case ast.NotRegexpStr:
		truth = "0"
	case ast.RegexpStr:
	default:
		return
	}
	c.Left = call("regexp_like", c.Left, c.Right)
	c.Operator, c.Right = ast.EqualStr, ast.NewIntVal([]byte(truth))
}

// call makes a function call.
func call(name string, args ...ast.Expr) *ast.FuncExpr {
	f := &ast.FuncExpr{Name: ast.NewColIdent(name)}
	for _, a := range args {
		f.Exprs = append(f.Exprs, &ast.AliasedExpr{Expr: a})
	}
	return f
}

// argument returns the expression of a function's argument.
func argument(e ast.SelectExpr) ast.Expr {
	if a, ok := e.(*ast.AliasedExpr); ok {
		return a.Expr
	}
	return &ast.NullVal{}
}
