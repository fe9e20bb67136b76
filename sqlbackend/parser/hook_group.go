package parser

import (
	"strconv"
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// groupedTable is the name of the derived table of groups.
const groupedTable = "ksql groups"

// windowsOverGroups splits a query block that computes window functions over groups
// in two, which the engine can't plan as one:
//
//	SELECT g, RANK() OVER (ORDER BY SUM(x)) FROM t GROUP BY g
//	SELECT `c0` AS g, RANK() OVER (ORDER BY `c1`) FROM (SELECT g AS c0, SUM(x) AS c1 FROM t GROUP BY g) `ksql groups`
func (w *walker) windowsOverGroups(s *ast.Select) {
	if s.Into != nil || !hasWindowCall(s) || len(s.GroupBy) == 0 && !hasAggregate(s) {
		return
	}
	for _, e := range s.SelectExprs {
		if _, ok := e.(*ast.AliasedExpr); !ok {
			return // SELECT *: left to the engine, which refuses it
		}
	}
	g := &grouper{columns: map[string]string{}, groups: map[string]bool{}, aliases: map[string]bool{}, inner: &ast.Select{
		From: s.From, Where: s.Where, GroupBy: s.GroupBy, Having: s.Having,
		QueryOpts: ast.QueryOpts{StraightJoinHint: s.QueryOpts.StraightJoinHint},
	}}
	g.groupings(s.SelectExprs)
	outer := make(ast.SelectExprs, len(s.SelectExprs))
	for i, e := range s.SelectExprs {
		outer[i] = g.selected(e.(*ast.AliasedExpr))
	}
	for _, o := range s.OrderBy {
		g.ordered(o)
	}
	s.SelectExprs = outer
	s.From = ast.TableExprs{&ast.AliasedTableExpr{Expr: &ast.Subquery{Select: g.inner}, As: ast.NewTableIdent(groupedTable)}}
	s.Where, s.GroupBy, s.Having = nil, nil, nil
}

// grouper moves expressions into the query block of the groups.
type grouper struct {
	inner   *ast.Select
	columns map[string]string // text of an expression → its column
	groups  map[string]bool   // texts of the grouping expressions
	aliases map[string]bool   // aliases of the outer block, lower case
}

// groupings replaces GROUP BY 1 by the expression it stands for, and notes the
// grouping expressions.
func (g *grouper) groupings(list ast.SelectExprs) {
	for i, e := range g.inner.GroupBy {
		switch e := e.(type) {
		case *ast.SQLVal:
			if n, err := strconv.Atoi(string(e.Val)); err == nil && e.Type == ast.IntVal && n >= 1 && n <= len(list) {
				g.inner.GroupBy[i] = list[n-1].(*ast.AliasedExpr).Expr
			}
		case *ast.ColName:
			for _, x := range list {
				if a := x.(*ast.AliasedExpr); e.Qualifier.IsEmpty() && a.As.EqualString(e.Name.String()) {
					g.groups[ast.String(a.Expr)] = true
				}
			}
		}
		g.groups[ast.String(g.inner.GroupBy[i])] = true
	}
}

// selected returns the outer form of a column: expressions without window functions
// are computed with the groups, under their own alias, so that GROUP BY and HAVING
// find it.
func (g *grouper) selected(e *ast.AliasedExpr) *ast.AliasedExpr {
	name := e.As
	switch c, isColumn := e.Expr.(*ast.ColName); {
	case !name.IsEmpty():
		g.aliases[name.Lowered()] = true
	case isColumn:
		name = c.Name
		g.aliases[name.Lowered()] = true
	default:
		name = ast.NewColIdent(e.InputExpression)
	}
	if !windowIn(e.Expr) {
		return &ast.AliasedExpr{Expr: g.column(e.Expr, e.As.String()), As: name}
	}
	return &ast.AliasedExpr{Expr: g.rewrite(e.Expr), As: name}
}

// ordered rewrites one ORDER BY expression; ordinals and aliases stay.
func (g *grouper) ordered(o *ast.Order) {
	switch e := o.Expr.(type) {
	case *ast.SQLVal:
		return
	case *ast.ColName:
		if e.Qualifier.IsEmpty() && g.aliases[e.Name.Lowered()] {
			return
		}
	}
	o.Expr = g.rewrite(o.Expr)
}

// column returns the column of the groups that holds an expression.
func (g *grouper) column(e ast.Expr, alias string) ast.Expr {
	text := ast.String(e)
	name, ok := g.columns[text]
	if !ok || alias != "" && !strings.EqualFold(name, alias) {
		if name = alias; name == "" {
			name = "ksql c" + strconv.Itoa(len(g.inner.SelectExprs))
		}
		g.columns[text] = name
		g.inner.SelectExprs = append(g.inner.SelectExprs, &ast.AliasedExpr{Expr: e, As: ast.NewColIdent(name)})
	}
	return &ast.ColName{Name: ast.NewColIdent(name), Qualifier: ast.TableName{Name: ast.NewTableIdent(groupedTable)}}
}

// rewrite exchanges the aggregates, columns and subqueries in an expression by the
// groups' columns, also inside of window functions.
func (g *grouper) rewrite(e ast.Expr) ast.Expr {
	var parts []ast.Expr
	var windows []*ast.FuncExpr
	_ = ast.Walk(func(n ast.SQLNode) (bool, error) {
		if x, ok := n.(ast.Expr); ok && g.groups[ast.String(x)] {
			parts = append(parts, x)
			return false, nil
		}
		switch n := n.(type) {
		case *ast.FuncExpr:
			if n.Over != nil {
				windows = append(windows, n)
				return false, nil
			}
			if isAggregate(n) {
				parts = append(parts, n)
				return false, nil
			}
		case *ast.GroupConcatExpr:
			parts = append(parts, n)
			return false, nil
		case *ast.Subquery:
			parts = append(parts, n)
			return false, nil
		case *ast.ColName:
			if !strings.HasPrefix(n.Name.String(), "@") {
				parts = append(parts, n)
			}
			return false, nil
		}
		return true, nil
	}, e)
	for _, p := range parts {
		e = ast.ReplaceExpr(e, p, g.column(p, ""))
	}
	for _, f := range windows {
		g.window(f)
	}
	return e
}

// window rewrites the arguments and the window of a call.
func (g *grouper) window(f *ast.FuncExpr) {
	for _, a := range f.Exprs {
		if a, ok := a.(*ast.AliasedExpr); ok {
			a.Expr = g.rewrite(a.Expr)
		}
	}
	over := *f.Over
	over.PartitionBy = append(ast.Exprs(nil), over.PartitionBy...)
	for i, e := range over.PartitionBy {
		over.PartitionBy[i] = g.rewrite(e)
	}
	order := make(ast.OrderBy, len(over.OrderBy))
	for i, o := range over.OrderBy {
		c := *o
		c.Expr = g.rewrite(c.Expr)
		order[i] = &c
	}
	if len(order) > 0 {
		over.OrderBy = order
	}
	f.Over = &over
}

// hasWindowCall looks for window functions in the block's own expressions.
func hasWindowCall(s *ast.Select) bool {
	for _, e := range s.SelectExprs {
		if a, ok := e.(*ast.AliasedExpr); ok && windowIn(a.Expr) {
			return true
		}
	}
	for _, o := range s.OrderBy {
		if windowIn(o.Expr) {
			return true
		}
	}
	return false
}

// windowIn looks for a window function in an expression, subqueries aside.
func windowIn(e ast.Expr) (found bool) {
	_ = ast.Walk(func(n ast.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *ast.Subquery:
			return false, nil
		case *ast.FuncExpr:
			found = found || n.Over != nil
		}
		return !found, nil
	}, e)
	return found
}

// hasAggregate looks for aggregates in the block's own expressions, also inside of
// window functions.
func hasAggregate(s *ast.Select) (found bool) {
	visit := func(n ast.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *ast.Subquery:
			return false, nil
		case *ast.GroupConcatExpr:
			found = true
		case *ast.FuncExpr:
			found = found || n.Over == nil && isAggregate(n)
		}
		return !found, nil
	}
	_ = ast.Walk(visit, s.SelectExprs)
	_ = ast.Walk(visit, s.OrderBy)
	return found || s.Having != nil
}

// isAggregate says whether a call without OVER is that of an aggregate.
func isAggregate(f *ast.FuncExpr) bool {
	switch f.Name.Lowered() {
	case "sum", "avg", "count", "min", "max", "std", "stddev", "stddev_pop", "stddev_samp", "variance", "var_pop", "var_samp",
		"bit_and", "bit_or", "bit_xor", "json_arrayagg", "json_objectagg", "any_value", SumFunction, AvgFunction:
		return f.Over == nil && f.Qualifier.IsEmpty()
	}
	return false
}
