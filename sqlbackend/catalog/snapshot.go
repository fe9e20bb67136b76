package catalog

import (
	"fmt"
	"sort"
	"strings"
	"sync/atomic"

	"github.com/dolthub/go-mysql-server/sql"

	"ksql/tablet"
)

// snapshot is one state of all definitions. It is immutable once published;
// a DDL statement changes its own clone. Everything that it points to
// (databaseDef, tableDef, records) is immutable too and shared by clones.
type snapshot struct {
	// version counts publications; compiled statements compare it.
	version   uint64
	databases map[string]*databaseDef // by lower-case name
	// parents lists the foreign keys by the table that they refer to (a
	// tableLockName); nil while a DDL statement changes this snapshot.
	parents map[string][]foreignKeyOf
}

// databaseDef is one database with its objects, all by lower-case name.
type databaseDef struct {
	record     *databaseRecord
	tables     map[string]*tableDef
	views      map[string]*viewRecord
	triggers   map[string]*triggerRecord
	procedures map[string]*procedureRecord
	events     map[string]*eventRecord
}

// tableDef is one table's record with everything that is derived from it.
type tableDef struct {
	record    *tableRecord
	schema    sql.PrimaryKeySchema
	collation sql.CollationID
	codec     *tableCodec
	tabletID  tablet.TabletID
	// primary describes the primary key as an index; nil for a table with a hidden row id.
	primary *indexDef
	indexes []*indexDef // secondary ones, see rank
	// views are the engine's views of the primary key and the indexes.
	views []sql.Index
	// lockName is the table's metadata lock.
	lockName string
	checks   []sql.CheckDefinition
	// autoColumn is the ordinal of the AUTO_INCREMENT column, -1 for none.
	autoColumn int
	// changedAt is the commit that made the table's tablets; a transaction
	// whose snapshot is older gets error 1412. It is set before publication.
	changedAt tablet.Epoch
	// temporary marks a session's table.
	temporary bool
	generated atomic.Pointer[[]generatedColumn] // see generatedColumns
}

// indexDef is one index: its stored form and its codec.
type indexDef struct {
	record   *indexRecord
	tabletID tablet.TabletID
	codec    *indexCodec
	primary  bool
}

func newDatabaseDef(r *databaseRecord) *databaseDef {
	return &databaseDef{
		record:     r,
		tables:     map[string]*tableDef{},
		views:      map[string]*viewRecord{},
		triggers:   map[string]*triggerRecord{},
		procedures: map[string]*procedureRecord{},
		events:     map[string]*eventRecord{},
	}
}

// newTableDef derives a definition from its record.
func newTableDef(r *tableRecord) (*tableDef, error) {
	for _, o := range r.PrimaryKey {
		if o >= 0 && o < len(r.Columns) {
			r.Columns[o].Nullable = false
		}
	}
	schema, err := schemaFromRecord(r)
	if err != nil {
		return nil, fmt.Errorf("table %s.%s: %w", r.Database, r.Name, err)
	}
	d := &tableDef{
		record:     r,
		schema:     schema,
		collation:  sql.CollationID(r.Collation),
		tabletID:   tablet.TabletID(r.Tablet),
		autoColumn: -1,
		lockName:   tableLockName(r.Database, r.Name),
	}
	for i, c := range schema.Schema {
		if c.AutoIncrement {
			d.autoColumn = i
		}
	}
	if d.codec, err = newTableCodec(schema, d.collation, r.PrimaryPrefix...); err != nil {
		return nil, fmt.Errorf("table %s.%s: %w", r.Database, r.Name, err)
	}
	if len(r.PrimaryKey) > 0 {
		rec := &indexRecord{Name: primaryIndexName, Tablet: r.Tablet, Columns: r.PrimaryKey, Prefix: r.PrimaryPrefix, Unique: true}
		if d.primary, err = newIndexDef(d, rec); err != nil {
			return nil, err
		}
		d.primary.primary = true
	}
	for i := range r.Indexes {
		x, err := newIndexDef(d, &r.Indexes[i])
		if err != nil {
			return nil, err
		}
		d.indexes = append(d.indexes, x)
	}
	sort.SliceStable(d.indexes, func(i, j int) bool { return d.rank(d.indexes[i]) < d.rank(d.indexes[j]) })
	if d.primary != nil {
		d.views = append(d.views, newIndex(d, d.primary))
	}
	for _, x := range d.indexes {
		d.views = append(d.views, newIndex(d, x))
	}
	for _, c := range r.Checks {
		d.checks = append(d.checks, sql.CheckDefinition{Name: c.Name, CheckExpression: c.Expression, Enforced: c.Enforced})
	}
	return d, nil
}

