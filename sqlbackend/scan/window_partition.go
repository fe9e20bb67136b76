package scan

import (
	"context"
	"errors"
	"io"
	"sort"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// checkEvery is how many rows may pass between two looks at the context.
const checkEvery = 1024

// sorted is the input of a window, in the order of PARTITION BY and ORDER BY.
type sorted struct {
	rows       []sql.Row // in the order in which they came
	index      []int     // sorted position → place in rows
	partitions []*partition
}

// partition is the rows from start up to but without end of a sorted input.
type partition struct {
	*sorted
	start, end int
	order      sql.SortFields
	orderTypes []sql.Type
	// compareTypes are orderTypes with the widest fraction: limits of RANGE frames
	// may have more digits than the column.
	compareTypes []sql.Type
	keys         [][]any // by place in rows
	peer         []int   // sorted position → first peer's sorted position
	last         []int   // sorted position → last peer's sorted position
}

// sortWindow evaluates and sorts the rows by a window's keys.
func sortWindow(ctx *sql.Context, w *sql.WindowDefinition, rows []sql.Row) (*sorted, error) {
	s := &sorted{rows: rows, index: make([]int, len(rows))}
	np := len(w.PartitionBy)
	exprs := append(append([]sql.Expression(nil), w.PartitionBy...), w.OrderBy.ToExpressions()...)
	kinds := make([]sql.Type, len(exprs))
	for i, e := range exprs {
		kinds[i] = e.Type(ctx)
	}
	keys := make([][]any, len(rows))
	for i, r := range rows {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		keys[i] = make([]any, len(exprs))
		for j, e := range exprs {
			v, err := e.Eval(ctx, r)
			if err == nil {
				v, err = sql.UnwrapAny(ctx, v)
			}
			if err != nil {
				return nil, err
			}
			keys[i][j] = v
		}
		s.index[i] = i
	}
	c := keyComparer{ctx: ctx, types: kinds, partition: np, order: w.OrderBy}
	sort.SliceStable(s.index, func(a, b int) bool { return c.compare(keys[s.index[a]], keys[s.index[b]], 0, len(kinds)) < 0 })
	if c.err != nil {
		return nil, c.err
	}
	s.split(&c, keys)
	return s, c.err
}

// split finds the partitions and, in them, the peers.
func (s *sorted) split(c *keyComparer, keys [][]any) {
	n, np := len(s.index), c.partition
	peer, last := make([]int, n), make([]int, n)
	var orderKeys [][]any
	for _, k := range keys {
		orderKeys = append(orderKeys, k[np:])
	}
	start := 0
	for i := 0; i < n; i++ {
		k := keys[s.index[i]]
		if i > 0 && c.compare(keys[s.index[i-1]], k, 0, np) != 0 {
			s.add(c, start, i, orderKeys, peer, last)
			start = i
		}
		peer[i] = i
		if i > start && c.compare(keys[s.index[i-1]], k, np, len(c.types)) == 0 {
			peer[i] = peer[i-1]
		}
	}
	if n > start {
		s.add(c, start, n, orderKeys, peer, last)
	}
}

func (s *sorted) add(c *keyComparer, start, end int, keys [][]any, peer, last []int) {
	p := &partition{sorted: s, start: start, end: end, order: c.order, orderTypes: c.types[c.partition:], keys: keys, peer: peer, last: last}
	for i := end - 1; i >= start; i-- {
		last[i] = i
		if i+1 < end && peer[i+1] == peer[i] {
			last[i] = last[i+1]
		}
	}
	for _, t := range p.orderTypes {
		switch {
		case types.IsTime(t):
			t = types.DatetimeMaxPrecision
		case types.IsDecimal(t), types.IsInteger(t):
			t = types.InternalDecimalType
		}
		p.compareTypes = append(p.compareTypes, t)
	}
	s.partitions = append(s.partitions, p)
}

// key is the first ORDER BY value of the row at a sorted position.
func (p *partition) key(i int) any { return p.keys[p.index[i]][0] }

func (p *partition) firstPeer(i int) int { return p.peer[i] }
func (p *partition) lastPeer(i int) int  { return p.last[i] }

// row returns the row at a sorted position.
func (p *partition) row(i int) sql.Row { return p.rows[p.index[i]] }

// nonNull returns the rows whose first ORDER BY value is not NULL; the others
// stand at the partition's start or end.
func (p *partition) nonNull() (from, to int) {
	from, to = p.start, p.end
	for from < to && p.key(from) == nil {
		from = p.last[from] + 1
	}
	for to > from && p.key(to-1) == nil {
		to = p.peer[to-1]
	}
	return from, to
}

// keyComparer orders rows by their window keys: first by the partition's, then by
// ORDER BY.
type keyComparer struct {
	ctx       *sql.Context
	types     []sql.Type
	partition int
	order     sql.SortFields
	err       error
}

func (c *keyComparer) compare(a, b []any, from, to int) int {
	for i := from; i < to; i++ {
		var n int
		switch {
		case a[i] == nil && b[i] == nil:
			continue
		case a[i] == nil:
			n = -1 // NULL is the smallest value
		case b[i] == nil:
			n = 1
		default:
			var err error
			if n, err = c.types[i].Compare(c.ctx, a[i], b[i]); err != nil {
				c.err = err
			}
		}
		if n != 0 && i >= c.partition && c.order[i-c.partition].Order == sql.Descending {
			n = -n
		}
		if n != 0 {
			return n
		}
	}
	return 0
}

// readAll reads and closes an iterator.
func readAll(ctx *sql.Context, it sql.RowIter) (rows []sql.Row, err error) {
	defer func() {
		if cerr := it.Close(ctx); err == nil {
			err = cerr
		}
	}()
	for {
		r, err := it.Next(ctx)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
}
