package catalog

import (
	"context"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/fulltext"

	"ksql/tablet"
)

// Table is a plan's handle on a table: the definition that the statement was
// planned with, a projection, and how its rows are to be read. Reads and
// writes go through the session of the context that they get; a handle of a
// plan that is kept may be used by any session.
type Table struct {
	db      *Database
	session *Session // that planned the statement, nil for a foreign one; for DDL
	handle  *tableDef
	schema  sql.Schema

	projection []int // ordinals; nil = all columns
	projected  sql.Schema

	lock lockRequest
	// ownStatement: rows written by the running statement are seen too (foreign
	// key checks, trigger bodies).
	ownStatement bool
	// newest: rows are read at their newest version, whatever the statement's
	// epoch (foreign key checks); reference says that they are parents.
	newest    bool
	reference bool
	// built: the engine is about to read all rows for an index that is complete.
	built bool
}

var (
	_ sql.Table                    = (*Table)(nil)
	_ sql.ProjectedTable           = (*Table)(nil)
	_ sql.IndexAddressableTable    = (*Table)(nil)
	_ sql.IndexedTable             = (*Table)(nil)
	_ sql.PrimaryKeyTable          = (*Table)(nil)
	_ sql.CommentedTable           = (*Table)(nil)
	_ sql.Databaseable             = (*Table)(nil)
	_ sql.StatisticsTable          = (*Table)(nil)
	_ sql.TemporaryTable           = (*Table)(nil)
	_ sql.InsertableTable          = (*Table)(nil)
	_ sql.UpdatableTable           = (*Table)(nil)
	_ sql.DeletableTable           = (*Table)(nil)
	_ sql.ReplaceableTable         = (*Table)(nil)
	_ sql.TruncateableTable        = (*Table)(nil)
	_ sql.AutoIncrementTable       = (*Table)(nil)
	_ sql.CheckTable               = (*Table)(nil)
	_ sql.CheckAlterableTable      = (*Table)(nil)
	_ sql.ForeignKeyTable          = (*Table)(nil)
	_ sql.AlterableTable           = (*Table)(nil)
	_ sql.RewritableTable          = (*Table)(nil)
	_ sql.PrimaryKeyAlterableTable = (*Table)(nil)
	_ sql.IndexAlterableTable      = (*Table)(nil)
	_ sql.IndexBuildingTable       = (*Table)(nil)
	_ sql.CollationAlterableTable  = (*Table)(nil)
	_ sql.CommentAlterableTable    = (*Table)(nil)
	_ fulltext.IndexAlterableTable = (*Table)(nil)
)

func newTable(_ *sql.Context, d *Database, s *Session, def *tableDef) *Table {
	t := &Table{db: d, session: s, handle: def, schema: def.schema.Schema}
	if s != nil && s.statement.kind != StatementSelect && s.statement.kind != StatementDML {
		// ALTER TABLE … SET DEFAULT changes the column that Schema returned.
		t.schema = def.schema.Schema.Copy()
	}
	return t
}

// def returns the table's definition: the handle's, or the session's working
// copy while it changes definitions.
func (t *Table) def() *tableDef {
	if t.session != nil && t.session.ddl != nil && !t.handle.temporary {
		if d := t.session.ddl.work.table(t.db.name, t.handle.record.Name); d != nil {
			return d
		}
	}
	return t.handle
}

// Name returns the table's name.
func (t *Table) Name() string { return t.handle.record.Name }

// String names the table in plans.
func (t *Table) String() string { return t.handle.record.Name }

// Database returns the name of the table's database.
func (t *Table) Database() string { return t.db.name }

// Schema returns the columns that reads return.
func (t *Table) Schema(*sql.Context) sql.Schema {
	if t.projection != nil {
		return t.projected
	}
	return t.schema
}

// PrimaryKeySchema returns all columns and the primary key's.
func (t *Table) PrimaryKeySchema(*sql.Context) sql.PrimaryKeySchema { return t.handle.schema }

// Collation returns the table's default collation.
func (t *Table) Collation() sql.CollationID { return t.handle.collation }

// Comment returns the table's comment.
func (t *Table) Comment() string { return t.def().record.Comment }

// IsTemporary tells whether the table belongs to the session.
func (t *Table) IsTemporary() bool { return t.handle.temporary }

// Projections names the columns that reads return, nil for all.
func (t *Table) Projections() []string {
	if t.projection == nil {
		return nil
	}
	names := make([]string, len(t.projected))
	for i, c := range t.projected {
		names[i] = c.Name
	}
	return names
}

