package dml

import (
	"sync"
	"sync/atomic"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"ksql/sqlbackend/catalog"
)

// batchRuleID is far from the engine's own rule ids.
const batchRuleID analyzer.RuleId = 5000

var installOnce sync.Once

// disabled leaves all statements to the editors; tests compare the two ways.
var disabled atomic.Bool

// InstallRule adds the batch rule to analyzer.OnceAfterAll, which also the
// engine's short rule lists for simple DML go through. The list is global to
// the process; it must be called before analyzer.NewBuilder.
func InstallRule() {
	installOnce.Do(func() {
		rules := make([]analyzer.Rule, 0, len(analyzer.OnceAfterAll)+1)
		for _, r := range analyzer.OnceAfterAll {
			if r.Id == analyzer.QuoteDefaultColumnValueNamesId {
				rules = append(rules, analyzer.Rule{Id: batchRuleID, Apply: batch})
			}
			rules = append(rules, r)
		}
		analyzer.OnceAfterAll = rules
	})
}

// batch replaces the top node of an eligible statement.
func batch(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, scope *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	n, same, err := storeValues(ctx, n)
	if err != nil || !scope.IsEmpty() {
		return n, same, err
	}
	if hasTrigger(ctx, n) {
		shown, same2, err := showOwnWrites(ctx, n)
		return shown, same && same2, err
	}
	if disabled.Load() {
		return n, same, nil
	}
	switch n := n.(type) {
	case *plan.InsertInto:
		if b := newInsertBatch(n); b != nil {
			return b, transform.NewTree, nil
		}
	case *plan.Update:
		if b := newUpdateBatch(ctx, n); b != nil {
			return b, transform.NewTree, nil
		}
	case *plan.DeleteFrom:
		if b := newDeleteBatch(ctx, n); b != nil {
			return b, transform.NewTree, nil
		}
	}
	return n, same, nil
}

// hasTrigger tells whether triggers fire in a plan.
func hasTrigger(ctx *sql.Context, n sql.Node) bool {
	found := false
	transform.InspectWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) bool {
		if _, ok := n.(*plan.TriggerExecutor); ok {
			found = true
		}
		if ii, ok := n.(*plan.InsertInto); ok && !found {
			found = hasTrigger(ctx, ii.Source)
		}
		return !found
	})
	return found
}

// showOwnWrites makes the tables that trigger bodies read show what the
// statement has written so far; all other reads of the statement don't.
func showOwnWrites(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	return transform.NodeWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		switch n := n.(type) {
		case *plan.TriggerExecutor:
			body, same, err := ownWrites(ctx, n.Right())
			if err != nil || same {
				return n, transform.SameTree, err
			}
			changed, err := n.WithChildren(ctx, n.Left(), body)
			return changed, transform.NewTree, err
		case *plan.InsertInto:
			source, same, err := showOwnWrites(ctx, n.Source)
			if err != nil || same {
				return n, transform.SameTree, err
			}
			return n.WithSource(source), transform.NewTree, nil
		}
		return n, transform.SameTree, nil
	})
}

// ownWrites changes every table read of a trigger's body.
func ownWrites(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	return transform.NodeWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		if ii, ok := n.(*plan.InsertInto); ok {
			source, same, err := ownWrites(ctx, ii.Source)
			if err != nil || same {
				return n, transform.SameTree, err
			}
			return ii.WithSource(source), transform.NewTree, nil
		}
		switch t := n.(type) {
		case *plan.IndexedTableAccess:
			if own, ok := showing(t.Table).(sql.IndexedTable); ok {
				changed, err := t.WithTable(own)
				return changed, transform.NewTree, err
			}
		case sql.MutableTableNode:
			if own := showing(t.WrappedTable()); own != nil {
				changed, err := t.ReplaceTable(ctx, own)
				return changed, transform.NewTree, err
			}
		}
		return transform.OneNodeExpressions(ctx, n, ownWritesOfSubquery)
	})
}

// showing returns a table that shows the statement's own writes, nil if it is
// not one of this backend.
func showing(t sql.Table) sql.Table {
	switch t := t.(type) {
	case *catalog.Table:
		return t.ShowOwnWrites()
	case *plan.ProcessTable:
		return showing(t.Underlying())
	case sql.MutableTableWrapper:
		if inner := showing(t.Underlying()); inner != nil {
			return t.WithUnderlying(inner)
		}
	}
	return nil
}

func ownWritesOfSubquery(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	s, ok := e.(*plan.Subquery)
	if !ok {
		return e, transform.SameTree, nil
	}
	query, same, err := ownWrites(ctx, s.Query)
	if err != nil || same {
		return e, transform.SameTree, err
	}
	return s.WithQuery(query), transform.NewTree, nil
}

// ownTable unwraps a table of this backend.
func ownTable(t sql.Table) *catalog.Table {
	own, _ := sql.GetUnderlyingTable(t).(*catalog.Table)
	return own
}
