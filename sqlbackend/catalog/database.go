package catalog

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/fulltext"

	"ksql/tablet"
)

// Database is a handle on one database. It holds no state of its own: what it
// shows is what the context's session sees.
type Database struct {
	provider *Provider
	name     string
}

var (
	_ sql.Database                = (*Database)(nil)
	_ sql.TableCreator            = (*Database)(nil)
	_ sql.IndexedTableCreator     = (*Database)(nil)
	_ sql.TemporaryTableCreator   = (*Database)(nil)
	_ sql.TemporaryTableDatabase  = (*Database)(nil)
	_ sql.TableDropper            = (*Database)(nil)
	_ sql.TableRenamer            = (*Database)(nil)
	_ sql.VersionedDatabase       = (*Database)(nil)
	_ sql.CollatedDatabase        = (*Database)(nil)
	_ sql.TriggerDatabase         = (*Database)(nil)
	_ sql.StoredProcedureDatabase = (*Database)(nil)
	_ sql.EventDatabase           = (*Database)(nil)
	_ sql.ViewDatabase            = (*Database)(nil)
	_ fulltext.Database           = (*Database)(nil)
)

// Name returns the database's name as it was created.
func (d *Database) Name() string { return d.name }

// def returns the database's definition as the context's session sees it; an
// empty one if it has been dropped since the handle was made.
func (d *Database) def(ctx *sql.Context) *databaseDef {
	if def := d.provider.definitions(ctx).database(d.name); def != nil {
		return def
	}
	return newDatabaseDef(&databaseRecord{Name: d.name, Collation: uint16(DefaultCollation)})
}

// GetTableInsensitive finds a table and takes the transaction's shared
// metadata lock on it.
func (d *Database) GetTableInsensitive(ctx *sql.Context, name string) (sql.Table, bool, error) {
	t, err := d.table(ctx, name)
	if err != nil || t == nil {
		return nil, false, err
	}
	return t, true, nil
}

func (d *Database) table(ctx *sql.Context, name string) (*Table, error) {
	s := sessionOf(ctx)
	if s != nil && len(s.temporary) > 0 {
		if def := s.temporary[tableLockName(d.name, name)]; def != nil {
			return newTable(ctx, d, s, def), nil
		}
	}
	key := strings.ToLower(name)
	def := d.def(ctx).tables[key]
	if def == nil {
		return nil, nil
	}
	if s != nil {
		if err := s.useTable(ctx, def.lockName); err != nil {
			return nil, err
		}
		// It may have changed while the lock was waited for.
		if def = d.def(ctx).tables[key]; def == nil {
			return nil, nil
		}
	}
	return newTable(ctx, d, s, def), nil
}

// GetTableNames lists the tables, without temporary ones.
func (d *Database) GetTableNames(ctx *sql.Context) ([]string, error) {
	def := d.def(ctx)
	names := make([]string, 0, len(def.tables))
	for _, t := range def.tables {
		names = append(names, t.record.Name)
	}
	sort.Strings(names)
	return names, nil
}

// lockMarker is the prefix of the AS OF values by which the parser hands over
// a SELECT's locking clause: ksql-lock:<x|s>:<wait|skip|nowait>.
const lockMarker = "ksql-lock:"

// GetTableInsensitiveAsOf finds a table for a locking read. Reading history is
// not supported yet.
func (d *Database) GetTableInsensitiveAsOf(ctx *sql.Context, name string, asOf any) (sql.Table, bool, error) {
	text, ok := asOf.(string)
	if !ok || !strings.HasPrefix(text, lockMarker) {
		return nil, false, errNotSupported("AS OF")
	}
	request, err := parseLockMarker(text)
	if err != nil {
		return nil, false, err
	}
	t, err := d.table(ctx, name)
	if err != nil || t == nil {
		return nil, false, err
	}
	t.lock = request
	return t, true, nil
}

// GetTableNamesAsOf lists the tables of now for a locking read.
func (d *Database) GetTableNamesAsOf(ctx *sql.Context, asOf any) ([]string, error) {
	if text, ok := asOf.(string); ok && strings.HasPrefix(text, lockMarker) {
		return d.GetTableNames(ctx)
	}
	return nil, errNotSupported("AS OF")
}

