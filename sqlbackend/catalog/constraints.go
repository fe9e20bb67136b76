package catalog

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
)

// change applies a change of the table's record within the session's DDL work.
func (t *Table) change(ctx *sql.Context, change func(*tableRecord) error) error {
	if t.session == nil {
		return errNotSupported("changing tables outside a ksql session")
	}
	if t.handle.temporary {
		return t.session.changeTemporary(ctx, t.handle, change)
	}
	_, err := t.session.changeTable(ctx, t.db.name, t.handle.record.Name, change)
	return err
}

// CreateCheck adds a CHECK constraint; a nameless one gets table_chk_n.
func (t *Table) CreateCheck(ctx *sql.Context, check *sql.CheckDefinition) error {
	return t.change(ctx, func(r *tableRecord) error {
		name := check.Name
		for n := 1; name == ""; n++ {
			if free := fmt.Sprintf("%s_chk_%d", r.Name, n); r.check(free) < 0 {
				name = free
			}
		}
		if r.check(name) >= 0 {
			return errDuplicateCheck(name)
		}
		r.Checks = append(r.Checks, checkRecord{Name: name, Expression: check.CheckExpression, Enforced: check.Enforced})
		return nil
	})
}

// DropCheck removes a CHECK constraint.
func (t *Table) DropCheck(ctx *sql.Context, name string) error {
	return t.change(ctx, func(r *tableRecord) error {
		i := r.check(name)
		if i < 0 {
			return errCheckNotFound(name)
		}
		r.Checks = append(r.Checks[:i], r.Checks[i+1:]...)
		return nil
	})
}

func (r *tableRecord) check(name string) int {
	for i := range r.Checks {
		if strings.EqualFold(r.Checks[i].Name, name) {
			return i
		}
	}
	return -1
}

func (r *tableRecord) foreignKey(name string) int {
	for i := range r.ForeignKeys {
		if strings.EqualFold(r.ForeignKeys[i].Name, name) {
			return i
		}
	}
	return -1
}

// constraint turns a stored foreign key into the engine's.
func (k foreignKeyOf) constraint() sql.ForeignKeyConstraint {
	r := k.record
	return sql.ForeignKeyConstraint{
		Name:           r.Name,
		Database:       k.table.record.Database,
		Table:          k.table.record.Name,
		ParentDatabase: r.ParentDatabase,
		ParentTable:    r.ParentTable,
		OnUpdate:       sql.ForeignKeyReferentialAction(r.OnUpdate),
		OnDelete:       sql.ForeignKeyReferentialAction(r.OnDelete),
		// The engine changes these in place when a column is renamed.
		Columns:       append([]string(nil), r.Columns...),
		ParentColumns: append([]string(nil), r.ParentColumns...),
		IsResolved:    r.Resolved,
	}
}

func foreignKeyToRecord(fk sql.ForeignKeyConstraint) foreignKeyRecord {
	return foreignKeyRecord{
		Name:           fk.Name,
		Columns:        append([]string(nil), fk.Columns...),
		ParentDatabase: fk.ParentDatabase,
		ParentTable:    fk.ParentTable,
		ParentColumns:  append([]string(nil), fk.ParentColumns...),
		OnUpdate:       string(fk.OnUpdate),
		OnDelete:       string(fk.OnDelete),
		Resolved:       fk.IsResolved,
	}
}

// GetDeclaredForeignKeys lists the foreign keys of the table.
func (t *Table) GetDeclaredForeignKeys(*sql.Context) ([]sql.ForeignKeyConstraint, error) {
	d := t.def()
	var out []sql.ForeignKeyConstraint
	for i := range d.record.ForeignKeys {
		out = append(out, foreignKeyOf{d, &d.record.ForeignKeys[i]}.constraint())
	}
	return out, nil
}

// GetReferencedForeignKeys lists the foreign keys that refer to the table.
func (t *Table) GetReferencedForeignKeys(ctx *sql.Context) ([]sql.ForeignKeyConstraint, error) {
	if t.handle.temporary {
		return nil, nil
	}
	var out []sql.ForeignKeyConstraint
	for _, k := range t.db.provider.definitions(ctx).referencing(t.db.name, t.handle.record.Name) {
		out = append(out, k.constraint())
	}
	return out, nil
}

// AddForeignKey adds a foreign key; its name is unique in the database.
func (t *Table) AddForeignKey(ctx *sql.Context, fk sql.ForeignKeyConstraint) error {
	if fk.OnDelete == sql.ForeignKeyReferentialAction_SetDefault || fk.OnUpdate == sql.ForeignKeyReferentialAction_SetDefault {
		return sql.ErrForeignKeySetDefault.New()
	}
	return t.change(ctx, func(r *tableRecord) error {
		for _, other := range t.db.def(ctx).tables {
			if other.record.foreignKey(fk.Name) >= 0 {
				return sql.ErrForeignKeyDuplicateName.New(fk.Name)
			}
		}
		r.ForeignKeys = append(r.ForeignKeys, foreignKeyToRecord(fk))
		return nil
	})
}

// DropForeignKey removes a foreign key.
func (t *Table) DropForeignKey(ctx *sql.Context, name, _, _ string) error {
	return t.change(ctx, func(r *tableRecord) error {
		i := r.foreignKey(name)
		if i < 0 {
			return sql.ErrForeignKeyNotFound.New(name, r.Name)
		}
		r.ForeignKeys = append(r.ForeignKeys[:i], r.ForeignKeys[i+1:]...)
		return nil
	})
}

// UpdateForeignKey replaces a foreign key; fk names the table that declares it.
func (t *Table) UpdateForeignKey(ctx *sql.Context, name string, fk sql.ForeignKeyConstraint) error {
	if t.session == nil {
		return errNotSupported("changing tables outside a ksql session")
	}
	// A table that is being renamed declares the key under its new name already.
	database, table := fk.Database, fk.Table
	if child := t.session.definitions().table(database, table); child == nil || child.record.foreignKey(name) < 0 {
		database, table = t.db.name, t.handle.record.Name
	}
	_, err := t.session.changeTable(ctx, database, table, func(r *tableRecord) error {
		i := r.foreignKey(name)
		if i < 0 {
			return sql.ErrForeignKeyNotFound.New(name, r.Name)
		}
		if j := r.foreignKey(fk.Name); j >= 0 && j != i {
			return sql.ErrForeignKeyDuplicateName.New(fk.Name)
		}
		r.ForeignKeys[i] = foreignKeyToRecord(fk)
		return nil
	})
	return err
}

// CreateIndexForForeignKey adds the index that a foreign key's columns need.
func (t *Table) CreateIndexForForeignKey(ctx *sql.Context, def sql.IndexDef) error {
	return t.CreateIndex(ctx, def)
}

// GetForeignKeyEditor opens the table for foreign key checks and actions. The
// engine calls it while it plans, also for tables that it only reads.
func (t *Table) GetForeignKeyEditor(*sql.Context) sql.ForeignKeyEditor { return &editor{t} }
