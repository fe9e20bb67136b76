package sqlbackend

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/vitess/go/mysql"

	"ksql/sqlbackend/catalog"
	"ksql/sqlbackend/parser"
)

// renameHook is the engine's RenameTable.PreSQLExecution hook: it sends RENAME
// TABLE to the database that the tables' names give.
func renameHook(p *catalog.Provider) func(*sql.Context, sql.StatementRunner, sql.Node) (sql.Node, error) {
	return func(ctx *sql.Context, _ sql.StatementRunner, n sql.Node) (sql.Node, error) {
		rename, ok := n.(*plan.RenameTable)
		if !ok {
			return n, nil
		}
		where := ""
		take := func(names []string) ([]string, error) {
			tables := make([]string, len(names))
			for i, name := range names {
				var database string
				if database, tables[i] = parser.RenamedTable(name); database == "" {
					database = ctx.GetCurrentDatabase()
				}
				if where == "" {
					where = database
				}
				if !strings.EqualFold(database, where) {
					return nil, mysql.NewSQLError(1235, "42000", "This version of MySQL doesn't yet support 'RENAME TABLE between databases'")
				}
			}
			return tables, nil
		}
		old, err := take(rename.OldNames)
		if err != nil {
			return nil, err
		}
		now, err := take(rename.NewNames)
		if err != nil {
			return nil, err
		}
		db, err := p.Database(ctx, where)
		if err != nil {
			return nil, err
		}
		moved, err := rename.WithDatabase(db)
		if err != nil {
			return nil, err
		}
		moved.(*plan.RenameTable).OldNames, moved.(*plan.RenameTable).NewNames = old, now
		return moved, nil
	}
}
