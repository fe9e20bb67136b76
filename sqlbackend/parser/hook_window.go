package parser

import (
	"github.com/dolthub/vitess/go/mysql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// WindowFunction is the name under which every call with OVER reaches the engine,
// with the real name as its first argument. It is one of the few names that the
// engine's planner accepts there, and no function of MySQL.
const WindowFunction = "count_distinct"

// windowFunctions can have OVER in MySQL.
var windowFunctions = map[string]bool{
	"row_number": true, "rank": true, "dense_rank": true, "percent_rank": true, "cume_dist": true, "ntile": true,
	"lag": true, "lead": true, "first_value": true, "last_value": true, "nth_value": true,
	"sum": true, "avg": true, "count": true, "min": true, "max": true,
	"std": true, "stddev": true, "stddev_pop": true, "stddev_samp": true, "variance": true, "var_pop": true, "var_samp": true,
	"bit_and": true, "bit_or": true, "bit_xor": true, "json_arrayagg": true, "json_objectagg": true, "any_value": true,
}

// windowCall renames a call with OVER.
func (w *walker) windowCall(f *ast.FuncExpr) {
	name := f.Name.Lowered()
	if name == WindowFunction || !windowFunctions[name] {
		return
	}
	if f.Distinct {
		w.err = errNotSupported("<window function>(DISTINCT ..)")
		return
	}
	if !f.Over.NameRef.IsEmpty() {
		w.err = mysql.NewSQLError(erNoSuchWindow, "HY000", "Window name '%s' is not defined.", f.Over.NameRef.String())
		return
	}
	args := ast.SelectExprs{&ast.AliasedExpr{Expr: ast.NewStrVal([]byte(name))}}
	for _, e := range f.Exprs {
		if _, star := e.(*ast.StarExpr); star && name == "count" {
			e = &ast.AliasedExpr{Expr: ast.NewIntVal([]byte("1"))}
		}
		args = append(args, e)
	}
	f.Name, f.Exprs = ast.NewColIdent(WindowFunction), args
}

// windows writes the named windows of a query block into the calls that use them:
// the engine gives a reference to an ordered window the wrong frame.
func (w *walker) windows(s *ast.Select) {
	if len(s.Window) == 0 {
		return
	}
	n := &namedWindows{w: w, defs: map[string]*ast.WindowDef{}, state: map[string]int{}}
	for _, d := range s.Window {
		key := d.Name.Lowered()
		if n.defs[key] != nil {
			w.err = mysql.NewSQLError(erDuplicateWindow, "HY000", "Window '%s' is defined twice.", d.Name.String())
			return
		}
		n.defs[key] = d
	}
	for _, d := range s.Window {
		n.resolve(d.Name)
	}
	visit := func(x ast.SQLNode) (bool, error) {
		switch x := x.(type) {
		case *ast.Subquery:
			return false, nil // has windows of its own
		case *ast.FuncExpr:
			if x != nil && x.Over != nil && !x.Over.NameRef.IsEmpty() {
				n.use(x)
			}
		}
		return w.err == nil, w.err
	}
	_ = ast.Walk(visit, s.SelectExprs)
	_ = ast.Walk(visit, s.OrderBy)
	if w.err == nil {
		s.Window = nil
	}
}

// namedWindows are the windows of one WINDOW clause.
type namedWindows struct {
	w     *walker
	defs  map[string]*ast.WindowDef
	state map[string]int // 1: being resolved, 2: refers to no other window any more
}

// resolve writes out what a window takes over from others.
func (n *namedWindows) resolve(name ast.ColIdent) *ast.WindowDef {
	key := name.Lowered()
	d := n.defs[key]
	switch {
	case n.w.err != nil || n.state[key] == 2:
		return d
	case d == nil:
		n.w.err = mysql.NewSQLError(erNoSuchWindow, "HY000", "Window name '%s' is not defined.", name.String())
		return nil
	case n.state[key] == 1:
		n.w.err = mysql.NewSQLError(erCircularWindow, "HY000", "There is a circularity in the window dependency graph.")
		return nil
	}
	n.state[key] = 1
	if !d.NameRef.IsEmpty() {
		if base := n.resolve(d.NameRef); n.w.err == nil {
			n.inherit(d, base)
		}
	}
	n.state[key] = 2
	return d
}

// inherit completes d with what base defines.
func (n *namedWindows) inherit(d, base *ast.WindowDef) {
	name := d.Name.String()
	if name == "" {
		name = "<unnamed window>"
	}
	switch {
	case len(d.PartitionBy) > 0:
		n.w.err = mysql.NewSQLError(erWindowPartition, "HY000", "A window which depends on another cannot define partitioning.")
	case base.Frame != nil:
		n.w.err = mysql.NewSQLError(erWindowFrame, "HY000", "Window '%s' has a frame definition, so cannot be referenced by another window.", base.Name.String())
	case len(d.OrderBy) > 0 && len(base.OrderBy) > 0:
		n.w.err = mysql.NewSQLError(erWindowOrder, "HY000", "Window '%s' cannot inherit '%s' since both contain an ORDER BY clause.", name, base.Name.String())
	default:
		d.PartitionBy, d.NameRef = base.PartitionBy, ast.ColIdent{}
		if len(d.OrderBy) == 0 {
			d.OrderBy = base.OrderBy
		}
	}
}

// use writes a window into a call: OVER w is the window itself, OVER (w …) may add
// to it.
func (n *namedWindows) use(f *ast.FuncExpr) {
	base := n.resolve(f.Over.NameRef)
	if n.w.err != nil {
		return
	}
	own := ast.WindowDef(*f.Over)
	if len(own.PartitionBy) == 0 && len(own.OrderBy) == 0 && own.Frame == nil {
		own = *base
	} else {
		n.inherit(&own, base)
	}
	own.Name, own.NameRef = ast.ColIdent{}, ast.ColIdent{}
	over := ast.Over(own)
	f.Over = &over
}

// frameNumber takes a distance out of the interval in which it travelled.
func frameNumber(b *ast.FrameBound) {
	if i, ok := b.Expr.(*ast.IntervalExpr); ok && i.Unit == frameUnit {
		b.Expr = i.Expr
	}
}
