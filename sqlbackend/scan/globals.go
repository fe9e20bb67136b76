package scan

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/go-mysql-server/sql/variables"
	"github.com/dolthub/vitess/go/sqltypes"
)

// defaultCollation is MySQL 8.4's; the engine's own is utf8mb4_0900_bin.
const defaultCollation = sql.Collation_utf8mb4_0900_ai_ci

var globals sync.Once

// InstallGlobals sets what the engine keeps in variables of the process: the
// default collation, the text types, the names of aggregates, and registries that
// don't copy every variable for each temporary context. It must be called before
// the first engine is made and does its work once.
func InstallGlobals() {
	globals.Do(func() {
		variables.InitStatusVariables()
		sessionVariables = &variableRegistry{SystemVariableRegistry: sql.SystemVariables}
		sql.SystemVariables = sessionVariables
		sql.StatusVariables = &statusRegistry{StatusVariableRegistry: sql.StatusVariables}
		setTextTypes(defaultCollation)
		setDateLayouts()
		planbuilder.IsAggregateFunc = func(name string) bool {
			return name == sumName || name == avgName || planbuilder.IsMySQLAggregateFuncName(name)
		}
	})
	name := defaultCollation.Name()
	// the names are the engine's own: it can't refuse them
	_ = sql.SystemVariables.AssignValues(map[string]any{
		"collation_server": name, "collation_database": name, "collation_connection": name,
	})
}

func setTextTypes(c sql.CollationID) {
	types.TinyText = types.MustCreateString(sqltypes.Text, types.TinyTextBlobMax, c)
	types.Text = types.MustCreateString(sqltypes.Text, types.TextBlobMax, c)
	types.MediumText = types.MustCreateString(sqltypes.Text, types.MediumTextBlobMax, c)
	types.LongText = types.MustCreateString(sqltypes.Text, types.LongTextBlobMax, c)
}

// setDateLayouts teaches the engine the forms of dates and times that MySQL reads
// and it does not: slashes and dots between parts of one digit, T before the time
// (https://dev.mysql.com/doc/refman/8.4/en/date-and-time-literals.html). The usual
// forms go first, each failed attempt costs an allocation.
func setDateLayouts() {
	dates := []string{"2006/1/2", "2006.1.2", "2006.01.02"}
	types.TimestampDatetimeLayouts = slices.Concat(
		[]string{"2006-01-02 15:04:05.999999999", "2006-01-02"},
		types.TimestampDatetimeLayouts,
		[]string{"2006-1-2 15:4", "2006-1-2T15:4:5.999999999", "2006-1-2T15:4",
			"2006/1/2 15:4:5.999999999", "2006/1/2 15:4", "2006/1/2T15:4:5.999999999",
			"2006.1.2 15:4:5.999999999", "2006.1.2 15.4.5", "20060102T150405", "20060102150405.999999999"},
		dates)
	types.DateOnlyLayouts = append(types.DateOnlyLayouts, dates...)
}

// full counts the callers of FullVariables.
var full atomic.Int32

// sessionVariables is what sql.SystemVariables is wrapped with.
var sessionVariables *variableRegistry

// FullVariables runs f, during which new sessions get maps of variables of their
// own. Everywhere else the engine makes sessions only to print expressions, and
// would copy some 600 variables each time; those share one map that is only read.
func FullVariables(f func()) {
	full.Add(1)
	defer full.Add(-1)
	f()
}

type variableRegistry struct {
	sql.SystemVariableRegistry
	shared atomic.Pointer[map[string]sql.SystemVarValue]
}

func (r *variableRegistry) NewSessionMap() map[string]sql.SystemVarValue {
	if full.Load() > 0 {
		return r.SystemVariableRegistry.NewSessionMap()
	}
	if m := r.shared.Load(); m != nil {
		return *m
	}
	m := r.SystemVariableRegistry.NewSessionMap()
	r.shared.Store(&m)
	return m
}

// SetGlobal drops the shared map, which holds global values.
func (r *variableRegistry) SetGlobal(ctx *sql.Context, name string, value any) error {
	defer r.shared.Store(nil)
	return r.SystemVariableRegistry.SetGlobal(ctx, name, value)
}

// AssignValues drops the shared map too.
func (r *variableRegistry) AssignValues(values map[string]any) error {
	defer r.shared.Store(nil)
	return r.SystemVariableRegistry.AssignValues(values)
}

// AddSystemVariables drops the shared map too.
func (r *variableRegistry) AddSystemVariables(vars []sql.SystemVariable) {
	defer r.shared.Store(nil)
	r.SystemVariableRegistry.AddSystemVariables(vars)
}

type statusRegistry struct{ sql.StatusVariableRegistry }

func (r *statusRegistry) NewSessionMap() map[string]sql.StatusVarValue {
	if full.Load() > 0 {
		return r.StatusVariableRegistry.NewSessionMap()
	}
	return map[string]sql.StatusVarValue{}
}
