package sqlbackend

import (
	"path/filepath"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"ksql/internal/vfs"
)

// The engine checks no privilege for global variables and for LOAD_FILE.

// has says whether the session's account has a privilege on everything; SUPER
// includes all others.
func (s session) has(ctx *sql.Context, privilege sql.PrivilegeType) bool {
	grants := s.backend.engine.Analyzer.Catalog.MySQLDb
	return !grants.Enabled() || grants.UserHasPrivileges(ctx, sql.NewPrivilegedOperation(sql.PrivilegeCheckSubject{}, privilege))
}

// checkSetGlobal refuses SET GLOBAL, PERSIST and PERSIST_ONLY to accounts without
// SUPER (the engine can't grant SYSTEM_VARIABLES_ADMIN). A rule sees what EXECUTE
// runs, too.
func checkSetGlobal(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	set, ok := n.(*plan.Set)
	if !ok {
		return n, transform.SameTree, nil
	}
	for _, e := range set.Exprs {
		f, ok := e.(*expression.SetField)
		if !ok {
			continue
		}
		v, ok := f.LeftChild.(*expression.SystemVar)
		if !ok || v.Scope.IsSessionOnly() {
			continue
		}
		if s, ok := ctx.Session.(session); ok && !s.has(ctx, sql.PrivilegeType_Super) {
			return nil, transform.SameTree, mysql.NewSQLError(mysql.ERSpecifiedAccessDenied, "42000",
				"Access denied; you need (at least one of) the SUPER or SYSTEM_VARIABLES_ADMIN privilege(s) for this operation")
		}
	}
	return n, transform.SameTree, nil
}

// loadFile is LOAD_FILE(name): NULL without the FILE privilege, and for what can't be
// read or is beyond max_allowed_packet.
type loadFile struct {
	*function.LoadFile
	name sql.Expression
}

func newLoadFile(ctx *sql.Context, name sql.Expression) sql.Expression {
	return &loadFile{function.NewLoadFile(ctx, name).(*function.LoadFile), name}
}

// Eval implements sql.Expression.
func (l *loadFile) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	if s, ok := ctx.Session.(session); !ok || !s.has(ctx, sql.PrivilegeType_File) {
		return nil, nil
	}
	v, err := l.name.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	v, _, err = types.LongText.Convert(ctx, v)
	if err != nil {
		return nil, err
	}
	name, ok := v.(string)
	if !ok || !inSecureFolder(ctx, name) {
		return nil, nil
	}
	limit, err := ctx.GetSessionVariable(ctx, "max_allowed_packet")
	if err != nil {
		return nil, err
	}
	most, _, err := types.Int64.Convert(ctx, limit)
	if err != nil {
		return nil, err
	}
	data, err := vfs.ReadFile(vfs.Default, name, most.(int64))
	if err != nil {
		return nil, nil // as MySQL: no error
	}
	return data, nil
}

// inSecureFolder says whether secure_file_priv lets a file be read.
func inSecureFolder(ctx *sql.Context, name string) bool {
	v, err := ctx.GetSessionVariable(ctx, "secure_file_priv")
	folder, ok := v.(string)
	if err != nil || !ok || folder == "" {
		return err == nil && ok
	}
	want, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return false
	}
	got, err := filepath.EvalSymlinks(name)
	return err == nil && filepath.Dir(got) == want
}

// WithChildren implements sql.Expression.
func (l *loadFile) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(l, len(children), 1)
	}
	return newLoadFile(ctx, children[0]), nil
}
