package sqlbackend

import (
	"context"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"ksql/sqlbackend/catalog"
	"ksql/sqlbackend/parser"
	"ksql/sqlbackend/scan"
	"ksql/sqlbackend/wire"
)

// session is the engine's session of one connection: the catalog's, plus what only
// the assembly can connect.
type session struct {
	*catalog.Session
	backend *Backend
}

var (
	_ sql.Session             = session{}
	_ wire.StatementAnnouncer = session{}
)

// newSession builds the session of a connection.
func (b *Backend) newSession(_ context.Context, info wire.ConnInfo) (sql.Session, error) {
	client := sql.Client{User: info.AccountUser, Address: info.AccountHost, Capabilities: info.Capabilities}
	var base *sql.BaseSession
	scan.FullVariables(func() {
		base = sql.NewBaseSessionWithClientServer(info.Addr, client, info.ID)
	})
	return session{catalog.NewSession(base, b.provider), b}, nil
}

// AnnounceStatement tells the catalog what kind of statement comes, before the
// engine plans it.
func (s session) AnnounceStatement(ctx *sql.Context, stmt ast.Statement) error {
	switch st := stmt.(type) {
	case *ast.CreateUser:
		defaultPlugin(st)
	case *ast.DDL:
		if err := onePrimaryKey(st); err != nil {
			return err
		}
	case *ast.Flush:
		if err := s.flush(ctx, st.Option); err != nil {
			return err
		}
	case *ast.Begin:
		if parser.ConsistentSnapshot(ctx.Query()) {
			s.RequestConsistentSnapshot()
		}
	}
	return s.BeginStatement(ctx, catalog.KindOf(stmt))
}

// columnPrimaryKey is the grammar's own constant, which it does not export.
const columnPrimaryKey ast.ColumnKeyOption = 1

// onePrimaryKey refuses a second PRIMARY KEY, of which the engine makes a composite one.
func onePrimaryKey(d *ast.DDL) error {
	if d.TableSpec == nil {
		return nil
	}
	keys := 0
	for _, c := range d.TableSpec.Columns {
		if c.Type.KeyOpt == columnPrimaryKey {
			keys++
		}
	}
	for _, x := range d.TableSpec.Indexes {
		if x.Info.Primary {
			keys++
		}
	}
	if keys > 1 {
		return mysql.NewSQLError(mysql.ERMultiplePriKey, "42000", "Multiple primary key defined")
	}
	return nil
}

// flush does what FLUSH TABLES stands for: what is in memory goes to column files.
// Who lacks the privilege is refused by the engine, later.
func (s session) flush(ctx *sql.Context, o *ast.FlushOption) error {
	if o == nil || !strings.EqualFold(o.Name, "tables") && !strings.EqualFold(o.Name, "table") {
		return nil
	}
	if o.ReadLock {
		return mysql.NewSQLError(mysql.ERNotSupportedYet, "42000",
			"This version of MySQL doesn't yet support 'FLUSH TABLES WITH READ LOCK'")
	}
	grants := s.backend.engine.Analyzer.Catalog.MySQLDb
	reload := sql.NewPrivilegedOperation(sql.PrivilegeCheckSubject{}, sql.PrivilegeType_Reload)
	if !grants.UserHasPrivileges(ctx, reload) {
		return nil
	}
	if err := s.ImplicitCommit(ctx); err != nil {
		return err
	}
	return s.backend.Flush(ctx)
}

// defaultPlugin makes caching_sha2_password the plugin of an account that names
// none, as MySQL 8.4 does; the engine would take mysql_native_password.
func defaultPlugin(st *ast.CreateUser) {
	for i := range st.Users {
		a := st.Users[i].Auth1
		if a != nil && a.Plugin == "" && a.Identity == "" && a.Password != "" {
			a.Plugin = string(mysql.CachingSha2Password)
		}
	}
}

// SetUserVariable gives text the session's collation; the engine would compare
// user variables by bytes.
func (s session) SetUserVariable(ctx *sql.Context, name string, value any, t sql.Type) error {
	if text, ok := t.(sql.TypeWithCollation); ok && types.IsTextOnly(t) {
		if nt, err := text.WithNewCollation(s.GetCollation()); err == nil {
			t = nt
		}
	}
	return s.Session.SetUserVariable(ctx, name, value, t)
}
