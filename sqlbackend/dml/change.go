package dml

import (
	"fmt"
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"ksql/sqlbackend/catalog"
)

// UpdateBatch runs an UPDATE of one table in batches.
type UpdateBatch struct {
	batchNode
	update *plan.Update
	table  *catalog.Table
}

// DeleteBatch runs a DELETE from one table in batches.
type DeleteBatch struct {
	batchNode
	delete *plan.DeleteFrom
	table  *catalog.Table
}

var (
	_ sql.ExecBuilderNode = (*UpdateBatch)(nil)
	_ sql.ExecBuilderNode = (*DeleteBatch)(nil)
)

// newUpdateBatch returns nil if the statement has to run row by row.
func newUpdateBatch(ctx *sql.Context, u *plan.Update) *UpdateBatch {
	if len(u.Returning) > 0 || u.IsJoin || u.Ignore {
		return nil
	}
	source, ok := u.Child.(*plan.UpdateSource)
	if !ok {
		return nil
	}
	updatable, err := plan.GetUpdatable(source.Child)
	if err != nil {
		return nil
	}
	t := targetTable(ctx, updatable, source.Child)
	if t == nil {
		return nil
	}
	return &UpdateBatch{batchNode: batchNode{u, "UpdateBatch"}, update: u, table: t}
}

// newDeleteBatch returns nil if the statement has to run row by row.
func newDeleteBatch(ctx *sql.Context, d *plan.DeleteFrom) *DeleteBatch {
	targets := d.GetDeleteTargets()
	if len(d.Returning) > 0 || d.HasExplicitTargets() || len(targets) != 1 {
		return nil
	}
	deletable, err := plan.GetDeletable(targets[0])
	if err != nil {
		return nil
	}
	t := targetTable(ctx, deletable, d.Child)
	if t == nil {
		return nil
	}
	return &DeleteBatch{batchNode: batchNode{d, "DeleteBatch"}, delete: d, table: t}
}

// targetTable returns the statement's target if it is a table of this backend,
// without foreign key handling, and all that source returns.
func targetTable(ctx *sql.Context, target sql.Table, source sql.Node) *catalog.Table {
	if _, fk := target.(*plan.ForeignKeyHandler); fk {
		return nil
	}
	t := ownTable(target)
	if t == nil || len(source.Schema(ctx)) != len(t.Schema(ctx)) {
		return nil
	}
	return t
}

// WithChildren replaces the original node.
func (n *UpdateBatch) WithChildren(ctx *sql.Context, children ...sql.Node) (sql.Node, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(n, len(children), 1)
	}
	u, ok := children[0].(*plan.Update)
	if !ok {
		return nil, fmt.Errorf("UpdateBatch: child is %T", children[0])
	}
	if b := newUpdateBatch(ctx, u); b != nil {
		return b, nil
	}
	return u, nil
}

// WithChildren replaces the original node.
func (n *DeleteBatch) WithChildren(ctx *sql.Context, children ...sql.Node) (sql.Node, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(n, len(children), 1)
	}
	d, ok := children[0].(*plan.DeleteFrom)
	if !ok {
		return nil, fmt.Errorf("DeleteBatch: child is %T", children[0])
	}
	if b := newDeleteBatch(ctx, d); b != nil {
		return b, nil
	}
	return d, nil
}

// BuildRowIter builds the source of old and new rows and the iterator that
// runs the statement.
func (n *UpdateBatch) BuildRowIter(ctx *sql.Context, b sql.NodeExecBuilder, row sql.Row) (sql.RowIter, error) {
	w, err := n.table.Writer(ctx, true)
	if err != nil {
		return nil, err
	}
	source, err := b.Build(ctx, n.update.Child, row)
	if err != nil {
		return nil, err
	}
	r := &updateRun{node: n, writer: w, schema: n.table.Schema(ctx)}
	return &resultIter{source: source, run: r.run, writer: w}, nil
}

