package wire

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/memory"
	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/go-sql-driver/mysql"
	"github.com/sirupsen/logrus"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	logrus.SetLevel(logrus.FatalLevel)
	if err := gms.SystemVariables.AssignValues(map[string]any{
		"local_infile": int8(1), "max_allowed_packet": int64(64 << 20),
	}); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// fixture is a server over an in-memory engine.
type fixture struct {
	t    testing.TB
	r    *Runner
	srv  *Server
	addr string
	logs chan string
}

type fixtureOption func(*Options, *Config)

// newEngine makes an in-memory engine with one database d.
func newEngine() (*sqle.Engine, *memory.DbProvider) {
	db := memory.NewDatabase("d")
	pro := memory.NewDBProvider(db)
	return sqle.NewDefault(pro), pro
}

func newRunner(t testing.TB, opts ...fixtureOption) (*Runner, *Config) {
	t.Helper()
	e, pro := newEngine()
	o := Options{Engine: e, Logf: t.Logf, NewSession: func(_ context.Context, info ConnInfo) (gms.Session, error) {
		client := gms.Client{User: info.AccountUser, Address: info.AccountHost, Capabilities: info.Capabilities}
		return memory.NewSession(gms.NewBaseSessionWithClientServer("test", client, info.ID), pro), nil
	}}
	cfg := &Config{Version: "8.4.6-ksql"}
	for _, f := range opts {
		f(&o, cfg)
	}
	r, err := NewRunner(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	cfg.Runner = r
	return r, cfg
}

func start(t testing.TB, opts ...fixtureOption) *fixture {
	t.Helper()
	r, cfg := newRunner(t, opts...)
	srv, err := NewServer(*cfg)
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, r: r, srv: srv}
	f.addr = f.listen("tcp", "127.0.0.1:0")
	t.Cleanup(func() {
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// listen serves another listener and returns its address.
func (f *fixture) listen(network, addr string) string {
	f.t.Helper()
	l, err := net.Listen(network, addr)
	if err != nil {
		f.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- f.srv.Serve(l) }()
	f.t.Cleanup(func() {
		f.srv.Close()
		if err := <-done; err != ErrServerClosed {
			f.t.Errorf("Serve: %v", err)
		}
	})
	return l.Addr().String()
}

// withUsers turns on the grant tables and runs the statements as root.
func (f *fixture) withUsers(statements ...string) {
	f.t.Helper()
	db := f.r.engine.Analyzer.Catalog.MySQLDb
	db.SetPersister(&mysql_db.NoopPersister{})
	db.AddRootAccount()
	root := f.open("root@tcp(" + f.addr + ")/")
	for _, s := range statements {
		f.exec(root, s)
	}
}

// db opens a pool of one connection to database d.
func (f *fixture) db(params string) *sql.DB {
	f.t.Helper()
	return f.open("root@tcp(" + f.addr + ")/d?" + params)
}

func (f *fixture) open(dsn string) *sql.DB {
	f.t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		f.t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	f.t.Cleanup(func() { db.Close() })
	return db
}

func (f *fixture) exec(db *sql.DB, q string, args ...any) sql.Result {
	f.t.Helper()
	res, err := db.Exec(q, args...)
	if err != nil {
		f.t.Fatalf("%s: %v", q, err)
	}
	return res
}

// rows runs a query and prints its rows, cells joined by ',' and rows by '|'.
func (f *fixture) rows(db *sql.DB, q string, args ...any) string {
	f.t.Helper()
	s, err := queryRows(db, q, args...)
	if err != nil {
		f.t.Fatalf("%s: %v", q, err)
	}
	return s
}

func queryRows(db *sql.DB, q string, args ...any) (string, error) {
	rows, err := db.Query(q, args...)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var out []string
	cols, err := rows.Columns()
	if err != nil {
		return "", err
	}
	for rows.Next() {
		cells := make([]any, len(cols))
		for i := range cells {
			cells[i] = new(any)
		}
		if err := rows.Scan(cells...); err != nil {
			return "", err
		}
		parts := make([]string, len(cols))
		for i, c := range cells {
			switch v := (*c.(*any)).(type) {
			case nil:
				parts[i] = "NULL"
			case []byte:
				parts[i] = string(v)
			default:
				parts[i] = fmt.Sprint(v)
			}
		}
		out = append(out, strings.Join(parts, ","))
	}
	return strings.Join(out, "|"), rows.Err()
}

// sqlError returns number and state of a client error, or fails.
func sqlError(t testing.TB, err error) *mysql.MySQLError {
	t.Helper()
	me, ok := err.(*mysql.MySQLError)
	if !ok {
		t.Fatalf("want a MySQL error, got %T %v", err, err)
	}
	return me
}

// client runs the mariadb command line client.
func (f *fixture) client(input string, args ...string) string {
	f.t.Helper()
	path, err := exec.LookPath("mariadb")
	if err != nil {
		if os.Getenv("CI") == "true" {
			f.t.Fatal("the mariadb client must be installed in CI")
		}
		f.t.Skip("the mariadb client is not installed")
	}
	host, port, err := net.SplitHostPort(f.addr)
	if err != nil {
		f.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	all := append([]string{"--no-defaults", "-h", host, "-P", port, "--protocol=tcp"}, args...)
	cmd := exec.CommandContext(ctx, path, all...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out) + "[" + err.Error() + "]"
	}
	return string(out)
}
