package scan

import (
	"reflect"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// groupConcat is GROUP_CONCAT with DISTINCT under a collation, empty texts kept, and
// several arguments joined; the engine's differs in all three. It only lives while
// a statement runs.
type groupConcat struct {
	*aggregation.GroupConcat
	distinct  bool
	separator string
	args      []sql.Expression
	order     sql.SortFields
}

// newGroupConcat reads the engine's aggregate, whose settings are private: they are
// looked at, never changed. It returns nil should they have other names one day.
func newGroupConcat(e *aggregation.GroupConcat) *groupConcat {
	v := reflect.ValueOf(e).Elem()
	distinct, separator, fields := v.FieldByName("distinct"), v.FieldByName("separator"), v.FieldByName("sf")
	if distinct.Kind() != reflect.String || separator.Kind() != reflect.String || fields.Kind() != reflect.Slice {
		return nil
	}
	g := &groupConcat{GroupConcat: e, distinct: distinct.String() != "", separator: separator.String(), args: e.OutputExpressions()}
	children := e.Children()
	for i := 0; i < fields.Len(); i++ {
		o := fields.Index(i).FieldByName("Order")
		if o.Kind() != reflect.Uint8 {
			return nil
		}
		g.order = append(g.order, sql.SortField{Column: children[i], Order: sql.SortOrder(o.Uint())})
	}
	return g
}

// NewBuffer implements sql.Aggregation.
func (g *groupConcat) NewBuffer(ctx *sql.Context) (sql.AggregationBuffer, error) {
	b := &concatBuffer{g: g, limit: 1024, binary: true}
	if v, err := ctx.GetSessionVariable(ctx, "group_concat_max_len"); err == nil {
		if n, ok := v.(uint64); ok {
			b.limit = int(min(n, 1<<30))
		}
	}
	for _, a := range g.args {
		b.binary = b.binary && types.IsBlobType(a.Type(ctx))
	}
	if g.distinct {
		b.seen = newKeySet(ctx, g.args)
	}
	return b, nil
}

// concatBuffer collects the values of a group.
type concatBuffer struct {
	g      *groupConcat
	seen   *keySet // nil without DISTINCT
	parts  []concatPart
	binary bool
	limit  int // bytes
}

type concatPart struct {
	text string
	keys []any
}

// Dispose implements sql.Disposable.
func (b *concatBuffer) Dispose(*sql.Context) {}

// Update implements sql.AggregationBuffer.
func (b *concatBuffer) Update(ctx *sql.Context, row sql.Row) error {
	values, err := evalAll(ctx, b.g.args, row)
	if err != nil || values == nil {
		return err
	}
	if b.seen != nil {
		if fresh, err := b.seen.add(ctx, values); err != nil || !fresh {
			return err
		}
	}
	var p concatPart
	for i, v := range values {
		s, _, err := types.ConvertToCollatedString(ctx, v, b.g.args[i].Type(ctx))
		if err != nil {
			return err
		}
		p.text += s
	}
	for _, f := range b.g.order {
		v, err := f.Column.Eval(ctx, row)
		if err == nil {
			v, err = sql.UnwrapAny(ctx, v)
		}
		if err != nil {
			return err
		}
		p.keys = append(p.keys, v)
	}
	b.parts = append(b.parts, p)
	return nil
}

// Eval implements sql.AggregationBuffer.
func (b *concatBuffer) Eval(ctx *sql.Context) (any, error) {
	if len(b.parts) == 0 {
		return nil, nil
	}
	if len(b.g.order) > 0 {
		c := keyComparer{ctx: ctx, order: b.g.order}
		for _, f := range b.g.order {
			c.types = append(c.types, f.Column.Type(ctx))
		}
		sort.SliceStable(b.parts, func(i, j int) bool { return c.compare(b.parts[i].keys, b.parts[j].keys, 0, len(c.types)) < 0 })
		if c.err != nil {
			return nil, c.err
		}
	}
	var out strings.Builder
	for i, p := range b.parts {
		if i > 0 {
			out.WriteString(b.g.separator)
		}
		out.WriteString(p.text)
		if out.Len() > b.limit {
			ctx.Warn(1260, "Row %d was cut by GROUP_CONCAT()", i+1)
			break
		}
	}
	s := out.String()
	if len(s) > b.limit {
		n := b.limit
		for n > 0 && !b.binary && !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n]
	}
	if b.binary {
		return []byte(s), nil
	}
	return s, nil
}
