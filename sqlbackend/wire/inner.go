package wire

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// innerRunner runs the statements inside procedures. It restarts each of them
// by itself, because the CALL around them can't run again.
type innerRunner struct {
	r    *Runner
	next sql.StatementRunner
}

// QueryWithBindings implements sql.StatementRunner.
func (i *innerRunner) QueryWithBindings(ctx *sql.Context, query string, parsed ast.Statement, bindings map[string]ast.Expr, qFlags *sql.QueryFlags) (sql.Schema, sql.RowIter, *sql.QueryFlags, error) {
	for attempt := 0; ; attempt++ {
		schema, iter, flags, err := i.next.QueryWithBindings(ctx, query, parsed, bindings, qFlags)
		if err == nil {
			if !types.IsOkResultSchema(schema) {
				return schema, iter, flags, nil
			}
			var ok types.OkResult
			if ok, err = drainOK(ctx, iter); err == nil {
				return schema, sql.RowsToRowIter(sql.NewRow(ok)), flags, nil
			}
		}
		if !i.r.isRestart(err) {
			return nil, nil, flags, err
		}
		if err := i.r.restart(ctx, attempt); err != nil {
			return nil, nil, flags, err
		}
	}
}
