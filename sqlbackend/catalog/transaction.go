package catalog

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"ksql/internal/vfs"
	"ksql/tablet"
)

// Transaction is the engine's view of a tablet transaction.
type Transaction struct {
	tablet     *tablet.Transaction
	level      tablet.ReadLevel
	readOnly   bool
	done       bool
	savepoints []savepoint
	// metadata holds the names of the shared table locks of the transaction.
	metadata map[string]struct{}
	// dropped are temporary tables whose tablets go when the transaction has ended.
	dropped []*tableDef
}

// savepoint is a name for a position in the transaction's writes.
type savepoint struct {
	name string
	mark tablet.Mark
}

var _ sql.Transaction = (*Transaction)(nil)

// String names the transaction in traces.
func (t *Transaction) String() string { return fmt.Sprintf("transaction %d", t.tablet.ID()) }

// IsReadOnly tells whether the transaction refuses writes.
func (t *Transaction) IsReadOnly() bool { return t.readOnly }

// StartTransaction starts a transaction, or returns the one that is alive: the
// engine asks again for statements inside CALL.
func (s *Session) StartTransaction(ctx *sql.Context, c sql.TransactionCharacteristic) (sql.Transaction, error) {
	if s.tx != nil && !s.tx.done {
		return s.tx, nil
	}
	level, err := s.readLevel()
	if err != nil {
		return nil, err
	}
	readOnly := c == sql.ReadOnly
	if v, err := s.GetSessionVariable(ctx, "transaction_read_only"); err == nil && !readOnly {
		readOnly, _ = sql.ConvertToBool(ctx, v)
	}
	s.tx = &Transaction{
		// Read-only is enforced by the editors: temporary tables may be written.
		tablet:   s.provider.manager.Begin(tablet.TxOptions{}),
		level:    level,
		readOnly: readOnly,
		metadata: map[string]struct{}{},
	}
	s.statement.started = false
	if s.consistentSnapshot { // to the end of the command: the engine starts and commits one before
		s.tx.tablet.PinSnapshot()
	}
	return s.tx, nil
}

// readLevel is the isolation level of a transaction that begins now.
func (s *Session) readLevel() (tablet.ReadLevel, error) {
	v, err := s.GetSessionVariable(nil, "transaction_isolation")
	if err != nil {
		return tablet.RepeatableRead, nil
	}
	switch name, _ := v.(string); strings.ToUpper(name) {
	case "READ-COMMITTED", "READ-UNCOMMITTED":
		return tablet.ReadCommitted, nil
	case "SERIALIZABLE":
		return 0, errNotSupported("SERIALIZABLE isolation level")
	}
	return tablet.RepeatableRead, nil
}

// begun returns the session's transaction with the running statement started
// in it.
func (s *Session) begun(ctx *sql.Context) (*Transaction, error) {
	if s.tx == nil || s.tx.done {
		tx, err := s.StartTransaction(ctx, sql.ReadWrite)
		if err != nil {
			return nil, err
		}
		ctx.SetTransaction(tx)
	}
	if !s.statement.started {
		s.tx.tablet.StartStatement(s.tx.level)
		s.statement.started = true
		s.statement.mark = s.tx.tablet.Mark()
	}
	return s.tx, nil
}

// readMode is how the running statement reads tables.
func (s *Session) readMode() tablet.ReadMode {
	switch s.statement.kind {
	case StatementDML, StatementDDL:
		return tablet.ReadStatement
	case StatementUnknown:
		if len(s.statement.editors) > 0 || s.ddl != nil {
			return tablet.ReadStatement
		}
	}
	return tablet.ReadSnapshot
}

// CommitTransaction commits; a transaction that is finished already is left
// alone. After an error everything is rolled back and the session is outside
// any transaction.
func (s *Session) CommitTransaction(ctx *sql.Context, tx sql.Transaction) error {
	t, ok := tx.(*Transaction)
	if !ok || t.done {
		return nil
	}
	err := s.commit(ctx, t)
	if err != nil {
		ctx.SetTransaction(nil)
		ctx.SetIgnoreAutoCommit(false)
	}
	return err
}

func (s *Session) commit(ctx context.Context, t *Transaction) error {
	ctx = background(ctx)
	if s.ddl != nil {
		if err := s.ddl.save(ctx, s.provider.manager, t.tablet); err != nil {
			s.finish(t, true)
			return translate(err)
		}
	}
	epoch, err := t.tablet.Commit(ctx)
	if err != nil {
		s.finish(t, true)
		return translate(err)
	}
	if s.ddl != nil {
		s.provider.publish(s.ddl, epoch)
	}
	s.finish(t, false)
	return nil
}

