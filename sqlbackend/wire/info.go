package wire

import (
	"fmt"
	"math"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// infoString is the human-readable part of an OK packet. The engine leaves it
// out for most statements and never counts warnings in it.
func infoString(ctx *sql.Context, stmt ast.Statement, ok types.OkResult) string {
	warnings := ctx.Session.WarningCount()
	switch info := ok.Info.(type) {
	case nil:
	case plan.UpdateInfo:
		return fmt.Sprintf("Rows matched: %d  Changed: %d  Warnings: %d", info.Matched, info.Updated, warnings)
	default:
		return info.String()
	}
	switch stmt := stmt.(type) {
	case *ast.Insert:
		return insertInfo(stmt, ok.RowsAffected, warnings)
	case *ast.Load:
		return fmt.Sprintf("Records: %d  Deleted: 0  Skipped: 0  Warnings: %d", ok.RowsAffected, warnings)
	case *ast.AlterTable:
		return recordsInfo(0, 0, warnings)
	case *ast.DDL:
		if stmt.OptSelect != nil && stmt.Action == ast.CreateStr {
			return recordsInfo(ok.RowsAffected, 0, warnings)
		}
		if stmt.IndexSpec != nil {
			return recordsInfo(0, 0, warnings)
		}
	}
	return ""
}

func recordsInfo(records, duplicates uint64, warnings uint16) string {
	return fmt.Sprintf("Records: %d  Duplicates: %d  Warnings: %d", records, duplicates, warnings)
}

// insertInfo: MySQL says nothing for a single VALUES row. Duplicates are rows
// skipped by IGNORE, and rows replaced or updated otherwise, which count
// twice in the number of affected rows.
func insertInfo(stmt *ast.Insert, affected uint64, warnings uint16) string {
	records := affected
	switch rows := stmt.Rows.(type) {
	case *ast.AliasedValues:
		if len(rows.Values) == 1 {
			return ""
		}
		records = uint64(len(rows.Values))
	case ast.Values:
		if len(rows) == 1 {
			return ""
		}
		records = uint64(len(rows))
	}
	var duplicates uint64
	switch {
	case affected < records && stmt.Ignore != "":
		duplicates = records - affected
	case affected > records:
		duplicates = affected - records
	}
	return recordsInfo(records, duplicates, warnings)
}

// insertID drops the engine's marker for "no id".
func insertID(id uint64) uint64 {
	if id == math.MaxUint64 {
		return 0
	}
	return id
}
