package catalog

import (
	"fmt"
	"io"
	"math"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/proto/query"

	"ksql/tablet"
)

// PeekNextAutoIncrementValue returns the number that the next row would get.
func (t *Table) PeekNextAutoIncrementValue(ctx *sql.Context) (uint64, error) {
	s := t.stored(ctx)
	if s == nil {
		return 1, nil
	}
	most := t.largestNumber()
	return min(s.PeekCounter(tablet.CounterAutoIncrement), most-1) + 1, nil
}

// largestNumber is the largest value of the AUTO_INCREMENT column's type.
func (t *Table) largestNumber() uint64 {
	d := t.def()
	if d.autoColumn < 0 {
		return math.MaxUint64
	}
	switch d.schema.Schema[d.autoColumn].Type.Type() {
	case query.Type_INT8:
		return math.MaxInt8
	case query.Type_UINT8:
		return math.MaxUint8
	case query.Type_INT16:
		return math.MaxInt16
	case query.Type_UINT16:
		return math.MaxUint16
	case query.Type_INT24:
		return 1<<23 - 1
	case query.Type_UINT24:
		return 1<<24 - 1
	case query.Type_INT32:
		return math.MaxInt32
	case query.Type_UINT32:
		return math.MaxUint32
	case query.Type_INT64:
		return math.MaxInt64
	}
	return math.MaxUint64
}

// GetNextAutoIncrementValue issues the next number, or notes a given one so
// that it is never issued. Issued numbers are not taken back by a rollback.
func (t *Table) GetNextAutoIncrementValue(ctx *sql.Context, given any) (uint64, error) {
	s := t.stored(ctx)
	if s == nil {
		return 0, errTableDefinitionChanged()
	}
	if given != nil {
		v, err := counterValue(ctx, given)
		if err != nil {
			return 0, err
		}
		s.RaiseCounter(tablet.CounterAutoIncrement, v)
		return v, nil
	}
	increment, offset := autoIncrementStep(ctx)
	if increment == 1 {
		v, err := s.NextCounter(tablet.CounterAutoIncrement, 1)
		return v, translate(err)
	}
	t.db.provider.autoIncrement.Lock()
	defer t.db.provider.autoIncrement.Unlock()
	next := s.PeekCounter(tablet.CounterAutoIncrement) + 1
	if offset > increment {
		offset = 1
	}
	if rest := (next + increment - offset%increment) % increment; rest != 0 {
		next += increment - rest
	}
	s.RaiseCounter(tablet.CounterAutoIncrement, next)
	return next, nil
}

// autoIncrementStep reads @@auto_increment_increment and _offset.
func autoIncrementStep(ctx *sql.Context) (increment, offset uint64) {
	read := func(name string) uint64 {
		v, err := ctx.GetSessionVariable(ctx, name)
		if err != nil {
			return 1
		}
		n, ok := integerValue(v)
		if !ok || n < 1 {
			return 1
		}
		return uint64(n)
	}
	return read("auto_increment_increment"), read("auto_increment_offset")
}

// counterValue converts a value of an AUTO_INCREMENT column; negative ones
// don't count.
func counterValue(ctx *sql.Context, v any) (uint64, error) {
	switch n := v.(type) {
	case uint64:
		return n, nil
	case uint:
		return uint64(n), nil
	case float32:
		return uint64(max(n, 0)), nil
	case float64:
		return uint64(max(n, 0)), nil
	}
	if n, ok := integerValue(v); ok {
		return uint64(max(n, 0)), nil
	}
	n, _, err := types.Uint64.Convert(ctx, v)
	if err != nil {
		return 0, fmt.Errorf("value %v for an AUTO_INCREMENT column: %w", v, err)
	}
	return n.(uint64), nil
}

// AutoIncrementSetter changes the counter.
func (t *Table) AutoIncrementSetter(*sql.Context) sql.AutoIncrementSetter {
	return &autoIncrementSetter{t}
}

type autoIncrementSetter struct{ table *Table }

// SetAutoIncrementValue makes next the next number, or one more than the
// largest stored number if that is larger.
func (a *autoIncrementSetter) SetAutoIncrementValue(ctx *sql.Context, next uint64) error {
	t := a.table
	s := sessionOf(ctx)
	if s == nil {
		return errNotSupported("writing tables outside a ksql session")
	}
	tx, err := s.begun(ctx)
	if err != nil {
		return err
	}
	largest, err := t.largestAutoIncrement(ctx)
	if err != nil {
		return err
	}
	counter := max(next, 1) - 1
	return translate(tx.tablet.SetCounter(t.def().tabletID, tablet.CounterAutoIncrement, max(counter, largest)))
}

// largestAutoIncrement reads the largest stored number from the index that
// leads with the column.
func (t *Table) largestAutoIncrement(ctx *sql.Context) (uint64, error) {
	d := t.def()
	if d.autoColumn < 0 {
		return 0, nil
	}
	p := partition{ranges: []keyRange{{}}, reverse: true}
	switch x := d.leading(d.autoColumn); {
	case x == nil:
		return 0, nil
	case !x.primary:
		p.index = x
	}
	n := *t
	n.handle, n.projection, n.newest, n.ownStatement = d, nil, false, true
	it := &rowIter{table: &n, partition: p}
	row, err := it.Next(ctx)
	if cerr := it.Close(ctx); err == nil && cerr != nil {
		return 0, cerr
	}
	if err == io.EOF {
		return 0, nil
	}
	if err != nil || row[d.autoColumn] == nil {
		return 0, err
	}
	return counterValue(ctx, row[d.autoColumn])
}

// leading finds an index whose first column is the given one.
func (d *tableDef) leading(column int) *indexDef {
	if d.primary != nil && d.primary.record.Columns[0] == column {
		return d.primary
	}
	for _, x := range d.indexes {
		if x.record.Columns[0] == column {
			return x
		}
	}
	return nil
}

// AcquireAutoIncrementLock does nothing: numbers are always issued interleaved
// (innodb_autoinc_lock_mode 2).
func (a *autoIncrementSetter) AcquireAutoIncrementLock(*sql.Context) (func(), error) {
	return func() {}, nil
}

// Close ends the setter's use.
func (a *autoIncrementSetter) Close(*sql.Context) error { return nil }
