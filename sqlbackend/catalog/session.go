package catalog

import (
	"context"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"ksql/tablet"
)

// Session is one client's session. It owns its transaction and repairs what
// the engine leaves behind: an implicit transaction of a failed statement is
// rolled back at CommandEnd, StartTransaction joins a live transaction, and a
// second commit of a finished one does nothing.
//
// A session runs one statement at a time.
type Session struct {
	*sql.BaseSession
	provider *Provider

	tx        *Transaction // session-owned; nil outside a transaction
	statement statement
	ddl       *ddlWork // definitions of the running DDL transaction
	ddlLocked bool     // the DDL lock is held

	// pendingOptions are the table options of the CREATE TABLE that runs.
	pendingOptions map[string]any
	// creating is the table that the running CREATE TABLE has made.
	creating string
	// consistentSnapshot asks the next StartTransaction to pin its snapshot.
	consistentSnapshot bool
	// temporary holds the session's temporary tables by tableLockName.
	temporary map[string]*tableDef
}

// StatementKind tells the backend what a statement does before the engine
// plans it.
type StatementKind uint8

const (
	// StatementUnknown is what a statement is that nobody announced: one inside
	// a procedure. It reads like DML as soon as it opens a table for writing.
	StatementUnknown StatementKind = iota
	// StatementSelect only reads.
	StatementSelect
	// StatementDML changes rows.
	StatementDML
	// StatementDDL changes definitions: it commits the open transaction first.
	StatementDDL
	// StatementOther is everything else (SET, SHOW, BEGIN, …).
	StatementOther
)

// statement is what the session remembers of the running statement.
type statement struct {
	kind StatementKind
	// announced: BeginStatement was called for it and the statement path runs
	// it again on ErrStatementRestart. Other statements lock every row they scan.
	announced bool
	validated bool // ValidateSession has seen it
	started   bool // the tablet transaction knows it
	restarts  int
	lockScans bool // lock every scanned row of a target table before reading it
	mark      tablet.Mark
	editors   map[tablet.TabletID]*statementEditor
	targets   map[tablet.TabletID]struct{}
}

// maxRestarts is how often a statement is restarted before it locks every row
// that it scans, as InnoDB always does.
const maxRestarts = 3

// NewSession makes a session of the provider's databases.
func NewSession(base *sql.BaseSession, p *Provider) *Session {
	return &Session{BaseSession: base, provider: p, temporary: map[string]*tableDef{}}
}

// Catalog returns the session itself; it lets a type that embeds *Session be
// used as the engine's session.
func (s *Session) Catalog() *Session { return s }

// sessionOf returns the ksql session of a context, nil for a foreign one (the
// engine makes empty contexts for its own bookkeeping).
func sessionOf(ctx *sql.Context) *Session {
	if ctx == nil || ctx.Session == nil {
		return nil
	}
	if h, ok := ctx.Session.(interface{ Catalog() *Session }); ok {
		return h.Catalog()
	}
	return nil
}

// SessionOf returns the ksql session of a context, nil for a foreign one.
func SessionOf(ctx *sql.Context) *Session { return sessionOf(ctx) }

// BeginStatement announces a statement before the engine plans it. The caller
// promises to run the statement again when it fails with ErrStatementRestart,
// after RestartStatement. For DDL it commits the open transaction and takes
// the DDL lock (error 1205 after lock_wait_timeout).
func (s *Session) BeginStatement(ctx *sql.Context, kind StatementKind) error {
	s.statement = statement{kind: kind, announced: true}
	if kind != StatementDDL {
		return nil
	}
	if err := s.ImplicitCommit(ctx); err != nil {
		return err
	}
	return s.lockDDL(ctx)
}

// RestartStatement prepares the running statement for another run at the
// newest epoch: its changes are undone, its row locks are kept.
func (s *Session) RestartStatement(ctx *sql.Context) error {
	old := s.statement
	if s.tx == nil {
		return nil
	}
	if old.started {
		s.tx.tablet.UndoTo(old.mark)
	}
	if ctx.GetTransaction() == nil {
		ctx.SetTransaction(s.tx) // the engine clears it when building fails
	}
	s.statement = statement{
		kind:      old.kind,
		announced: true,
		restarts:  old.restarts + 1,
		lockScans: old.restarts+1 >= maxRestarts,
	}
	return nil
}

// RequestConsistentSnapshot makes the next START TRANSACTION pin its snapshot
// at once (WITH CONSISTENT SNAPSHOT).
func (s *Session) RequestConsistentSnapshot() { s.consistentSnapshot = true }

// SetTableOptions hands over the options of the CREATE TABLE that is about to
// run; Database.CreateTable takes them.
func (s *Session) SetTableOptions(options map[string]any) { s.pendingOptions = options }

