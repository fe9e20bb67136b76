package scan

import (
	"context"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
)

// compute writes the call's value for every row of a partition into out, by the
// rows' places in the input.
func (w *windowCall) compute(ctx *sql.Context, p *partition, out []any) error {
	switch w.name {
	case "row_number", "rank", "dense_rank", "percent_rank", "cume_dist":
		w.ranks(p, out)
		return nil
	case "ntile":
		return w.tiles(ctx, p, out)
	case "lag", "lead":
		return w.neighbours(ctx, p, out)
	}
	f, err := frameOf(ctx, w.window)
	if err != nil {
		return err
	}
	if w.name == "count" {
		return w.counts(ctx, p, &f, out)
	}
	if agg := w.aggregate(ctx); agg != nil {
		return w.aggregates(ctx, p, &f, agg, out)
	}
	return w.framed(ctx, p, &f, out)
}

// ranks computes the functions that look at positions and peers only.
func (w *windowCall) ranks(p *partition, out []any) {
	dense, n := uint64(0), p.end-p.start
	for i := p.start; i < p.end; i++ {
		if p.firstPeer(i) == i {
			dense++
		}
		rank := p.firstPeer(i) - p.start + 1
		var v any
		switch w.name {
		case "row_number":
			v = uint64(i - p.start + 1)
		case "rank":
			v = uint64(rank)
		case "dense_rank":
			v = dense
		case "percent_rank":
			v = 0.0
			if n > 1 {
				v = float64(rank-1) / float64(n-1)
			}
		case "cume_dist":
			v = float64(p.lastPeer(i)-p.start+1) / float64(n)
		}
		out[p.index[i]] = v
	}
}

// argument evaluates an argument that must be the same non-negative number for all
// rows.
func (w *windowCall) argument(ctx *sql.Context, i int, least int64) (int, error) {
	v, err := w.args[i].Eval(ctx, nil)
	if err != nil {
		return 0, err
	}
	n, _, err := types.Int64.Convert(ctx, v)
	k, ok := n.(int64)
	if err != nil || !ok || k < least {
		return 0, mysql.NewSQLError(1210, "HY000", "Incorrect arguments to %s", w.name)
	}
	return int(min(k, 1<<40)), nil
}

// tiles computes NTILE: groups whose sizes differ by at most one, larger ones first.
func (w *windowCall) tiles(ctx *sql.Context, p *partition, out []any) error {
	k, err := w.argument(ctx, 0, 1)
	if err != nil {
		return err
	}
	n := p.end - p.start
	size, larger := n/k, n%k
	for i := 0; i < n; i++ {
		var tile int
		if i < larger*(size+1) {
			tile = i / (size + 1)
		} else {
			tile = larger + (i-larger*(size+1))/size
		}
		out[p.index[p.start+i]] = uint64(tile + 1)
	}
	return nil
}

// neighbours computes LAG and LEAD.
func (w *windowCall) neighbours(ctx *sql.Context, p *partition, out []any) error {
	n := 1
	if len(w.args) > 1 {
		var err error
		if n, err = w.argument(ctx, 1, 0); err != nil {
			return err
		}
	}
	if w.name == "lag" {
		n = -n
	}
	t := w.Type(ctx)
	for i := p.start; i < p.end; i++ {
		j := i + n
		switch {
		case j >= p.start && j < p.end:
			v, err := w.args[0].Eval(ctx, p.row(j))
			if err == nil && len(w.args) == 3 {
				v, err = convert(ctx, t, v)
			}
			if err != nil {
				return err
			}
			out[p.index[i]] = v
		case len(w.args) == 3:
			v, err := w.args[2].Eval(ctx, p.row(i))
			if err == nil {
				v, err = convert(ctx, t, v)
			}
			if err != nil {
				return err
			}
			out[p.index[i]] = v
		}
	}
	return nil
}

// convert brings a value into a type; NULL stays NULL.
func convert(ctx *sql.Context, t sql.Type, v any) (any, error) {
	if v == nil {
		return nil, nil
	}
	v, _, err := t.Convert(ctx, v)
	return v, err
}

