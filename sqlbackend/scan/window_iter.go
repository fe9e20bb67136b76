package scan

import (
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// windowIter computes the window functions of a node over all rows of its child,
// and returns the rows in the child's order.
type windowIter struct {
	exprs  []sql.Expression
	child  sql.RowIter
	rows   []sql.Row
	values map[int][]any // position in exprs → values
	next   int
	ready  bool
}

// window takes over nodes whose functions all come from here.
func (b *builder) window(ctx *sql.Context, n *plan.Window, r sql.Row) (sql.RowIter, error) {
	for _, e := range n.SelectExprs {
		switch e := windowExpr(e).(type) {
		case *windowCall:
		case sql.WindowAdaptableExpression:
			if e.Window() != nil {
				return nil, nil
			}
		}
	}
	child, err := b.build(ctx, n.Child, r)
	if err != nil {
		return nil, err
	}
	return &windowIter{exprs: n.SelectExprs, child: child}, nil
}

// windowExpr takes an alias off.
func windowExpr(e sql.Expression) sql.Expression {
	if a, ok := e.(*expression.Alias); ok {
		return a.Child
	}
	return e
}

// prepare reads the child and computes every function.
func (it *windowIter) prepare(ctx *sql.Context) error {
	child := it.child
	it.child = nil
	rows, err := readAll(ctx, child)
	if err != nil {
		return err
	}
	it.rows, it.values = rows, map[int][]any{}
	orders := map[string]*sorted{} // windows with the same order share it
	for i, e := range it.exprs {
		w, ok := windowExpr(e).(*windowCall)
		if !ok {
			continue
		}
		text := partitionText(w.window)
		s := orders[text]
		if s == nil {
			if s, err = sortWindow(ctx, w.window, rows); err != nil {
				return err
			}
			orders[text] = s
		}
		out := make([]any, len(rows))
		for _, p := range s.partitions {
			if err := w.compute(ctx, p, out); err != nil {
				return err
			}
		}
		it.values[i] = out
	}
	return nil
}

// Next implements sql.RowIter.
func (it *windowIter) Next(ctx *sql.Context) (sql.Row, error) {
	if !it.ready {
		if err := it.prepare(ctx); err != nil {
			return nil, err
		}
		it.ready = true
	}
	if it.next >= len(it.rows) {
		return nil, io.EOF
	}
	row := it.rows[it.next]
	out := make(sql.Row, len(it.exprs))
	for i, e := range it.exprs {
		if v, ok := it.values[i]; ok {
			out[i] = v[it.next]
			continue
		}
		v, err := e.Eval(ctx, row)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	it.next++
	return out, nil
}

// Close implements sql.RowIter.
func (it *windowIter) Close(ctx *sql.Context) error {
	it.rows, it.values = nil, nil
	if it.child == nil {
		return nil
	}
	child := it.child
	it.child = nil
	return child.Close(ctx)
}
