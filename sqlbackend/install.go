package sqlbackend

import (
	"io"
	"strings"
	"sync"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/rowexec"
	"github.com/sirupsen/logrus"

	"ksql/sqlbackend/catalog"
	"ksql/sqlbackend/dml"
	"ksql/sqlbackend/parser"
	"ksql/sqlbackend/scan"
)

// ServerVersion is what @@version and the greeting say: MySQL 8.4 semantics.
const ServerVersion = "8.4.6-ksql"

var installOnce sync.Once

// install sets everything of the engine that is global to the process. It is the
// one place for that.
func install() {
	installOnce.Do(func() {
		logrus.SetOutput(io.Discard) // the engine logs statement texts; ours go through Logf
		scan.InstallGlobals()
		dml.InstallRule()
	})
}

// These are far from the engine's own rule ids.
const (
	implicitCommitRule analyzer.RuleId = 7000 + iota
	setGlobalRule
)

// functions finds the functions that ksql adds to the engine's or replaces.
func functions(ctx *sql.Context, name string) (sql.Function, bool) {
	if strings.EqualFold(name, "load_file") {
		return sql.Function1{Name: "load_file", Fn: newLoadFile}, true
	}
	return scan.Functions(ctx, name)
}

// newEngine builds an engine over the provider with ksql's parser, hooks and nodes.
func newEngine(p *catalog.Provider, readOnly bool) (*sqle.Engine, error) {
	b := analyzer.NewBuilder(p).AddPreAnalyzeRule(implicitCommitRule, catalog.ImplicitCommitRule).
		AddPreAnalyzeRule(setGlobalRule, checkSetGlobal)
	var o sql.EngineOverrides
	o.Builder.Parser = parser.New()
	o.Hooks.CreateTable.PreSQLExecution = catalog.CreateTableHook
	o.Hooks.RenameTable.PreSQLExecution = renameHook(p)
	b.AddOverrides(o)
	e := sqle.New(b.Build(), &sqle.Config{IsReadOnly: readOnly})
	e.Analyzer.ExecBuilder = rowexec.NewBuilder(scan.NewBuilder(e), e.Analyzer.Overrides)
	e.Analyzer.ExecBuilder.Runner = e.Analyzer.Runner
	err := sql.SystemVariables.AssignValues(map[string]any{
		"version":         ServerVersion,
		"version_comment": "ksql",
		// MySQL's default; the engine's is 1 GiB, which any client could make us hold
		"max_allowed_packet": int64(64 << 20),
	})
	return e, err
}