// framed computes FIRST_VALUE, LAST_VALUE and NTH_VALUE.
func (w *windowCall) framed(ctx *sql.Context, p *partition, f *frame, out []any) error {
	n := 0
	if w.name == "nth_value" {
		var err error
		if n, err = w.argument(ctx, 1, 1); err != nil {
			return err
		}
		n--
	}
	for i := p.start; i < p.end; i++ {
		from, to, err := f.interval(ctx, p, i)
		if err != nil {
			return err
		}
		j := from + n
		if w.name == "last_value" {
			j = to - 1
		}
		if j < from || j >= to {
			continue
		}
		if out[p.index[i]], err = w.args[0].Eval(ctx, p.row(j)); err != nil {
			return err
		}
	}
	return nil
}

// counts computes COUNT from the number of values before each row.
func (w *windowCall) counts(ctx *sql.Context, p *partition, f *frame, out []any) error {
	before := make([]int64, p.end-p.start+1)
	for i := p.start; i < p.end; i++ {
		v, err := w.args[0].Eval(ctx, p.row(i))
		if err != nil {
			return err
		}
		k := i - p.start
		before[k+1] = before[k]
		if v != nil {
			before[k+1]++
		}
	}
	for i := p.start; i < p.end; i++ {
		from, to, err := f.interval(ctx, p, i)
		if err != nil {
			return err
		}
		n := int64(0)
		if from < to {
			n = before[to-p.start] - before[from-p.start]
		}
		out[p.index[i]] = n
	}
	return nil
}

// aggregates computes an aggregate over each row's frame. Rows with the frame of
// the row before have its value; a frame that only grows goes on where it was; one
// that moves is added up again, or for exact sums and counts has the rows taken out
// that left it.
func (w *windowCall) aggregates(ctx *sql.Context, p *partition, f *frame, agg sql.Aggregation, out []any) error {
	a := &frameAggregate{call: w, agg: agg, p: p}
	defer a.dispose(ctx)
	for i := p.start; i < p.end; i++ {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		from, to, err := f.interval(ctx, p, i)
		if err != nil {
			return err
		}
		if out[p.index[i]], err = a.over(ctx, from, to); err != nil {
			return err
		}
	}
	return nil
}

// frameAggregate is an aggregate over a frame that moves.
type frameAggregate struct {
	call     *windowCall
	agg      sql.Aggregation
	p        *partition
	buf      sql.AggregationBuffer
	from, to int // rows that buf holds
	value    any
}

// over returns the aggregate of the rows from up to but without to.
func (a *frameAggregate) over(ctx *sql.Context, from, to int) (any, error) {
	if a.buf != nil && from == a.from && to == a.to {
		return a.value, nil
	}
	if s, ok := a.buf.(*sumBuffer); ok && s.exact && from >= a.from && to >= a.to && from < a.to {
		for ; a.from < from; a.from++ { // exact sums can give rows back
			v, err := s.child.Eval(ctx, a.p.row(a.from))
			if err == nil {
				err = s.add(ctx, v, -1)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	if a.buf == nil || from != a.from || to < a.to || a.collects() {
		a.dispose(ctx)
		buf, err := a.agg.NewBuffer(ctx)
		if err != nil {
			return nil, err
		}
		a.buf, a.from, a.to = buf, from, from
	}
	for ; a.to < to; a.to++ {
		if err := a.buf.Update(ctx, a.p.row(a.to)); err != nil {
			return nil, err
		}
	}
	v, err := a.buf.Eval(ctx)
	a.value = v
	return v, err
}

// collects says whether the buffer's values share memory, so that a later row
// would change an earlier value.
func (a *frameAggregate) collects() bool {
	return a.call.name == "json_arrayagg" || a.call.name == "json_objectagg"
}

func (a *frameAggregate) dispose(ctx *sql.Context) {
	if a.buf != nil {
		a.buf.Dispose(ctx)
	}
}
