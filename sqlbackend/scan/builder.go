package scan

import (
	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// builder is asked for each node of a plan before the engine's own builder. Nodes
// that it leaves alone get (nil, nil).
type builder struct{ engine *sqle.Engine }

// NewBuilder returns the priority builder for an engine.
func NewBuilder(e *sqle.Engine) sql.NodeExecBuilder { return &builder{e} }

// build hands a repaired node to the engine's builder.
func (b *builder) build(ctx *sql.Context, n sql.Node, r sql.Row) (sql.RowIter, error) {
	return b.engine.Analyzer.ExecBuilder.Build(ctx, n, r)
}

// Build implements sql.NodeExecBuilder.
func (b *builder) Build(ctx *sql.Context, n sql.Node, r sql.Row) (sql.RowIter, error) {
	switch n := n.(type) {
	case *plan.ShowColumns:
		return showColumns(ctx, n)
	case *plan.Distinct:
		it, err := b.build(ctx, n.Child, r)
		if err != nil {
			return nil, err
		}
		return newDistinctIter(it, n.Child.Schema(ctx)), nil
	case *plan.SetOp:
		return b.setOp(ctx, n, r)
	case *plan.GroupBy:
		return b.groupBy(ctx, n, r)
	case *plan.Window:
		return b.window(ctx, n, r)
	}
	if e, ok := n.(sql.Expressioner); ok {
		return b.expressions(ctx, n, e, r)
	}
	return nil, nil
}

// setOp takes over UNION DISTINCT, EXCEPT and INTERSECT; sorting and limiting the
// result stay with the engine.
func (b *builder) setOp(ctx *sql.Context, n *plan.SetOp, r sql.Row) (sql.RowIter, error) {
	if n.SetOpType == plan.UnionType && !n.Distinct {
		return nil, nil
	}
	if n.Limit != nil || n.Offset != nil || len(n.SortFields) > 0 {
		bare := *n
		bare.Limit, bare.Offset, bare.SortFields = nil, nil, nil
		var out sql.Node = &bare
		if len(n.SortFields) > 0 {
			out = plan.NewSort(n.SortFields, out)
		}
		if n.Offset != nil {
			out = plan.NewOffset(n.Offset, out)
		}
		if n.Limit != nil {
			out = plan.NewLimit(n.Limit, out)
		}
		return b.build(ctx, out, r)
	}
	it, err := b.setRows(ctx, n, r)
	if err != nil || !n.Distinct {
		return it, err
	}
	return newDistinctIter(it, n.Schema(ctx)), nil
}

// setRows returns a set operation's rows, duplicates included.
func (b *builder) setRows(ctx *sql.Context, n *plan.SetOp, r sql.Row) (sql.RowIter, error) {
	if n.SetOpType == plan.UnionType {
		all := *n
		all.Distinct = false
		return b.build(ctx, &all, r)
	}
	left, err := b.build(ctx, n.Left(), r)
	if err != nil {
		return nil, err
	}
	right, err := b.build(ctx, n.Right(), r)
	if err != nil {
		return nil, joinClose(ctx, err, left)
	}
	return &multisetIter{
		left: left, right: right, except: n.SetOpType == plan.ExceptType,
		all: !n.Distinct, keys: newSchemaSet(n.Schema(ctx)),
	}, nil
}