// GetCollation returns the default collation of new tables.
func (d *Database) GetCollation(ctx *sql.Context) sql.CollationID {
	return sql.CollationID(d.def(ctx).record.Collation)
}

// SetCollation changes the default collation of new tables.
func (d *Database) SetCollation(ctx *sql.Context, collation sql.CollationID) error {
	_, db, err := d.change(ctx)
	if err != nil {
		return err
	}
	record := *db.record
	record.Collation = uint16(collation)
	db.record = &record
	return nil
}

// change returns the session's working copy of the database.
func (d *Database) change(ctx *sql.Context) (*Session, *databaseDef, error) {
	s := sessionOf(ctx)
	if s == nil {
		return nil, nil, fmt.Errorf("change of database %s: not a ksql session", d.name)
	}
	_, db, err := s.changeDatabase(ctx, d.name)
	return s, db, err
}

// CreateTable creates a table. Indexes, foreign keys and checks follow by
// calls of the table's own methods.
func (d *Database) CreateTable(ctx *sql.Context, name string, schema sql.PrimaryKeySchema, collation sql.CollationID, comment string) error {
	return d.createTable(ctx, name, schema, nil, collation, comment)
}

// CreateIndexedTable creates a table whose primary key has prefix lengths.
func (d *Database) CreateIndexedTable(ctx *sql.Context, name string, schema sql.PrimaryKeySchema, primary sql.IndexDef, collation sql.CollationID) error {
	lengths, err := prefixLengths(schema.Schema, primary.Columns)
	if err != nil {
		return err
	}
	return d.createTable(ctx, name, schema, lengths, collation, "")
}

func (d *Database) createTable(ctx *sql.Context, name string, schema sql.PrimaryKeySchema, prefix []uint16, collation sql.CollationID, comment string) error {
	s := sessionOf(ctx)
	if s == nil {
		return fmt.Errorf("create table %s: not a ksql session", name)
	}
	work, db, err := s.changeDatabase(ctx, d.name)
	if err != nil {
		return err
	}
	if err := s.exclusiveTable(ctx, d.name, name); err != nil {
		return err
	}
	key := strings.ToLower(name)
	if db.tables[key] != nil || db.views[key] != nil {
		return sql.ErrTableAlreadyExists.New(name)
	}
	record, err := newTableRecord(ctx, d.name, name, schema, prefix, collation)
	if err != nil {
		return err
	}
	record.Comment = comment
	record.setOptions(s.pendingOptions)
	s.pendingOptions = nil
	def, err := s.createTablets(record)
	if err != nil {
		return err
	}
	db.tables[key] = def
	work.fresh[def] = struct{}{}
	s.creating = tableLockName(d.name, name)
	return nil
}

// newTableRecord describes a new table without indexes.
func newTableRecord(ctx *sql.Context, database, name string, schema sql.PrimaryKeySchema, prefix []uint16, collation sql.CollationID) (*tableRecord, error) {
	if err := checkRowSize(schema.Schema); err != nil {
		return nil, err
	}
	r := &tableRecord{
		Database:      database,
		Name:          name,
		PrimaryKey:    append([]int(nil), schema.PkOrdinals...),
		PrimaryPrefix: prefix,
		Collation:     uint16(collation),
		Options:       map[string]string{},
		CreatedMicros: time.Now().UnixMicro(),
	}
	for _, c := range schema.Schema {
		column, err := columnToRecord(ctx, c)
		if err != nil {
			return nil, err
		}
		r.Columns = append(r.Columns, column)
	}
	return r, nil
}

// setOptions keeps the options of CREATE TABLE that have no field of their own.
func (r *tableRecord) setOptions(options map[string]any) {
	for name, value := range options {
		switch strings.ToLower(name) {
		case "comment":
			if text, ok := value.(string); ok {
				r.Comment = text
			}
		case "auto_increment", "charset", "character set", "collate":
		default:
			r.Options[strings.ToLower(name)] = fmt.Sprint(value)
		}
	}
}

