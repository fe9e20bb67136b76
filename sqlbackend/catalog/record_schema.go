package catalog

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// columnToRecord turns an engine column into its stored form. Expressions are
// stored as text without table names, so that a rename of the table needs no
// change of them.
func columnToRecord(ctx *sql.Context, c *sql.Column) (columnRecord, error) {
	r := columnRecord{
		Name:          c.Name,
		Nullable:      c.Nullable,
		AutoIncrement: c.AutoIncrement,
		Virtual:       c.Virtual,
		Hidden:        c.Hidden,
		HiddenSystem:  c.HiddenSystem,
		Comment:       c.Comment,
		Extra:         c.Extra,
	}
	if err := typeToRecord(c.Type, &r); err != nil {
		return r, fmt.Errorf("column %s: %w", c.Name, err)
	}
	var err error
	if r.Default, err = expressionToRecord(ctx, c.Default); err != nil {
		return r, err
	}
	if r.Generated, err = expressionToRecord(ctx, c.Generated); err != nil {
		return r, err
	}
	if c.HiddenSystem && r.Generated != nil {
		// The text of an index's expression; the engine prints parentheses around it.
		r.Generated.Text = trimParentheses(r.Generated.Text)
	}
	r.OnUpdate, err = expressionToRecord(ctx, c.OnUpdate)
	return r, err
}

// typeToRecord stores a type as its SQL text and what the text leaves out.
func typeToRecord(t sql.Type, r *columnRecord) error {
	if c, ok := t.(sql.TypeWithCollation); ok {
		r.Collation = uint16(c.Collation())
	}
	if s, ok := t.(sql.SpatialColumnType); ok {
		if srid, defined := s.GetSpatialTypeSRID(); defined {
			r.SRID = &srid
		}
	}
	if t == types.Null { // of CREATE TABLE … SELECT NULL, as MySQL makes it
		r.Type = "binary(0)"
		return nil
	}
	switch t := t.(type) {
	case sql.EnumType:
		r.Type, r.Values = "enum", t.Values()
	case sql.SetType:
		r.Type, r.Values = "set", t.Values()
	default:
		r.Type = t.String()
	}
	// The text must be readable again; better to fail here than at the next open.
	_, err := typeFromRecord(r)
	return err
}

// typeFromRecord is the reverse of typeToRecord.
func typeFromRecord(r *columnRecord) (sql.Type, error) {
	collation := sql.CollationID(r.Collation)
	switch r.Type {
	case "enum":
		return types.CreateEnumType(r.Values, collation)
	case "set":
		return types.CreateSetType(r.Values, collation)
	}
	t, err := planbuilder.ParseColumnTypeString(r.Type)
	if err != nil {
		return nil, fmt.Errorf("type %q: %w", r.Type, err)
	}
	if c, ok := t.(sql.TypeWithCollation); ok && r.Collation != 0 && c.Collation() != collation {
		if t, err = c.WithNewCollation(collation); err != nil {
			return nil, fmt.Errorf("type %q: %w", r.Type, err)
		}
	}
	if s, ok := t.(sql.SpatialColumnType); ok && r.SRID != nil {
		t = s.SetSRID(*r.SRID)
	}
	return t, nil
}

// expressionToRecord returns the text of a default value expression, nil for none.
func expressionToRecord(ctx *sql.Context, e *sql.ColumnDefaultValue) (*expressionRecord, error) {
	if e == nil || e.Expr == nil {
		return nil, nil
	}
	if u, ok := e.Expr.(*sql.UnresolvedColumnDefault); ok {
		return &expressionRecord{Text: u.ExprString}, nil
	}
	stripped, _, err := transform.Expr(ctx, e, stripTableName)
	if err != nil {
		return nil, err
	}
	text := stripped.String()
	if lit, ok := e.Expr.(*expression.Literal); ok && e.Literal {
		if s, ok := lit.Value().(string); ok {
			text = quoteString(s)
		}
	}
	return &expressionRecord{Text: text}, nil
}

// trimParentheses takes one pair off that encloses the whole text.
func trimParentheses(text string) string {
	if !strings.HasPrefix(text, "((") || !strings.HasSuffix(text, "))") {
		return text
	}
	return text[1 : len(text)-1]
}

// quoteString writes s as a string literal that every sql_mode but
// NO_BACKSLASH_ESCAPES reads back as s.
func quoteString(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\'':
			b.WriteString("''")
		case '\\':
			b.WriteString(`\\`)
		default:
			b.WriteByte(s[i])
		}
	}
	b.WriteByte('\'')
	return b.String()
}

