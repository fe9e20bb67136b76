package catalog

import (
	"io"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"ksql/tablet"
)

// rewriter fills the tablets of a table's new definition and puts them in the
// place of the old ones.
type rewriter struct {
	session *Session
	table   *Table
	old     *tableDef
	now     *tableDef
	editor  *statementEditor
	failed  bool
	// members are the added NOT NULL ENUM columns without a default: MySQL
	// gives them their first member.
	members []int
}

// addedMembers finds the columns for members.
func (w *rewriter) addedMembers() {
	for i, c := range w.now.schema.Schema {
		if w.old.record.column(c.Name) < 0 && !c.Nullable && c.Default == nil && c.Generated == nil && types.IsEnum(c.Type) {
			w.members = append(w.members, i)
		}
	}
}

// rewrite begins a rewrite of a table to a new record.
func (s *Session) rewrite(ctx *sql.Context, t *Table, record *tableRecord) (*rewriter, error) {
	if t.handle.temporary {
		return nil, errNotSupported("ALTER of a TEMPORARY table that rewrites it")
	}
	_, db, err := s.changeDatabase(ctx, t.db.name)
	if err != nil {
		return nil, err
	}
	if err := s.exclusiveTable(ctx, t.db.name, t.handle.record.Name); err != nil {
		return nil, err
	}
	old := db.tables[strings.ToLower(t.handle.record.Name)]
	if old == nil {
		return nil, sql.ErrTableNotFound.New(t.handle.record.Name)
	}
	now, err := s.createTablets(record)
	if err != nil {
		return nil, err
	}
	if err := s.copyCounters(old, now); err != nil {
		return nil, err
	}
	return &rewriter{session: s, table: t, old: old, now: now,
		editor: &statementEditor{session: s, tx: s.tx, def: now}}, nil
}

// copyCounters hands the old tablet's counters on.
func (s *Session) copyCounters(old, now *tableDef) error {
	from, err := s.tx.stored(old.tabletID)
	if err != nil {
		return err
	}
	to, err := s.tx.stored(now.tabletID)
	if err != nil {
		return err
	}
	for _, slot := range []int{tablet.CounterAutoIncrement, tablet.CounterHiddenRowID} {
		to.RaiseCounter(slot, from.PeekCounter(slot))
	}
	return nil
}

// StatementBegin does nothing: a failed rewrite rolls the DDL statement back.
func (w *rewriter) StatementBegin(*sql.Context) {}

// DiscardChanges makes Close keep the old rows.
func (w *rewriter) DiscardChanges(*sql.Context, error) error {
	w.failed = true
	return nil
}

// StatementComplete does nothing.
func (w *rewriter) StatementComplete(*sql.Context) error { return nil }

// Insert adds one row in the new schema.
func (w *rewriter) Insert(ctx *sql.Context, row sql.Row) error {
	for _, i := range w.members {
		row[i] = uint16(1)
	}
	if err := w.editor.insert(ctx, row); err != nil {
		w.failed = true
		return translate(err)
	}
	if i := w.now.autoColumn; i >= 0 && row[i] != nil {
		v, err := counterValue(ctx, row[i])
		if err != nil {
			return err
		}
		t, err := w.session.tx.stored(w.now.tabletID)
		if err != nil {
			return err
		}
		t.RaiseCounter(tablet.CounterAutoIncrement, v)
	}
	return nil
}

// Close installs the new definition and drops the old tablets.
func (w *rewriter) Close(ctx *sql.Context) error {
	if w.failed {
		return nil
	}
	d, db, err := w.session.changeDatabase(ctx, w.table.db.name)
	if err != nil {
		return err
	}
	db.tables[strings.ToLower(w.old.record.Name)] = w.now
	delete(d.fresh, w.old)
	d.fresh[w.now] = struct{}{}
	return w.session.dropTablets(w.old.tablets())
}

// rewriteRows rewrites a table to a record whose columns take the old values.
func (s *Session) rewriteRows(ctx *sql.Context, t *Table, record *tableRecord) error {
	w, err := s.rewrite(ctx, t, record)
	if err != nil {
		return err
	}
	err = s.eachRow(ctx, t, w.old, func(row sql.Row) error {
		for i, c := range w.now.schema.Schema {
			if row[i] == nil {
				continue
			}
			v, inRange, err := c.Type.Convert(ctx, row[i])
			if err != nil {
				return err
			}
			if inRange != sql.InRange {
				return sql.ErrValueOutOfRange.New(row[i], c.Type)
			}
			row[i] = v
		}
		return w.Insert(ctx, row)
	})
	if err != nil {
		return err
	}
	return w.Close(ctx)
}

// eachRow reads all rows of a definition for a DDL statement.
func (s *Session) eachRow(ctx *sql.Context, t *Table, def *tableDef, each func(sql.Row) error) (err error) {
	n := *t
	n.handle, n.projection = def, nil
	it := &rowIter{table: &n, partition: partition{ranges: []keyRange{{}}}}
	defer func() {
		if cerr := it.Close(ctx); err == nil {
			err = cerr
		}
	}()
	for {
		row, err := it.Next(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := each(row); err != nil {
			return err
		}
	}
}

// Truncate removes all rows and returns their number. TRUNCATE TABLE, which is
// DDL, puts empty tablets in the place of the old ones (and reports 0 rows, as
// MySQL does); DELETE without WHERE deletes row by row.
func (t *Table) Truncate(ctx *sql.Context) (int, error) {
	s := sessionOf(ctx)
	if s == nil {
		return 0, errNotSupported("writing tables outside a ksql session")
	}
	if s.statement.kind != StatementDDL || t.handle.temporary {
		return t.deleteAll(ctx)
	}
	w, err := s.rewrite(ctx, t, t.def().record.clone())
	if err != nil {
		return 0, err
	}
	return 0, w.Close(ctx)
}

// deleteAll deletes every row within the transaction.
func (t *Table) deleteAll(ctx *sql.Context) (count int, err error) {
	e := t.openEditor(ctx, true)
	e.StatementBegin(ctx)
	n := *t
	n.projection = nil
	it := &rowIter{table: &n, partition: partition{ranges: []keyRange{{}}}}
	for {
		var row sql.Row
		if row, err = it.Next(ctx); err != nil {
			break
		}
		if err = e.Delete(ctx, row); err != nil {
			break
		}
		count++
	}
	if cerr := it.Close(ctx); err == io.EOF {
		err = cerr
	}
	if err != nil {
		if derr := e.DiscardChanges(ctx, err); derr != nil {
			return 0, derr
		}
		return 0, err
	}
	return count, e.StatementComplete(ctx)
}
