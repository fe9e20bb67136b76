package wire

import (
	"context"
	"errors"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// fail maps the error of a statement, with its context, and leaves it in the
// diagnostics area, where SHOW WARNINGS finds it.
func (s *Session) fail(r *run, stmt ast.Statement, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		if cause := context.Cause(r.ctx); cause != nil {
			err = cause
		}
	}
	out := newError(erUnknown, "%s", err.Error())
	if gerr := s.guard(func() error {
		out = mapError(err, errorScope{ctx: r.ctx, r: s.r, stmt: stmt})
		return nil
	}); gerr != nil {
		s.r.logf("connection %d: mapping %v: %v", s.ID(), err, gerr)
	}
	s.diagnose(r, out.Num, out.Message)
	return out
}

// diagnose keeps the warnings of this statement, drops those of the one
// before, and adds the error.
func (s *Session) diagnose(r *run, num int, message string) {
	old := make(map[*sql.Warning]bool, len(r.before))
	for _, w := range r.before {
		old[w] = true
	}
	now := s.sess.Warnings()
	s.sess.ClearWarnings()
	for i := len(now) - 1; i >= 0; i-- { // Warnings lists the newest first
		if !old[now[i]] {
			s.sess.Warn(now[i])
		}
	}
	s.sess.Warn(&sql.Warning{Level: "Error", Code: num, Message: message})
}
