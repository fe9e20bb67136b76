package parser

import (
	"context"
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// scope is what names mean at a place of the tree.
type scope struct {
	// ctes are the common table expressions in reach, in lower case.
	ctes   map[string]bool
	parent *scope
}

func (s *scope) isCTE(name string) bool {
	for ; s != nil; s = s.parent {
		if s.ctes[name] {
			return true
		}
	}
	return false
}

// walker runs the parser's own hooks over a tree.
type walker struct {
	ctx context.Context
	src source
	err error
}

// walk moves lock clauses to their tables, makes AS OF safe, renames aggregates
// and window functions and sets the headers of columns, everywhere in a statement.
func walk(ctx context.Context, stmt ast.Statement, src source) error {
	w := &walker{ctx: ctx, src: src}
	w.node(stmt, nil)
	return w.err
}

// node visits n and everything below it.
func (w *walker) node(n ast.SQLNode, in *scope) {
	if n == nil || w.err != nil {
		return
	}
	first := true
	_ = ast.Walk(func(n ast.SQLNode) (bool, error) {
		if w.err != nil {
			return false, w.err
		}
		if with := withOf(n); with != nil && !first {
			w.node(n, in) // names of its own: a new scope
			return false, nil
		} else if with != nil {
			in = &scope{ctes: names(with), parent: in}
		}
		first = false
		switch n := n.(type) {
		case *ast.Select:
			if n != nil && n.Lock != nil {
				w.lock(n.Lock, n.From, in)
			}
			if n != nil {
				w.windows(n)
				w.windowsOverGroups(n)
			}
		case *ast.SetOp:
			if n != nil && n.Lock != nil {
				w.lockSetOp(n, in)
			}
		case *ast.AliasedExpr:
			if n != nil {
				w.src.header(n)
			}
		case *ast.AliasedTableExpr:
			if n != nil {
				w.asOf(n)
			}
		case *ast.ComparisonExpr:
			if n != nil {
				w.operator(n)
				like(n)
			}
		case *ast.Where:
			if n != nil && n.Type == ast.WhereStr {
				n.Expr = likeRanges(n.Expr)
			}
		case *ast.FrameBound:
			if n != nil {
				frameNumber(n)
			}
		case *ast.FuncExpr:
			switch {
			case n == nil:
			case n.Over != nil:
				w.windowCall(n)
			default:
				renameAggregate(n)
			}
		}
		for _, c := range unwalked(n) {
			w.node(c, in)
		}
		return true, w.err
	}, n)
}

// visitAll calls f for every node of a tree.
func visitAll(n ast.SQLNode, f func(ast.SQLNode)) {
	_ = ast.Walk(func(n ast.SQLNode) (bool, error) {
		f(n)
		for _, c := range unwalked(n) {
			visitAll(c, f)
		}
		return true, nil
	}, n)
}

// withOf returns a node's WITH clause.
func withOf(n ast.SQLNode) *ast.With {
	switch n := n.(type) {
	case *ast.Select:
		if n != nil {
			return n.With
		}
	case *ast.SetOp:
		if n != nil {
			return n.With
		}
	case *ast.Insert:
		if n != nil {
			return n.With
		}
	case *ast.Update:
		if n != nil {
			return n.With
		}
	case *ast.Delete:
		if n != nil {
			return n.With
		}
	}
	return nil
}

// names returns the names that a WITH clause defines.
func names(w *ast.With) map[string]bool {
	m := make(map[string]bool, len(w.Ctes))
	for _, c := range w.Ctes {
		m[strings.ToLower(c.As.String())] = true
	}
	return m
}

// unwalked returns the children of a node that the engine's own Walk leaves out.
func unwalked(n ast.SQLNode) []ast.SQLNode {
	switch n := n.(type) {
	case *ast.SetOp:
		if n != nil {
			return []ast.SQLNode{n.With, n.OrderBy, n.Limit}
		}
	case *ast.Select:
		if n != nil && len(n.Window) > 0 {
			return []ast.SQLNode{n.Window}
		}
	case *ast.Over:
		if n != nil && n.Frame != nil {
			return []ast.SQLNode{n.Frame}
		}
	case ast.AliasedValues:
		return []ast.SQLNode{n.Values}
	case *ast.Explain:
		if n != nil {
			return []ast.SQLNode{n.Statement}
		}
	case *ast.DDL:
		if n != nil {
			return ddlChildren(n)
		}
	case *ast.IfStatement:
		return conditions(n)
	case *ast.CaseStatement:
		return caseExprs(n)
	case *ast.While:
		if n != nil {
			return []ast.SQLNode{n.Condition}
		}
	case *ast.Repeat:
		if n != nil {
			return []ast.SQLNode{n.Condition}
		}
	case *ast.Return:
		if n != nil {
			return []ast.SQLNode{n.Expr}
		}
	}
	return nil
}

// ddlChildren are the bodies of stored programs.
func ddlChildren(d *ast.DDL) []ast.SQLNode {
	var out []ast.SQLNode
	if d.ProcedureSpec != nil && d.ProcedureSpec.Body != nil {
		out = append(out, d.ProcedureSpec.Body)
	}
	if d.TriggerSpec != nil && d.TriggerSpec.Body != nil {
		out = append(out, d.TriggerSpec.Body)
	}
	if d.EventSpec != nil && d.EventSpec.Body != nil {
		out = append(out, d.EventSpec.Body)
	}
	return out
}

func conditions(n *ast.IfStatement) []ast.SQLNode {
	if n == nil {
		return nil
	}
	var out []ast.SQLNode
	for _, c := range n.Conditions {
		out = append(out, c.Expr)
	}
	return out
}

func caseExprs(n *ast.CaseStatement) []ast.SQLNode {
	if n == nil {
		return nil
	}
	out := []ast.SQLNode{n.Expr}
	for _, c := range n.Cases {
		out = append(out, c.Case)
	}
	return out
}