// rank orders indexes as MySQL does, for checks of duplicates and for SHOW:
// unique ones whose columns are all NOT NULL, other unique ones, the rest.
func (d *tableDef) rank(x *indexDef) int {
	if !x.record.Unique {
		return 2
	}
	for _, c := range x.record.Columns {
		if d.schema.Schema[c].Nullable {
			return 1
		}
	}
	return 0
}

// primaryIndexName is MySQL's name of every primary key.
const primaryIndexName = "PRIMARY"

func newIndexDef(d *tableDef, r *indexRecord) (*indexDef, error) {
	for _, c := range r.Columns {
		if c < 0 || c >= len(d.schema.Schema) {
			return nil, fmt.Errorf("index %s of table %s.%s names column %d of %d",
				r.Name, d.record.Database, d.record.Name, c, len(d.schema.Schema))
		}
	}
	codec, err := newIndexCodec(d.codec, r.Columns, r.Prefix, r.Unique)
	if err != nil {
		return nil, fmt.Errorf("index %s of table %s.%s: %w", r.Name, d.record.Database, d.record.Name, err)
	}
	return &indexDef{record: r, tabletID: tablet.TabletID(r.Tablet), codec: codec}, nil
}

// name returns "database.table" for messages and lock names.
func (d *tableDef) name() string { return d.record.Database + "." + d.record.Name }

// index finds a secondary index by name, case-insensitively.
func (d *tableDef) index(name string) *indexDef {
	for _, x := range d.indexes {
		if strings.EqualFold(x.record.Name, name) {
			return x
		}
	}
	return nil
}

// tablets returns the primary tablet and those of the indexes.
func (d *tableDef) tablets() []tablet.TabletID {
	ids := []tablet.TabletID{d.tabletID}
	for _, x := range d.indexes {
		ids = append(ids, x.tabletID)
	}
	return ids
}

// clone returns a snapshot whose maps may be changed; definitions are shared.
func (s *snapshot) clone() *snapshot {
	c := *s
	c.databases = make(map[string]*databaseDef, len(s.databases))
	for k, d := range s.databases {
		c.databases[k] = d.clone()
	}
	c.parents = nil
	return &c
}

func (d *databaseDef) clone() *databaseDef {
	c := *d
	c.tables = copyMap(d.tables)
	c.views = copyMap(d.views)
	c.triggers = copyMap(d.triggers)
	c.procedures = copyMap(d.procedures)
	c.events = copyMap(d.events)
	return &c
}

func copyMap[K comparable, V any](m map[K]V) map[K]V {
	c := make(map[K]V, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
}

// database finds a database by name, case-insensitively.
func (s *snapshot) database(name string) *databaseDef { return s.databases[strings.ToLower(name)] }

// table finds a table by names, case-insensitively.
func (s *snapshot) table(database, name string) *tableDef {
	d := s.database(database)
	if d == nil {
		return nil
	}
	return d.tables[strings.ToLower(name)]
}

// referencing returns the foreign keys of all tables that refer to a table.
func (s *snapshot) referencing(database, table string) []foreignKeyOf {
	parents := s.parents
	if parents == nil {
		parents = s.foreignKeysByParent()
	}
	return parents[tableLockName(database, table)]
}

// foreignKeysByParent lists all foreign keys by the table they refer to, in
// order of table and name.
func (s *snapshot) foreignKeysByParent() map[string][]foreignKeyOf {
	out := map[string][]foreignKeyOf{}
	for _, d := range s.databases {
		for _, t := range d.tables {
			for i := range t.record.ForeignKeys {
				fk := &t.record.ForeignKeys[i]
				name := tableLockName(fk.ParentDatabase, fk.ParentTable)
				out[name] = append(out[name], foreignKeyOf{table: t, record: fk})
			}
		}
	}
	for _, list := range out {
		sort.Slice(list, func(i, j int) bool {
			if a, b := list[i].table.name(), list[j].table.name(); a != b {
				return a < b
			}
			return list[i].record.Name < list[j].record.Name
		})
	}
	return out
}

// foreignKeyOf is a foreign key with the table that declares it.
type foreignKeyOf struct {
	table  *tableDef
	record *foreignKeyRecord
}
