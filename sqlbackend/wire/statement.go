package wire

import (
	"context"
	"errors"
	"io"
	"runtime/debug"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

const (
	// maxRestarts bounds how often one statement runs again before the client
	// is told to do it itself (1213).
	maxRestarts = 100
	// lockedReadBuffer is how many bytes of rows a locking read holds back, so
	// that it can still run again; beyond it rows go out and it can't.
	lockedReadBuffer = 16 << 20
	// cancelCheckRows is how many rows may pass between two looks at the
	// context: the engine's iterators do not all look themselves.
	cancelCheckRows = 64
)

// run is one statement from its arrival until its result is closed.
type run struct {
	ctx    *sql.Context
	cancel context.CancelCauseFunc
	stop   context.CancelFunc // of max_execution_time, or nil
	began  time.Time
	text   string
	stmt   ast.Statement
	before []*sql.Warning // warnings of the statement before
	result *Result
}

// start registers a statement and begins the session's command.
func (s *Session) start(ctx context.Context, text string) (*run, error) {
	if s.closed.Load() || s.killed.Load() || s.sess == nil {
		return nil, ErrSessionClosed
	}
	if s.active != nil {
		return nil, newError(erCommandsOutOfSync, "Commands out of sync; the result of the last statement is still open")
	}
	pid := s.r.pid.Add(1)
	inner, cancel := context.WithCancelCause(ctx)
	r := &run{cancel: cancel, text: text, began: time.Now()}
	s.proc.begin(text, pid, cancel)
	r.ctx = s.newContext(inner, text, pid)
	s.infileSent = false
	if err := s.guard(func() error { return sql.SessionCommandBegin(s.sess) }); err != nil {
		s.proc.end(s.sess.GetCurrentDatabase())
		cancel(nil)
		return nil, MapErr(err)
	}
	r.before = s.sess.Warnings()
	s.active = r
	return r, nil
}

// finish ends the session's command and refreshes the status flags. Errors
// have been dealt with before.
func (s *Session) finish(r *run) {
	if s.active != r {
		return
	}
	s.active = nil
	if r.stop != nil {
		r.stop()
	}
	if err := s.guard(func() error { s.rollbackImplicit(r.ctx); return nil }); err != nil {
		s.r.logf("connection %d: %v", s.ID(), err)
	}
	if err := s.guard(func() error { sql.SessionCommandEnd(s.sess); return nil }); err != nil {
		s.r.logf("connection %d: %v", s.ID(), err)
	}
	s.refresh(r.ctx)
	s.noteSlow(r)
	s.proc.end(s.sess.GetCurrentDatabase())
	r.cancel(nil)
}

// rollbackImplicit drops a transaction that the engine began by itself and a
// failed (or only prepared) statement left behind; otherwise the next
// statement would commit it.
func (s *Session) rollbackImplicit(ctx *sql.Context) {
	tx := s.sess.GetTransaction()
	if tx == nil || s.sess.GetIgnoreAutoCommit() || !s.autocommit(ctx) {
		return
	}
	if ts, ok := s.sess.(sql.TransactionSession); ok {
		rctx := ctx.WithContext(context.WithoutCancel(ctx.Context))
		if err := ts.Rollback(rctx, tx); err != nil {
			s.r.logf("connection %d: roll back: %v", s.ID(), err)
		}
	}
	s.sess.SetTransaction(nil)
}

func (s *Session) autocommit(ctx *sql.Context) bool {
	return sessionInt(ctx, "autocommit", 1) != 0
}

// refresh recomputes the status flags, the warning count and the timeouts.
func (s *Session) refresh(ctx *sql.Context) {
	var st uint16
	auto := s.autocommit(ctx)
	if auto {
		st |= statusAutocommit
	}
	if tx := s.sess.GetTransaction(); tx != nil && (!auto || s.sess.GetIgnoreAutoCommit()) {
		st |= statusInTrans
		if tx.IsReadOnly() {
			st |= statusInTransReadOnly
		}
	}
	if v, err := s.sess.GetSessionVariable(ctx, sql.SqlModeSessionVar); err == nil {
		if mode, ok := v.(string); ok && strings.Contains(strings.ToUpper(mode), "NO_BACKSLASH_ESCAPES") {
			st |= statusNoBackslashEscapes
		}
	}
	s.status = st
	s.warnings = s.sess.WarningCount()
	s.waitTimeout = time.Duration(sessionInt(ctx, "wait_timeout", 28800)) * time.Second
	s.readTimeout = time.Duration(sessionInt(ctx, "net_read_timeout", 30)) * time.Second
	s.writeTimeout = time.Duration(sessionInt(ctx, "net_write_timeout", 60)) * time.Second
}

// noteSlow counts statements beyond long_query_time (seconds).
func (s *Session) noteSlow(r *run) {
	v, err := s.sess.GetSessionVariable(r.ctx, "long_query_time")
	if err != nil {
		return
	}
	limit, ok := v.(float64)
	if ok && limit > 0 && time.Since(r.began).Seconds() > limit {
		s.r.slow.Add(1)
		sql.IncrementStatusVariable(r.ctx, "Slow_queries", 1)
	}
}

// Query runs the first statement of text. With multi, rest is what follows it
// ("" at the end); without, anything that follows is a syntax error. The
// result must be closed before the next call. Errors are *mysql.SQLError, ready
// for the client.
func (s *Session) Query(ctx context.Context, text string, multi bool) (res *Result, rest string, err error) {
	r, err := s.start(ctx, text)
	if err != nil {
		return nil, "", MapErr(err)
	}
	s.r.statements.Add(1)
	err = s.guard(func() error {
		text, err := decodeText(r.ctx, text)
		if err != nil {
			return err
		}
		stmt, body, tail, err := s.parse(r.ctx, text, multi)
		if err != nil {
			return err
		}
		rest = tail
		res, err = s.execute(r, body, stmt, nil)
		return err
	})
	if err != nil {
		return nil, "", s.abort(r, err)
	}
	return res, rest, nil
}

// abort ends a statement that failed before it had a result.
func (s *Session) abort(r *run, err error) error {
	err = s.fail(r, r.stmt, err)
	s.finish(r)
	return err
}

// execute runs a parsed statement, as often as restarts ask for. A nil stmt is
// an empty statement.
func (s *Session) execute(r *run, text string, stmt ast.Statement, binds map[string]ast.Expr) (*Result, error) {
	r.stmt = stmt
	if stmt == nil {
		res := &Result{s: s, run: r, done: true}
		s.finish(r)
		return res, nil
	}
	s.dirty = s.dirty || leavesTraces(stmt, text)
	if err := s.before(r, stmt); err != nil {
		return nil, err
	}
	for attempt := 0; ; attempt++ {
		res, err := s.attempt(r, text, stmt, binds)
		if err == nil {
			if res.done {
				s.finish(r)
			}
			return res, nil
		}
		if !s.mayRestart(stmt, err) {
			return nil, err
		}
		if err := s.r.restart(r.ctx, attempt); err != nil {
			return nil, err
		}
	}
}

// mayRestart: a CALL must not run again as a whole (its finished statements
// may be committed; innerRunner restarts them one by one), nor a statement
// that has read a file from the client.
func (s *Session) mayRestart(stmt ast.Statement, err error) bool {
	if _, call := stmt.(*ast.Call); call || s.infileSent {
		return false
	}
	return s.r.isRestart(err)
}

// restart prepares the session for another run of its statement.
func (r *Runner) restart(ctx *sql.Context, attempt int) error {
	if attempt+1 >= maxRestarts {
		return errDeadlock()
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if rs, ok := ctx.Session.(Restarter); ok {
		return rs.RestartStatement(ctx)
	}
	return nil
}

// attempt runs the statement once. Statements without rows are complete when
// it returns; others have their first row read (a locking read up to
// lockedReadBuffer), so that early errors come before the header.
func (s *Session) attempt(r *run, text string, stmt ast.Statement, binds map[string]ast.Expr) (*Result, error) {
	schema, iter, _, err := s.r.engine.QueryWithBindings(r.ctx, text, stmt, binds, &sql.QueryFlags{})
	if err != nil {
		return nil, err
	}
	res := &Result{s: s, run: r, iter: iter, Schema: schema}
	if len(schema) == 0 || types.IsOkResultSchema(schema) {
		ok, err := s.r.drainOK(r.ctx, iter)
		if err != nil {
			return nil, err
		}
		res.setOK(stmt, ok)
		return res, nil
	}
	r.result = res
	limit := 1
	if isLockingRead(stmt) || mayLock(text) {
		limit = lockedReadBuffer
	}
	if err := res.prefetch(limit); err != nil {
		r.result = nil
		return nil, err
	}
	return res, nil
}

// drainOK reads the single OK row of a statement without rows and closes the
// iterator, which commits.
func (r *Runner) drainOK(ctx *sql.Context, iter sql.RowIter) (types.OkResult, error) {
	var ok types.OkResult
	for {
		row, err := r.next(ctx, iter)
		if errors.Is(err, io.EOF) {
			return ok, closeIter(ctx, iter, nil)
		}
		if err != nil {
			return ok, closeIter(ctx, iter, err)
		}
		if types.IsOkResult(row) {
			ok = types.GetOkResult(row)
		}
	}
}

// next asks an iterator for a row. A panic in it becomes an error, so that the
// iterator can still be closed.
func (r *Runner) next(ctx *sql.Context, iter sql.RowIter) (row sql.Row, err error) {
	defer func() {
		if p := recover(); p != nil {
			r.logf("connection %d: panic: %v\n%s", ctx.Session.ID(), p, debug.Stack())
			err = newError(erUnknown, "internal error: %v", p)
		}
	}()
	return iter.Next(ctx)
}

// closeIter closes iter and returns cause, or the error of closing. After a
// failure the engine must not commit what the statement left, which its
// committing iterator would do: autocommit is masked meanwhile, and, as DDL
// commits without it, the transaction.
func closeIter(ctx *sql.Context, iter sql.RowIter, cause error) error {
	if cause == nil {
		return iter.Close(ctx)
	}
	ignore := ctx.GetIgnoreAutoCommit()
	ctx.SetIgnoreAutoCommit(true)
	defer ctx.SetIgnoreAutoCommit(ignore)
	tx := ctx.GetTransaction()
	ctx.SetTransaction(nil)
	defer ctx.SetTransaction(tx)
	if err := iter.Close(ctx); err != nil && ctx.Session != nil {
		ctx.GetLogger().Debugf("close after %v: %v", cause, err)
	}
	return cause
}
