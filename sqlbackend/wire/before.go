package wire

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// before does what MySQL does ahead of a statement and the engine does late or
// not at all: the implicit commit, the statement time limit, the check of a
// connection id in KILL.
func (s *Session) before(r *run, stmt ast.Statement) error {
	if commitsImplicitly(stmt) {
		if err := s.commitOpen(r.ctx); err != nil {
			return err
		}
	}
	if err := announce(r.ctx, stmt); err != nil {
		return err
	}
	switch stmt := stmt.(type) {
	case *ast.Kill:
		return s.checkKill(stmt)
	case ast.SelectStatement:
		s.limitTime(r)
	}
	return nil
}

// commitsImplicitly says whether MySQL commits the open transaction before it
// runs stmt (even if the statement then fails), see
// https://dev.mysql.com/doc/refman/8.4/en/implicit-commit.html.
func commitsImplicitly(stmt ast.Statement) bool {
	switch stmt := stmt.(type) {
	case *ast.DDL:
		return !touchesOnlyTemporary(stmt)
	case *ast.AlterTable, *ast.DBDDL, *ast.LockTables, *ast.Analyze, *ast.Begin, *ast.Flush,
		*ast.CreateUser, *ast.RenameUser, *ast.DropUser, *ast.CreateRole, *ast.DropRole,
		*ast.GrantPrivilege, *ast.GrantRole, *ast.GrantProxy, *ast.RevokePrivilege,
		*ast.RevokeRole, *ast.RevokeProxy,
		*ast.CreateSpatialRefSys:
		return true
	}
	return false
}

// touchesOnlyTemporary: CREATE and DROP TEMPORARY TABLE do not commit.
func touchesOnlyTemporary(d *ast.DDL) bool { return d.Temporary }

// commitOpen commits the session's transaction, if there is one.
func (s *Session) commitOpen(ctx *sql.Context) error {
	tx := s.sess.GetTransaction()
	ts, ok := s.sess.(sql.TransactionSession)
	if tx == nil || !ok {
		return nil
	}
	if err := ts.CommitTransaction(ctx, tx); err != nil {
		return err
	}
	s.sess.SetIgnoreAutoCommit(false)
	s.sess.SetTransaction(nil)
	return nil
}

// limitTime applies max_execution_time (milliseconds, 0 = none) to a SELECT.
func (s *Session) limitTime(r *run) {
	ms := sessionInt(r.ctx, "max_execution_time", 0)
	if ms <= 0 {
		return
	}
	inner, stop := context.WithTimeoutCause(r.ctx.Context, time.Duration(ms)*time.Millisecond, ErrStatementTimeout)
	r.ctx, r.stop = r.ctx.WithContext(inner), stop
}

// checkKill answers 1094 for an id that does not exist; the engine says OK.
func (s *Session) checkKill(k *ast.Kill) error {
	v, ok := k.ConnID.(*ast.SQLVal)
	if !ok || v.Type != ast.IntVal {
		return nil
	}
	id, err := strconv.ParseUint(string(v.Val), 10, 32)
	if err != nil || s.r.procs.get(uint32(id)) == nil {
		return newError(erNoSuchThread, "Unknown thread id: %s", v.Val)
	}
	return nil
}

// isLockingRead says whether stmt is a SELECT with a lock clause at its top.
func isLockingRead(stmt ast.Statement) bool {
	var lock *ast.Lock
	switch stmt := stmt.(type) {
	case *ast.Select:
		lock = stmt.Lock
	case *ast.SetOp:
		lock = stmt.Lock
	case *ast.ParenSelect:
		return isLockingRead(stmt.Select)
	}
	return lock != nil && lock.Type != "" // the grammar gives every SELECT one
}

// mayLock says whether a lock clause may be anywhere in text, a subquery
// included.
func mayLock(text string) bool {
	for _, clause := range []string{"for update", "for share", "in share mode"} {
		if containsFold(text, clause) {
			return true
		}
	}
	return false
}

// containsFold is strings.Contains without regard to case; sub is lower-case
// ASCII.
func containsFold(s, sub string) bool {
	for i := 0; i+len(sub) <= len(s); i++ {
		if c := s[i]; (c|0x20 == sub[0] || c == sub[0]) && strings.EqualFold(s[i:i+len(sub)], sub) {
			return true
		}
	}
	return false
}

// leavesTraces says whether a statement may change the session itself, rather
// than data and definitions that everyone sees.
func leavesTraces(stmt ast.Statement, text string) bool {
	switch stmt := stmt.(type) {
	case ast.SelectStatement, *ast.Insert, *ast.Update, *ast.Delete:
		return strings.Contains(text, ":=") || containsFold(text, "get_lock") || containsFold(text, "into @")
	case *ast.DDL:
		return stmt.Temporary
	case *ast.AlterTable, *ast.DBDDL, *ast.Show, *ast.Explain, *ast.Begin, *ast.Commit, *ast.Rollback,
		*ast.Savepoint, *ast.RollbackSavepoint, *ast.ReleaseSavepoint:
		return false
	}
	return true
}