// stripTableName makes a column reference print without its table's name.
func stripTableName(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	f, ok := e.(*expression.GetField)
	if !ok || f.Table() == "" {
		return e, transform.SameTree, nil
	}
	n := expression.NewGetField(f.Index(), f.Type(ctx), f.Name(), f.IsNullable(ctx))
	return n.WithQuotedNames(sql.DefaultMySQLSchemaFormatter, true), transform.NewTree, nil
}

// columnFromRecord is the reverse of columnToRecord.
func columnFromRecord(r *columnRecord, database, table string) (*sql.Column, error) {
	t, err := typeFromRecord(r)
	if err != nil {
		return nil, fmt.Errorf("column %s: %w", r.Name, err)
	}
	expr := func(e *expressionRecord) *sql.ColumnDefaultValue {
		if e == nil {
			return nil
		}
		return sql.NewUnresolvedColumnDefaultValue(e.Text)
	}
	return &sql.Column{
		Type:           t,
		Default:        expr(r.Default),
		Generated:      expr(r.Generated),
		OnUpdate:       expr(r.OnUpdate),
		Name:           r.Name,
		Source:         table,
		DatabaseSource: database,
		Comment:        r.Comment,
		Extra:          r.extra(),
		Nullable:       r.Nullable,
		Virtual:        r.Virtual,
		AutoIncrement:  r.AutoIncrement,
		Hidden:         r.Hidden,
		HiddenSystem:   r.HiddenSystem,
	}, nil
}

// extra is the column's EXTRA in SHOW COLUMNS and information_schema
// (https://dev.mysql.com/doc/refman/8.4/en/show-columns.html). The engine knows
// auto_increment and DEFAULT_GENERATED only.
func (r *columnRecord) extra() string {
	switch {
	case r.AutoIncrement:
		return "auto_increment"
	case r.Generated != nil && r.Virtual:
		return "VIRTUAL GENERATED"
	case r.Generated != nil:
		return "STORED GENERATED"
	}
	var parts []string
	if r.Default != nil && computed(r.Default.Text) {
		parts = append(parts, "DEFAULT_GENERATED")
	}
	if r.OnUpdate != nil {
		parts = append(parts, "on update "+trimCall(r.OnUpdate.Text))
	}
	return strings.Join(parts, " ")
}

// computed tells a default that is an expression from a literal.
func computed(text string) bool {
	if text == "" {
		return false
	}
	if text[0] == '(' {
		return true
	}
	letter := text[0] >= 'a' && text[0] <= 'z' || text[0] >= 'A' && text[0] <= 'Z'
	switch strings.ToUpper(text) {
	case "NULL", "TRUE", "FALSE":
		return false
	}
	return letter && !strings.HasSuffix(text, "'") // x'00', b'1', _utf8mb4'a'
}

// trimCall writes CURRENT_TIMESTAMP without empty parentheses, as MySQL shows it.
func trimCall(text string) string { return strings.TrimSuffix(text, "()") }

// schemaFromRecord builds the engine's schema of a table.
func schemaFromRecord(r *tableRecord) (sql.PrimaryKeySchema, error) {
	schema := make(sql.Schema, len(r.Columns))
	for i := range r.Columns {
		c, err := columnFromRecord(&r.Columns[i], r.Database, r.Name)
		if err != nil {
			return sql.PrimaryKeySchema{}, err
		}
		schema[i] = c
	}
	for _, o := range r.PrimaryKey {
		if o < 0 || o >= len(schema) {
			return sql.PrimaryKeySchema{}, fmt.Errorf("primary key names column %d of %d", o, len(schema))
		}
		schema[o].PrimaryKey = true
	}
	return sql.NewPrimaryKeySchema(schema, r.PrimaryKey...), nil
}

// maxRowSize is MySQL's limit of a row without BLOB and TEXT values, in bytes.
const maxRowSize = 65535

// checkRowSize refuses a schema whose rows can exceed MySQL's limit (1118).
func checkRowSize(schema sql.Schema) error {
	size := int64(0)
	for _, c := range schema {
		t, ok := c.Type.(sql.StringType)
		switch {
		case !ok, types.IsTextBlob(c.Type):
			size += 8
		case t.MaxByteLength() > 255:
			size += t.MaxByteLength() + 2
		default:
			size += t.MaxByteLength() + 1
		}
	}
	if size > maxRowSize {
		return errRowTooLarge()
	}
	return nil
}
