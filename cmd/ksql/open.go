package main

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"

	"ksql/config"
	"ksql/sqlbackend"
	"ksql/sqlbackend/driver"
)

// database is an open folder, in this process or through its owner's socket.
type database struct {
	*sql.DB
	via   string // "" in this process, else how the owner is reached
	close func() error
}

// Close closes all connections and, if the folder was opened here, flushes and
// releases it.
func (d *database) Close() error { return d.close() }

// waitForOwner is how long a folder's owner is given to open its socket or to go.
const waitForOwner = 5 * time.Second

// openDatabase opens the folder, or connects to the process that has it open.
func openDatabase(ctx context.Context, cfg *config.Config, logf func(string, ...any)) (*database, error) {
	deadline := time.Now().Add(waitForOwner)
	for {
		db, err := openHere(cfg, logf)
		if !errors.Is(err, sqlbackend.ErrFolderInUse) {
			return db, err
		}
		inUse := err
		db, err = openOwner(ctx, cfg)
		if err == nil {
			return db, nil
		}
		if !errors.Is(err, errOwnerSilent) {
			return nil, err
		}
		if time.Now().After(deadline) {
			return nil, failure(exitInUse, "%w\n%v", inUse, err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// openHere opens the folder in this process.
func openHere(cfg *config.Config, logf func(string, ...any)) (*database, error) {
	b, err := openBackend(cfg, logf, sqlbackend.Options{})
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(driver.NewBackendConnector(b, driver.Config{}))
	return &database{DB: db, close: func() error { return errors.Join(db.Close(), b.Close()) }}, nil
}

// openBackend opens the folder with the settings of the storage engine.
func openBackend(cfg *config.Config, logf func(string, ...any), o sqlbackend.Options) (*sqlbackend.Backend, error) {
	o.Sync = map[string]sqlbackend.SyncMode{
		"full": sqlbackend.SyncFull, "interval": sqlbackend.SyncInterval, "off": sqlbackend.SyncOff,
	}[cfg.Sync]
	o.SyncInterval = cfg.SyncInterval
	o.MemoryLimit = cfg.MemoryLimit
	o.FlushBytes = cfg.FlushBytes
	o.Logf = logf
	return sqlbackend.Open(cfg.Data, o)
}

// errOwnerSilent: another process has the folder open and can't be reached (yet).
var errOwnerSilent = errors.New("its owner can't be reached")

// openOwner connects to the socket that LOCK names.
func openOwner(ctx context.Context, cfg *config.Config) (*database, error) {
	pid, socket, err := readOwner(cfg.Data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errOwnerSilent, err)
	}
	if socket == "" {
		return nil, fmt.Errorf("%w: process %d offers no socket; wait for it to end, or stop it", errOwnerSilent, pid)
	}
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr = cfg.User, cfg.Password, "unix", socket
	c.Logger = &mysql.NopLogger{} // its errors come back anyhow
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, fmt.Errorf("socket %s: %w", socket, err)
	}
	db := sql.OpenDB(connector)
	if err := db.PingContext(ctx); err != nil {
		err = errors.Join(err, db.Close())
		if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, sqldriver.ErrBadConn) {
			return nil, fmt.Errorf("%w: process %d, %w", errOwnerSilent, pid, err)
		}
		return nil, failure(exitFailed, "process %d has the folder open; connect to %s: %w", pid, socket, err)
	}
	via := fmt.Sprintf("process %d, socket %s", pid, socket)
	return &database{DB: db, via: via, close: func() error {
		_ = db.Close() // only says goodbye: it fails if the owner has closed the connection first
		return nil
	}}, nil
}

// readOwner reads pid and socket out of the lock file: "pid=12 socket=/x/ksql.sock".
func readOwner(dir string) (pid int, socket string, err error) {
	text, err := os.ReadFile(filepath.Join(dir, "LOCK"))
	if err != nil {
		return 0, "", err
	}
	return parseOwner(string(text))
}

func parseOwner(text string) (pid int, socket string, err error) {
	p, rest, ok := strings.Cut(strings.TrimSpace(text), " ")
	p, isPid := strings.CutPrefix(p, "pid=")
	socket, isSocket := strings.CutPrefix(rest, "socket=")
	if pid, err = strconv.Atoi(p); err != nil || !isPid || ok && !isSocket {
		return 0, "", fmt.Errorf("the lock file names no owner: %q", text)
	}
	return pid, socket, nil
}

// logTo makes the log function of a command that log_level asks for.
func logTo(env *environment, cfg *config.Config) func(string, ...any) {
	if cfg.LogLevel == "error" {
		return func(string, ...any) {}
	}
	return func(format string, args ...any) {
		fmt.Fprintf(env.stderr, "%s %s\n", time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), fmt.Sprintf(format, args...))
	}
}