// finish ends a transaction on the session's side: locks go, definitions that
// were not published are forgotten.
func (s *Session) finish(t *Transaction, rollback bool) {
	if rollback {
		t.tablet.Rollback()
	}
	t.done = true
	t.savepoints = nil
	s.ddl = nil
	s.statement.editors, s.statement.targets = nil, nil
	s.statement.started = false
	for name := range t.metadata {
		s.provider.locks.unlock(s, name)
	}
	t.metadata = nil
	s.unlockDDL()
	if s.tx == t {
		s.tx = nil
	}
	s.dropAfter(t)
}

// Rollback undoes everything since the transaction began.
func (s *Session) Rollback(ctx *sql.Context, tx sql.Transaction) error {
	if t, ok := tx.(*Transaction); ok && !t.done {
		s.finish(t, true)
	}
	return nil
}

// ImplicitCommit commits the open transaction before a statement that MySQL
// ends it for (DDL, account management, LOCK TABLES, …).
func (s *Session) ImplicitCommit(ctx *sql.Context) error {
	if s.tx == nil || s.tx.done {
		return nil
	}
	if err := s.CommitTransaction(ctx, s.tx); err != nil {
		return err
	}
	ctx.SetTransaction(nil)
	ctx.SetIgnoreAutoCommit(false)
	return nil
}

// CreateSavepoint names the present position; an older savepoint of the name goes.
func (s *Session) CreateSavepoint(ctx *sql.Context, tx sql.Transaction, name string) error {
	t := tx.(*Transaction)
	if t.done {
		return nil
	}
	if i := t.savepoint(name); i >= 0 {
		t.savepoints = append(t.savepoints[:i], t.savepoints[i+1:]...)
	}
	t.savepoints = append(t.savepoints, savepoint{name: name, mark: t.tablet.Mark()})
	return nil
}

// RollbackToSavepoint undoes everything since the savepoint; locks are kept.
func (s *Session) RollbackToSavepoint(ctx *sql.Context, tx sql.Transaction, name string) error {
	t := tx.(*Transaction)
	i := t.savepoint(name)
	if i < 0 {
		return errSavepointNotFound(name)
	}
	t.tablet.UndoTo(t.savepoints[i].mark)
	t.savepoints = t.savepoints[:i+1]
	return nil
}

// ReleaseSavepoint forgets the savepoint and every later one.
func (s *Session) ReleaseSavepoint(ctx *sql.Context, tx sql.Transaction, name string) error {
	t := tx.(*Transaction)
	i := t.savepoint(name)
	if i < 0 {
		return errSavepointNotFound(name)
	}
	t.savepoints = t.savepoints[:i]
	return nil
}

func (t *Transaction) savepoint(name string) int {
	for i := range t.savepoints {
		if strings.EqualFold(t.savepoints[i].name, name) {
			return i
		}
	}
	return -1
}

// useTable takes the transaction's shared metadata lock on a table.
func (s *Session) useTable(ctx *sql.Context, name string) error {
	if s.tx == nil || s.tx.done {
		return nil
	}
	if _, ok := s.tx.metadata[name]; ok {
		return nil
	}
	if err := s.provider.locks.lockShared(ctx, s, name, s.metadataWait()); err != nil {
		return err
	}
	s.tx.metadata[name] = struct{}{}
	return nil
}

// translate turns an error of the storage engine into a MySQL error. Errors
// that already are MySQL's, the engine's or the context's pass unchanged.
func translate(err error) error {
	var damaged *tablet.CorruptionError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, tablet.ErrLockWaitTimeout):
		return errLockWaitTimeout()
	case errors.Is(err, tablet.ErrLockNowait):
		return errLockNowait()
	case errors.Is(err, tablet.ErrNoSpace), vfs.IsNoSpace(err):
		return errDiskIsFull(err)
	case errors.Is(err, tablet.ErrPoisoned):
		return errWritesRefused(err)
	case errors.As(err, &damaged):
		return errStorage(err)
	case errors.Is(err, tablet.ErrReadOnly):
		return errReadOnlyStorage()
	case errors.Is(err, tablet.ErrTabletNotFound):
		return errTableDefinitionChanged()
	case errors.Is(err, tablet.ErrTooLarge), errors.Is(err, tablet.ErrClosed),
		errors.Is(err, tablet.ErrKeyExists), errors.Is(err, tablet.ErrKeyNotFound),
		errors.Is(err, tablet.ErrKeyNotLocked), errors.Is(err, tablet.ErrTransactionDone):
		return errStorage(err)
	}
	return err
}
