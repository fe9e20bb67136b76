package catalog

import (
	"context"
	"fmt"
	"slices"

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
func (t *Table) Inserter(ctx *sql.Context) sql.RowInserter { return t.openEditor(false) }

// Updater opens the table for UPDATE.
func (t *Table) Updater(ctx *sql.Context) sql.RowUpdater { return t.openEditor(true) }

// Deleter opens the table for DELETE.
func (t *Table) Deleter(ctx *sql.Context) sql.RowDeleter { return t.openEditor(true) }

// Replacer opens the table for REPLACE.
func (t *Table) Replacer(ctx *sql.Context) sql.RowReplacer { return t.openEditor(false) }

// openEditor notes that the statement writes; target says that it changes
// rows which it reads from the table itself.
func (t *Table) openEditor(target bool) *editor {
	if t.session != nil {
		t.session.statement.write(t.handle.tabletID, nil)
		if target {
			t.session.statement.target(t.handle.tabletID)
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
	if e.session == nil {
		return nil, errNotSupported("writing tables outside a ksql session")
	}
	if e.lock.active {
		return nil, errNotSupported("writing a table with a locking clause")
	}
	return e.session.statementEditor(ctx, e.handle)
}

// StatementBegin remembers the state that DiscardChanges goes back to.
func (e *editor) StatementBegin(ctx *sql.Context) {
	s, err := e.shared(ctx)
	if err != nil {
		return // the first write meets the same error and can report it
	}
	e.session.statement.target(e.handle.tabletID)
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

// insert locks and checks the row's keys and writes it with its index entries.
func (e *statementEditor) insert(ctx *sql.Context, row sql.Row) error {
	var id []byte
	hidden := !e.def.codec.HasPrimaryKey()
	if hidden {
		var err error
		if id, err = e.nextRowID(); err != nil {
			return err
		}
	}
	m, err := e.image(ctx, row, id)
	if err != nil {
		return err
	}
	if err := e.lockKeys(ctx, e.def.tabletID, m.key); err != nil {
		return err
	}
	if !hidden {
		found, err := e.probe(ctx, e.def.tabletID, m.key)
		if err != nil {
			return err
		}
		if found.Found {
			return e.duplicate(ctx, e.def.primary, row, m.key, found)
		}
	}
	for i := range m.entries {
		if err := e.lockEntry(ctx, i, m.entries[i], row); err != nil {
			return err
		}
	}
	if err := e.write(e.def.tabletID, tablet.RowOp{Type: tablet.OpInsert, Key: m.key, Row: m.row}); err != nil {
		return err
	}
	for i := range m.entries {
		if err := e.insertEntry(i, m.entries[i].key, m.key); err != nil {
			return err
		}
	}
	return nil
}

// lockEntry locks a new index entry's key; a unique one must be free.
func (e *statementEditor) lockEntry(ctx *sql.Context, i int, n entry, row sql.Row) error {
	x := e.def.indexes[i]
	if err := e.lockKeys(ctx, x.tabletID, n.key); err != nil {
		return err
	}
	if !n.unique {
		return nil
	}
	found, err := e.probe(ctx, x.tabletID, n.key)
	if err != nil || !found.Found {
		return err
	}
	return e.duplicateEntry(ctx, x, row, x.codec.EntryPrimaryKey(found.Row))
}

func (e *statementEditor) insertEntry(i int, key, primaryKey []byte) error {
	x := e.def.indexes[i]
	row, err := x.codec.EntryRow(nil, primaryKey)
	if err != nil {
		return err
	}
	return e.write(x.tabletID, tablet.RowOp{Type: tablet.OpInsert, Key: key, Row: row})
}

// nextRowID issues the key of a new row of a table without primary key.
func (e *statementEditor) nextRowID() ([]byte, error) {
	t, err := e.tx.stored(e.def.tabletID)
	if err != nil {
		return nil, err
	}
	id, err := t.NextCounter(tablet.CounterHiddenRowID, 1)
	if err != nil {
		return nil, err
	}
	return e.def.codec.RowIDKey(id), nil
}

// duplicateEntry is the error for a unique index entry that exists: its row is
// locked and handed to the engine.
func (e *statementEditor) duplicateEntry(ctx *sql.Context, x *indexDef, row sql.Row, primaryKey []byte) error {
	key := slices.Clone(primaryKey)
	if err := e.lockKeys(ctx, e.def.tabletID, key); err != nil {
		return err
	}
	found, err := e.probe(ctx, e.def.tabletID, key)
	if err != nil {
		return err
	}
	if !found.Found {
		return errIndexDamaged(e.def.record.Name, x.record.Name)
	}
	return e.duplicate(ctx, x, row, key, found)
}

func (e *statementEditor) duplicate(ctx *sql.Context, x *indexDef, row sql.Row, key []byte, found tablet.Probe) error {
	existing, err := e.def.codec.DecodeRow(ctx, found.Row, nil)
	if err != nil {
		return err
	}
	if !e.def.codec.HasPrimaryKey() {
		e.rows.add(key, found.Row)
	}
	return duplicateKeyError(ctx, e.def, x, row, slices.Clip(existing))
}

// current locks a row that the statement is about to change and returns its
// newest image. A row that changed since the statement read it makes the
// statement start again.
func (e *statementEditor) current(ctx *sql.Context, row sql.Row) (image, tablet.Probe, error) {
	key, err := e.keyOf(ctx, row)
	if err != nil {
		return image{}, tablet.Probe{}, err
	}
	if err := e.lockKeys(ctx, e.def.tabletID, key); err != nil {
		return image{}, tablet.Probe{}, err
	}
	found, err := e.probe(ctx, e.def.tabletID, key)
	if err != nil {
		return image{}, found, err
	}
	if !found.Found {
		return image{}, found, e.restart(fmt.Errorf("row to change is gone from table %s", e.def.name()))
	}
	m, err := e.storedImage(ctx, key, found.Row)
	if err != nil {
		return image{}, found, err
	}
	if found.Epoch > e.tx.tablet.StatementEpoch() {
		// It was changed after the statement's epoch; that is harmless if the
		// statement has read this very version under its lock.
		packed, err := e.def.codec.EncodeRow(ctx, nil, row)
		if err != nil {
			return image{}, found, err
		}
		if string(packed) != string(found.Row) {
			return image{}, found, e.restart(nil)
		}
	}
	return m, found, nil
}

// restart asks for another run of the statement, if somebody has promised one.
func (e *statementEditor) restart(otherwise error) error {
	if e.session.statement.announced {
		return ErrStatementRestart
	}
	if otherwise != nil {
		return otherwise
	}
	return errDeadlock()
}

// update changes a row: in place if its primary key stays, else as a delete
// and an insert.
func (e *statementEditor) update(ctx *sql.Context, old, new sql.Row) error {
	was, found, err := e.current(ctx, old)
	if err != nil {
		return err
	}
	now, err := e.image(ctx, new, was.key)
	if err != nil {
		return err
	}
	moved := string(was.key) != string(now.key)
	if moved {
		if err := e.lockKeys(ctx, e.def.tabletID, now.key); err != nil {
			return err
		}
		other, err := e.probe(ctx, e.def.tabletID, now.key)
		if err != nil {
			return err
		}
		if other.Found {
			return e.duplicate(ctx, e.def.primary, new, now.key, other)
		}
	}
	for i := range now.entries {
		if err := e.lockMoved(ctx, i, was.entries[i], now.entries[i], new); err != nil {
			return err
		}
	}
	if moved {
		if err := e.write(e.def.tabletID, tablet.RowOp{Type: tablet.OpDelete, Key: was.key, Ref: found.Ref}); err != nil {
			return err
		}
		err = e.write(e.def.tabletID, tablet.RowOp{Type: tablet.OpInsert, Key: now.key, Row: now.row})
	} else {
		err = e.write(e.def.tabletID, tablet.RowOp{Type: tablet.OpUpdate, Key: now.key, Row: now.row, Ref: found.Ref})
	}
	if err != nil {
		return err
	}
	for i := range now.entries {
		if err := e.moveEntry(ctx, i, was, now); err != nil {
			return err
		}
	}
	return nil
}

// lockMoved locks an index entry's old and new key if they differ; the new one
// must be free.
func (e *statementEditor) lockMoved(ctx *sql.Context, i int, was, now entry, row sql.Row) error {
	id := e.def.indexes[i].tabletID
	if string(was.key) == string(now.key) {
		return e.lockKeys(ctx, id, was.key)
	}
	if err := e.lockKeys(ctx, id, was.key); err != nil {
		return err
	}
	return e.lockEntry(ctx, i, now, row)
}

// moveEntry writes what an update changes in one index.
func (e *statementEditor) moveEntry(ctx context.Context, i int, was, now image) error {
	x := e.def.indexes[i]
	oldKey, newKey := was.entries[i].key, now.entries[i].key
	if string(oldKey) != string(newKey) {
		if err := e.deleteEntry(ctx, i, oldKey); err != nil {
			return err
		}
		return e.insertEntry(i, newKey, now.key)
	}
	if string(was.key) == string(now.key) {
		return nil
	}
	// A unique entry whose row has moved.
	row, err := x.codec.EntryRow(nil, now.key)
	if err != nil {
		return err
	}
	found, err := e.probe(ctx, x.tabletID, newKey)
	if err != nil {
		return err
	}
	return e.write(x.tabletID, tablet.RowOp{Type: tablet.OpUpdate, Key: newKey, Row: row, Ref: found.Ref})
}

func (e *statementEditor) deleteEntry(ctx context.Context, i int, key []byte) error {
	x := e.def.indexes[i]
	found, err := e.probe(ctx, x.tabletID, key)
	if err != nil {
		return err
	}
	if !found.Found {
		return errIndexDamaged(e.def.record.Name, x.record.Name)
	}
	return e.write(x.tabletID, tablet.RowOp{Type: tablet.OpDelete, Key: key, Ref: found.Ref})
}

// delete removes a row and its index entries.
func (e *statementEditor) delete(ctx *sql.Context, row sql.Row) error {
	was, found, err := e.current(ctx, row)
	if err != nil {
		return err
	}
	for i := range was.entries {
		if err := e.lockKeys(ctx, e.def.indexes[i].tabletID, was.entries[i].key); err != nil {
			return err
		}
	}
	if err := e.write(e.def.tabletID, tablet.RowOp{Type: tablet.OpDelete, Key: was.key, Ref: found.Ref}); err != nil {
		return err
	}
	for i := range was.entries {
		if err := e.deleteEntry(ctx, i, was.entries[i].key); err != nil {
			return err
		}
	}
	return nil
}
