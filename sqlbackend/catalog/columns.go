package catalog

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"

	"ksql/tablet/rowcodec"
)

// tableCodec turns the rows of one table into stored rows and primary keys and
// back. It is immutable and safe for concurrent use.
type tableCodec struct {
	columns []*columnCodec
	schema  *rowcodec.Schema
	primary keyShape // no columns if the table has a hidden row id
	zoned   bool     // some column is a TIMESTAMP
}

// newTableCodec looks up everything about the columns once. collation is that
// of text columns which name none; primaryPrefix are the prefix lengths of the
// primary key's columns, none for whole values. Errors: a column type or a
// collation that can't be stored (1235 and the like).
func newTableCodec(schema sql.PrimaryKeySchema, collation sql.CollationID, primaryPrefix ...uint16) (*tableCodec, error) {
	t := &tableCodec{schema: &rowcodec.Schema{}}
	for i, col := range schema.Schema {
		c, err := newColumnCodec(col, collation)
		if err != nil {
			return nil, err
		}
		t.columns = append(t.columns, c)
		t.zoned = t.zoned || c.zoned
		t.schema.Columns = append(t.schema.Columns, rowcodec.Column{
			Kind: c.kind, Nullable: c.nullable, ID: uint32(i + 1), Collation: c.tag,
		})
	}
	if len(schema.PkOrdinals) == 0 {
		t.schema.Key = []rowcodec.KeyColumn{{Kind: rowcodec.KindUint64}}
		return t, nil
	}
	var err error
	if t.primary, err = newKeyShape(t.columns, schema.PkOrdinals, primaryPrefix, true); err != nil {
		return nil, err
	}
	t.schema.Key = t.primary.key
	return t, nil
}

// RowSchema returns the schema of the table's tablet: all columns in order,
// and a key of the primary key's columns or of one Uint64, the hidden row id.
func (t *tableCodec) RowSchema() *rowcodec.Schema { return t.schema }

// HasPrimaryKey reports whether rows are keyed by their own columns.
func (t *tableCodec) HasPrimaryKey() bool { return len(t.primary.columns) > 0 }

// CheckStored reports whether rows and keys that were written under a stored
// schema can be read: the same physical columns, weights of a version that
// this program computes.
func (t *tableCodec) CheckStored(s *rowcodec.Schema) error {
	for i := range s.Columns {
		if err := checkCollationTag(s.Columns[i].Collation); err != nil {
			return fmt.Errorf("column %d: %w", i+1, err)
		}
	}
	if !s.Equal(t.schema) {
		return fmt.Errorf("stored schema %+v is not that of the table's columns, %+v", *s, *t.schema)
	}
	return nil
}

// env returns what conversions under ctx need.
func (t *tableCodec) env(ctx *sql.Context) rowEnv {
	e := rowEnv{ctx: ctx}
	if t.zoned {
		e.zone = sessionZone(ctx)
	}
	return e
}

// EncodeRow appends row, packed, to dst. ctx gives time zone and sql_mode; nil
// means UTC and no strictness. Errors are those of encodeValue, and a row too long.
func (t *tableCodec) EncodeRow(ctx *sql.Context, dst []byte, row sql.Row) (rowcodec.Row, error) {
	if len(row) != len(t.columns) {
		return nil, fmt.Errorf("row of %d values for a table of %d columns", len(row), len(t.columns))
	}
	e := t.env(ctx)
	var buf [32]rowcodec.Datum
	vals := buf[:0]
	for i, c := range t.columns {
		d, err := c.encodeValue(&e, row[i])
		if err != nil {
			return nil, err
		}
		vals = append(vals, d)
	}
	return rowcodec.AppendRow(dst, t.schema, vals)
}

// DecodeRow decodes the columns named by projection, in that order, nil for
// all. Nothing in the result aliases row. Whoever decodes many rows takes a
// rowDecoder.
func (t *tableCodec) DecodeRow(ctx *sql.Context, row rowcodec.Row, projection []int) (sql.Row, error) {
	d := rowDecoder{table: t, env: t.env(ctx), projection: projection}
	return d.Decode(row)
}

// PrimaryKey returns the key of row in the table's tablet. A table without
// primary key has none: its rows get RowIDKey of a fresh id.
func (t *tableCodec) PrimaryKey(ctx *sql.Context, row sql.Row) ([]byte, error) {
	if !t.HasPrimaryKey() {
		return nil, fmt.Errorf("BUG: primary key of a table with hidden row ids")
	}
	e := t.env(ctx)
	key, _, err := t.primary.appendKey(&e, make([]byte, 0, t.primary.sizeHint()), row)
	return key, err
}

// RowIDKey returns the key of a hidden row id.
func (t *tableCodec) RowIDKey(id uint64) []byte {
	return rowcodec.AppendKey(nil, t.schema.Key, []rowcodec.Datum{rowcodec.Uint(id)})
}

// Ranges returns the key ranges of the table's tablet that hold the rows of
// ranges over the primary key; see keyShape.ranges.
func (t *tableCodec) Ranges(ctx *sql.Context, ranges sql.MySQLRangeCollection) ([]keyRange, bool, error) {
	if !t.HasPrimaryKey() {
		return []keyRange{{}}, false, nil
	}
	e := t.env(ctx)
	return t.primary.ranges(&e, ranges)
}

// BoundTypes returns the types that sql.Index.ColumnExpressionTypes of the
// primary key should give; see columnCodec.boundType.
func (t *tableCodec) BoundTypes() []sql.Type { return t.primary.boundTypes() }

// rowDecoder decodes the rows of one scan of one statement; it is for one goroutine.
type rowDecoder struct {
	table      *tableCodec
	env        rowEnv
	projection []int // nil = all columns
}

// newDecoder returns a decoder of the projected columns (nil = all).
func (t *tableCodec) newDecoder(ctx *sql.Context, projection []int) *rowDecoder {
	return &rowDecoder{table: t, env: t.env(ctx), projection: projection}
}

// Decode returns the projected columns of row, a validated row of the table's
// schema. Nothing in the result aliases row.
func (d *rowDecoder) Decode(row rowcodec.Row) (sql.Row, error) {
	if d.projection == nil {
		out := make(sql.Row, len(d.table.columns))
		for i := range out {
			if err := d.column(row, i, &out[i]); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	out := make(sql.Row, len(d.projection))
	for i, col := range d.projection {
		if err := d.column(row, col, &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (d *rowDecoder) column(row rowcodec.Row, col int, out *any) error {
	v := row.Datum(d.table.schema, col)
	if v.IsNull() {
		return nil
	}
	c := d.table.columns[col]
	val, err := c.decode(&d.env, v)
	if err != nil {
		return fmt.Errorf("column %s: %w", c.name, err)
	}
	*out = val
	return nil
}
