package scan

import (
	"errors"
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// expressions repairs IN over text in a node's expressions: the engine looks it up
// by bytes.
func (b *builder) expressions(ctx *sql.Context, n sql.Node, e sql.Expressioner, r sql.Row) (sql.RowIter, error) {
	switch n.(type) {
	case *plan.Filter, *plan.Project, *plan.Having, *plan.JoinNode, *plan.Sort, *plan.TopN:
	default:
		return nil, nil
	}
	found := false
	for _, x := range e.Expressions() {
		transform.InspectExpr(ctx, x, func(ctx *sql.Context, x sql.Expression) bool {
			in, ok := x.(*expression.HashInTuple)
			found = found || ok && comparesText(ctx, in.Left())
			return found
		})
	}
	if !found {
		return nil, nil
	}
	exprs := make([]sql.Expression, len(e.Expressions()))
	for i, x := range e.Expressions() {
		var err error
		if exprs[i], _, err = transform.Expr(ctx, x, collatedIn); err != nil {
			return nil, err
		}
	}
	repaired, err := e.WithExpressions(ctx, exprs...)
	if err != nil {
		return nil, err
	}
	return b.build(ctx, repaired, r)
}

// collatedIn exchanges an IN list over text.
func collatedIn(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	h, ok := e.(*expression.HashInTuple)
	if !ok || !comparesText(ctx, h.Left()) {
		return e, transform.SameTree, nil
	}
	in, err := newInList(ctx, h)
	return in, transform.NewTree, err
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

// inList is value IN (constants) under a collation. It only lives while a statement
// runs.
type inList struct {
	*expression.HashInTuple
	keys    *keySet
	types   []sql.Type
	hasNull bool
}

// newInList prepares the list; lists whose elements the collation of the value
// alone does not decide about are compared one by one.
func newInList(ctx *sql.Context, h *expression.HashInTuple) (sql.Expression, error) {
	right, ok := h.Right().(expression.Tuple)
	st, text := h.Left().Type(ctx).(sql.StringType)
	plain := expression.NewInTuple(h.Left(), h.Right())
	if !ok || !text {
		return plain, nil
	}
	in := &inList{HashInTuple: h, keys: &keySet{types: []sql.Type{st}, seen: map[string]struct{}{}}}
	for _, e := range right {
		t := e.Type(ctx)
		if t == types.Null {
			in.hasNull = true
			continue
		}
		other, ok := t.(sql.StringType)
		if !ok || other.Collation() != st.Collation() {
			return plain, nil
		}
		v, err := e.Eval(ctx, nil)
		if err != nil {
			return nil, fmt.Errorf("evaluate an IN list: %w", err)
		}
		if v == nil {
			in.hasNull = true
			continue
		}
		if _, err := in.keys.add(ctx, sql.Row{v}); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// Eval implements sql.Expression.
func (in *inList) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := in.Left().Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	keys := keySet{types: in.keys.types} // statements may run in parallel
	k, err := keys.key(ctx, sql.Row{v})
	if err != nil {
		return nil, err
	}
	if _, ok := in.keys.seen[string(k)]; ok {
		return true, nil
	}
	if in.hasNull {
		return nil, nil
	}
	return false, nil
}

// WithChildren implements sql.Expression.
func (in *inList) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := in.HashInTuple.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return newInList(ctx, e.(*expression.HashInTuple))
}

// joinClose closes an iterator after an error.
func joinClose(ctx *sql.Context, err error, it sql.RowIter) error {
	return errors.Join(err, it.Close(ctx))
}
