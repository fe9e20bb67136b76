package wire

import (
	"errors"
	"io"

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
	if err := announce(ctx, parsed); err != nil {
		return nil, nil, qFlags, err
	}
	for attempt := 0; ; attempt++ {
		schema, iter, flags, err := i.next.QueryWithBindings(ctx, query, parsed, bindings, qFlags)
		if err == nil {
			if iter, err = i.r.settle(ctx, schema, iter, parsed); err == nil {
				return schema, iter, flags, nil
			}
		}
		if _, call := parsed.(*ast.Call); call || !i.r.isRestart(err) {
			return nil, nil, flags, err
		}
		if err := i.r.restart(ctx, attempt); err != nil {
			return nil, nil, flags, err
		}
	}
}

// settle runs a statement that may ask for a restart to its end, here, where
// it can still run again; the procedure would keep its rows anyway.
func (r *Runner) settle(ctx *sql.Context, schema sql.Schema, iter sql.RowIter, parsed ast.Statement) (sql.RowIter, error) {
	if types.IsOkResultSchema(schema) {
		ok, err := r.drainOK(ctx, iter)
		if err != nil {
			return nil, err
		}
		return sql.RowsToRowIter(sql.NewRow(ok)), nil
	}
	if !isLockingRead(parsed) {
		return iter, nil
	}
	var rows []sql.Row
	for {
		row, err := r.next(ctx, iter)
		if errors.Is(err, io.EOF) {
			return sql.RowsToRowIter(rows...), closeIter(ctx, iter, nil)
		}
		if err != nil {
			return nil, closeIter(ctx, iter, err)
		}
		rows = append(rows, row)
	}
}
