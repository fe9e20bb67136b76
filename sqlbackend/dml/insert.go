package dml

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"ksql/sqlbackend/catalog"
)

// insertMode says what becomes of a row whose key exists.
type insertMode uint8

const (
	insertPlain   insertMode = iota // the statement fails
	insertIgnore                    // the row is left out, with a warning
	insertReplace                   // it takes the place of what it conflicts with
	insertUpsert                    // the existing row is updated
)

// InsertBatch runs an INSERT or REPLACE statement in batches.
type InsertBatch struct {
	batchNode
	insert *plan.InsertInto
	table  *catalog.Table
	mode   insertMode
	// references are checks of foreign keys that the table declares.
	references []*plan.ForeignKeyReferenceHandler
}

var _ sql.ExecBuilderNode = (*InsertBatch)(nil)

// newInsertBatch returns nil if the statement has to run row by row.
func newInsertBatch(ii *plan.InsertInto) *InsertBatch {
	if len(ii.Returning) > 0 {
		return nil
	}
	destination, err := plan.GetInsertable(ii.Destination)
	if err != nil {
		return nil
	}
	n := &InsertBatch{batchNode: batchNode{ii, "InsertBatch"}, insert: ii}
	switch {
	case ii.IsReplace:
		n.mode = insertReplace
	case ii.OnDupExprs.HasUpdates():
		if ii.Ignore {
			return nil
		}
		n.mode = insertUpsert
	case ii.Ignore:
		n.mode = insertIgnore
	}
	if fk, ok := destination.(*plan.ForeignKeyHandler); ok {
		if n.mode == insertReplace || n.mode == insertUpsert {
			return nil
		}
		for _, r := range fk.Editor.References {
			if r.ForeignKey.IsSelfReferential() {
				return nil
			}
		}
		n.references = fk.Editor.References
		n.table = ownTable(fk.Table)
	} else {
		n.table = ownTable(destination)
	}
	if n.table == nil {
		return nil
	}
	return n
}

// WithChildren replaces the original node.
func (n *InsertBatch) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(n, len(children), 1)
	}
	ii, ok := children[0].(*plan.InsertInto)
	if !ok {
		return nil, fmt.Errorf("InsertBatch: child is %T", children[0])
	}
	b := newInsertBatch(ii)
	if b == nil {
		return ii, nil
	}
	return b, nil
}

// BuildRowIter builds the source and the iterator that runs the statement.
func (n *InsertBatch) BuildRowIter(ctx *sql.Context, b sql.NodeExecBuilder, row sql.Row) (sql.RowIter, error) {
	w, err := n.table.Writer(ctx, false)
	if err != nil {
		return nil, err
	}
	source, err := b.Build(ctx, n.insert.Source, row)
	if err != nil {
		return nil, err
	}
	r := &insertRun{node: n, writer: w, schema: n.insert.Destination.Schema(ctx), autoColumn: -1}
	for i, e := range sourceExpressions(ctx, n.insert.Source) {
		switch e.(type) {
		case *expression.AutoIncrement:
			r.autoColumn = i
		case *sql.ColumnDefaultValue:
			r.defaults = append(r.defaults, i)
		}
	}
	return &resultIter{source: source, run: r.run, writer: w}, nil
}

// sourceExpressions returns the projection that gives the rows to insert.
func sourceExpressions(ctx *sql.Context, source sql.Node) (exprs []sql.Expression) {
	transform.InspectWithOpaque(ctx, source, func(_ *sql.Context, n sql.Node) bool {
		if p, ok := n.(*plan.Project); ok {
			exprs = p.Projections
			return false
		}
		return true
	})
	return exprs
}
