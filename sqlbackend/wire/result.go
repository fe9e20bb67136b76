package wire

import (
	"context"
	"errors"
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// Result is the outcome of one statement. A result with rows streams: Next
// pulls one row at a time from the engine. The session can't run another
// statement until it has reached its end or been closed.
type Result struct {
	// Schema describes the rows; empty for a statement without rows.
	Schema sql.Schema
	// Affected, InsertID and Info are what the OK packet of a statement
	// without rows says.
	Affected uint64
	InsertID uint64
	Info     string

	s    *Session
	run  *run
	iter sql.RowIter
	head []sql.Row // rows read ahead
	done bool      // iterator closed, statement finished or about to be
	seen int
}

// HasRows says whether the statement gives rows (possibly none).
func (r *Result) HasRows() bool { return len(r.Schema) > 0 }

// Context is the statement's context; types convert values with it.
func (r *Result) Context() *sql.Context { return r.run.ctx }

// setOK makes r the result of a statement without rows.
func (r *Result) setOK(stmt ast.Statement, ok types.OkResult) {
	r.Schema, r.iter, r.head, r.done = nil, nil, nil, true
	r.Affected, r.InsertID = ok.RowsAffected, insertID(ok.InsertID)
	r.Info = infoString(r.run.ctx, stmt, ok)
}

// prefetch reads rows until limit bytes (estimated) are held, at least one.
// The statement is not finished here, even at its end: it may run again.
func (r *Result) prefetch(limit int) error {
	for size := 0; size < limit; {
		row, err := r.s.r.next(r.run.ctx, r.iter)
		if errors.Is(err, io.EOF) {
			if err := closeIter(r.run.ctx, r.iter, nil); err != nil {
				return err
			}
			r.done = true
			return nil
		}
		if err != nil {
			return closeIter(r.run.ctx, r.iter, err)
		}
		if types.IsOkResult(row) { // a CALL whose last statement gave no rows
			ok := types.GetOkResult(row)
			if err := closeIter(r.run.ctx, r.iter, nil); err != nil {
				return err
			}
			r.setOK(r.run.stmt, ok)
			return nil
		}
		r.head = append(r.head, row)
		size += rowSize(row)
	}
	return nil
}

// rowSize estimates the memory of a row in bytes.
func rowSize(row sql.Row) int {
	n := 1
	for _, v := range row {
		n += 16
		switch v := v.(type) {
		case string:
			n += len(v)
		case []byte:
			n += len(v)
		}
	}
	return n
}

// Next returns the next row, or io.EOF after the last one, when the statement
// has been committed and is finished. Any other error is a *mysql.SQLError,
// and the statement is finished as well. Rows may be kept.
func (r *Result) Next() (row sql.Row, err error) {
	if len(r.head) > 0 {
		row, r.head[0] = r.head[0], nil
		r.head = r.head[1:]
		return row, nil
	}
	if r.done {
		r.s.finish(r.run)
		return nil, io.EOF
	}
	row, err = r.pull()
	if err == nil {
		return row, nil
	}
	r.done = true
	if errors.Is(err, io.EOF) {
		if err = r.s.guard(func() error { return closeIter(r.run.ctx, r.iter, nil) }); err == nil {
			r.s.finish(r.run)
			return nil, io.EOF
		}
	} else {
		cause := err
		err = r.s.guard(func() error { return closeIter(r.run.ctx, r.iter, cause) })
	}
	if r.s.r.isRestart(err) {
		err = errDeadlock() // rows are out: only the client can start over
	}
	return nil, r.s.abort(r.run, err)
}

// pull asks the engine for a row.
func (r *Result) pull() (sql.Row, error) {
	if r.seen%cancelCheckRows == 0 && r.run.ctx.Err() != nil {
		return nil, context.Cause(r.run.ctx)
	}
	r.seen++
	return r.s.r.next(r.run.ctx, r.iter)
}

// Close ends the statement early, or does nothing if it has ended. What the
// statement has done so far stands.
func (r *Result) Close() error {
	r.head = nil
	if r.done {
		r.s.finish(r.run)
		return nil
	}
	r.done = true
	if err := r.s.guard(func() error { return closeIter(r.run.ctx, r.iter, nil) }); err != nil {
		return r.s.abort(r.run, err)
	}
	r.s.finish(r.run)
	return nil
}

// fail ends a result that could not be delivered (an encoding error): the
// statement is undone where it still can be.
func (r *Result) fail(cause error) error {
	r.head = nil
	if r.done {
		return r.s.abort(r.run, cause)
	}
	r.done = true
	err := r.s.guard(func() error { return closeIter(r.run.ctx, r.iter, cause) })
	return r.s.abort(r.run, err)
}
