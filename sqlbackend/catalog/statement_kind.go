package catalog

import (
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// KindOf tells what a parsed statement does, for Session.BeginStatement.
func KindOf(statement ast.Statement) StatementKind {
	switch s := statement.(type) {
	case *ast.Select, *ast.SetOp, *ast.ParenSelect:
		return StatementSelect
	case *ast.Insert, *ast.Update, *ast.Delete, *ast.Load:
		return StatementDML
	case *ast.DDL:
		if s.Temporary {
			return StatementOther // commits nothing
		}
		return StatementDDL
	case *ast.AlterTable, *ast.DBDDL:
		return StatementDDL
	}
	return StatementOther
}
