package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/fulltext"

	"ksql/tablet"
)

// CreateIndex adds a secondary index and fills it from the table's rows.
func (t *Table) CreateIndex(ctx *sql.Context, x sql.IndexDef) error {
	if kind := unsupportedIndexKind(x.Constraint); kind != "" {
		return errNotSupported(kind + " index")
	}
	if t.session == nil {
		return errNotSupported("changing tables outside a ksql session")
	}
	if x.IsPrimary() {
		return errNotSupported("adding a primary key without rewriting the table")
	}
	schema := t.def().schema.Schema
	columns, err := columnOrdinals(schema, t.Name(), x.Columns)
	if err != nil {
		return err
	}
	prefix, err := prefixLengths(schema, x.Columns)
	if err != nil {
		return err
	}
	record := indexRecord{Name: x.Name, Columns: columns, Prefix: prefix, Unique: x.IsUnique(), Comment: x.Comment}
	if err := t.indexTablet(ctx, &record); err != nil {
		return err
	}
	if err := t.change(ctx, func(r *tableRecord) error {
		for i := range r.Indexes {
			if strings.EqualFold(r.Indexes[i].Name, x.Name) {
				return sql.ErrDuplicateKey.New(x.Name)
			}
		}
		if strings.EqualFold(x.Name, primaryIndexName) {
			return sql.ErrDuplicateKey.New(x.Name)
		}
		r.Indexes = append(r.Indexes, record)
		return nil
	}); err != nil {
		return err
	}
	now := t.def()
	if t.handle.temporary {
		now = t.session.temporary[tableLockName(t.db.name, t.Name())]
	} else {
		t.session.ddl.fresh[now] = struct{}{}
	}
	return t.fillIndex(ctx, now, slices.IndexFunc(now.indexes, func(d *indexDef) bool { return d.names(x.Name) }))
}

// indexTablet makes the tablet of a new index.
func (t *Table) indexTablet(ctx *sql.Context, r *indexRecord) error {
	if !t.handle.temporary {
		if _, err := t.session.beginDDL(ctx); err != nil {
			return err
		}
	}
	codec, err := newIndexCodec(t.def().codec, r.Columns, r.Prefix, r.Unique)
	if err != nil {
		return err
	}
	if _, err := t.session.begun(ctx); err != nil {
		return err
	}
	id, err := t.session.tx.tablet.CreateTablet(codec.Schema())
	if err != nil {
		return translate(err)
	}
	r.Tablet = uint64(id)
	return nil
}

// fillIndex writes the entries of one index for all rows.
func (t *Table) fillIndex(ctx *sql.Context, def *tableDef, i int) error {
	x := def.indexes[i]
	e := &statementEditor{session: t.session, tx: t.session.tx, def: def}
	scan, err := e.tx.tablet.Scan(ctx, tablet.ScanSpec{Tablet: def.tabletID, Mode: tablet.ReadNewest, OwnStatement: true})
	if err != nil {
		return translate(err)
	}
	defer scan.Close()
	decoder := def.codec.newDecoder(ctx, nil)
	for n := 0; scan.Next(ctx); n++ {
		found := scan.Row()
		row, err := decoder.Decode(found.Value)
		if err != nil {
			return fmt.Errorf("table %s: %w", def.name(), err)
		}
		key, unique, err := x.codec.Key(ctx, row, found.Key)
		if err != nil {
			return err
		}
		c, err := e.lockEntry(ctx, i, entry{key, unique})
		if err != nil {
			return translate(err)
		}
		if c != nil {
			return e.duplicate(ctx, c, row)
		}
		if err := e.insertEntry(i, key, found.Key); err != nil {
			return translate(err)
		}
		if n%1024 == 0 {
			if err := contextError(ctx); err != nil {
				return err
			}
		}
	}
	return translate(scan.Err())
}

// CreateFulltextIndex refuses: there are no full-text indexes yet.
func (t *Table) CreateFulltextIndex(*sql.Context, sql.IndexDef, fulltext.KeyColumns, fulltext.IndexTableNames) error {
	return errNotSupported("FULLTEXT index")
}

// DropIndex drops a secondary index.
func (t *Table) DropIndex(ctx *sql.Context, name string) error {
	var id tablet.TabletID
	if err := t.change(ctx, func(r *tableRecord) error {
		for i := range r.Indexes {
			if strings.EqualFold(r.Indexes[i].Name, name) {
				id = tablet.TabletID(r.Indexes[i].Tablet)
				r.Indexes = append(r.Indexes[:i], r.Indexes[i+1:]...)
				return nil
			}
		}
		return sql.ErrIndexNotFound.New(name)
	}); err != nil {
		return err
	}
	return t.session.dropTablets([]tablet.TabletID{id})
}

// RenameIndex renames a secondary index.
func (t *Table) RenameIndex(ctx *sql.Context, from, to string) error {
	return t.change(ctx, func(r *tableRecord) error {
		found := -1
		for i := range r.Indexes {
			switch {
			case strings.EqualFold(r.Indexes[i].Name, from):
				found = i
			case strings.EqualFold(r.Indexes[i].Name, to):
				return sql.ErrDuplicateKey.New(to)
			}
		}
		if found < 0 {
			return errKeyNotFound(from, r.Name)
		}
		r.Indexes[found].Name = to
		return nil
	})
}

// ShouldBuildIndex is false: CreateIndex has filled the index.
func (t *Table) ShouldBuildIndex(*sql.Context, sql.IndexDef) (bool, error) { return false, nil }

// BuildIndex is called for a unique index, which CreateIndex has filled
// already: the handle offers the engine no rows to fill it with.
func (t *Table) BuildIndex(*sql.Context, sql.IndexDef) (sql.RowInserter, error) {
	t.built = true
	return builtIndex{}, nil
}

// builtIndex is a RowInserter for an index that is complete.
type builtIndex struct{}

func (builtIndex) StatementBegin(*sql.Context)              {}
func (builtIndex) DiscardChanges(*sql.Context, error) error { return nil }
func (builtIndex) StatementComplete(*sql.Context) error     { return nil }
func (builtIndex) Insert(*sql.Context, sql.Row) error       { return nil }
func (builtIndex) Close(*sql.Context) error                 { return nil }
