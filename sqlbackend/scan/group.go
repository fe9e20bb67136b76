package scan

import (
	"context"
	"errors"
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// groupBy takes over GROUP BY: groups are told apart by exact keys, and DISTINCT
// inside of aggregates heeds collations. Without grouping expressions only the
// aggregates are exchanged.
func (b *builder) groupBy(ctx *sql.Context, n *plan.GroupBy, r sql.Row) (sql.RowIter, error) {
	deps := make([]sql.Expression, len(n.SelectDeps))
	changed := false
	for i, e := range n.SelectDeps {
		d, same, err := transform.Expr(ctx, e, collated)
		if err != nil {
			return nil, err
		}
		deps[i] = d
		changed = changed || !bool(same)
	}
	if len(n.GroupByExprs) == 0 {
		if !changed {
			return nil, nil
		}
		return b.build(ctx, plan.NewGroupBy(deps, nil, n.Child), r)
	}
	child, err := b.build(ctx, n.Child, r)
	if err != nil {
		return nil, err
	}
	return &groupIter{child: child, exprs: deps, by: n.GroupByExprs, keys: newKeySet(ctx, n.GroupByExprs)}, nil
}

// collated exchanges aggregates that compare bytes.
func collated(_ *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	switch e := e.(type) {
	case *aggregation.CountDistinct:
		return countDistinct{e}, transform.NewTree, nil
	case *aggregation.GroupConcat:
		if g := newGroupConcat(e); g != nil {
			return g, transform.NewTree, nil
		}
	}
	return e, transform.SameTree, nil
}

// groupIter groups all rows of its child in memory, and returns the groups in the
// order in which they appeared.
type groupIter struct {
	child  sql.RowIter
	exprs  []sql.Expression
	by     []sql.Expression
	keys   *keySet
	groups [][]sql.AggregationBuffer
	next   int
}

// Next implements sql.RowIter.
func (it *groupIter) Next(ctx *sql.Context) (sql.Row, error) {
	if it.groups == nil {
		if err := it.compute(ctx); err != nil {
			return nil, err
		}
	}
	if it.next >= len(it.groups) {
		return nil, io.EOF
	}
	bufs := it.groups[it.next]
	it.groups[it.next] = nil
	it.next++
	defer dispose(ctx, bufs)
	row := make(sql.Row, len(bufs))
	for i, b := range bufs {
		v, err := b.Eval(ctx)
		if err != nil {
			return nil, err
		}
		row[i] = v
	}
	return row, nil
}

func (it *groupIter) compute(ctx *sql.Context) error {
	it.groups = [][]sql.AggregationBuffer{}
	places := map[string]int{}
	key := make(sql.Row, len(it.by))
	for n := 0; ; n++ {
		if n%checkEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r, err := it.child.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for i, e := range it.by {
			if key[i], err = e.Eval(ctx, r); err != nil {
				return err
			}
		}
		k, err := it.keys.key(ctx, key)
		if err != nil {
			return err
		}
		place, ok := places[string(k)]
		if !ok {
			bufs, err := newBuffers(ctx, it.exprs)
			if err != nil {
				return err
			}
			place = len(it.groups)
			places[string(k)] = place
			it.groups = append(it.groups, bufs)
		}
		for _, b := range it.groups[place] {
			if err := b.Update(ctx, r); err != nil {
				return err
			}
		}
	}
}

// newBuffers makes the buffers of a group; an expression that is no aggregate has
// the value of the group's first row.
func newBuffers(ctx *sql.Context, exprs []sql.Expression) ([]sql.AggregationBuffer, error) {
	out := make([]sql.AggregationBuffer, len(exprs))
	for i, e := range exprs {
		a, ok := e.(sql.Aggregation)
		if !ok {
			a = aggregation.NewFirst(e)
		}
		b, err := a.NewBuffer(ctx)
		if err != nil {
			return nil, err
		}
		out[i] = b
	}
	return out, nil
}

func dispose(ctx *sql.Context, bufs []sql.AggregationBuffer) {
	for _, b := range bufs {
		b.Dispose(ctx)
	}
}

// Close implements sql.RowIter.
func (it *groupIter) Close(ctx *sql.Context) error {
	for _, g := range it.groups {
		dispose(ctx, g)
	}
	it.groups = [][]sql.AggregationBuffer{}
	return it.child.Close(ctx)
}

// countDistinct is COUNT(DISTINCT …) under the collations of its arguments. It only
// lives while a statement runs.
type countDistinct struct{ *aggregation.CountDistinct }

// NewBuffer implements sql.Aggregation.
func (c countDistinct) NewBuffer(ctx *sql.Context) (sql.AggregationBuffer, error) {
	exprs := c.Children()
	return &distinctBuffer{AggregationBuffer: &counter{}, exprs: exprs, seen: newKeySet(ctx, exprs)}, nil
}

// WithChildren implements sql.Expression.
func (c countDistinct) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := c.CountDistinct.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return countDistinct{e.(*aggregation.CountDistinct)}, nil
}

// counter counts updates.
type counter struct{ n int64 }

// Update implements sql.AggregationBuffer.
func (c *counter) Update(*sql.Context, sql.Row) error { c.n++; return nil }

// Eval implements sql.AggregationBuffer.
func (c *counter) Eval(*sql.Context) (any, error) { return c.n, nil }

// Dispose implements sql.Disposable.
func (c *counter) Dispose(*sql.Context) {}
