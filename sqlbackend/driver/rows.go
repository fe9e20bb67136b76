package driver

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"math"
	"reflect"
	"time"

	"ksql/sqlbackend/wire"
)

// rows are the result sets of one call.
type rows struct {
	c    *conn
	ctx  context.Context
	res  *wire.Result
	pl   *wire.Plain
	cols []wire.Column
	rest string // statements still to run
	done bool
}

var (
	_ driver.RowsNextResultSet              = (*rows)(nil)
	_ driver.RowsColumnTypeScanType         = (*rows)(nil)
	_ driver.RowsColumnTypeDatabaseTypeName = (*rows)(nil)
	_ driver.RowsColumnTypeNullable         = (*rows)(nil)
	_ driver.RowsColumnTypeLength           = (*rows)(nil)
	_ driver.RowsColumnTypePrecisionScale   = (*rows)(nil)
)

// rows makes the rows of res and of the statements in rest. Results without
// rows before the first one with rows are passed over.
func (c *conn) rows(ctx context.Context, res *wire.Result, rest string) (driver.Rows, error) {
	r := &rows{c: c, ctx: ctx, rest: rest}
	r.take(res)
	if res.HasRows() {
		return r, nil
	}
	if err := r.NextResultSet(); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return r, nil
}

func (r *rows) take(res *wire.Result) {
	r.res, r.done = res, !res.HasRows()
	r.pl, r.cols = nil, nil
	if res.HasRows() {
		r.pl = res.Plain(wire.PlainOptions{ParseTime: r.c.cfg.ParseTime, Loc: r.c.cfg.Loc})
		r.cols = r.pl.Columns()
	}
}

// Columns implements driver.Rows.
func (r *rows) Columns() []string {
	out := make([]string, len(r.cols))
	for i, c := range r.cols {
		out[i] = c.Name
	}
	return out
}

// Next implements driver.Rows.
func (r *rows) Next(dst []driver.Value) error {
	if r.done {
		return io.EOF
	}
	row, err := r.pl.Next()
	if err != nil {
		r.done = true
		if errors.Is(err, io.EOF) {
			return io.EOF
		}
		r.rest = ""
		return clientError(r.ctx, err)
	}
	for i, v := range row {
		dst[i] = v
	}
	return nil
}

// Close implements driver.Rows. Statements that have not begun do not run.
func (r *rows) Close() error {
	r.rest = ""
	if r.done {
		return nil
	}
	r.done = true
	err := r.res.Close()
	if r.ctx.Err() != nil {
		return nil // the caller knows from the context
	}
	return clientError(r.ctx, err)
}

// HasNextResultSet implements driver.RowsNextResultSet.
func (r *rows) HasNextResultSet() bool { return r.rest != "" }

// NextResultSet implements driver.RowsNextResultSet: it runs the following
// statements up to one with rows.
func (r *rows) NextResultSet() error {
	if !r.done {
		if err := finish(r.res); err != nil {
			r.done, r.rest = true, ""
			return clientError(r.ctx, err)
		}
		r.done = true
	}
	for r.rest != "" {
		res, rest, err := r.c.sess.Query(r.ctx, r.rest, true)
		if err != nil {
			r.rest = ""
			return clientError(r.ctx, err)
		}
		r.rest = rest
		r.take(res)
		if res.HasRows() {
			return nil
		}
	}
	return io.EOF
}

// ColumnTypeDatabaseTypeName implements driver.RowsColumnTypeDatabaseTypeName
// with the names of github.com/go-sql-driver/mysql.
func (r *rows) ColumnTypeDatabaseTypeName(i int) string { return typeName(r.cols[i]) }

// ColumnTypeNullable implements driver.RowsColumnTypeNullable.
func (r *rows) ColumnTypeNullable(i int) (nullable, ok bool) {
	return r.cols[i].Flags&flagNotNull == 0, true
}

// ColumnTypeLength implements driver.RowsColumnTypeLength: characters of text,
// bytes of binary strings.
func (r *rows) ColumnTypeLength(i int) (int64, bool) {
	c := r.cols[i]
	switch c.Kind {
	case kindBlob, kindVarString, kindString:
		if c.Length == math.MaxUint32 {
			return math.MaxInt64, true
		}
		if c.Charset == collationBinary {
			return int64(c.Length), true
		}
		return int64(c.Length) / 4, true
	}
	return 0, false
}

// ColumnTypePrecisionScale implements driver.RowsColumnTypePrecisionScale.
func (r *rows) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	c := r.cols[i]
	switch c.Kind {
	case kindDecimal:
		precision = int64(c.Length) - 1
		if c.Decimals > 0 {
			precision--
		}
		return precision, int64(c.Decimals), true
	case kindDatetime, kindTimestamp, kindTime:
		return int64(c.Decimals), int64(c.Decimals), true
	case kindFloat, kindDouble:
		return math.MaxInt64, math.MaxInt64, true
	}
	return 0, 0, false
}

// ColumnTypeScanType implements driver.RowsColumnTypeScanType.
func (r *rows) ColumnTypeScanType(i int) reflect.Type {
	c := r.cols[i]
	null := c.Flags&flagNotNull == 0
	pick := func(plain, nullable reflect.Type) reflect.Type {
		if null {
			return nullable
		}
		return plain
	}
	switch c.Kind {
	case kindTiny, kindShort, kindInt24, kindLong, kindLongLong, kindYear:
		if c.Flags&flagUnsigned != 0 && c.Kind == kindLongLong {
			return pick(reflect.TypeFor[uint64](), reflect.TypeFor[sql.Null[uint64]]())
		}
		return pick(reflect.TypeFor[int64](), reflect.TypeFor[sql.NullInt64]())
	case kindFloat:
		return pick(reflect.TypeFor[float32](), reflect.TypeFor[sql.NullFloat64]())
	case kindDouble:
		return pick(reflect.TypeFor[float64](), reflect.TypeFor[sql.NullFloat64]())
	case kindDate, kindDatetime, kindTimestamp:
		if r.c.cfg.ParseTime {
			return pick(reflect.TypeFor[time.Time](), reflect.TypeFor[sql.NullTime]())
		}
	case kindBit, kindJSON, kindGeometry:
		return reflect.TypeFor[[]byte]()
	case kindBlob, kindVarString, kindString:
		if c.Charset == collationBinary {
			return reflect.TypeFor[[]byte]()
		}
	}
	return pick(reflect.TypeFor[string](), reflect.TypeFor[sql.NullString]())
}
