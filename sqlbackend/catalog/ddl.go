package catalog

import (
	"context"
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"ksql/tablet"
)

// ddlWork is the uncommitted state of definitions of one DDL transaction.
type ddlWork struct {
	base *snapshot // published when the work began; DDL is serialised, so still published at commit
	work *snapshot
	// fresh are the definitions whose tablets this transaction made.
	fresh map[*tableDef]struct{}
}

// save writes the difference between work and base into the transaction.
func (d *ddlWork) save(ctx context.Context, m *tablet.Manager, tx *tablet.Transaction) error {
	entries, err := diff(d.base, d.work)
	if err != nil {
		return err
	}
	return writeStore(ctx, m, tx, entries)
}

// publish makes the committed definitions visible to everybody.
func (p *Provider) publish(d *ddlWork, epoch tablet.Epoch) {
	for t := range d.fresh {
		t.changedAt = epoch
	}
	d.work.version = d.base.version + 1
	d.work.parents = d.work.foreignKeysByParent()
	p.current.Store(d.work)
}

// lockDDL takes the lock that makes DDL statements run one at a time. It must
// be taken before the statement's tables are resolved; see beginDDL.
func (s *Session) lockDDL(ctx *sql.Context) error {
	if s.ddlLocked {
		return nil
	}
	if err := s.provider.locks.lockExclusive(ctx, s, ddlLockName, s.metadataWait()); err != nil {
		return err
	}
	s.ddlLocked = true
	return nil
}

func (s *Session) unlockDDL() {
	if s.ddlLocked {
		s.ddlLocked = false
		s.provider.locks.unlock(s, ddlLockName)
	}
}

// beginDDL returns the session's working copy of the definitions. A statement
// that nobody announced (one in a procedure) may already hold shared locks;
// they would stand in the way of the DDL statement that runs, which would wait
// for this one: so they are given up while it waits, and the definitions are
// compared afterwards.
func (s *Session) beginDDL(ctx *sql.Context) (*ddlWork, error) {
	if s.ddl != nil {
		return s.ddl, nil
	}
	if _, err := s.begun(ctx); err != nil {
		return nil, err
	}
	if s.tx.readOnly {
		return nil, errReadOnlyTx()
	}
	before := s.provider.current.Load()
	if !s.ddlLocked {
		for name := range s.tx.metadata {
			s.provider.locks.unlock(s, name)
		}
		clear(s.tx.metadata)
		if err := s.lockDDL(ctx); err != nil {
			return nil, err
		}
		if s.provider.current.Load() != before {
			return nil, errTableDefinitionChanged()
		}
	}
	base := s.provider.current.Load()
	s.ddl = &ddlWork{base: base, work: base.clone(), fresh: map[*tableDef]struct{}{}}
	return s.ddl, nil
}

// exclusiveTable takes a table's metadata lock for changing its definition.
func (s *Session) exclusiveTable(ctx *sql.Context, database, table string) error {
	name := tableLockName(database, table)
	if err := s.provider.locks.lockExclusive(ctx, s, name, s.metadataWait()); err != nil {
		return err
	}
	s.tx.metadata[name] = struct{}{}
	// What others have committed while the lock was waited for must be read.
	s.tx.tablet.StartStatement(s.tx.level)
	return nil
}

// changeDatabase returns the working copy of a database for a change of its objects.
func (s *Session) changeDatabase(ctx *sql.Context, name string) (*ddlWork, *databaseDef, error) {
	d, err := s.beginDDL(ctx)
	if err != nil {
		return nil, nil, err
	}
	db := d.work.database(name)
	if db == nil {
		return nil, nil, sql.ErrDatabaseNotFound.New(name)
	}
	return d, db, nil
}

