package wire

import (
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// tableName is a table of a FROM clause as the statement spells it.
type tableName struct {
	alias, table string
	// recursive: it is a recursive common table expression, all columns of which
	// may be NULL, whatever its first part gives
	// (https://dev.mysql.com/doc/refman/8.4/en/with.html).
	recursive bool
}

// tableNames lists the tables of a SELECT by lower-case alias, nil for other
// statements.
func tableNames(stmt ast.Statement) map[string]tableName {
	switch stmt := stmt.(type) {
	case *ast.Select:
		out := map[string]tableName{}
		for _, t := range stmt.From {
			addTables(out, t)
		}
		markRecursive(out, stmt.With)
		return out
	case *ast.ParenSelect:
		return tableNames(stmt.Select)
	}
	return nil
}

func markRecursive(out map[string]tableName, with *ast.With) {
	if with == nil || !with.Recursive {
		return
	}
	for _, cte := range with.Ctes {
		for alias, n := range out {
			if strings.EqualFold(n.table, cte.As.String()) {
				n.recursive = true
				out[alias] = n
			}
		}
	}
}

func addTables(out map[string]tableName, t ast.TableExpr) {
	switch t := t.(type) {
	case *ast.AliasedTableExpr:
		var n tableName
		if name, ok := t.Expr.(ast.TableName); ok {
			n.table = name.Name.String()
			n.alias = n.table
		}
		if !t.As.IsEmpty() {
			n.alias = t.As.String()
		}
		if n.alias != "" {
			out[strings.ToLower(n.alias)] = n
		}
	case *ast.JoinTableExpr:
		addTables(out, t.LeftExpr)
		addTables(out, t.RightExpr)
	case *ast.ParenTableExpr:
		for _, e := range t.Exprs {
			addTables(out, e)
		}
	}
}
