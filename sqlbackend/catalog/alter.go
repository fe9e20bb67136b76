package catalog

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
)

// AddColumn adds a column. The engine rewrites the table for it (see
// ShouldRewriteTable), so it does not come here.
func (t *Table) AddColumn(*sql.Context, *sql.Column, *sql.ColumnOrder) error {
	return errNotSupported("adding a column without rewriting the table")
}

// DropColumn drops a column. The engine rewrites the table for it, so it does
// not come here.
func (t *Table) DropColumn(*sql.Context, string) error {
	return errNotSupported("dropping a column without rewriting the table")
}

// ModifyColumn changes what is not stored in rows: name, default, comment, …
func (t *Table) ModifyColumn(ctx *sql.Context, name string, column *sql.Column, _ *sql.ColumnOrder) error {
	return t.change(ctx, func(r *tableRecord) error {
		i := r.column(name)
		if i < 0 {
			return sql.ErrTableColumnNotFound.New(r.Name, name)
		}
		if !strings.EqualFold(name, column.Name) {
			if err := r.checkDependencies(r.Columns[i].Name, column.Name); err != nil {
				return err
			}
		}
		c, err := columnToRecord(ctx, column)
		if err != nil {
			return err
		}
		r.Columns[i] = c
		return nil
	})
}

func (r *tableRecord) column(name string) int {
	for i := range r.Columns {
		if strings.EqualFold(r.Columns[i].Name, name) {
			return i
		}
	}
	return -1
}

// ShouldRewriteTable tells whether a change of the schema changes stored rows
// or keys: any change of the columns' number, order, types or nullability, or
// of the primary key.
func (t *Table) ShouldRewriteTable(_ *sql.Context, old, new sql.PrimaryKeySchema, oldColumn, newColumn *sql.Column) bool {
	if oldColumn == nil || newColumn == nil || len(old.Schema) != len(new.Schema) || len(old.PkOrdinals) != len(new.PkOrdinals) {
		return true
	}
	for i, o := range old.PkOrdinals {
		if new.PkOrdinals[i] != o {
			return true
		}
	}
	for i, a := range old.Schema {
		b := new.Schema[i]
		renamed := strings.EqualFold(a.Name, oldColumn.Name) && strings.EqualFold(b.Name, newColumn.Name)
		if !renamed && !strings.EqualFold(a.Name, b.Name) || a.Nullable != b.Nullable || !sameStoredType(a.Type, b.Type) {
			return true
		}
		if (a.Generated == nil) != (b.Generated == nil) || renamed && b.Generated != nil || b.AutoIncrement && !a.AutoIncrement {
			return true
		}
	}
	return false
}

// sameStoredType tells whether values of two types are stored alike.
func sameStoredType(a, b sql.Type) bool {
	if !a.Equals(b) || a.String() != b.String() {
		return false
	}
	if s, ok := a.(sql.SpatialColumnType); ok {
		// Stored values must be checked against a new SRID.
		was, wasDefined := s.GetSpatialTypeSRID()
		now, nowDefined := b.(sql.SpatialColumnType).GetSpatialTypeSRID()
		if was != now || wasDefined != nowDefined {
			return false
		}
	}
	x, ok := a.(sql.TypeWithCollation)
	y, ok2 := b.(sql.TypeWithCollation)
	return ok == ok2 && (!ok || x.Collation() == y.Collation())
}

