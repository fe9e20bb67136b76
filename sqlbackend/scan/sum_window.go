package scan

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
)

// sumWindow computes SUM and AVG over frames. A frame that moves forward costs only
// the rows that come and go; floats are never subtracted, since that would leave
// rounding errors behind (windowing_use_high_precision is on by default).
type sumWindow struct {
	buffer *sumBuffer
	framer sql.WindowFramer
	at     sql.WindowInterval // rows that the total holds
}

func newSumWindow(b *sumBuffer, w *sql.WindowDefinition) (*sumWindow, error) {
	s := &sumWindow{buffer: b}
	if w == nil || w.Frame == nil {
		s.framer = aggregation.NewPartitionFramer()
		return s, nil
	}
	f, err := w.Frame.NewFramer(w)
	s.framer = f
	return s, err
}

// Dispose implements sql.Disposable.
func (s *sumWindow) Dispose(ctx *sql.Context) { s.buffer.Dispose(ctx) }

// DefaultFramer implements sql.WindowFunction.
func (s *sumWindow) DefaultFramer() sql.WindowFramer { return s.framer }

// StartPartition implements sql.WindowFunction.
func (s *sumWindow) StartPartition(_ *sql.Context, iv sql.WindowInterval, _ sql.WindowBuffer) error {
	s.restart(iv.Start)
	return nil
}

func (s *sumWindow) restart(at int) {
	s.buffer.reset()
	s.at = sql.WindowInterval{Start: at, End: at}
}

// Compute implements sql.WindowFunction.
func (s *sumWindow) Compute(ctx *sql.Context, iv sql.WindowInterval, buf sql.WindowBuffer) (any, error) {
	moved := iv.Start != s.at.Start
	if iv.Start < s.at.Start || iv.End < s.at.End || iv.Start >= s.at.End || moved && !s.buffer.exact {
		s.restart(iv.Start)
	}
	for ; s.at.Start < iv.Start; s.at.Start++ {
		if err := s.one(ctx, buf[s.at.Start], -1); err != nil {
			return nil, err
		}
	}
	for ; s.at.End < iv.End; s.at.End++ {
		if err := s.one(ctx, buf[s.at.End], 1); err != nil {
			return nil, err
		}
	}
	return s.buffer.value(), nil
}

func (s *sumWindow) one(ctx *sql.Context, row sql.Row, sign int64) error {
	v, err := s.buffer.child.Eval(ctx, row)
	if err != nil {
		return err
	}
	return s.buffer.add(ctx, v, sign)
}
