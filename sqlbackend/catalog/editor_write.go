package catalog

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"

	"ksql/tablet"
)

// This file writes rows and their index entries. Keys are locked before they
// are probed, so a negative answer stays true until the transaction ends.

// insert adds one row.
func (e *statementEditor) insert(ctx *sql.Context, row sql.Row) error {
	b, err := e.prepareInserts(ctx, []sql.Row{row})
	if err != nil {
		return err
	}
	return b.insert(ctx, 0)
}

// nextRowIDs issues the keys of n new rows of a table without primary key.
func (e *statementEditor) nextRowIDs(n int) (first uint64, err error) {
	t, err := e.tx.stored(e.def.tabletID)
	if err != nil {
		return 0, err
	}
	return t.NextCounter(tablet.CounterHiddenRowID, uint64(n))
}

// conflict is an existing row that has a unique key of a new one.
type conflict struct {
	index *indexDef
	key   []byte // primary key of the existing row, which is locked
	found tablet.Probe
	// existing is the row's values, a private copy.
	existing sql.Row
}

// duplicate is the engine's error for a conflict of row.
func (e *statementEditor) duplicate(ctx *sql.Context, c *conflict, row sql.Row) error {
	return duplicateKeyError(ctx, e.def, c.index, row, c.existing)
}

// conflictOf reads the existing row of a conflict.
func (e *statementEditor) conflictOf(ctx *sql.Context, x *indexDef, key []byte, found tablet.Probe) (*conflict, error) {
	existing, err := e.def.codec.DecodeRow(ctx, found.Row, nil)
	if err != nil {
		return nil, err
	}
	if !e.def.codec.HasPrimaryKey() {
		e.rows.add(key, found.Row)
	}
	return &conflict{index: x, key: key, found: found, existing: slices.Clip(existing)}, nil
}

// entryConflict locks and reads the row that a unique index entry names.
func (e *statementEditor) entryConflict(ctx *sql.Context, x *indexDef, primaryKey []byte) (*conflict, error) {
	key := bytes.Clone(primaryKey)
	if err := e.lockKeys(ctx, e.def.tabletID, key); err != nil {
		return nil, err
	}
	found, err := e.probe(ctx, e.def.tabletID, key)
	if err != nil {
		return nil, err
	}
	if !found.Found {
		return nil, errIndexDamaged(e.def.record.Name, x.record.Name)
	}
	return e.conflictOf(ctx, x, key, found)
}

// lockEntry locks a new index entry's key and looks for a conflict.
func (e *statementEditor) lockEntry(ctx *sql.Context, i int, n entry) (*conflict, error) {
	x := e.def.indexes[i]
	if err := e.lockKeys(ctx, x.tabletID, n.key); err != nil || !n.unique {
		return nil, err
	}
	found, err := e.probe(ctx, x.tabletID, n.key)
	if err != nil || !found.Found {
		return nil, err
	}
	return e.entryConflict(ctx, x, x.codec.EntryPrimaryKey(found.Row))
}

// insertEntry writes an entry that is known to be absent.
func (e *statementEditor) insertEntry(i int, key, primaryKey []byte) error {
	x := e.def.indexes[i]
	row, err := x.codec.EntryRow(nil, primaryKey)
	if err != nil {
		return err
	}
	return e.write(x.tabletID, tablet.RowOp{Type: tablet.OpInsert, Key: key, Row: row, Absent: true})
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
	m, err := e.checkCurrent(ctx, row, key, found)
	return m, found, err
}

// checkCurrent compares a row that the statement has read with its newest
// version, which is locked.
func (e *statementEditor) checkCurrent(ctx *sql.Context, row sql.Row, key []byte, found tablet.Probe) (image, error) {
	if !found.Found {
		return image{}, e.restart(fmt.Errorf("row to change is gone from table %s", e.def.name()))
	}
	if found.Epoch > e.tx.tablet.StatementEpoch() {
		// It was changed after the statement's epoch; that is harmless if the
		// statement has read this very version under its lock.
		packed, err := e.def.codec.EncodeRow(ctx, nil, row)
		if err != nil {
			return image{}, err
		}
		if !bytes.Equal(packed, found.Row) {
			return image{}, e.restart(errDeadlock())
		}
	}
	return e.storedImage(ctx, key, found.Row)
}

// restart asks for another run of the statement, if somebody has promised one.
func (e *statementEditor) restart(otherwise error) error {
	if e.session.statement.announced {
		return ErrStatementRestart
	}
	return otherwise
}

