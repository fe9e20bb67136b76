package sqlbackend

import (
	"context"

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
type session struct{ *catalog.Session }

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
	return session{catalog.NewSession(base, b.provider)}, nil
}

// AnnounceStatement tells the catalog what kind of statement comes, before the
// engine plans it.
func (s session) AnnounceStatement(ctx *sql.Context, stmt ast.Statement) error {
	switch st := stmt.(type) {
	case *ast.CreateUser:
		defaultPlugin(st)
	case *ast.Begin:
		if parser.ConsistentSnapshot(ctx.Query()) {
			s.RequestConsistentSnapshot()
		}
	}
	return s.BeginStatement(ctx, catalog.KindOf(stmt))
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
