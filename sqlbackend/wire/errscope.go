package wire

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// tableRef is a table as a statement names it; db may be empty.
type tableRef struct{ db, name string }

// target is the table that a statement writes, or the first one it reads.
func (s errorScope) target() tableRef {
	switch stmt := s.stmt.(type) {
	case *ast.Insert:
		return ref(stmt.Table)
	case *ast.Update:
		return firstTable(stmt.TableExprs)
	case *ast.Delete:
		if len(stmt.Targets) > 0 {
			return ref(stmt.Targets[0])
		}
		return firstTable(stmt.TableExprs)
	case *ast.Load:
		return ref(stmt.Table)
	case *ast.DDL:
		if !stmt.Table.IsEmpty() {
			return ref(stmt.Table)
		}
		if len(stmt.FromTables) > 0 {
			return ref(stmt.FromTables[0])
		}
	case *ast.AlterTable:
		return ref(stmt.Table)
	case *ast.Select:
		return firstTable(stmt.From)
	}
	return tableRef{}
}

func ref(t ast.TableName) tableRef {
	return tableRef{db: t.DbQualifier.String(), name: t.Name.String()}
}

func firstTable(exprs ast.TableExprs) tableRef {
	var out tableRef
	for _, e := range exprs {
		// the walk itself never fails
		_ = ast.Walk(func(n ast.SQLNode) (bool, error) {
			if t, ok := n.(ast.TableName); ok && out.name == "" {
				out = ref(t)
			}
			return out.name == "", nil
		}, e)
		if out.name != "" {
			break
		}
	}
	return out
}

// targetTable looks up target, nil if it can't be had.
func (s errorScope) targetTable() sql.Table { return s.table(s.target()) }

func (s errorScope) table(t tableRef) sql.Table {
	if s.ctx == nil || s.r == nil || t.name == "" {
		return nil
	}
	db := t.db
	if db == "" {
		db = s.database()
	}
	table, _, err := s.r.engine.Analyzer.Catalog.Table(s.ctx, db, t.name)
	if err != nil {
		return nil
	}
	return table
}

// commandName is the verb in MySQL's "… command denied to user".
func commandName(stmt ast.Statement) string {
	switch stmt := stmt.(type) {
	case ast.SelectStatement, *ast.Show:
		return "SELECT"
	case *ast.Insert:
		return "INSERT"
	case *ast.Update:
		return "UPDATE"
	case *ast.Delete:
		return "DELETE"
	case *ast.Load:
		return "INSERT"
	case *ast.AlterTable:
		return "ALTER"
	case *ast.DDL:
		switch stmt.Action {
		case ast.CreateStr:
			return "CREATE"
		case ast.DropStr, ast.TruncateStr:
			return "DROP"
		}
		return "ALTER"
	}
	return ""
}

// columnClause names the part of the statement in which column appears, as
// MySQL's 1054 and 1052 do.
func columnClause(stmt ast.Statement, column string) string {
	name := column[strings.LastIndexByte(column, '.')+1:]
	const fieldList = "field list"
	switch stmt := stmt.(type) {
	case *ast.Select:
		if c := selectClause(stmt, name); c != "" {
			return c
		}
	case *ast.Update:
		if mentions(name, stmt.Exprs) {
			return fieldList
		}
		if mentionsWhere(name, stmt.Where) {
			return "where clause"
		}
	case *ast.Delete:
		return "where clause"
	case *ast.AlterTable:
		return stmt.Table.Name.String()
	case *ast.DDL:
		if !stmt.Table.IsEmpty() {
			return stmt.Table.Name.String()
		}
	}
	return fieldList
}

func selectClause(sel *ast.Select, name string) string {
	for _, t := range sel.From {
		if mentionsJoin(name, t) {
			return "on clause"
		}
	}
	switch {
	case mentions(name, sel.SelectExprs):
		return "field list"
	case mentionsWhere(name, sel.Where):
		return "where clause"
	case mentions(name, sel.GroupBy):
		return "group statement"
	case mentionsWhere(name, sel.Having):
		return "having clause"
	case mentions(name, sel.OrderBy):
		return "order clause"
	}
	return ""
}

// mentionsWhere guards against typed nils, which Walk would visit.
func mentionsWhere(name string, w *ast.Where) bool {
	return w != nil && mentions(name, w.Expr)
}

func mentionsJoin(name string, t ast.TableExpr) bool {
	j, ok := t.(*ast.JoinTableExpr)
	if !ok {
		return false
	}
	if j.Condition.On != nil && mentions(name, j.Condition.On) {
		return true
	}
	return mentionsJoin(name, j.LeftExpr) || mentionsJoin(name, j.RightExpr)
}

func mentions(name string, node ast.SQLNode) bool {
	found := false
	// the walk itself never fails
	_ = ast.Walk(func(n ast.SQLNode) (bool, error) {
		if c, ok := n.(*ast.ColName); ok && c.Name.EqualString(name) {
			found = true
		}
		return !found, nil
	}, node)
	return found
}

// droppedColumn is the column of ALTER TABLE … DROP COLUMN, "" otherwise.
func droppedColumn(stmt ast.Statement) string {
	alter, ok := stmt.(*ast.AlterTable)
	if !ok {
		return ""
	}
	for _, d := range alter.Statements {
		if d.ColumnAction == ast.DropStr {
			return d.Column.String()
		}
	}
	return ""
}

// uniqueIndexes returns the unique indexes of a table but the primary key.
func uniqueIndexes(ctx *sql.Context, t sql.Table) []sql.Index {
	it, ok := t.(sql.IndexAddressable)
	if !ok {
		return nil
	}
	all, err := it.GetIndexes(ctx)
	if err != nil {
		return nil
	}
	var out []sql.Index
	for _, i := range all {
		if i.IsUnique() && !strings.EqualFold(i.ID(), "PRIMARY") {
			out = append(out, i)
		}
	}
	return out
}

// indexText prints the values of an index's columns as the engine does in its
// duplicate-key errors.
func indexText(ctx *sql.Context, t sql.Table, idx sql.Index, row sql.Row) string {
	schema := t.Schema(ctx)
	var parts []string
	for _, e := range idx.Expressions() {
		col := e[strings.LastIndexByte(e, '.')+1:]
		i := schema.IndexOfColName(col)
		if i < 0 || i >= len(row) {
			return ""
		}
		parts = append(parts, fmt.Sprintf("%v", row[i]))
	}
	return strings.Join(parts, ",")
}

// valueKind is the word that MySQL's 1366 uses for a column type.
func valueKind(typ string) string {
	word, _, _ := strings.Cut(strings.ToLower(typ), "(")
	switch word, _, _ = strings.Cut(word, " "); word {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "year":
		return "integer"
	case "varchar", "char", "text", "tinytext", "mediumtext", "longtext", "binary", "varbinary", "blob":
		return "string"
	case "timestamp":
		return "datetime"
	}
	return word
}