// BuildRowIter builds the source of rows and the iterator that runs the statement.
func (n *DeleteBatch) BuildRowIter(ctx *sql.Context, b sql.NodeExecBuilder, row sql.Row) (sql.RowIter, error) {
	w, err := n.table.Writer(ctx, true)
	if err != nil {
		return nil, err
	}
	source, err := b.Build(ctx, n.delete.Child, row)
	if err != nil {
		return nil, err
	}
	columns := len(n.table.Schema(ctx))
	return &resultIter{source: source, writer: w, run: func(ctx *sql.Context, source sql.RowIter) (types.OkResult, error) {
		return deleteRows(ctx, w, source, columns)
	}}, nil
}

// updateRun is one execution of an UpdateBatch.
type updateRun struct {
	node             *UpdateBatch
	writer           *catalog.Writer
	schema           sql.Schema
	old, new         []sql.Row
	matched, changed int
}

func (r *updateRun) run(ctx *sql.Context, source sql.RowIter) (types.OkResult, error) {
	for {
		row, err := source.Next(ctx)
		if err == io.EOF {
			break
		}
		if err == nil {
			err = r.add(ctx, row)
		}
		if err != nil {
			if ferr := r.flush(ctx); ferr != nil {
				return types.OkResult{}, ferr
			}
			return types.OkResult{}, err
		}
		if len(r.old) == catalog.BatchRows {
			if err := r.flush(ctx); err != nil {
				return types.OkResult{}, err
			}
			sql.SessionCommandSafepoint(ctx.Session)
		}
	}
	if err := r.flush(ctx); err != nil {
		return types.OkResult{}, err
	}
	ctx.GetLastQueryInfo().FoundRows.Store(int64(r.matched))
	res := types.OkResult{
		RowsAffected: uint64(r.changed),
		Info:         plan.UpdateInfo{Matched: r.matched, Updated: r.changed, Warnings: int(ctx.Session.WarningCount())},
	}
	if foundRows(ctx) {
		res.RowsAffected = uint64(r.matched)
	}
	return res, nil
}

// add checks a pair of old and new row and puts it into the chunk.
func (r *updateRun) add(ctx *sql.Context, both sql.Row) error {
	r.matched++
	old, now := both[:len(both)/2:len(both)/2], both[len(both)/2:]
	if n := len(r.schema); len(old) > n {
		old, now = old[len(old)-n:], now[len(now)-n:]
	}
	for i, c := range r.schema {
		if now[i] == nil && !c.Nullable {
			return sql.ErrInsertIntoNonNullableProvidedNull.New(c.Name)
		}
	}
	if err := checkRow(ctx, r.node.update.Checks(), now); err != nil {
		return err
	}
	r.old, r.new = append(r.old, old), append(r.new, now)
	return nil
}

// flush locks and probes the chunk's rows and writes their new images in order.
func (r *updateRun) flush(ctx *sql.Context) error {
	if len(r.old) == 0 {
		return nil
	}
	if err := catalog.ContextError(ctx); err != nil {
		return err
	}
	b, err := r.writer.PrepareChanges(ctx, r.old)
	if err != nil {
		return err
	}
	for i, now := range r.new {
		changed, err := b.Update(ctx, i, now)
		if err != nil {
			return err
		}
		if changed {
			r.changed++
		}
	}
	r.old, r.new = r.old[:0:0], r.new[:0:0]
	return nil
}

// deleteRows deletes every row that source returns.
func deleteRows(ctx *sql.Context, w *catalog.Writer, source sql.RowIter, columns int) (types.OkResult, error) {
	var rows []sql.Row
	deleted := 0
	flush := func() error {
		if err := catalog.ContextError(ctx); err != nil || len(rows) == 0 {
			return err
		}
		b, err := w.PrepareChanges(ctx, rows)
		if err != nil {
			return err
		}
		for i := range rows {
			if err := b.Delete(ctx, i); err != nil {
				return err
			}
		}
		deleted += len(rows)
		rows = rows[:0]
		sql.SessionCommandSafepoint(ctx.Session)
		return nil
	}
	for {
		row, err := source.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return types.OkResult{}, err
		}
		if rows = append(rows, row[len(row)-columns:]); len(rows) == catalog.BatchRows {
			if err := flush(); err != nil {
				return types.OkResult{}, err
			}
		}
	}
	if err := flush(); err != nil {
		return types.OkResult{}, err
	}
	return types.NewOkResult(deleted), nil
}
