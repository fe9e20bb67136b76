package catalog

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
)

// Index is the engine's view of a primary key or a secondary index. It is
// immutable, made once with the table's definition.
type Index struct {
	table       *tableDef
	def         *indexDef
	expressions []string
	types       []sql.ColumnExpressionType
}

func newIndex(t *tableDef, def *indexDef) *Index {
	x := &Index{table: t, def: def}
	types := def.codec.BoundTypes()
	for i, o := range def.record.Columns {
		x.expressions = append(x.expressions, x.expression(o))
		x.types = append(x.types, sql.ColumnExpressionType{Expression: x.expressions[i], Type: types[i]})
	}
	return x
}

var (
	_ sql.OrderedIndex  = (*Index)(nil)
	_ sql.ExtendedIndex = (*Index)(nil)
)

// ID returns the index's name.
func (x *Index) ID() string { return x.def.record.Name }

// Database returns the name of the table's database.
func (x *Index) Database() string { return x.table.record.Database }

// Table returns the table's name.
func (x *Index) Table() string { return x.table.record.Name }

func (x *Index) expression(ordinal int) string {
	return x.table.record.Name + "." + x.table.record.Columns[ordinal].Name
}

// Expressions returns the index's columns as table.column.
func (x *Index) Expressions() []string { return x.expressions }

// ColumnExpressionTypes returns the columns with the types that look-ups
// should convert constants to.
func (x *Index) ColumnExpressionTypes(*sql.Context) []sql.ColumnExpressionType { return x.types }

// appended returns the primary key columns that follow the index's own.
func (x *Index) appended() []int {
	var out []int
	for _, o := range x.table.record.PrimaryKey {
		if !slices.Contains(x.def.record.Columns, o) {
			out = append(out, o)
		}
	}
	return out
}

// ExtendedExpressions returns the columns with the primary key's appended.
// Foreign keys may refer to them.
func (x *Index) ExtendedExpressions(*sql.Context) []string {
	out := slices.Clone(x.expressions)
	for _, o := range x.appended() {
		out = append(out, x.expression(o))
	}
	return out
}

// ExtendedColumnExpressionTypes returns the columns with the primary key's appended.
func (x *Index) ExtendedColumnExpressionTypes(*sql.Context) []sql.ColumnExpressionType {
	out := slices.Clone(x.types)
	for _, o := range x.appended() {
		out = append(out, sql.ColumnExpressionType{Expression: x.expression(o), Type: x.table.schema.Schema[o].Type})
	}
	return out
}

// cut takes the appended columns off ranges and returns a filter of whole rows
// for what they say, nil if nothing was taken off.
func (x *Index) cut(ctx *sql.Context, ranges sql.MySQLRangeCollection) (sql.MySQLRangeCollection, sql.Expression, error) {
	own := len(x.def.record.Columns)
	longest := 0
	for _, r := range ranges {
		longest = max(longest, len(r))
	}
	if longest <= own {
		return ranges, nil, nil
	}
	filter, err := x.filter(ctx, ranges)
	if err != nil {
		return nil, nil, err
	}
	out := make(sql.MySQLRangeCollection, len(ranges))
	for i, r := range ranges {
		out[i] = r[:min(len(r), own)]
	}
	return out, filter, nil
}

// filter returns a condition on whole rows that says what ranges do.
func (x *Index) filter(ctx *sql.Context, ranges sql.MySQLRangeCollection) (sql.Expression, error) {
	longest := 0
	for _, r := range ranges {
		longest = max(longest, len(r))
	}
	fields := make([]sql.Expression, longest)
	for i, o := range append(slices.Clone(x.def.record.Columns), x.appended()...)[:longest] {
		c := x.table.schema.Schema[o]
		fields[i] = expression.NewGetFieldWithTable(o, 0, c.Type, x.Database(), x.Table(), c.Name, c.Nullable)
	}
	return expression.NewRangeFilterExpr(ctx, fields, ranges)
}

// IsUnique tells whether the index refuses duplicates.
func (x *Index) IsUnique() bool { return x.def.record.Unique }

// IsSpatial is false: there are no spatial indexes.
func (x *Index) IsSpatial() bool { return false }

// IsFullText is false: there are no full-text indexes.
func (x *Index) IsFullText() bool { return false }

// IsVector is false: there are no vector indexes.
func (x *Index) IsVector() bool { return false }

// Comment returns the index's comment.
func (x *Index) Comment() string { return x.def.record.Comment }

// IndexType is BTREE: ordered.
func (x *Index) IndexType() string { return "BTREE" }

// IsGenerated is false: indexes made for foreign keys are shown, as in MySQL.
func (x *Index) IsGenerated() bool { return false }

// CanSupport tells whether look-ups by the ranges are possible: no range has
// more columns than the index with the primary key appended.
func (x *Index) CanSupport(_ *sql.Context, ranges ...sql.Range) bool {
	most := len(x.def.record.Columns) + len(x.appended())
	for _, r := range ranges {
		if m, ok := r.(sql.MySQLRange); ok && len(m) > most {
			return false
		}
	}
	return true
}

// CanSupportOrderBy is about orders other than by the columns; there are none.
func (x *Index) CanSupportOrderBy(sql.Expression) bool { return false }

// PrefixLengths returns the prefix lengths of the columns, nil if all are whole.
func (x *Index) PrefixLengths() []uint16 {
	for _, n := range x.def.record.Prefix {
		if n != 0 {
			return x.def.record.Prefix
		}
	}
	return nil
}

// Order returns the order of look-ups: ascending, unless a prefix length hides
// the rest of a value.
func (x *Index) Order(*sql.Context) sql.IndexOrder {
	if x.PrefixLengths() != nil {
		return sql.IndexOrderNone
	}
	return sql.IndexOrderAsc
}

// Reversible tells whether look-ups can go backwards.
func (x *Index) Reversible(ctx *sql.Context) bool { return x.Order(ctx) == sql.IndexOrderAsc }

// names tells whether the index is the one of that name.
func (x *indexDef) names(name string) bool { return strings.EqualFold(x.record.Name, name) }