// ValidateSession is called by the engine at the start of every statement,
// those inside procedures included.
func (s *Session) ValidateSession(ctx *sql.Context) error {
	if s.statement.announced && !s.statement.validated {
		s.statement.validated = true
		return s.BaseSession.ValidateSession(ctx)
	}
	if s.ddl != nil {
		s.abandon() // definitions of a DDL statement that failed inside a procedure
	}
	s.statement = statement{lockScans: true}
	return s.BaseSession.ValidateSession(ctx)
}

// CommandBegin is called before each client command.
func (s *Session) CommandBegin() error {
	s.statement = statement{}
	return nil
}

// CommandEnd is called after each client command. A transaction that the
// command began implicitly and left open had failed: it is rolled back.
func (s *Session) CommandEnd() {
	s.statement = statement{}
	s.pendingOptions, s.creating = nil, ""
	s.consistentSnapshot = false
	if s.tx != nil && (s.ddl != nil || !s.GetIgnoreAutoCommit() && s.autocommit()) {
		s.abandon()
	}
	s.unlockDDL()
}

// abandon rolls back a transaction that nobody will end any more.
func (s *Session) abandon() {
	s.finish(s.tx, true)
	s.SetTransaction(nil)
	s.SetIgnoreAutoCommit(false)
}

// SessionEnd is called when the client has gone.
func (s *Session) SessionEnd() {
	if s.tx != nil {
		s.abandon()
	}
	s.unlockDDL()
	s.dropTemporaryTables()
}

// InTransaction tells whether an explicit transaction, or one of a session
// with autocommit off, is open.
func (s *Session) InTransaction() bool {
	return s.tx != nil && (s.GetIgnoreAutoCommit() || !s.autocommit())
}

func (s *Session) autocommit() bool {
	v, err := s.GetSessionVariable(nil, sql.AutoCommitSessionVar)
	if err != nil {
		return true
	}
	on, err := sql.ConvertToBool(nil, v)
	return err != nil || on
}

// seconds reads a session variable that holds a number of seconds.
func (s *Session) seconds(name string, otherwise time.Duration) time.Duration {
	v, err := s.GetSessionVariable(nil, name)
	if err != nil {
		return otherwise
	}
	n, ok := integerValue(v)
	if !ok || n < 0 {
		return otherwise
	}
	const most = 365 * 24 * 3600
	return time.Duration(min(n, most)) * time.Second
}

// integerValue returns the value of any Go integer.
func integerValue(v any) (int64, bool) {
	switch n := v.(type) {
	case int8:
		return int64(n), true
	case int16:
		return int64(n), true
	case int32:
		return int64(n), true
	case int64:
		return n, true
	case int:
		return int64(n), true
	case uint8:
		return int64(n), true
	case uint16:
		return int64(n), true
	case uint32:
		return int64(n), true
	case uint64:
		return int64(n), true
	case uint:
		return int64(n), true
	}
	return 0, false
}

// lockWait is innodb_lock_wait_timeout.
func (s *Session) lockWait() time.Duration {
	return s.seconds("innodb_lock_wait_timeout", 50*time.Second)
}

// metadataWait is lock_wait_timeout.
func (s *Session) metadataWait() time.Duration {
	return s.seconds("lock_wait_timeout", 365*24*time.Hour)
}

// definitions returns the snapshot that the session sees: its own uncommitted
// one while it runs DDL.
func (s *Session) definitions() *snapshot {
	if s.ddl != nil {
		return s.ddl.work
	}
	return s.provider.current.Load()
}

// SetSessionVariable refuses what the backend can't honour.
func (s *Session) SetSessionVariable(ctx *sql.Context, name string, value any) error {
	if err := checkIsolation(name, value); err != nil {
		return err
	}
	off := strings.EqualFold(name, sql.AutoCommitSessionVar) && !s.autocommit()
	if err := s.BaseSession.SetSessionVariable(ctx, name, value); err != nil {
		return err
	}
	if off && s.autocommit() {
		return s.ImplicitCommit(ctx) // SET autocommit = 1 ends the transaction
	}
	return nil
}

// checkIsolation refuses SERIALIZABLE, which needs range locks.
func checkIsolation(name string, value any) error {
	switch strings.ToLower(name) {
	case "transaction_isolation", "tx_isolation":
		if v, ok := value.(string); ok && strings.EqualFold(v, "SERIALIZABLE") {
			return errNotSupported("SERIALIZABLE isolation level")
		}
	}
	return nil
}

// background is for work that must not stop with the statement: the engine
// cancels a statement's context before it commits.
func background(ctx context.Context) context.Context { return context.WithoutCancel(ctx) }

// duplicateIndexWarning is the engine's about an index that has as many columns
// as another one, whatever they are.
const duplicateIndexWarning = 1831

// Warn takes a warning, unless it is mistaken.
func (s *Session) Warn(w *sql.Warning) {
	if w.Code != duplicateIndexWarning {
		s.BaseSession.Warn(w)
	}
}
