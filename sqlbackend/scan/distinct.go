package scan

import (
	"errors"
	"io"

	"github.com/dolthub/go-mysql-server/sql"
)

// distinctBuffer hands only the first of equal rows to an aggregate. Rows with a
// NULL are left out, as DISTINCT aggregates do.
type distinctBuffer struct {
	sql.AggregationBuffer
	exprs []sql.Expression
	seen  *keySet
}

// Update implements sql.AggregationBuffer.
func (b *distinctBuffer) Update(ctx *sql.Context, row sql.Row) error {
	values, err := evalAll(ctx, b.exprs, row)
	if err != nil || values == nil {
		return err
	}
	fresh, err := b.seen.add(ctx, values)
	if err != nil || !fresh {
		return err
	}
	return b.AggregationBuffer.Update(ctx, row)
}

// evalAll evaluates expressions; it returns nil if one is NULL.
func evalAll(ctx *sql.Context, exprs []sql.Expression, row sql.Row) (sql.Row, error) {
	out := make(sql.Row, len(exprs))
	for i, e := range exprs {
		v, err := e.Eval(ctx, row)
		if err != nil || v == nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// distinctIter returns the first of equal rows.
type distinctIter struct {
	child sql.RowIter
	seen  *keySet
}

func newDistinctIter(child sql.RowIter, schema sql.Schema) sql.RowIter {
	return &distinctIter{child: child, seen: newSchemaSet(schema)}
}

// Next implements sql.RowIter.
func (it *distinctIter) Next(ctx *sql.Context) (sql.Row, error) {
	for {
		r, err := it.child.Next(ctx)
		if err != nil {
			return nil, err
		}
		fresh, err := it.seen.add(ctx, r)
		if err != nil {
			return nil, err
		}
		if fresh {
			return r, nil
		}
	}
}

// Close implements sql.RowIter.
func (it *distinctIter) Close(ctx *sql.Context) error {
	it.seen = newSchemaSet(nil)
	return it.child.Close(ctx)
}

// multisetIter is EXCEPT and INTERSECT: it counts the rows of the right side, and
// returns those of the left side that it has not (EXCEPT) or has (INTERSECT).
// DISTINCT is left to a distinctIter around it.
type multisetIter struct {
	left, right sql.RowIter
	except, all bool
	keys        *keySet
	counts      map[string]int
}

// Next implements sql.RowIter.
func (it *multisetIter) Next(ctx *sql.Context) (sql.Row, error) {
	if it.counts == nil {
		if err := it.count(ctx); err != nil {
			return nil, err
		}
	}
	for {
		r, err := it.left.Next(ctx)
		if err != nil {
			return nil, err
		}
		k, err := it.keys.key(ctx, r)
		if err != nil {
			return nil, err
		}
		n := it.counts[string(k)]
		if n > 0 && it.all { // every row of the right side stands for one of the left
			it.counts[string(k)] = n - 1
		}
		if (n > 0) != it.except {
			return r, nil
		}
	}
}

func (it *multisetIter) count(ctx *sql.Context) error {
	it.counts = map[string]int{}
	for {
		r, err := it.right.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		k, err := it.keys.key(ctx, r)
		if err != nil {
			return err
		}
		it.counts[string(k)]++
	}
}

// Close implements sql.RowIter.
func (it *multisetIter) Close(ctx *sql.Context) error {
	it.counts = map[string]int{}
	return errors.Join(it.left.Close(ctx), it.right.Close(ctx))
}
