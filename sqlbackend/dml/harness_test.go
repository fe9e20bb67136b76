package dml

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"ksql/internal/vfs"
	"ksql/sqlbackend/catalog"
	"ksql/tablet"
)

// harness is one data folder with an engine over it, in memory.
type harness struct {
	t        testing.TB
	fs       *vfs.MemFS
	options  tablet.Options
	manager  *tablet.Manager
	provider *catalog.Provider
	engine   *sqle.Engine
	clients  map[string]*client
	ids      atomic.Uint32
}

// client is one session that runs statements as the statement path does.
type client struct {
	h       *harness
	session *catalog.Session
}

const harnessDir = "data"

func newHarness(t testing.TB) *harness {
	h := &harness{t: t, fs: vfs.NewMem(), clients: map[string]*client{}}
	h.open()
	t.Cleanup(func() { h.close() })
	return h
}

func (h *harness) open() {
	h.t.Helper()
	o := h.options
	o.FS = h.fs
	m, err := tablet.Open(harnessDir, o)
	if err != nil {
		h.t.Fatalf("open: %v", err)
	}
	p, err := catalog.Open(m, catalog.Options{})
	if err != nil {
		h.t.Fatalf("open catalog: %v", err)
	}
	InstallRule()
	b := analyzer.NewBuilder(p).
		AddPreAnalyzeRule(7000, catalog.ImplicitCommitRule).
		AddOverrides(sql.EngineOverrides{Hooks: sql.ExecutionHooks{CreateTable: sql.CreateTable{PreSQLExecution: catalog.CreateTableHook}}})
	h.manager, h.provider, h.engine = m, p, sqle.New(b.Build(), nil)
	db := h.engine.Analyzer.Catalog.MySQLDb
	found, err := p.LoadPrivileges(sql.NewEmptyContext(), db)
	if err != nil {
		h.t.Fatalf("load privileges: %v", err)
	}
	if !found {
		db.AddRootAccount()
	}
	if err := sql.SystemVariables.AssignValues(map[string]any{
		"collation_server": "utf8mb4_0900_ai_ci", "collation_database": "utf8mb4_0900_ai_ci", "collation_connection": "utf8mb4_0900_ai_ci",
	}); err != nil {
		h.t.Fatal(err)
	}
}

// close ends all sessions and the folder.
func (h *harness) close() {
	for _, c := range h.clients {
		c.session.SessionEnd()
	}
	h.clients = map[string]*client{}
	if h.manager != nil {
		if err := h.manager.Close(); err != nil {
			h.t.Errorf("close: %v", err)
		}
		h.manager = nil
	}
}

// reopen closes and opens the folder.
func (h *harness) reopen() {
	h.t.Helper()
	h.close()
	h.open()
}

// client returns the named session, in database test if that exists.
func (h *harness) client(name string) *client {
	c := h.clients[name]
	if c == nil {
		base := sql.NewBaseSessionWithClientServer("server", sql.Client{Address: "localhost", User: "root"}, h.ids.Add(1))
		c = &client{h: h, session: catalog.NewSession(base, h.provider)}
		c.session.SetCurrentDatabase("test")
		h.clients[name] = c
	}
	return c
}

// result is what one statement gave.
type result struct {
	ok   types.OkResult
	rows [][]string
	isOK bool
}

// run runs one statement, again on ErrStatementRestart.
func (c *client) run(query string) (result, error) { return c.runContext(context.Background(), query) }

func (c *client) runContext(base context.Context, query string) (_ result, err error) {
	s := c.session
	if err := s.CommandBegin(); err != nil {
		return result{}, err
	}
	defer s.CommandEnd()
	ctx := sql.NewContext(base, sql.WithSession(s))
	st, _, err := c.h.engine.Parser.ParseOneWithOptions(ctx, query, sql.LoadSqlMode(ctx).ParserOptions())
	if err != nil {
		return result{}, err
	}
	if strings.Contains(strings.ToUpper(query), "WITH CONSISTENT SNAPSHOT") {
		s.RequestConsistentSnapshot()
	}
	if err := s.BeginStatement(ctx, catalog.KindOf(st)); err != nil {
		return result{}, err
	}
	for {
		res, err := c.once(ctx, query)
		if !errors.Is(err, catalog.ErrStatementRestart) {
			return res, err
		}
		if err := s.RestartStatement(ctx); err != nil {
			return res, err
		}
	}
}

func (c *client) once(ctx *sql.Context, query string) (res result, err error) {
	schema, it, _, err := c.h.engine.QueryWithBindings(ctx, query, nil, nil, nil)
	if err != nil {
		return res, err
	}
	for {
		row, err := it.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			// The engine commits DDL when its iterator is closed.
			tx := ctx.GetTransaction()
			ctx.SetTransaction(nil)
			defer ctx.SetTransaction(tx)
			if cerr := it.Close(ctx); cerr != nil && !errors.Is(cerr, err) {
				err = errors.Join(err, cerr)
			}
			return res, err
		}
		if ok, is := okResult(row); is {
			res.ok, res.isOK = ok, true
			continue
		}
		text := make([]string, len(row))
		for i, v := range row {
			if i < len(schema) && v != nil {
				value, err := schema[i].Type.SQL(ctx, nil, v)
				if err != nil {
					return res, err
				}
				text[i] = value.ToString()
			} else {
				text[i] = "NULL"
			}
		}
		res.rows = append(res.rows, text)
	}
	return res, it.Close(ctx)
}

// okResult finds the result of a statement without rows; ALTER … COMMENT
// returns one under a foreign schema.
func okResult(row sql.Row) (types.OkResult, bool) {
	if len(row) == 0 {
		return types.OkResult{}, false
	}
	ok, is := row[0].(types.OkResult)
	return ok, is
}

// must runs a statement that has to succeed.
func (c *client) must(query string) result {
	c.h.t.Helper()
	res, err := c.run(query)
	if err != nil {
		c.h.t.Fatalf("%s: %v", query, err)
	}
	return res
}

// text returns a query's rows in one line.
func (c *client) text(query string) string {
	c.h.t.Helper()
	return c.must(query).String()
}

func (r result) String() string {
	lines := make([]string, len(r.rows))
	for i, row := range r.rows {
		lines[i] = strings.Join(row, "|")
	}
	return strings.Join(lines, "\n")
}

// format prints a statement's outcome for scripts.
func (r result) format(info bool) string {
	if !r.isOK {
		if len(r.rows) == 0 {
			return "empty\n"
		}
		return r.String() + "\n"
	}
	out := fmt.Sprintf("ok %d", r.ok.RowsAffected)
	if r.ok.InsertID != 0 {
		out += fmt.Sprintf(" id %d", r.ok.InsertID)
	}
	if r.ok.Info != nil && (info || strings.HasPrefix(r.ok.Info.String(), "Rows matched")) {
		out += " " + r.ok.Info.String()
	}
	return out + "\n"
}

// errorText prints an error as number, state and message where it has them.
func errorText(err error) string {
	if e, ok := catalog.DuplicateKey(err); ok {
		err = e
	}
	var my *mysql.SQLError
	if errors.As(sql.UnwrapError(err), &my) {
		return fmt.Sprintf("error %d (%s): %s\n", my.Num, my.State, my.Message)
	}
	return fmt.Sprintf("error: %v\n", err)
}

// check runs the index check and returns its findings.
func (h *harness) check() string {
	h.t.Helper()
	var b strings.Builder
	if err := h.provider.Check(context.Background(), func(err error) { fmt.Fprintln(&b, err) }); err != nil {
		h.t.Fatalf("check: %v", err)
	}
	return b.String()
}
