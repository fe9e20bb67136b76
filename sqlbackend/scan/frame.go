package scan

import (
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation/window"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// defaultFrame is the frame of a window function that names none: with ORDER BY
// from the partition's start to the last peer of the row, else the whole partition
// (https://dev.mysql.com/doc/refman/8.4/en/window-functions-frames.html). The
// engine's own defaults differ from function to function.
type defaultFrame struct{}

var _ sql.WindowFrame = defaultFrame{}

func (defaultFrame) String() string { return "" }

// NewFramer implements sql.WindowFrame.
func (defaultFrame) NewFramer(w *sql.WindowDefinition) (sql.WindowFramer, error) {
	if len(w.OrderBy) == 0 {
		return aggregation.NewPartitionFramer(), nil
	}
	return &peersFramer{PeerGroupFramer: aggregation.NewPeerGroupFramer(w.OrderBy.ToExpressions())}, nil
}

func (defaultFrame) UnboundedFollowing() bool        { return false }
func (defaultFrame) UnboundedPreceding() bool        { return true }
func (defaultFrame) StartCurrentRow() bool           { return false }
func (defaultFrame) EndCurrentRow() bool             { return true }
func (defaultFrame) StartNPreceding() sql.Expression { return nil }
func (defaultFrame) StartNFollowing() sql.Expression { return nil }
func (defaultFrame) EndNPreceding() sql.Expression   { return nil }
func (defaultFrame) EndNFollowing() sql.Expression   { return nil }

// peersFramer is RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW over any number
// of ORDER BY expressions; the engine's own takes one number only.
type peersFramer struct {
	*aggregation.PeerGroupFramer
	partition sql.WindowInterval
	next      int
}

// NewFramer implements sql.WindowFramer.
func (f *peersFramer) NewFramer(iv sql.WindowInterval) (sql.WindowFramer, error) {
	peers, err := f.PeerGroupFramer.NewFramer(iv)
	if err != nil {
		return nil, err
	}
	return &peersFramer{PeerGroupFramer: peers.(*aggregation.PeerGroupFramer), partition: iv, next: iv.Start}, nil
}

// Next implements sql.WindowFramer.
func (f *peersFramer) Next(ctx *sql.Context, buf sql.WindowBuffer) (sql.WindowInterval, error) {
	if f.next >= f.partition.End {
		return sql.WindowInterval{}, io.EOF
	}
	f.next++
	if _, err := f.PeerGroupFramer.Next(ctx, buf); err != nil {
		return sql.WindowInterval{}, err
	}
	return f.Interval()
}

// FirstIdx implements sql.WindowFramer.
func (f *peersFramer) FirstIdx() int { return f.partition.Start }

// Interval implements sql.WindowFramer.
func (f *peersFramer) Interval() (sql.WindowInterval, error) {
	return sql.WindowInterval{Start: f.partition.Start, End: f.LastIdx()}, nil
}

// withDefaultFrames gives every function of the window that heeds frames one. It
// returns nil if there is nothing to do.
func withDefaultFrames(ctx *sql.Context, w *plan.Window) *plan.Window {
	var exprs []sql.Expression
	for i, e := range w.SelectExprs {
		fn, ok := e.(sql.WindowAdaptableExpression)
		if !ok || fn.Window() == nil || fn.Window().Frame != nil || !heedsFrame(fn) {
			continue
		}
		if exprs == nil {
			exprs = append(exprs, w.SelectExprs...)
		}
		def := *fn.Window()
		def.Frame = defaultFrame{}
		exprs[i] = fn.WithWindow(ctx, &def)
	}
	if exprs == nil {
		return nil
	}
	return plan.NewWindow(exprs, w.Child)
}

// heedsFrame is false for functions that always work on the whole partition.
func heedsFrame(e sql.Expression) bool {
	switch e.(type) {
	case *window.RowNumber, *window.Rank, *window.DenseRank, *window.PercentRank, *window.NTile, *window.Lag, *window.Lead:
		return false
	}
	return true
}
