package catalog

import (
	"context"

	"github.com/dolthub/go-mysql-server/sql"

	"ksql/tablet"
)

// statementEditor makes the writes of one statement to one table. All of
// Inserter, Updater, Deleter, Replacer and the foreign key editor of a
// statement share it, because the engine opens several of them for one
// statement and begins, completes or discards each on its own.
//
// Every write locks its keys first (primary key, old and new index keys),
// looks at their newest state, and then goes into the transaction's overlay.
type statementEditor struct {
	session *Session
	tx      *Transaction
	def     *tableDef
	// marks are the states to go back to, one for each StatementBegin that was
	// neither completed nor discarded. INSERT IGNORE begins every row.
	marks []tablet.Mark
	// wrote: something was written, so the statement's reads must hide it.
	wrote bool
	rows  rowIDs
}

// editor is what the engine holds: it finds the statement's shared editor at
// each call, because the engine makes some of them while it plans.
type editor struct {
	*Table
}

var (
	_ sql.TableEditor      = (*editor)(nil)
	_ sql.ForeignKeyEditor = (*editor)(nil)
)

// Inserter opens the table for INSERT.
func (t *Table) Inserter(ctx *sql.Context) sql.RowInserter { return t.openEditor(ctx, false) }

// Updater opens the table for UPDATE.
func (t *Table) Updater(ctx *sql.Context) sql.RowUpdater { return t.openEditor(ctx, true) }

// Deleter opens the table for DELETE.
func (t *Table) Deleter(ctx *sql.Context) sql.RowDeleter { return t.openEditor(ctx, true) }

// Replacer opens the table for REPLACE.
func (t *Table) Replacer(ctx *sql.Context) sql.RowReplacer { return t.openEditor(ctx, false) }

// openEditor notes that the statement writes; target says that it changes
// rows which it reads from the table itself.
func (t *Table) openEditor(ctx *sql.Context, target bool) *editor {
	if s := sessionOf(ctx); s != nil {
		s.statement.write(t.handle.tabletID, nil)
		if target {
			s.statement.target(t.handle.tabletID)
		}
	}
	return &editor{t}
}

// write notes the editor of a table (nil: there will be one).
func (s *statement) write(id tablet.TabletID, e *statementEditor) {
	if s.editors == nil {
		s.editors = map[tablet.TabletID]*statementEditor{}
	}
	if e != nil || s.editors[id] == nil {
		s.editors[id] = e
	}
}

func (s *statement) target(id tablet.TabletID) {
	if s.targets == nil {
		s.targets = map[tablet.TabletID]struct{}{}
	}
	s.targets[id] = struct{}{}
}

// writes tells whether the statement has written to a table.
func (s *statement) writes(id tablet.TabletID) bool {
	e := s.editors[id]
	return e != nil && e.wrote
}

// statementEditor returns the running statement's editor of a table.
func (s *Session) statementEditor(ctx *sql.Context, def *tableDef) (*statementEditor, error) {
	tx, err := s.begun(ctx)
	if err != nil {
		return nil, err
	}
	if e := s.statement.editors[def.tabletID]; e != nil && e.tx == tx {
		return e, nil
	}
	if tx.readOnly && !def.temporary {
		return nil, errReadOnlyTx()
	}
	e := &statementEditor{session: s, tx: tx, def: def}
	s.statement.write(def.tabletID, e)
	return e, nil
}

func (e *editor) shared(ctx *sql.Context) (*statementEditor, error) {
	session := sessionOf(ctx)
	if session == nil {
		return nil, errNotSupported("writing tables outside a ksql session")
	}
	if e.lock.active {
		return nil, errNotSupported("writing a table with a locking clause")
	}
	return session.statementEditor(ctx, e.handle)
}

// StatementBegin remembers the state that DiscardChanges goes back to.
func (e *editor) StatementBegin(ctx *sql.Context) {
	s, err := e.shared(ctx)
	if err != nil {
		return // the first write meets the same error and can report it
	}
	s.session.statement.target(e.handle.tabletID)
	s.marks = append(s.marks, s.tx.tablet.Mark())
}