// update changes the row old to new.
func (e *statementEditor) update(ctx *sql.Context, old, new sql.Row) error {
	was, found, err := e.current(ctx, old)
	if err != nil {
		return err
	}
	_, err = e.change(ctx, was, found, new)
	return err
}

// change writes the new image of a locked row: in place if its primary key
// stays, else as a delete and an insert. changed is false if nothing differs.
func (e *statementEditor) change(ctx *sql.Context, was image, found tablet.Probe, new sql.Row) (changed bool, err error) {
	now, err := e.image(ctx, new, was.key)
	if err != nil {
		return false, err
	}
	moved := !bytes.Equal(was.key, now.key)
	if !moved && bytes.Equal(was.row, now.row) {
		return false, nil
	}
	if err := e.lockChange(ctx, was, now, new); err != nil {
		return false, err
	}
	if moved {
		if err := e.write(e.def.tabletID, tablet.RowOp{Type: tablet.OpDelete, Key: was.key, Ref: found.Ref}); err != nil {
			return false, err
		}
		err = e.write(e.def.tabletID, tablet.RowOp{Type: tablet.OpInsert, Key: now.key, Row: now.row, Absent: true})
	} else {
		err = e.write(e.def.tabletID, tablet.RowOp{Type: tablet.OpUpdate, Key: now.key, Row: now.row, Ref: found.Ref})
	}
	if err != nil {
		return false, err
	}
	for i := range now.entries {
		if err := e.moveEntry(ctx, i, was, now); err != nil {
			return false, err
		}
	}
	return true, e.raiseNumber(ctx, new)
}

// raiseNumber notes the AUTO_INCREMENT number of an updated row, so that it is
// never issued.
func (e *statementEditor) raiseNumber(ctx *sql.Context, row sql.Row) error {
	i := e.def.autoColumn
	if i < 0 || row[i] == nil {
		return nil
	}
	v, err := counterValue(ctx, row[i])
	if err != nil {
		return err
	}
	t, err := e.tx.stored(e.def.tabletID)
	if err != nil {
		return err
	}
	if v > t.PeekCounter(tablet.CounterAutoIncrement) {
		t.RaiseCounter(tablet.CounterAutoIncrement, v)
	}
	return nil
}

// lockChange locks the keys that a change touches; new ones must be free.
func (e *statementEditor) lockChange(ctx *sql.Context, was, now image, row sql.Row) error {
	if !bytes.Equal(was.key, now.key) {
		if err := e.lockKeys(ctx, e.def.tabletID, now.key); err != nil {
			return err
		}
		other, err := e.probe(ctx, e.def.tabletID, now.key)
		if err != nil {
			return err
		}
		if other.Found {
			c, err := e.conflictOf(ctx, e.def.primary, now.key, other)
			if err != nil {
				return err
			}
			return e.duplicate(ctx, c, row)
		}
	}
	for i := range now.entries {
		if bytes.Equal(was.entries[i].key, now.entries[i].key) {
			if bytes.Equal(was.key, now.key) {
				continue // the entry stays as it is
			}
			if err := e.lockKeys(ctx, e.def.indexes[i].tabletID, now.entries[i].key); err != nil {
				return err
			}
			continue
		}
		if err := e.lockKeys(ctx, e.def.indexes[i].tabletID, was.entries[i].key); err != nil {
			return err
		}
		c, err := e.lockEntry(ctx, i, now.entries[i])
		if err != nil {
			return err
		}
		if c != nil {
			return e.duplicate(ctx, c, row)
		}
	}
	return nil
}

// moveEntry writes what an update changes in one index.
func (e *statementEditor) moveEntry(ctx context.Context, i int, was, now image) error {
	x := e.def.indexes[i]
	oldKey, newKey := was.entries[i].key, now.entries[i].key
	if !bytes.Equal(oldKey, newKey) {
		if err := e.deleteEntry(ctx, i, oldKey); err != nil {
			return err
		}
		return e.insertEntry(i, newKey, now.key)
	}
	if bytes.Equal(was.key, now.key) {
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

// delete removes a row.
func (e *statementEditor) delete(ctx *sql.Context, row sql.Row) error {
	was, found, err := e.current(ctx, row)
	if err != nil {
		return err
	}
	return e.remove(ctx, was, found)
}

// remove writes the deletion of a locked row and its index entries.
func (e *statementEditor) remove(ctx *sql.Context, was image, found tablet.Probe) error {
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
