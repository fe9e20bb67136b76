package dml

import (
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"ksql/sqlbackend/catalog"
)

// insertRun is one execution of an InsertBatch.
type insertRun struct {
	node       *InsertBatch
	writer     *catalog.Writer
	schema     sql.Schema
	autoColumn int   // column that the source fills with AUTO_INCREMENT values, -1 for none
	defaults   []int // columns that the source fills with their defaults

	rows     []sql.Row // the chunk that is being collected
	numbers  []int     // their numbers in the source, from 0
	number   int       // rows taken from the source
	affected int
	// duplicates counts rows that were left out, replaced or updated.
	duplicates int
	warnings   int
	generated  int64 // first generated AUTO_INCREMENT value of an inserted row
	hasID      bool
	lastAuto   int64 // value of the last row that was inserted or updated
}

// run takes all rows from the source.
func (r *insertRun) run(ctx *sql.Context, source sql.RowIter) (types.OkResult, error) {
	before := ctx.GetLastQueryInfo().LastInsertId.Load()
	for {
		row, err := source.Next(ctx)
		switch {
		case err == io.EOF:
			// handled below
		case err == nil:
			err = r.add(ctx, row)
		case r.node.insert.Ignore && ignorable(err):
			r.number++
			err = r.leaveOut(ctx, err)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			// Earlier rows come first: one of them may fail too.
			if ferr := r.flush(ctx); ferr != nil {
				return types.OkResult{}, ferr
			}
			return types.OkResult{}, err
		}
		if len(r.rows) == catalog.BatchRows {
			if err := r.flush(ctx); err != nil {
				return types.OkResult{}, err
			}
			sql.SessionCommandSafepoint(ctx.Session)
		}
	}
	if err := r.flush(ctx); err != nil {
		return types.OkResult{}, err
	}
	return r.result(ctx, before), nil
}

// result fills in counts, ids and the info text.
func (r *insertRun) result(ctx *sql.Context, before int64) types.OkResult {
	res := types.OkResult{RowsAffected: uint64(r.affected)}
	info := ctx.GetLastQueryInfo()
	switch set := info.LastInsertId.Load(); {
	case r.hasID:
		info.LastInsertId.Store(r.generated)
		res.InsertID = uint64(r.generated)
	case set != before: // LAST_INSERT_ID(expr)
		res.InsertID = uint64(set)
	default:
		res.InsertID = uint64(r.lastAuto)
	}
	if _, values := r.node.insert.Source.(*plan.Values); r.number > 1 || !values && r.number != 1 {
		res.Info = InsertInfo{Records: r.number, Duplicates: r.duplicates, Warnings: int(ctx.Session.WarningCount())}
	}
	return res
}

// add checks and converts a row and puts it into the chunk.
func (r *insertRun) add(ctx *sql.Context, row sql.Row) error {
	number := r.number
	r.number++
	if len(row) > len(r.schema) {
		row = row[len(row)-len(r.schema):]
	}
	row = row.Copy()
	for _, i := range r.defaults {
		// MySQL's default of a NOT NULL ENUM column is its first member.
		if c := r.schema[i]; row[i] == nil && !c.Nullable && types.IsEnum(c.Type) {
			row[i] = 1
		}
	}
	err := r.convert(ctx, row, number+1)
	if err == nil {
		err = checkRow(ctx, r.node.insert.Checks(), row)
	}
	for i := 0; err == nil && i < len(r.node.references); i++ {
		err = r.node.references[i].CheckReference(ctx, row)
	}
	if err != nil {
		if r.node.insert.Ignore && ignorable(err) {
			return r.leaveOut(ctx, err)
		}
		return sql.NewWrappedInsertError(row, err)
	}
	r.rows, r.numbers = append(r.rows, row), append(r.numbers, number)
	return nil
}

// leaveOut turns an error of an INSERT IGNORE row into a warning.
func (r *insertRun) leaveOut(ctx *sql.Context, err error) error {
	if ferr := r.flush(ctx); ferr != nil { // keep warnings in order of rows
		return ferr
	}
	r.duplicates++
	warn(ctx, err)
	return nil
}

// ignorable tells whether IGNORE turns an error into a warning.
func ignorable(err error) bool {
	for _, kind := range plan.IgnorableErrors {
		if kind.Is(err) {
			return true
		}
	}
	return false
}

// warn notes an error that IGNORE has turned into a warning.
func warn(ctx *sql.Context, err error) {
	e := catalog.MySQLError(ctx, err)
	ctx.Session.Warn(&sql.Warning{Level: "Warning", Code: e.Num, Message: e.Message})
}

