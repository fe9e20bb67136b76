package scan

import (
	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/hash"
	"github.com/dolthub/go-mysql-server/sql/iters"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
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
	case *plan.Distinct:
		it, err := b.build(ctx, n.Child, r)
		if err != nil {
			return nil, err
		}
		return iters.NewDistinctIter(ctx, it, collatedHasher{n.Child.Schema(ctx)}), nil
	case *plan.SetOp:
		return b.setOp(ctx, n, r)
	case *plan.Filter:
		return b.filter(ctx, n, r)
	case *plan.Window:
		return b.window(ctx, n, r)
	}
	return nil, nil
}

// collatedHasher hashes rows with their types, so that equal texts of a collation
// are equal; the engine's hashes bytes.
type collatedHasher struct{ schema sql.Schema }

// HashOf implements iters.DistinctHasher.
func (h collatedHasher) HashOf(ctx *sql.Context, r sql.Row) (uint64, error) {
	return hash.HashOf(ctx, h.schema, r)
}

// setOp repairs UNION DISTINCT.
func (b *builder) setOp(ctx *sql.Context, n *plan.SetOp, r sql.Row) (sql.RowIter, error) {
	if !n.Distinct || n.SetOpType != plan.UnionType || n.Limit != nil || n.Offset != nil || len(n.SortFields) > 0 {
		return nil, nil
	}
	all := *n
	all.Distinct = false
	it, err := b.build(ctx, &all, r)
	if err != nil {
		return nil, err
	}
	return iters.NewDistinctIter(ctx, it, collatedHasher{n.Schema(ctx)}), nil
}

// filter repairs IN over text, which the engine looks up by bytes.
func (b *builder) filter(ctx *sql.Context, n *plan.Filter, r sql.Row) (sql.RowIter, error) {
	e, same, err := transform.Expr(ctx, n.Expression, func(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		if in, ok := e.(*expression.HashInTuple); ok && comparesText(ctx, in.Left()) {
			return expression.NewInTuple(in.Left(), in.Right()), transform.NewTree, nil
		}
		return e, transform.SameTree, nil
	})
	if err != nil || same {
		return nil, err
	}
	return b.build(ctx, plan.NewFilter(e, n.Child), r)
}

func comparesText(ctx *sql.Context, e sql.Expression) bool {
	t := e.Type(ctx)
	if tuple, ok := t.(types.TupleType); ok {
		for _, part := range tuple {
			if types.IsTextOnly(part) {
				return true
			}
		}
		return false
	}
	return types.IsTextOnly(t)
}