// StatementComplete keeps the statement's changes, unless it was killed or
// timed out: the engine calls this then too.
func (e *editor) StatementComplete(ctx *sql.Context) error {
	s, err := e.shared(ctx)
	if err != nil {
		return err
	}
	n := len(s.marks)
	if n == 0 {
		return nil
	}
	mark := s.marks[n-1]
	s.marks = s.marks[:n-1]
	if err := contextError(ctx); err != nil {
		s.tx.tablet.UndoTo(mark)
		return err
	}
	return nil
}

// DiscardChanges undoes the statement's changes.
func (e *editor) DiscardChanges(ctx *sql.Context, _ error) error {
	s, err := e.shared(ctx)
	if err != nil {
		return err
	}
	if n := len(s.marks); n > 0 {
		s.tx.tablet.UndoTo(s.marks[n-1])
		s.marks = s.marks[:n-1]
	}
	return nil
}

// Close ends the editor's use; its writes are in the transaction already.
func (e *editor) Close(*sql.Context) error { return nil }

// IndexedAccess returns a handle for foreign key look-ups: they see the newest
// rows, those of the running statement included, and lock what they find.
func (e *editor) IndexedAccess(*sql.Context, sql.IndexLookup) sql.IndexedTable {
	n := *e.Table
	n.newest, n.ownStatement, n.reference = true, true, false
	return &n
}

// Insert adds a row. A duplicate key is a sql.UniqueKeyError with a private
// copy of the existing row.
func (e *editor) Insert(ctx *sql.Context, row sql.Row) error {
	s, err := e.shared(ctx)
	if err != nil {
		return err
	}
	return translate(s.insert(ctx, row))
}

// Update changes the row old to new.
func (e *editor) Update(ctx *sql.Context, old, new sql.Row) error {
	s, err := e.shared(ctx)
	if err != nil {
		return err
	}
	return translate(s.update(ctx, old, new))
}

// Delete removes a row.
func (e *editor) Delete(ctx *sql.Context, row sql.Row) error {
	s, err := e.shared(ctx)
	if err != nil {
		return err
	}
	return translate(s.delete(ctx, row))
}

// image is one row in stored form with its keys.
type image struct {
	row     []byte // packed
	key     []byte // in the primary tablet
	entries []entry
}

// entry is a row's key in an index.
type entry struct {
	key    []byte
	unique bool // nobody else may have the key
}

// image encodes a row that is to be written. key is given for a row of a table
// with hidden row ids.
func (e *statementEditor) image(ctx *sql.Context, row sql.Row, key []byte) (image, error) {
	row, err := e.regenerate(ctx, row)
	if err != nil {
		return image{}, err
	}
	packed, err := e.def.codec.EncodeRow(ctx, nil, row)
	if err != nil {
		return image{}, err
	}
	m := image{row: packed, key: key}
	if e.def.codec.HasPrimaryKey() {
		if m.key, err = e.def.codec.PrimaryKey(ctx, row); err != nil {
			return image{}, err
		}
	}
	return m, e.fillEntries(ctx, &m, row)
}

func (e *statementEditor) fillEntries(ctx *sql.Context, m *image, row sql.Row) (err error) {
	m.entries = make([]entry, len(e.def.indexes))
	for i, x := range e.def.indexes {
		if m.entries[i].key, m.entries[i].unique, err = x.codec.Key(ctx, row, m.key); err != nil {
			return err
		}
	}
	return nil
}

// storedImage is the image of a row that is stored.
func (e *statementEditor) storedImage(ctx *sql.Context, key []byte, packed []byte) (image, error) {
	row, err := e.def.codec.DecodeRow(ctx, packed, nil)
	if err != nil {
		return image{}, err
	}
	m := image{row: packed, key: key}
	return m, e.fillEntries(ctx, &m, row)
}

func (e *statementEditor) lockKeys(ctx context.Context, id tablet.TabletID, keys ...[]byte) error {
	return e.tx.tablet.LockKeys(ctx, id, keys, tablet.LockExclusive, e.session.lockWait())
}

func (e *statementEditor) probe(ctx context.Context, id tablet.TabletID, key []byte) (tablet.Probe, error) {
	out := make([]tablet.Probe, 1)
	err := e.tx.tablet.Probe(ctx, id, [][]byte{key}, out)
	return out[0], err
}

func (e *statementEditor) write(id tablet.TabletID, op tablet.RowOp) error {
	e.wrote = true
	return e.tx.tablet.Write(id, op)
}