// createTablets makes the primary tablet and one for each index of a record
// and returns the definition with their ids.
func (s *Session) createTablets(r *tableRecord) (*tableDef, error) {
	// A definition without ids has the codecs that know the tablets' schemas.
	draft, err := newTableDef(r)
	if err != nil {
		return nil, err
	}
	id, err := s.tx.tablet.CreateTablet(draft.codec.RowSchema())
	if err != nil {
		return nil, translate(err)
	}
	r.Tablet = uint64(id)
	for _, x := range draft.indexes {
		id, err := s.tx.tablet.CreateTablet(x.codec.Schema())
		if err != nil {
			return nil, translate(err)
		}
		x.record.Tablet = uint64(id) // in r
	}
	return newTableDef(r)
}

// DropTable drops a table, or the session's temporary table of that name.
func (d *Database) DropTable(ctx *sql.Context, name string) error {
	s := sessionOf(ctx)
	if s == nil {
		return fmt.Errorf("drop table %s: not a ksql session", name)
	}
	if s.temporary[tableLockName(d.name, name)] != nil {
		return s.dropTemporaryTable(ctx, tableLockName(d.name, name))
	}
	_, db, err := s.changeDatabase(ctx, d.name)
	if err != nil {
		return err
	}
	if err := s.exclusiveTable(ctx, d.name, name); err != nil {
		return err
	}
	def := db.tables[strings.ToLower(name)]
	if def == nil {
		return sql.ErrTableNotFound.New(name)
	}
	delete(db.tables, strings.ToLower(name))
	return s.dropTablets(def.tablets())
}

// RenameTable renames a table; the engine updates foreign keys that name it.
func (d *Database) RenameTable(ctx *sql.Context, oldName, newName string) error {
	s, db, err := d.change(ctx)
	if err != nil {
		return err
	}
	for _, name := range []string{oldName, newName} {
		if err := s.exclusiveTable(ctx, d.name, name); err != nil {
			return err
		}
	}
	oldKey, newKey := strings.ToLower(oldName), strings.ToLower(newName)
	old := db.tables[oldKey]
	if old == nil {
		return sql.ErrTableNotFound.New(oldName)
	}
	if oldKey != newKey && (db.tables[newKey] != nil || db.views[newKey] != nil) {
		return sql.ErrTableAlreadyExists.New(newName)
	}
	record := old.record.clone()
	record.Name = newName
	def, err := newTableDef(record)
	if err != nil {
		return err
	}
	def.changedAt = old.changedAt
	delete(db.tables, oldKey)
	db.tables[newKey] = def
	return nil
}

// prefixLengths returns the lengths of an index's columns, nil if all are whole.
func prefixLengths(schema sql.Schema, columns []sql.IndexColumn) ([]uint16, error) {
	var out []uint16
	for i, c := range columns {
		if c.Length == 0 {
			continue
		}
		if c.Length < 0 || c.Length > 65535 {
			return nil, sql.ErrKeyTooLong.New()
		}
		if out == nil {
			out = make([]uint16, len(columns))
		}
		out[i] = uint16(c.Length)
	}
	return out, nil
}

// columnOrdinals finds an index's columns in a schema.
func columnOrdinals(schema sql.Schema, table string, columns []sql.IndexColumn) ([]int, error) {
	out := make([]int, len(columns))
	for i, c := range columns {
		if out[i] = schema.IndexOfColName(c.Name); out[i] < 0 {
			return nil, sql.ErrKeyColumnDoesNotExist.New(c.Name)
		}
	}
	return out, nil
}

// stored returns a tablet as the transaction sees it, own creations included.
func (t *Transaction) stored(id tablet.TabletID) (*tablet.Tablet, error) {
	x, ok := t.tablet.Tablet(id)
	if !ok {
		return nil, errTableDefinitionChanged()
	}
	return x, nil
}

// CreateFulltextTableNames refuses: there are no full-text indexes yet.
func (d *Database) CreateFulltextTableNames(*sql.Context, string, string) (fulltext.IndexTableNames, error) {
	return fulltext.IndexTableNames{}, errNotSupported("FULLTEXT index")
}