// flush locks and probes the chunk's keys and writes its rows in order.
func (r *insertRun) flush(ctx *sql.Context) error {
	if len(r.rows) == 0 {
		return nil
	}
	if err := catalog.ContextError(ctx); err != nil {
		return err
	}
	rows, numbers := r.rows, r.numbers
	r.rows, r.numbers = r.rows[:0:0], r.numbers[:0]
	b, err := r.writer.PrepareInserts(ctx, rows)
	if err != nil {
		return err
	}
	for i, row := range rows {
		if err := r.write(ctx, b, i, numbers[i]); err != nil {
			if _, ok := catalog.UniqueKey(err); ok {
				return sql.NewWrappedInsertError(row, err)
			}
			return err
		}
	}
	return nil
}

// write writes one row of a chunk.
func (r *insertRun) write(ctx *sql.Context, b *catalog.Inserts, i, number int) error {
	if r.node.mode == insertReplace {
		deleted, err := b.Replace(ctx, i)
		if err != nil {
			return err
		}
		r.affected += 1 + deleted
		r.duplicates += min(deleted, 1)
		return r.inserted(ctx, b.Row(i), number)
	}
	c, err := b.Conflict(ctx, i)
	switch {
	case err != nil:
		return err
	case c == nil:
		if err := b.Insert(ctx, i); err != nil {
			return err
		}
		r.affected++
		return r.inserted(ctx, b.Row(i), number)
	case r.node.mode == insertUpsert:
		r.duplicates++
		return r.update(ctx, c, b.Row(i))
	case r.node.mode == insertIgnore:
		r.duplicates++
		warn(ctx, c.Err(ctx))
		return nil
	}
	return c.Err(ctx)
}

// inserted notes the AUTO_INCREMENT value of a row that went in.
func (r *insertRun) inserted(ctx *sql.Context, row sql.Row, number int) error {
	if r.autoColumn < 0 {
		return nil
	}
	id, err := integer(ctx, row[r.autoColumn])
	if err != nil {
		return err
	}
	r.lastAuto = id
	first := r.node.insert.FirstGeneratedAutoIncRowIdx
	if !r.hasID && first >= 0 && number >= first {
		r.generated, r.hasID = id, true
	}
	return nil
}

// integer converts an AUTO_INCREMENT value.
func integer(ctx *sql.Context, v any) (int64, error) {
	if v == nil {
		return 0, nil
	}
	if n, ok := v.(uint64); ok {
		return int64(n), nil // the session keeps all 64 bits
	}
	n, _, err := types.Int64.Convert(ctx, v)
	if err != nil {
		return 0, err
	}
	return n.(int64), nil
}

// update runs the ON DUPLICATE KEY UPDATE list on an existing row.
func (r *insertRun) update(ctx *sql.Context, c *catalog.Conflict, row sql.Row) error {
	list := r.node.insert.OnDupExprs
	old := c.Existing()
	both := append(old.Copy(), row...)
	evaluate := func(exprs []sql.Expression) error {
		for _, e := range exprs {
			v, err := e.Eval(ctx, both)
			if err != nil {
				return err
			}
			changed, ok := v.(sql.Row)
			if !ok {
				return plan.ErrUpdateUnexpectedSetResult.New(v)
			}
			both = changed
		}
		return nil
	}
	if err := evaluate(list.ExplicitUpdateExprs()); err != nil {
		return err
	}
	if list.HasDerivedUpdates() {
		same, err := old.Equals(ctx, both[:len(old)], r.schema)
		if err != nil {
			return err
		}
		if !same {
			if err := evaluate(list.DerivedUpdateExprs()); err != nil {
				return err
			}
		}
	}
	now := both[:len(old):len(old)]
	if err := notNull(r.schema, now); err != nil {
		return err
	}
	if err := checkRow(ctx, r.node.insert.Checks(), now); err != nil {
		return err
	}
	changed, err := c.Update(ctx, now)
	switch {
	case err != nil:
		return err
	case changed:
		r.affected += 2
	case foundRows(ctx):
		r.affected++
	}
	if r.autoColumn >= 0 {
		r.lastAuto, err = integer(ctx, now[r.autoColumn])
	}
	return err
}

// notNull refuses NULL in a column that must have a value.
func notNull(schema sql.Schema, row sql.Row) error {
	for i, c := range schema {
		if row[i] == nil && !c.Nullable {
			return sql.ErrInsertIntoNonNullableProvidedNull.New(c.Name)
		}
	}
	return nil
}