// changeTable replaces a table's definition by one made from a changed copy of
// its record.
func (s *Session) changeTable(ctx *sql.Context, database, table string, change func(*tableRecord) error) (*tableDef, error) {
	d, db, err := s.changeDatabase(ctx, database)
	if err != nil {
		return nil, err
	}
	if err := s.exclusiveTable(ctx, database, table); err != nil {
		return nil, err
	}
	old := db.tables[strings.ToLower(table)]
	if old == nil {
		return nil, sql.ErrTableNotFound.New(table)
	}
	record := old.record.clone()
	if err := change(record); err != nil {
		return nil, err
	}
	now, err := newTableDef(record)
	if err != nil {
		return nil, err
	}
	now.changedAt = old.changedAt
	if _, ok := d.fresh[old]; ok {
		delete(d.fresh, old)
		d.fresh[now] = struct{}{}
	}
	db.tables[strings.ToLower(table)] = now
	return now, nil
}

// dropTablets drops tablets when the transaction commits.
func (s *Session) dropTablets(ids []tablet.TabletID) error {
	for _, id := range ids {
		if err := s.tx.tablet.DropTablet(id); err != nil {
			return translate(fmt.Errorf("drop tablet %d: %w", id, err))
		}
	}
	return nil
}

// ImplicitCommitRule is a pre-analyze rule that commits the open transaction
// before DDL. The statement path does the same by BeginStatement; the rule
// covers statements inside procedures. Install it with
// analyzer.Builder.AddPreAnalyzeRule.
func ImplicitCommitRule(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, scope *plan.Scope, _ analyzer.RuleSelector, flags *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	s := sessionOf(ctx)
	if s == nil || !scope.IsEmpty() || flags == nil || s.statement.announced ||
		!(flags.IsSet(sql.QFlagDDL) || flags.IsSet(sql.QFlagAlterTable) || flags.IsSet(sql.QFlagDBDDL)) {
		return n, transform.SameTree, nil
	}
	if _, ok := n.(*plan.DescribeQuery); ok {
		return n, transform.SameTree, nil
	}
	if s.tx == nil || !s.tx.tablet.HasWrites() || onlyTemporary(n) {
		return n, transform.SameTree, nil
	}
	if err := s.ImplicitCommit(ctx); err != nil {
		return nil, transform.SameTree, err
	}
	tx, err := s.StartTransaction(ctx, sql.ReadWrite)
	if err != nil {
		return nil, transform.SameTree, err
	}
	ctx.SetTransaction(tx)
	return n, transform.SameTree, nil
}

// onlyTemporary tells whether a DDL node touches temporary tables only, which
// commits nothing.
func onlyTemporary(n sql.Node) bool {
	switch n := n.(type) {
	case *plan.CreateTable:
		return n.Temporary()
	case *plan.DropTable:
		for _, t := range n.Tables {
			r, ok := t.(*plan.ResolvedTable)
			if !ok {
				return false
			}
			own, ok := sql.GetUnderlyingTable(r.Table).(*Table)
			if !ok || !own.IsTemporary() {
				return false
			}
		}
		return true
	}
	return false
}

// CreateTableHook is the engine's CreateTable.PreSQLExecution hook: it keeps
// the table options, which the engine does not hand to the backend, and leaves
// out index kinds that are not supported, with a warning each.
func CreateTableHook(ctx *sql.Context, _ sql.StatementRunner, n sql.Node) (sql.Node, error) {
	create, ok := n.(*plan.CreateTable)
	if !ok {
		return n, nil
	}
	if s := sessionOf(ctx); s != nil {
		s.pendingOptions = create.TableOpts
	}
	kept := make(sql.IndexDefs, 0, len(create.Indexes()))
	for _, x := range create.Indexes() {
		if kind := unsupportedIndexKind(x.Constraint); kind != "" {
			ctx.Warn(erNotSupportedYet, "%s index '%s' is not supported yet and was left out", kind, x.Name)
			continue
		}
		kept = append(kept, x)
	}
	if len(kept) == len(create.Indexes()) {
		return n, nil
	}
	return create.WithIndexDefs(kept)
}

// unsupportedIndexKind names an index kind that has no implementation, "" for
// the others.
func unsupportedIndexKind(c sql.IndexConstraint) string {
	switch c {
	case sql.IndexConstraint_Fulltext:
		return "FULLTEXT"
	case sql.IndexConstraint_Spatial:
		return "SPATIAL"
	case sql.IndexConstraint_Vector:
		return "VECTOR"
	}
	return ""
}
