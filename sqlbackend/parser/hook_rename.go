package parser

import (
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// databaseMark stands between database and table in the names of RENAME TABLE.
const databaseMark = "\x00"

// renameTables puts the databases that RENAME TABLE and ALTER TABLE … RENAME
// name into the tables' names: the engine looks at the current database only.
func renameTables(d *ast.DDL) {
	if d.Action != ast.RenameStr || len(d.FromTables) == 0 || len(d.FromTables) != len(d.ToTables) {
		return
	}
	for _, names := range []ast.TableNames{d.FromTables, d.ToTables} {
		for i, n := range names {
			if db := n.DbQualifier.String(); db != "" {
				names[i].Name = ast.NewTableIdent(db + databaseMark + n.Name.String())
			}
		}
	}
}

// RenamedTable takes a name of RENAME TABLE apart; database is empty for the
// current one.
func RenamedTable(name string) (database, table string) {
	if database, table, ok := strings.Cut(name, databaseMark); ok {
		return database, table
	}
	return "", name
}
