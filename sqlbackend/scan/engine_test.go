package scan_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/memory"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/rowexec"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"ksql/sqlbackend/parser"
	"ksql/sqlbackend/scan"
)

// engine is the read side over the engine's own in-memory tables.
type engine struct {
	*sqle.Engine
	provider *provider
	session  *memory.Session
	pid      uint64
}

// provider adds ksql's functions to the in-memory databases.
type provider struct{ *memory.DbProvider }

func (p *provider) Function(ctx *sql.Context, name string) (sql.Function, bool) {
	return scan.Functions(ctx, name)
}

func (p *provider) WithTableFunctions(fns ...sql.TableFunction) (sql.TableFunctionProvider, error) {
	return p, nil
}

func newEngine(t testing.TB) *engine {
	t.Helper()
	scan.InstallGlobals()
	p := &provider{memory.NewDBProvider()}
	b := analyzer.NewBuilder(p)
	b.AddOverrides(sql.EngineOverrides{Builder: sql.BuilderOverrides{Parser: parser.New()}})
	e := sqle.New(b.Build(), nil)
	e.Analyzer.ExecBuilder = rowexec.NewBuilder(scan.NewBuilder(e), e.Analyzer.Overrides)
	e.Analyzer.ExecBuilder.Runner = e.Analyzer.Runner
	en := &engine{Engine: e, provider: p}
	scan.FullVariables(func() {
		base := sql.NewBaseSessionWithClientServer("", sql.Client{User: "root", Address: "localhost"}, 1)
		en.session = memory.NewSession(base, p)
	})
	e.ProcessList.AddConnection(1, "")
	e.ProcessList.ConnectionReady(en.session)
	en.exec(t, "create database d")
	en.session.SetCurrentDatabase("d")
	return en
}

// run executes every statement of a text and returns the last result as text
// cells, the header first.
func (e *engine) run(text string, params ...string) (out [][]string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	for text != "" {
		e.pid++
		ctx := sql.NewContext(context.Background(), sql.WithSession(e.session), sql.WithPid(e.pid), sql.WithProcessList(e.ProcessList), sql.WithQuery(text))
		stmt, body, rest, err := e.Parser.Parse(ctx, text, true)
		if errors.Is(err, ast.ErrEmpty) {
			text = rest
			continue
		}
		if err != nil {
			return nil, err
		}
		if out, err = e.one(ctx, stmt, body, params); err != nil {
			return nil, err
		}
		text = rest
	}
	return out, nil
}

func (e *engine) one(ctx *sql.Context, stmt ast.Statement, body string, params []string) (out [][]string, err error) {
	ctx, err = e.ProcessList.BeginQuery(ctx, body)
	if err != nil {
		return nil, err
	}
	defer e.ProcessList.EndQuery(ctx)
	var bindings map[string]ast.Expr
	for i, p := range params {
		if bindings == nil {
			bindings = map[string]ast.Expr{}
		}
		bindings[fmt.Sprintf("v%d", i+1)] = ast.NewStrVal([]byte(p))
	}
	schema, it, _, err := e.QueryWithBindings(ctx, body, stmt, bindings, nil)
	if err != nil {
		return nil, err
	}
	var header []string
	for _, c := range schema {
		header = append(header, c.Name)
	}
	out = append(out, header)
	for {
		r, err := it.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			it.Close(ctx)
			return nil, err
		}
		if types.IsOkResult(r) {
			continue
		}
		row := make([]string, len(r))
		for i, v := range r {
			if v == nil {
				row[i] = "NULL"
				continue
			}
			val, err := schema[i].Type.SQL(ctx, nil, v)
			if err != nil {
				return nil, err
			}
			row[i] = val.ToString()
		}
		out = append(out, row)
	}
	return out, it.Close(ctx)
}

func (e *engine) exec(t testing.TB, text string) {
	t.Helper()
	if _, err := e.run(text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// query returns the rows as "a,b|c,d".
func (e *engine) query(text string, params ...string) string {
	rows, err := e.run(text, params...)
	if err != nil {
		return "ERROR " + err.Error()
	}
	var out []string
	for _, r := range rows[1:] {
		out = append(out, strings.Join(r, ","))
	}
	return strings.Join(out, "|")
}

// check compares a query's rows with the answer of MySQL 8.4.
func (e *engine) check(t *testing.T, query, want string, params ...string) {
	t.Helper()
	if got := e.query(query, params...); got != want {
		t.Errorf("%s\n got %s\nwant %s", query, got, want)
	}
}

// sharedFile opens a file of the shared real-input group. The group runs where
// the folder is present, is reported as skipped elsewhere, and must run in CI.
func sharedFile(t *testing.T, name string) *os.File {
	t.Helper()
	dir := os.Getenv("KSQL_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the shared real input must be present in CI: %v", err)
		}
		t.Skipf("shared real input is not here: %v", err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

var keys = regexp.MustCompile(`,\s*CONSTRAINT .PK_\w+.\s+PRIMARY KEY\s+\([^)]*\)`)

func TestSharedChinookQueries(t *testing.T) {
	e := newEngine(t)
	start := time.Now()
	sp := parser.NewSplitter(sharedFile(t, "data/chinook.sql"))
	n := 0
	for {
		st, err := sp.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		// the in-memory tables sort themselves for every key look-up: no keys
		text := keys.ReplaceAllString(st.Text, "")
		if strings.HasPrefix(text, "ALTER TABLE") || strings.HasPrefix(text, "CREATE INDEX") {
			continue
		}
		if _, err := e.run(text); err != nil {
			t.Fatalf("line %d: %v", st.Line, err)
		}
		n++
	}
	t.Logf("%d statements loaded in %v", n, time.Since(start))
	sp = parser.NewSplitter(sharedFile(t, "cases/chinook-queries.sql"))
	answers := readAnswers(t)
	for i := 0; ; i++ {
		st, err := sp.Next()
		if errors.Is(err, io.EOF) {
			if i != len(answers) {
				t.Fatalf("%d queries, %d answers", i, len(answers))
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.run(st.Text)
		if err != nil {
			t.Errorf("%s: %v", st.Text, err)
			continue
		}
		for _, r := range got {
			for j := range r {
				r[j] = strings.TrimSpace(r[j])
			}
		}
		if g, w := fmt.Sprint(got), fmt.Sprint(answers[i]); g != w {
			t.Errorf("%s\n got %s\nwant %s", st.Text, g, w)
		}
	}
}

// readAnswers reads the tables behind "-- > ".
func readAnswers(t *testing.T) [][][]string {
	t.Helper()
	b, err := io.ReadAll(sharedFile(t, "cases/chinook-queries.sql"))
	if err != nil {
		t.Fatal(err)
	}
	var out [][][]string
	open := false
	for _, line := range strings.Split(string(b), "\n") {
		row, ok := strings.CutPrefix(line, "-- > ")
		if !ok {
			open = false
			continue
		}
		if !open {
			out = append(out, nil)
			open = true
		}
		if !strings.HasPrefix(row, "|") {
			continue
		}
		var cells []string
		for _, c := range strings.Split(strings.Trim(strings.TrimSpace(row), "|"), "|") {
			cells = append(cells, strings.TrimSpace(c))
		}
		out[len(out)-1] = append(out[len(out)-1], cells)
	}
	return out
}
