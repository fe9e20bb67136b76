package catalog

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// checkDependencies refuses to drop or rename a column that expressions of the
// record refer to: nobody could open the table any more. Of CHECK constraints
// the engine drops those of a dropped column itself, so only a rename, with the
// column's new name, looks at them.
func (r *tableRecord) checkDependencies(column, renamed string) error {
	if renamed != "" && r.column(renamed) >= 0 && !strings.EqualFold(column, renamed) {
		return sql.ErrColumnExists.New(renamed)
	}
	for i := range r.Columns {
		c := &r.Columns[i]
		switch {
		case strings.EqualFold(c.Name, column), renamed != "" && strings.EqualFold(c.Name, renamed):
		case c.Generated != nil && refersTo(c.Generated.Text, column):
			return mysql.NewSQLError(erGeneratedDependency, "HY000", "Column '%s' has a generated column dependency.", column)
		case c.Default != nil && refersTo(c.Default.Text, column):
			return mysql.NewSQLError(erDefaultDependency, "HY000",
				"Column '%s' of table '%s' has a default value expression dependency and cannot be dropped or renamed.", column, r.Name)
		}
	}
	for _, c := range r.Checks {
		if renamed != "" && refersTo(c.Expression, column) {
			return sql.ErrCheckConstraintInvalidatedByColumnAlter.New(column, c.Name)
		}
	}
	return nil
}

// checkRewrite checks the dependencies on the column that a rewrite drops or renames.
func (r *tableRecord) checkRewrite(oldColumn, newColumn *sql.Column) error {
	switch {
	case oldColumn == nil:
		return nil
	case newColumn == nil:
		return r.checkDependencies(oldColumn.Name, "")
	case !strings.EqualFold(oldColumn.Name, newColumn.Name):
		return r.checkDependencies(oldColumn.Name, newColumn.Name)
	}
	return nil
}

// refersTo tells whether an expression names a column.
func refersTo(text, column string) bool {
	stmt, err := ast.Parse("SELECT " + text)
	if err != nil {
		return false
	}
	found := false
	_ = ast.Walk(func(n ast.SQLNode) (bool, error) {
		if c, ok := n.(*ast.ColName); ok && c != nil && c.Name.EqualString(column) {
			found = true
		}
		return !found, nil
	}, stmt)
	return found
}
