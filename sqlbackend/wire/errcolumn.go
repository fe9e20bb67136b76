package wire

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
)

// column finds the column that a failed conversion was for. The engine says
// which by index (UPDATE) or hands over the row it could not convert (INSERT).
func (f *filler) column() *sql.Column {
	table := f.scope.targetTable()
	if table == nil {
		return nil
	}
	schema := table.Schema(f.scope.ctx)
	for e := f.outer; e != nil; e = innerError(e) {
		switch e := e.(type) {
		case sql.WrappedTypeConversionError:
			if e.OffendingIdx >= 0 && e.OffendingIdx < len(schema) {
				return schema[e.OffendingIdx]
			}
		case sql.WrappedInsertError:
			if c := unconvertible(f.scope.ctx, schema, e.OffendingRow); c != nil {
				return c
			}
		}
	}
	return nil
}

// unconvertible is the first column of row that its type refuses.
func unconvertible(ctx *sql.Context, schema sql.Schema, row sql.Row) *sql.Column {
	if len(row) > len(schema) {
		row = row[len(row)-len(schema):]
	}
	for i, v := range row {
		if v == nil {
			continue
		}
		_, in, err := schema[i].Type.Convert(ctx, v)
		if err != nil || in != sql.InRange {
			return schema[i]
		}
	}
	return nil
}

// forColumn is " for column 'c' at row 1", or nothing if the column is not
// known. The engine does not count rows in these errors.
func (f *filler) forColumn() string {
	if c := f.column(); c != nil {
		return fmt.Sprintf(" for column '%s' at row 1", c.Name)
	}
	return ""
}

// foreignKey describes a violated key as MySQL does: `db`.`child`, CONSTRAINT
// `name` FOREIGN KEY (`c`) REFERENCES `parent` (`id`). The engine gives the
// names of key, child and parent only.
func (f *filler) foreignKey() string {
	name, child, parent := f.arg(1), f.arg(2), f.arg(3)
	db := f.scope.database()
	where := quoteID(child)
	if db != "" {
		where = quoteID(db) + "." + where
	}
	fk := f.scope.declaredKey(child, name)
	if fk == nil {
		return fmt.Sprintf("%s, CONSTRAINT %s REFERENCES %s", where, quoteID(name), quoteID(parent))
	}
	ref := quoteID(fk.ParentTable)
	if fk.ParentDatabase != "" && !strings.EqualFold(fk.ParentDatabase, db) {
		ref = quoteID(fk.ParentDatabase) + "." + ref
	}
	out := fmt.Sprintf("%s, CONSTRAINT %s FOREIGN KEY (%s) REFERENCES %s (%s)",
		where, quoteID(name), quoteIDs(fk.Columns), ref, quoteIDs(fk.ParentColumns))
	return out + fkAction(" ON DELETE ", fk.OnDelete) + fkAction(" ON UPDATE ", fk.OnUpdate)
}

func fkAction(clause string, a sql.ForeignKeyReferentialAction) string {
	switch a {
	case sql.ForeignKeyReferentialAction_DefaultAction, sql.ForeignKeyReferentialAction_NoAction:
		return ""
	}
	return clause + string(a)
}

func (s errorScope) declaredKey(table, name string) *sql.ForeignKeyConstraint {
	t, ok := s.table(tableRef{name: table}).(sql.ForeignKeyTable)
	if !ok {
		return nil
	}
	keys, err := t.GetDeclaredForeignKeys(s.ctx)
	if err != nil {
		return nil
	}
	for i := range keys {
		if strings.EqualFold(keys[i].Name, name) {
			return &keys[i]
		}
	}
	return nil
}

func quoteID(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }

func quoteIDs(names []string) string {
	q := make([]string, len(names))
	for i, n := range names {
		q[i] = quoteID(n)
	}
	return strings.Join(q, ", ")
}
