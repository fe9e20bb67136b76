package wire

import (
	"context"
	"errors"
	"io"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
)

// ErrSessionClosed is returned for statements on a session after Close.
var ErrSessionClosed = errors.New("session is closed")

// Session is one connection's side of the statement path. It runs one
// statement at a time; apart from Kill, which any goroutine may call, it
// belongs to one goroutine.
type Session struct {
	r    *Runner
	proc *process
	info ConnInfo
	sess sql.Session

	// loadInfile opens a file on the client for LOAD DATA LOCAL; nil where
	// there is no client.
	loadInfile func(name string) (io.ReadCloser, error)
	// infileSent is set once the running statement has asked the client for a
	// file, after which it can't run again.
	infileSent bool

	// dirty: a statement may have changed settings, variables, locks or
	// temporary tables of the session.
	dirty  bool
	killed atomic.Bool

	active   *run
	status   uint16
	warnings uint16
	// timeouts in force, refreshed after each statement.
	waitTimeout, readTimeout, writeTimeout time.Duration
	closed                                 atomic.Bool
	closing                                sync.Once
}

// Connect registers a connection in the process list. addr is shown there;
// kill is called when the connection is killed and must not block.
func (r *Runner) Connect(addr string, kill func()) *Session {
	if kill == nil {
		kill = func() {}
	}
	s := &Session{r: r, status: statusAutocommit}
	s.proc = r.procs.add(addr, func() {
		s.killed.Store(true)
		kill()
	})
	return s
}

// Killed says whether the connection was killed; it runs no more statements.
func (s *Session) Killed() bool { return s.killed.Load() }

// Dirty says whether statements since Login or Reset may have left something
// in the session that another user of it would notice.
func (s *Session) Dirty() bool { return s.dirty }

// MarkClean says that what Dirty tells of is known to the caller, who sees to
// it.
func (s *Session) MarkClean() { s.dirty = false }

// ID is the connection id.
func (s *Session) ID() uint32 { return s.proc.id }

// Info says who is behind the session.
func (s *Session) Info() ConnInfo { return s.info }

// SQLSession is the engine's session, nil before Login.
func (s *Session) SQLSession() sql.Session { return s.sess }

// Status are the SERVER_STATUS_* flags after the last statement.
func (s *Session) Status() uint16 { return s.status }

// Warnings is the number of warnings of the last statement.
func (s *Session) Warnings() uint16 { return s.warnings }

// InTransaction says whether an explicit transaction is open.
func (s *Session) InTransaction() bool { return s.status&statusInTrans != 0 }

// SetLoadInfile sets how LOAD DATA LOCAL reaches the client's files.
func (s *Session) SetLoadInfile(f func(name string) (io.ReadCloser, error)) { s.loadInfile = f }

// Login builds the engine's session for an authenticated user. A second Login
// ends the first session and starts from nothing (COM_CHANGE_USER). Errors are
// ready for the client.
func (s *Session) Login(ctx context.Context, info ConnInfo) error {
	info.ID = s.proc.id
	if s.sess != nil {
		s.endEngineSession()
	}
	s.info, s.dirty = info, false
	sess, err := s.r.newSession(ctx, info)
	if err != nil {
		return MapErr(err)
	}
	sess.SetConnectionId(s.proc.id)
	s.sess = sess
	s.proc.ready(info.User, processHost(info), "")
	sctx := s.newContext(ctx, "", 0)
	setClientCollation(sctx, info.Collation)
	s.setTransport(sctx)
	s.refresh(sctx)
	if info.Database == "" {
		return nil
	}
	return s.UseDatabase(ctx, info.Database)
}

// processHost is what SHOW PROCESSLIST shows: host and port, or localhost.
func processHost(info ConnInfo) string {
	if info.Addr != "" {
		return info.Addr
	}
	return info.Host
}

// setClientCollation does what SET NAMES does, for the collation that the
// client named in its handshake. Unknown ids leave the server's default.
func setClientCollation(ctx *sql.Context, id uint16) {
	if !known(id) {
		return
	}
	coll := sql.CollationID(id)
	charset := coll.CharacterSet().Name()
	for name, value := range map[string]string{
		"character_set_client":     charset,
		"character_set_connection": charset,
		"character_set_results":    charset,
		"collation_connection":     coll.Name(),
	} {
		if charset == "binary" && name == "character_set_results" {
			continue
		}
		if err := ctx.SetSessionVariable(ctx, name, value); err != nil {
			return // a collation the engine lists but can't use: keep the default
		}
	}
}