// WithProjections returns a handle whose reads return the named columns only.
func (t *Table) WithProjections(_ *sql.Context, names []string) (sql.Table, error) {
	n := *t
	n.projection = make([]int, 0, len(names))
	n.projected = make(sql.Schema, 0, len(names))
	for _, name := range names {
		i := t.schema.IndexOfColName(name)
		if i < 0 {
			return nil, sql.ErrTableColumnNotFound.New(t.Name(), name)
		}
		n.projection = append(n.projection, i)
		n.projected = append(n.projected, t.schema[i])
	}
	return &n, nil
}

// RowCount estimates the rows; it is never exact, because it knows no
// transaction.
func (t *Table) RowCount(ctx *sql.Context) (uint64, bool, error) {
	if s := t.stored(ctx); s != nil {
		return uint64(max(s.RowCount(), 0)), false, nil
	}
	return 0, false, nil
}

// DataLength estimates the bytes of the rows.
func (t *Table) DataLength(ctx *sql.Context) (uint64, error) {
	if s := t.stored(ctx); s != nil {
		return uint64(max(s.DataBytes(), 0)), nil
	}
	return 0, nil
}

// stored returns the table's primary tablet, nil if it is gone or not yet committed.
func (t *Table) stored(ctx *sql.Context) *tablet.Tablet {
	if s := sessionOf(ctx); s != nil && s.tx != nil {
		if own, ok := s.tx.tablet.Tablet(t.def().tabletID); ok {
			return own
		}
	}
	s, ok := t.db.provider.manager.Tablet(t.def().tabletID)
	if !ok {
		return nil
	}
	return s
}

// GetChecks returns the CHECK constraints.
func (t *Table) GetChecks(*sql.Context) ([]sql.CheckDefinition, error) { return t.def().checks, nil }

// PreciseMatch is false: key ranges may be wider than the filter, which stays.
func (t *Table) PreciseMatch() bool { return false }

// GetIndexes lists the primary key and the secondary indexes.
func (t *Table) GetIndexes(*sql.Context) ([]sql.Index, error) {
	return t.def().views, nil
}

// IndexedAccess returns a handle for look-ups by an index.
func (t *Table) IndexedAccess(*sql.Context, sql.IndexLookup) sql.IndexedTable {
	n := *t
	return &n
}

// SetReferenceCheck says that look-ups find parents of foreign keys.
func (t *Table) SetReferenceCheck() error {
	t.reference = true
	return nil
}

// ShowOwnWrites returns a handle whose reads see what the running statement has
// written, for trigger bodies.
func (t *Table) ShowOwnWrites() *Table {
	n := *t
	n.ownStatement = true
	return &n
}

// Partitions returns one partition: the whole table in key order.
func (t *Table) Partitions(*sql.Context) (sql.PartitionIter, error) {
	if t.built {
		return sql.PartitionsToPartitionIter(), nil
	}
	return sql.PartitionsToPartitionIter(partition{ranges: []keyRange{{}}}), nil
}

// LookupPartitions returns one partition: the rows of the lookup in the
// index's order.
func (t *Table) LookupPartitions(ctx *sql.Context, lookup sql.IndexLookup) (sql.PartitionIter, error) {
	ranges, ok := lookup.Ranges.(sql.MySQLRangeCollection)
	index, own := lookup.Index.(*Index)
	if !ok || !own {
		return nil, errNotSupported("this kind of index lookup")
	}
	p := partition{reverse: lookup.IsReverse}
	if !index.def.primary {
		// The lookup was planned with the handle's definition.
		p.index = index.def
	}
	ranges, filter, err := index.cut(ctx, ranges)
	if err != nil {
		return nil, err
	}
	var precise bool
	if p.ranges, precise, err = index.def.codec.Ranges(ctx, ranges); err != nil {
		return nil, err
	}
	if p.filter = filter; !precise && filter == nil && t.newest {
		// A foreign key check takes whatever row comes for a match.
		if p.filter, err = index.filter(ctx, ranges); err != nil {
			return nil, err
		}
	}
	return sql.PartitionsToPartitionIter(p), nil
}

// PartitionRows reads a partition. The scan starts at the first Next.
func (t *Table) PartitionRows(ctx *sql.Context, p sql.Partition) (sql.RowIter, error) {
	part, ok := p.(partition)
	if !ok {
		return nil, errNotSupported("this kind of partition")
	}
	return &rowIter{table: t, partition: part}, nil
}

// partition is what one scan reads: ascending disjoint key ranges of the
// primary tablet (index nil) or of an index.
type partition struct {
	index   *indexDef
	ranges  []keyRange
	reverse bool
	// filter says more about whole rows than the ranges do; nil = nothing.
	filter sql.Expression
}

// Key implements sql.Partition; there is one partition only.
func (p partition) Key() []byte { return []byte{0} }

// tabletContext hands a statement's context to the storage engine.
func tabletContext(ctx *sql.Context) context.Context { return ctx }