// RewriteInserter takes every row of the table in the new schema. Close puts
// the new rows in the place of the old ones.
func (t *Table) RewriteInserter(ctx *sql.Context, _, schema sql.PrimaryKeySchema, oldColumn, newColumn *sql.Column, keyColumns []sql.IndexColumn) (sql.RowInserter, error) {
	d := t.def()
	if len(d.record.PrimaryKey) > 0 && len(schema.PkOrdinals) == 0 {
		if err := sql.ValidatePrimaryKeyDrop(ctx, t, d.schema); err != nil {
			return nil, err
		}
	}
	if err := checkRowSize(schema.Schema); err != nil {
		return nil, err
	}
	if err := d.record.checkRewrite(oldColumn, newColumn); err != nil {
		return nil, err
	}
	record := d.record.clone()
	record.Columns = record.Columns[:0:0]
	for _, c := range schema.Schema {
		column, err := columnToRecord(ctx, c)
		if err != nil {
			return nil, err
		}
		record.Columns = append(record.Columns, column)
	}
	record.PrimaryKey = append([]int(nil), schema.PkOrdinals...)
	if len(d.record.PrimaryKey) == 0 && len(record.PrimaryKey) > 0 {
		var err error
		if record.PrimaryPrefix, err = prefixLengths(schema.Schema, keyColumns); err != nil {
			return nil, err
		}
	}
	if len(record.PrimaryKey) == 0 {
		record.PrimaryPrefix = nil
	}
	record.remapIndexes(d.record, oldColumn, newColumn)
	w, err := t.session.rewrite(ctx, t, record)
	if err == nil && oldColumn == nil {
		w.addedMembers()
	}
	return w, err
}

// remapIndexes translates the ordinals of index columns from those of old. A
// dropped column leaves its indexes; an index without columns goes.
func (r *tableRecord) remapIndexes(old *tableRecord, oldColumn, newColumn *sql.Column) {
	position := func(ordinal int) int {
		name := old.Columns[ordinal].Name
		if oldColumn != nil && newColumn != nil && strings.EqualFold(name, oldColumn.Name) {
			name = newColumn.Name
		}
		return r.column(name)
	}
	kept := r.Indexes[:0]
	for _, x := range r.Indexes {
		columns, prefix := x.Columns[:0:0], x.Prefix[:0:0]
		for i, o := range x.Columns {
			if p := position(o); p >= 0 {
				columns = append(columns, p)
				if i < len(x.Prefix) {
					prefix = append(prefix, x.Prefix[i])
				}
			}
		}
		if x.Columns, x.Prefix = columns, prefix; len(columns) > 0 {
			kept = append(kept, x)
		}
	}
	r.Indexes = kept
}

// CreatePrimaryKey is done by a rewrite, so the engine does not come here.
func (t *Table) CreatePrimaryKey(*sql.Context, []sql.IndexColumn) error {
	return errNotSupported("adding a primary key without rewriting the table")
}

// DropPrimaryKey is done by a rewrite, so the engine does not come here.
func (t *Table) DropPrimaryKey(*sql.Context) error {
	return errNotSupported("dropping a primary key without rewriting the table")
}

// ModifyStoredCollation converts every text column to a collation (CONVERT TO
// CHARACTER SET), which changes keys.
func (t *Table) ModifyStoredCollation(ctx *sql.Context, collation sql.CollationID) error {
	record := t.def().record.clone()
	record.Collation = uint16(collation)
	for i := range record.Columns {
		c := &record.Columns[i]
		typ, err := typeFromRecord(c)
		if err != nil {
			return err
		}
		text, ok := typ.(sql.TypeWithCollation)
		if !ok || text.Collation() == sql.Collation_binary {
			continue
		}
		if typ, err = text.WithNewCollation(collation); err != nil {
			return err
		}
		if err := typeToRecord(typ, c); err != nil {
			return err
		}
	}
	return t.session.rewriteRows(ctx, t, record)
}

// ModifyDefaultCollation changes the collation of columns to come.
func (t *Table) ModifyDefaultCollation(ctx *sql.Context, collation sql.CollationID) error {
	return t.change(ctx, func(r *tableRecord) error {
		r.Collation = uint16(collation)
		return nil
	})
}

// ModifyComment changes the table's comment.
func (t *Table) ModifyComment(ctx *sql.Context, comment string) error {
	return t.change(ctx, func(r *tableRecord) error {
		r.Comment = comment
		return nil
	})
}
