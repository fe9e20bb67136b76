package driver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/memory"
	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/go-sql-driver/mysql"
	"github.com/sirupsen/logrus"
	"go.uber.org/goleak"

	"ksql/sqlbackend/wire"
)

// memoryBackend is a Backend over the engine's in-memory tables.
type memoryBackend struct {
	engine   *sqle.Engine
	runner   *wire.Runner
	readOnly bool
}

func (b *memoryBackend) Connect(ctx context.Context, info wire.ConnInfo) (*wire.Session, error) {
	s := b.runner.Connect("", nil)
	if err := s.Login(ctx, info); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (b *memoryBackend) Close() error {
	b.runner.KillAll()
	return b.engine.Close()
}

// opened counts the backends that are open, by folder.
var opened = struct {
	sync.Mutex
	m map[string]*memoryBackend
	n int // ever
}{m: map[string]*memoryBackend{}}

// tracked removes a backend from opened when it is closed.
type tracked struct {
	*memoryBackend
	dir string
}

func (b tracked) Close() error {
	opened.Lock()
	delete(opened.m, b.dir)
	opened.Unlock()
	return b.memoryBackend.Close()
}

func openMemory(dir string, readOnly bool) (Backend, error) {
	if strings.HasSuffix(dir, "broken") {
		return nil, errors.New("this folder can't be opened")
	}
	db := memory.NewDatabase("d")
	pro := memory.NewDBProvider(db)
	b := &memoryBackend{engine: sqle.NewDefault(pro), readOnly: readOnly}
	var err error
	b.runner, err = wire.NewRunner(wire.Options{Engine: b.engine, NewSession: func(_ context.Context, info wire.ConnInfo) (gms.Session, error) {
		client := gms.Client{User: "root", Address: "localhost", Capabilities: info.Capabilities}
		return memory.NewSession(gms.NewBaseSessionWithClientServer("", client, info.ID), pro), nil
	}})
	if err != nil {
		return nil, err
	}
	opened.Lock()
	defer opened.Unlock()
	if opened.m[dir] != nil {
		return nil, fmt.Errorf("%s is open twice", dir)
	}
	opened.m[dir] = b
	opened.n++
	return tracked{b, dir}, nil
}

func TestMain(m *testing.M) {
	logrus.SetLevel(logrus.FatalLevel)
	openBackend = openMemory
	goleak.VerifyTestMain(m)
}

// open opens a fresh folder's handle.
func open(t testing.TB, params string) *sql.DB {
	t.Helper()
	return openDSN(t, filepath.Join(t.TempDir(), "data")+"?db=d&"+params)
}

func openDSN(t testing.TB, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("ksql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func exec(t testing.TB, db interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}, q string, args ...any) sql.Result {
	t.Helper()
	res, err := db.ExecContext(context.Background(), q, args...)
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	return res
}

func mysqlError(t testing.TB, err error) *mysql.MySQLError {
	t.Helper()
	me, ok := err.(*mysql.MySQLError) //nolint:errorlint // callers may do the same
	if !ok {
		t.Fatalf("want a MySQL error, got %T %v", err, err)
	}
	return me
}

// one scans the single value of a query.
func one[T any](t testing.TB, db interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}, q string, args ...any) T {
	t.Helper()
	var v T
	if err := db.QueryRowContext(context.Background(), q, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	return v
}