// setTransport fills in the session's status variables about its connection.
func (s *Session) setTransport(ctx *sql.Context) {
	compression := "OFF"
	if s.info.Capabilities&capCompress != 0 {
		compression = "ON"
	}
	for name, value := range map[string]string{
		"Ssl_version": strings.ReplaceAll(s.info.TLSVersion, " ", "v"), "Ssl_cipher": s.info.TLSCipher, "Compression": compression,
	} {
		if err := ctx.SetStatusVariable(ctx, name, value); err != nil {
			s.r.logf("connection %d: status variable %s: %v", s.ID(), name, err)
		}
	}
}

// Reset ends the engine's session and starts a fresh one for the same user
// with the same current database (COM_RESET_CONNECTION).
func (s *Session) Reset(ctx context.Context) error {
	info := s.info
	if s.sess != nil {
		info.Database = s.sess.GetCurrentDatabase()
	}
	return s.Login(ctx, info)
}

// UseDatabase makes name the current database.
func (s *Session) UseDatabase(ctx context.Context, name string) error {
	run, err := s.start(ctx, "Init DB")
	if err != nil {
		return err
	}
	err = s.guard(func() error { return s.useDatabase(run.ctx, name) })
	if err != nil {
		err = s.fail(run, nil, err)
	}
	s.finish(run)
	return err
}

func (s *Session) useDatabase(ctx *sql.Context, name string) error {
	if name == "" {
		return newError(erNoDB, "No database selected")
	}
	db, err := s.r.engine.Analyzer.Catalog.Database(ctx, name)
	if err != nil {
		return err
	}
	ctx.SetCurrentDatabase(db.Name())
	if p, ok := db.(mysql_db.PrivilegedDatabase); ok {
		db = p.Unwrap()
	}
	return ctx.Session.UseDatabase(ctx, db)
}

// Kill interrupts the running statement with cause, if there is one.
func (s *Session) Kill(cause error) { s.proc.interrupt(cause) }

// Close ends the session: an open result is closed, the transaction rolled
// back, locks released, the connection leaves the process list. It is safe to
// call more than once.
func (s *Session) Close() {
	s.closing.Do(func() {
		if run := s.active; run != nil && run.result != nil {
			run.cancel(ErrQueryKilled)
			_ = run.result.Close() // the statement is abandoned; its error has no reader
		}
		s.closed.Store(true)
		if s.sess != nil {
			s.endEngineSession()
		}
		s.r.procs.RemoveConnection(s.proc.id)
	})
}

// endEngineSession releases what the engine's session holds.
func (s *Session) endEngineSession() {
	err := s.guard(func() error {
		ctx := s.newContext(context.Background(), "", s.r.pid.Add(1))
		if _, err := s.r.engine.LS.ReleaseAll(ctx); err != nil {
			s.r.logf("connection %d: release user locks: %v", s.ID(), err)
		}
		if err := s.r.engine.Analyzer.Catalog.UnlockTables(ctx, s.ID()); err != nil {
			s.r.logf("connection %d: unlock tables: %v", s.ID(), err)
		}
		if ts, ok := s.sess.(sql.TransactionSession); ok {
			if tx := s.sess.GetTransaction(); tx != nil {
				if err := ts.Rollback(ctx, tx); err != nil {
					s.r.logf("connection %d: roll back: %v", s.ID(), err)
				}
				s.sess.SetTransaction(nil)
			}
		}
		return nil
	})
	if err != nil {
		s.r.logf("connection %d: end of session: %v", s.ID(), err)
	}
	if err := s.guard(func() error { sql.SessionEnd(s.sess); return nil }); err != nil {
		s.r.logf("connection %d: end of session: %v", s.ID(), err)
	}
	s.r.engine.CloseSession(s.ID())
	s.sess = nil
}

func (s *Session) newContext(ctx context.Context, query string, pid uint64) *sql.Context {
	return sql.NewContext(ctx,
		sql.WithSession(s.sess),
		sql.WithPid(pid),
		sql.WithQuery(query),
		sql.WithMemoryManager(s.r.engine.MemoryManager),
		sql.WithProcessList(s.r.procs),
		sql.WithServices(sql.Services{
			KillConnection: s.r.procs.killConnection,
			LoadInfile:     s.openInfile,
		}))
}

func (s *Session) openInfile(name string) (io.ReadCloser, error) {
	if s.loadInfile == nil {
		return nil, newError(erLoadLocalDisabled,
			"Loading local data is disabled; this must be enabled on both the client and server sides")
	}
	s.infileSent = true
	return s.loadInfile(name)
}

// guard runs f and turns a panic into an error: a fault in the engine costs
// the statement, not the connection.
func (s *Session) guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.r.logf("connection %d: panic: %v\n%s", s.ID(), p, debug.Stack())
			err = newError(erUnknown, "internal error: %v", p)
		}
	}()
	return f()
}
