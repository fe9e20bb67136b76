package scan

import (
	"fmt"
	"sort"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/shopspring/decimal"
)

// bound is one end of a frame.
type bound struct {
	unbounded, current bool
	expr               sql.Expression // n PRECEDING or FOLLOWING
	preceding          bool
	n                  int // value of expr in ROWS frames
}

// frame says which rows around a row its function looks at.
type frame struct {
	rows       bool // ROWS, else RANGE
	start, end bound
}

// frameOf reads a window's frame. Without one it is, as in MySQL, the partition up
// to the row's last peer, or all of it without ORDER BY.
func frameOf(ctx *sql.Context, w *sql.WindowDefinition) (frame, error) {
	f := w.Frame
	if f == nil {
		return frame{start: bound{unbounded: true}, end: bound{current: len(w.OrderBy) > 0, unbounded: len(w.OrderBy) == 0}}, nil
	}
	out := frame{rows: !strings.HasPrefix(f.String(), "RANGE")}
	switch {
	case f.UnboundedPreceding():
		out.start = bound{unbounded: true}
	case f.StartNPreceding() != nil:
		out.start = bound{expr: f.StartNPreceding(), preceding: true}
	case f.StartNFollowing() != nil:
		out.start = bound{expr: f.StartNFollowing()}
	default:
		out.start = bound{current: true}
	}
	switch {
	case f.UnboundedFollowing():
		out.end = bound{unbounded: true}
	case f.EndNPreceding() != nil:
		out.end = bound{expr: f.EndNPreceding(), preceding: true}
	case f.EndNFollowing() != nil:
		out.end = bound{expr: f.EndNFollowing()}
	default:
		out.end = bound{current: true}
	}
	for _, b := range []*bound{&out.start, &out.end} {
		if err := b.prepare(ctx, out.rows, w); err != nil {
			return frame{}, err
		}
	}
	return out, nil
}

// prepare checks and evaluates a bound's distance.
func (b *bound) prepare(ctx *sql.Context, rows bool, w *sql.WindowDefinition) error {
	if b.expr == nil {
		return nil
	}
	if !rows {
		if len(w.OrderBy) != 1 {
			return mysql.NewSQLError(3587, "HY000", "Window '%s' with RANGE N PRECEDING/FOLLOWING frame requires exactly one ORDER BY expression, of numeric or temporal type", windowName(w))
		}
		if _, ok := b.expr.(*expression.Interval); ok {
			return nil
		}
	}
	v, err := b.expr.Eval(ctx, nil)
	if err != nil {
		return err
	}
	i, ok := distance(ctx, v, rows)
	if !ok {
		return mysql.NewSQLError(3586, "HY000", "Window '%s': frame start or end is negative, NULL or of non-integral type", windowName(w))
	}
	b.n = int(min(i, 1<<40))
	return nil
}

// distance reads a bound's distance: a number that is not negative, in ROWS frames
// a whole one.
func distance(ctx *sql.Context, v any, rows bool) (int64, bool) {
	d, _, err := types.InternalDecimalType.Convert(ctx, v)
	n, ok := d.(decimal.Decimal)
	if err != nil || !ok || n.Sign() < 0 || rows && !n.IsInteger() {
		return 0, false
	}
	if n.Cmp(decimal.NewFromInt(1<<40)) > 0 {
		return 1 << 40, true
	}
	return n.IntPart(), true
}

func windowName(w *sql.WindowDefinition) string {
	if w.Name == "" {
		return "<unnamed window>"
	}
	return w.Name
}

// frameText prints a frame; the engine's own text does not tell all frames apart.
func frameText(f sql.WindowFrame) string {
	if f == nil {
		return ""
	}
	unit := "rows"
	if strings.HasPrefix(f.String(), "RANGE") {
		unit = "range"
	}
	start, end := "current row", "current row"
	switch {
	case f.UnboundedPreceding():
		start = "unbounded preceding"
	case f.StartNPreceding() != nil:
		start = f.StartNPreceding().String() + " preceding"
	case f.StartNFollowing() != nil:
		start = f.StartNFollowing().String() + " following"
	}
	switch {
	case f.UnboundedFollowing():
		end = "unbounded following"
	case f.EndNPreceding() != nil:
		end = f.EndNPreceding().String() + " preceding"
	case f.EndNFollowing() != nil:
		end = f.EndNFollowing().String() + " following"
	}
	return " " + unit + " between " + start + " and " + end
}

// interval returns the rows of the frame of row i (a position in p's order).
func (f *frame) interval(ctx *sql.Context, p *partition, i int) (from, to int, err error) {
	if f.rows {
		from, to = p.start, p.end
		if !f.start.unbounded {
			from = f.start.row(i)
		}
		if !f.end.unbounded {
			to = f.end.row(i) + 1
		}
	} else {
		if from, err = f.rangeStart(ctx, p, i); err != nil {
			return 0, 0, err
		}
		if to, err = f.rangeEnd(ctx, p, i); err != nil {
			return 0, 0, err
		}
	}
	from, to = max(from, p.start), min(to, p.end)
	return from, max(from, to), nil
}

// row is the bound of a ROWS frame.
func (b *bound) row(i int) int {
	switch {
	case b.current:
		return i
	case b.preceding:
		return i - b.n
	}
	return i + b.n
}

func (f *frame) rangeStart(ctx *sql.Context, p *partition, i int) (int, error) {
	switch {
	case f.start.unbounded:
		return p.start, nil
	case f.start.current || p.key(i) == nil:
		return p.firstPeer(i), nil
	}
	limit, err := p.shifted(ctx, &f.start, i)
	if err != nil {
		return 0, err
	}
	return p.search(ctx, limit, false)
}

func (f *frame) rangeEnd(ctx *sql.Context, p *partition, i int) (int, error) {
	switch {
	case f.end.unbounded:
		return p.end, nil
	case f.end.current || p.key(i) == nil:
		return p.lastPeer(i) + 1, nil
	}
	limit, err := p.shifted(ctx, &f.end, i)
	if err != nil {
		return 0, err
	}
	return p.search(ctx, limit, true)
}

// shifted is the order key of row i moved by a bound's distance, towards smaller
// keys for PRECEDING, or for FOLLOWING in descending order.
func (p *partition) shifted(ctx *sql.Context, b *bound, i int) (any, error) {
	down := b.preceding != (p.order[0].Order == sql.Descending)
	key := expression.NewLiteral(p.key(i), p.orderTypes[0])
	e := expression.NewPlus(key, b.expr)
	if down {
		e = expression.NewMinus(key, b.expr)
	}
	v, err := e.Eval(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("compute a RANGE frame: %w", err)
	}
	return v, nil
}

// search returns the first row whose key is not before limit or, with behind, the
// first row whose key is behind it. Rows with NULL are never in such a frame.
func (p *partition) search(ctx *sql.Context, limit any, behind bool) (int, error) {
	from, to := p.nonNull()
	if limit == nil {
		return from, nil
	}
	desc := p.order[0].Order == sql.Descending
	var err error
	n := sort.Search(to-from, func(k int) bool {
		c, cerr := p.compareTypes[0].Compare(ctx, p.key(from+k), limit)
		if cerr != nil {
			err = cerr
		}
		if desc {
			c = -c
		}
		return c > 0 || !behind && c == 0
	})
	return from + n, err
}
