package catalog

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"

	"ksql/tablet/rowcodec"
)

// keyShape says how some columns of a table make a key: the whole primary key,
// or the columns of an index.
type keyShape struct {
	columns []*columnCodec
	// ordinals are the columns' positions in the table's rows.
	ordinals []int
	// prefixes are lengths in characters (bytes for binary strings); 0 = the whole value.
	prefixes []uint16
	key      []rowcodec.KeyColumn
	unique   bool
	zoned    bool
}

func newKeyShape(columns []*columnCodec, ordinals []int, prefixes []uint16, unique bool) (keyShape, error) {
	k := keyShape{unique: unique, prefixes: make([]uint16, len(ordinals))}
	copy(k.prefixes, prefixes)
	for _, ord := range ordinals {
		if ord < 0 || ord >= len(columns) {
			return k, fmt.Errorf("BUG: key column %d of a table of %d columns", ord, len(columns))
		}
		c := columns[ord]
		if !c.keyable {
			return k, errNotSupported(fmt.Sprintf("key on column '%s' of type %s", c.name, c.typ))
		}
		k.columns = append(k.columns, c)
		k.ordinals = append(k.ordinals, ord)
		k.key = append(k.key, rowcodec.KeyColumn{Kind: c.kind, Nullable: c.nullable})
		k.zoned = k.zoned || c.zoned
	}
	return k, nil
}

// sizeHint is a capacity that most keys fit in.
func (k *keyShape) sizeHint() int { return 24 * len(k.columns) }

// appendKey appends the key columns of row. null reports whether one is NULL.
func (k *keyShape) appendKey(e *rowEnv, dst []byte, row sql.Row) (key []byte, null bool, err error) {
	for i, c := range k.columns {
		d, err := c.encodeValue(e, row[k.ordinals[i]])
		if err != nil {
			return dst, false, err
		}
		null = null || d.IsNull()
		dst = k.appendColumn(e, dst, i, d)
	}
	return dst, null, nil
}

// appendColumn appends the value d of key column i: weights for text, cut to
// the index's prefix.
func (k *keyShape) appendColumn(e *rowEnv, dst []byte, i int, d rowcodec.Datum) []byte {
	c := k.columns[i]
	if d.Kind() == rowcodec.KindBytes {
		n := int(k.prefixes[i])
		switch {
		case c.collator != nil:
			s := bytesAsString(d.Bytes())
			if n > 0 {
				s, _ = charPrefix(s, n)
			}
			if e.scratch == nil {
				e.scratch = e.small[:0]
			}
			e.scratch = c.collator.AppendWeights(e.scratch[:0], s)
			d = rowcodec.Bytes(e.scratch)
		case n > 0 && d.Bits() > uint64(n):
			d = rowcodec.Bytes(d.Bytes()[:n])
		}
	}
	return rowcodec.AppendKey(dst, k.key[i:i+1], []rowcodec.Datum{d})
}

// boundTypes returns boundType of every column.
func (k *keyShape) boundTypes() []sql.Type {
	out := make([]sql.Type, len(k.columns))
	for i, c := range k.columns {
		out[i] = c.boundType()
	}
	return out
}

// indexCodec makes the keys and entries of one secondary index's tablet. The
// key of an entry is the index columns alone in a unique index where none of
// them is NULL, else index columns and primary key; its row is the primary
// key as one Bytes column. It is immutable and safe for concurrent use.
type indexCodec struct {
	keyShape
	table  *tableCodec
	schema *rowcodec.Schema
}

// newIndexCodec returns the codec of an index over columns of t (positions in
// the table's rows). prefixLengths may be nil. Errors: a column that can't be a key.
func newIndexCodec(t *tableCodec, columns []int, prefixLengths []uint16, unique bool) (*indexCodec, error) {
	shape, err := newKeyShape(t.columns, columns, prefixLengths, unique)
	if err != nil {
		return nil, err
	}
	x := &indexCodec{keyShape: shape, table: t}
	x.schema = &rowcodec.Schema{
		Columns: []rowcodec.Column{{Kind: rowcodec.KindBytes, ID: 1}},
		Key:     append([]rowcodec.KeyColumn{}, shape.key...),
	}
	if !unique {
		x.schema.Key = append(x.schema.Key, t.schema.Key...)
		x.schema.BloomColumns = len(shape.key)
	}
	return x, nil
}

// Schema returns the schema of the index's tablet. The key of a unique index
// is declared as the index columns; where one is NULL, the primary key follows.
func (x *indexCodec) Schema() *rowcodec.Schema { return x.schema }

// Key returns the key of row's entry; primaryKey is the row's key in the
// table's tablet. unique says that no other row may have the same key.
func (x *indexCodec) Key(ctx *sql.Context, row sql.Row, primaryKey []byte) (key []byte, unique bool, err error) {
	e := rowEnv{ctx: ctx}
	if x.zoned {
		e.zone = sessionZone(ctx)
	}
	key, null, err := x.appendKey(&e, make([]byte, 0, x.sizeHint()+len(primaryKey)), row)
	if err != nil {
		return nil, false, err
	}
	if x.unique && !null {
		return key, true, nil
	}
	return append(key, primaryKey...), false, nil
}

// EntryRow appends the packed row of an entry, which is the primary key.
func (x *indexCodec) EntryRow(dst, primaryKey []byte) (rowcodec.Row, error) {
	return rowcodec.AppendRow(dst, x.schema, []rowcodec.Datum{rowcodec.Bytes(primaryKey)})
}

// EntryPrimaryKey returns the primary key in an entry's row, which it aliases.
func (x *indexCodec) EntryPrimaryKey(row rowcodec.Row) []byte { return row.Datum(x.schema, 0).Bytes() }

// Ranges returns the key ranges of the index's tablet that hold the entries of
// ranges; see keyShape.ranges.
func (x *indexCodec) Ranges(ctx *sql.Context, ranges sql.MySQLRangeCollection) ([]keyRange, bool, error) {
	e := rowEnv{ctx: ctx}
	if x.zoned {
		e.zone = sessionZone(ctx)
	}
	return x.ranges(&e, ranges)
}

// BoundTypes returns the types that sql.Index.ColumnExpressionTypes should
// give; see columnCodec.boundType.
func (x *indexCodec) BoundTypes() []sql.Type { return x.boundTypes() }
