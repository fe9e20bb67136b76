package dml

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// stored is the value that an UPDATE gives to a column of numbers or text: it
// is converted as INSERT converts it. The engine's own conversion takes values
// out of range for the nearest that fits.
type stored struct {
	expression.UnaryExpressionStub
	column *sql.Column
	index  int // among the target's columns
	ignore bool
}

// Type is the column's.
func (s *stored) Type(*sql.Context) sql.Type { return s.column.Type }

// String prints the value.
func (s *stored) String() string { return s.Child.String() }

// WithChildren replaces the value.
func (s *stored) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, fmt.Errorf("stored value: %d children", len(children))
	}
	return &stored{expression.UnaryExpressionStub{Child: children[0]}, s.column, s.index, s.ignore}, nil
}

// Eval converts the value.
func (s *stored) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := s.Child.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	if v, err = sql.UnwrapAny(ctx, v); err != nil {
		return nil, err
	}
	out, err := convertValue(ctx, s.column, v, 1)
	if err == nil {
		return out, nil
	}
	err = columnError(s.column, v, 1, err)
	if !s.ignore {
		return nil, sql.NewWrappedTypeConversionError(v, s.index, err)
	}
	warn(ctx, err)
	return nearest(s.column, v, out), nil
}

// storeValues puts conversions into the SET lists of a plan.
func storeValues(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	return transform.NodeWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		switch n := n.(type) {
		case *plan.UpdateSource:
			list, same := storedList(ctx, n.UpdateExprs, n.Child.Schema(ctx), n.Ignore)
			if same {
				return n, transform.SameTree, nil
			}
			return plan.NewUpdateSource(n.Child, n.Ignore, list), transform.NewTree, nil
		case *plan.InsertInto:
			if n.OnDupExprs == nil || !n.OnDupExprs.HasUpdates() {
				return n, transform.SameTree, nil
			}
			list, same := storedList(ctx, n.OnDupExprs, n.Destination.Schema(ctx), n.Ignore)
			if same {
				return n, transform.SameTree, nil
			}
			changed := *n
			changed.OnDupExprs = list
			return &changed, transform.NewTree, nil
		}
		return n, transform.SameTree, nil
	})
}

func storedList(ctx *sql.Context, list *plan.UpdateExprs, schema sql.Schema, ignore bool) (*plan.UpdateExprs, bool) {
	all := append([]sql.Expression(nil), list.AllExpressions()...)
	same := true
	for i, e := range all {
		set, ok := e.(*expression.SetField)
		if !ok {
			continue
		}
		column, ok := set.LeftChild.(*expression.GetField)
		if _, done := set.RightChild.(*stored); !ok || done {
			continue
		}
		t := column.Type(ctx)
		if _, text := t.(sql.StringType); !text && !isNumber(t) {
			continue
		}
		c := &sql.Column{Name: column.Name(), Source: column.Table(), Type: t, Nullable: true}
		value := &stored{expression.UnaryExpressionStub{Child: set.RightChild}, c, schema.IndexOf(c.Name, c.Source), ignore}
		all[i] = expression.NewSetField(column, value)
		same = false
	}
	if same {
		return list, true
	}
	changed, err := list.WithExpressions(all)
	return changed, err != nil
}
