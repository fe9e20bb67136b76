package sqlbackend

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/sql"

	"ksql/internal/vfs"
	"ksql/sqlbackend/catalog"
	"ksql/sqlbackend/wire"
	"ksql/tablet"
)

// Backend is one open folder: a MySQL-compatible database in this process. Its
// methods are safe for concurrent use.
type Backend struct {
	dir      string
	fs       vfs.FS
	options  Options
	manager  *tablet.Manager
	provider *catalog.Provider
	engine   *sqle.Engine
	runner   *wire.Runner

	spills atomic.Int64 // names of spill files

	// drain ends when Abort is called: statements are then no longer waited for.
	drain context.Context
	abort context.CancelFunc

	mu     sync.Mutex
	server *wire.Server // while Serve runs
	closed bool
}

// ErrFolderInUse is wrapped by Open's error when another process has the folder
// open; the error names its pid and socket.
var ErrFolderInUse = tablet.ErrFolderInUse

// ErrClosed is returned for work on a Backend after Close.
var ErrClosed = errors.New("the database is closed")

// Open opens the database in dir, which is made if it does not exist. After a crash
// it recovers everything that was acknowledged. Only one process can have a folder
// open; errors.Is(err, ErrFolderInUse) tells.
func Open(dir string, o Options) (*Backend, error) {
	install()
	if o.FS == nil {
		o.FS = vfs.Default
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", dir, err)
		}
		dir = abs
	}
	if o.Logf == nil {
		o.Logf = func(string, ...any) {}
	}
	if o.MemoryLimit <= 0 {
		o.MemoryLimit = defaultMemoryLimit()
	}
	m, err := tablet.Open(dir, tablet.Options{
		FS: o.FS, Sync: o.Sync, SyncInterval: o.SyncInterval, MemoryLimit: o.MemoryLimit,
		FlushBytes: o.FlushBytes, ReadOnly: o.ReadOnly, Logf: o.Logf,
		Owner: fmt.Sprintf("pid=%d socket=%s", os.Getpid(), o.Socket),
	})
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	b := &Backend{dir: dir, fs: o.FS, options: o, manager: m}
	b.drain, b.abort = context.WithCancel(context.Background())
	if err := b.assemble(); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", dir, err), m.Close())
	}
	return b, nil
}

// assemble builds the engine over the storage.
func (b *Backend) assemble() error {
	if !b.options.ReadOnly {
		if err := b.clearSpill(); err != nil {
			return err
		}
	}
	p, err := catalog.Open(b.manager, catalog.Options{Function: functions, MapError: wire.MapErr})
	if err != nil {
		return err
	}
	b.provider = p
	if b.engine, err = newEngine(p, b.options.ReadOnly); err != nil {
		return err
	}
	b.runner, err = wire.NewRunner(wire.Options{
		Engine:     b.engine,
		Parser:     b.engine.Parser,
		NewSession: b.newSession,
		IsRestart:  func(err error) bool { return errors.Is(err, catalog.ErrStatementRestart) },
		Logf:       b.options.Logf,
	})
	if err != nil {
		return err
	}
	return b.loadAccounts()
}

// loadAccounts reads users and grants; a new folder gets root@localhost without a
// password, which is let in on the socket and on loopback only.
func (b *Backend) loadAccounts() error {
	ctx := sql.NewEmptyContext()
	db := b.engine.Analyzer.Catalog.MySQLDb
	found, err := b.provider.LoadPrivileges(ctx, db)
	if err != nil {
		return err
	}
	db.SetEnabled(true)
	if !found {
		if err := b.createRoot(ctx); err != nil {
			return fmt.Errorf("create root@localhost: %w", err)
		}
	}
	b.provider.ApplyPersistedVariables(ctx, func(name string, err error) {
		b.options.Logf("persisted variable %s is left alone: %v", name, err)
	})
	return nil
}

func (b *Backend) createRoot(ctx *sql.Context) error {
	db := b.engine.Analyzer.Catalog.MySQLDb
	ed := db.Editor() // holds the lock of the grant tables
	defer ed.Close()
	db.AddSuperUser(ed, "root", "localhost", "")
	if b.options.ReadOnly {
		return nil
	}
	return db.Persist(ctx, ed)
}

// Connect opens a session in this process with all privileges, for the
// database/sql driver and for tools.
func (b *Backend) Connect(ctx context.Context, info wire.ConnInfo) (*wire.Session, error) {
	b.mu.Lock()
	closed := b.closed
	b.mu.Unlock()
	if closed {
		return nil, ErrClosed
	}
	info.Embedded = true
	if info.User == "" {
		info.User, info.Host = "root", "localhost"
		info.AccountUser, info.AccountHost = "root", "localhost"
	}
	s := b.runner.Connect("", nil)
	if err := s.Login(ctx, info); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Dir is the folder.
func (b *Backend) Dir() string { return b.dir }

// Manager is the storage engine below, for tools that read its counters.
func (b *Backend) Manager() *tablet.Manager { return b.manager }

// Flush writes everything that is in memory to column files.
func (b *Backend) Flush(ctx context.Context) error { return b.manager.Flush(ctx) }

// Check walks the whole folder: every checksum, superblock against files, every
// index against its table. Each fault is reported; the error is for a check that
// could not go on.
func (b *Backend) Check(ctx context.Context, report func(error)) error {
	if err := b.manager.Check(ctx, report); err != nil {
		return err
	}
	err := b.provider.Check(ctx, report)
	var damage *tablet.CorruptionError
	if errors.As(err, &damage) { // a table that can't be read to its end
		report(err)
		err = nil
	}
	return err
}

// Close ends every session, flushes, and releases the folder. A second Close does
// nothing.
func (b *Backend) Close() error {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return nil
	}
	b.closed = true
	server := b.server
	b.mu.Unlock()
	var err error
	if server != nil {
		err = server.Close()
	}
	b.runner.KillAll()
	b.abort()
	return errors.Join(err, b.engine.Close(), b.manager.Close())
}
