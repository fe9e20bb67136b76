package dml

import (
	"fmt"
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"ksql/sqlbackend/catalog"
)

// batchNode is what the batch nodes have in common: they return one OkResult
// and keep the node that they replace as their child, by which the engine
// knows what kind of statement it is.
type batchNode struct {
	original sql.Node
	name     string
}

// Resolved tells whether the replaced node is resolved.
func (n *batchNode) Resolved() bool { return n.original.Resolved() }

// String prints the node for EXPLAIN.
func (n *batchNode) String() string { return n.name + "\n └─ " + n.original.String() }

// Schema is that of an OK result.
func (n *batchNode) Schema(*sql.Context) sql.Schema { return types.OkResultSchema }

// Children returns the replaced node.
func (n *batchNode) Children() []sql.Node { return []sql.Node{n.original} }

// IsReadOnly is false.
func (n *batchNode) IsReadOnly() bool { return false }

// resultIter runs a batch statement at its first Next and returns its result.
type resultIter struct {
	source sql.RowIter
	run    func(ctx *sql.Context, source sql.RowIter) (types.OkResult, error)
	writer *catalog.Writer
	done   bool
	closed bool
}

// Next runs the statement. If it fails, or its context has ended, everything
// that it has written is taken back.
func (it *resultIter) Next(ctx *sql.Context) (sql.Row, error) {
	if it.done {
		return nil, io.EOF
	}
	it.done = true
	mark := it.writer.Mark()
	res, err := it.run(ctx, it.source)
	if cerr := it.Close(ctx); err == nil {
		err = cerr
	}
	if err == nil {
		err = catalog.ContextError(ctx)
	}
	if err != nil {
		it.writer.UndoTo(mark)
		return nil, err
	}
	ctx.GetLastQueryInfo().RowCount.Store(int64(res.RowsAffected))
	return sql.NewRow(res), nil
}

// Close closes the source.
func (it *resultIter) Close(ctx *sql.Context) error {
	if it.closed {
		return nil
	}
	it.closed = true
	return it.source.Close(ctx)
}

// InsertInfo is the info text of an INSERT of several rows.
type InsertInfo struct {
	Records, Duplicates, Warnings int
}

// String prints the text as MySQL does.
func (i InsertInfo) String() string {
	return fmt.Sprintf("Records: %d  Duplicates: %d  Warnings: %d", i.Records, i.Duplicates, i.Warnings)
}

// foundRows tells whether the client counts matched instead of changed rows.
func foundRows(ctx *sql.Context) bool {
	const clientFoundRows = 2 // CLIENT_FOUND_ROWS
	return ctx.Client().Capabilities&clientFoundRows != 0
}

// checkRow evaluates CHECK constraints on a row.
func checkRow(ctx *sql.Context, checks sql.CheckConstraints, row sql.Row) error {
	for _, c := range checks {
		if !c.Enforced {
			continue
		}
		res, err := sql.EvaluateCondition(ctx, c.Expr, row)
		if err != nil {
			return err
		}
		if sql.IsFalse(res) {
			return sql.ErrCheckConstraintViolated.New(c.Name)
		}
	}
	return nil
}
