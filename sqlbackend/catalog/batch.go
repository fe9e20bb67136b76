package catalog

import (
	"github.com/dolthub/go-mysql-server/sql"

	"ksql/tablet"
)

// BatchRows is the largest number of rows of one batch: keys of a batch are
// locked and probed together.
const BatchRows = 1024

// Writer writes batches of rows of one statement to one table. It shares its
// state with the statement's editors.
type Writer struct {
	editor *statementEditor
}

// Writer opens the table for batches. target says that the statement changes
// rows that it reads from the table (UPDATE, DELETE).
func (t *Table) Writer(ctx *sql.Context, target bool) (*Writer, error) {
	e := t.openEditor(ctx, target)
	s, err := e.shared(ctx)
	if err != nil {
		return nil, err
	}
	return &Writer{editor: s}, nil
}

// Mark is a state of a transaction's writes.
type Mark = tablet.Mark

// Mark returns the present state, for UndoTo.
func (w *Writer) Mark() Mark { return w.editor.tx.tablet.Mark() }

// UndoTo takes back what the transaction has written since m; locks stay.
func (w *Writer) UndoTo(m Mark) { w.editor.tx.tablet.UndoTo(m) }

// Inserts is a batch of new rows whose keys are locked and probed.
type Inserts struct {
	e      *statementEditor
	rows   []sql.Row
	images []image
	found  []tablet.Probe   // of the primary keys
	unique [][]tablet.Probe // of unique entries, by index and row
	// touched are the keys that the batch has written since they were probed.
	touched map[touchedKey]struct{}
}

type touchedKey struct {
	id  tablet.TabletID
	key string
}

// PrepareInserts encodes rows, locks all their keys and probes them in one
// batch a tablet. Rows must be converted to the columns' types.
func (w *Writer) PrepareInserts(ctx *sql.Context, rows []sql.Row) (*Inserts, error) {
	b, err := w.editor.prepareInserts(ctx, rows)
	return b, translate(err)
}

func (e *statementEditor) prepareInserts(ctx *sql.Context, rows []sql.Row) (*Inserts, error) {
	b := &Inserts{e: e, rows: rows, images: make([]image, len(rows))}
	hidden := !e.def.codec.HasPrimaryKey()
	var first uint64
	if hidden {
		var err error
		if first, err = e.nextRowIDs(len(rows)); err != nil {
			return nil, err
		}
	}
	keys := make([][]byte, len(rows))
	for i, row := range rows {
		var key []byte
		if hidden {
			key = e.def.codec.RowIDKey(first + uint64(i))
		}
		var err error
		if b.images[i], err = e.image(ctx, row, key); err != nil {
			return nil, err
		}
		keys[i] = b.images[i].key
	}
	if err := e.lockKeys(ctx, e.def.tabletID, keys...); err != nil {
		return nil, err
	}
	b.found = make([]tablet.Probe, len(rows))
	if !hidden {
		if err := e.tx.tablet.Probe(ctx, e.def.tabletID, keys, b.found); err != nil {
			return nil, err
		}
	}
	b.unique = make([][]tablet.Probe, len(e.def.indexes))
	for i, x := range e.def.indexes {
		for j := range rows {
			keys[j] = b.images[j].entries[i].key
		}
		if err := e.lockKeys(ctx, x.tabletID, keys...); err != nil {
			return nil, err
		}
		if x.record.Unique {
			b.unique[i] = make([]tablet.Probe, len(rows))
			if err := e.tx.tablet.Probe(ctx, x.tabletID, keys, b.unique[i]); err != nil {
				return nil, err
			}
		}
	}
	return b, nil
}

// Row returns row i of the batch.
func (b *Inserts) Row(i int) sql.Row { return b.rows[i] }

// probed returns the state of a key of the batch: the batch's probe, or a new
// one if the batch has written the key since.
func (b *Inserts) probed(ctx *sql.Context, id tablet.TabletID, key []byte, first tablet.Probe) (tablet.Probe, error) {
	if b.touched != nil {
		if _, ok := b.touched[touchedKey{id, string(key)}]; ok {
			return b.e.probe(ctx, id, key)
		}
	}
	return first, nil
}

// touch notes that the keys of an image were written.
func (b *Inserts) touch(m image) {
	if b.touched == nil {
		b.touched = map[touchedKey]struct{}{}
	}
	b.touched[touchedKey{b.e.def.tabletID, string(m.key)}] = struct{}{}
	for i, n := range m.entries {
		if n.unique {
			b.touched[touchedKey{b.e.def.indexes[i].tabletID, string(n.key)}] = struct{}{}
		}
	}
}

// Conflict is an existing row with a unique key of a new one.
type Conflict struct {
	*conflict
	batch *Inserts
	row   int
}

// Existing returns the existing row, a private copy.
func (c *Conflict) Existing() sql.Row { return c.existing }

// Err is the engine's duplicate key error for the conflict.
func (c *Conflict) Err(ctx *sql.Context) error {
	return c.batch.e.duplicate(ctx, c.conflict, c.batch.rows[c.row])
}

// Conflict finds the first conflict of row i, in order of the primary key and
// the unique indexes; nil if there is none.
func (b *Inserts) Conflict(ctx *sql.Context, i int) (*Conflict, error) {
	c, err := b.conflict(ctx, i)
	if err != nil || c == nil {
		return nil, translate(err)
	}
	return &Conflict{c, b, i}, nil
}

func (b *Inserts) conflict(ctx *sql.Context, i int) (*conflict, error) {
	m := b.images[i]
	if b.e.def.primary != nil {
		found, err := b.probed(ctx, b.e.def.tabletID, m.key, b.found[i])
		if err != nil {
			return nil, err
		}
		if found.Found {
			return b.e.conflictOf(ctx, b.e.def.primary, m.key, found)
		}
	}
	for j, x := range b.e.def.indexes {
		if !m.entries[j].unique {
			continue
		}
		found, err := b.probed(ctx, x.tabletID, m.entries[j].key, b.unique[j][i])
		if err != nil {
			return nil, err
		}
		if found.Found {
			return b.e.entryConflict(ctx, x, x.codec.EntryPrimaryKey(found.Row))
		}
	}
	return nil, nil
}

// Insert writes row i; a conflict is a sql.UniqueKeyError.
func (b *Inserts) Insert(ctx *sql.Context, i int) error { return translate(b.insert(ctx, i)) }

func (b *Inserts) insert(ctx *sql.Context, i int) error {
	c, err := b.conflict(ctx, i)
	if err != nil {
		return err
	}
	if c != nil {
		return b.e.duplicate(ctx, c, b.rows[i])
	}
	return b.put(i)
}

// put writes row i, which has no conflict.
func (b *Inserts) put(i int) error {
	m := b.images[i]
	op := tablet.RowOp{Type: tablet.OpInsert, Key: m.key, Row: m.row, Absent: true}
	if err := b.e.write(b.e.def.tabletID, op); err != nil {
		return err
	}
	for j := range m.entries {
		if err := b.e.insertEntry(j, m.entries[j].key, m.key); err != nil {
			return err
		}
	}
	if i < len(b.rows)-1 {
		b.touch(m)
	}
	return nil
}

// Update changes the existing row of a conflict. changed is false if the new
// row equals it.
func (c *Conflict) Update(ctx *sql.Context, new sql.Row) (changed bool, err error) {
	e := c.batch.e
	was, err := e.storedImage(ctx, c.key, c.found.Row)
	if err != nil {
		return false, translate(err)
	}
	if changed, err = e.change(ctx, was, c.found, new); err != nil || !changed {
		return changed, translate(err)
	}
	now, err := e.image(ctx, new, was.key)
	if err != nil {
		return false, translate(err)
	}
	c.batch.touch(was)
	c.batch.touch(now)
	return true, nil
}

// Replace writes row i in the place of all rows that it conflicts with and
// returns how many those were; an equal row is not counted, as in MySQL.
func (b *Inserts) Replace(ctx *sql.Context, i int) (deleted int, err error) {
	deleted, err = b.replace(ctx, i)
	return deleted, translate(err)
}

func (b *Inserts) replace(ctx *sql.Context, i int) (deleted int, err error) {
	e := b.e
	for {
		c, err := b.conflict(ctx, i)
		if err != nil {
			return 0, err
		}
		if c == nil {
			return deleted, b.put(i)
		}
		was, err := e.storedImage(ctx, c.key, c.found.Row)
		if err != nil {
			return 0, err
		}
		if e.def.lastUnique(c.index) {
			// MySQL updates here instead, and does not count an equal row.
			changed, err := e.change(ctx, was, c.found, b.rows[i])
			if err != nil {
				return 0, err
			}
			b.touch(was)
			b.touch(b.images[i])
			if changed {
				deleted++
			}
			return deleted, nil
		}
		if err := e.remove(ctx, was, c.found); err != nil {
			return 0, err
		}
		b.touch(was)
		deleted++
	}
}

// lastUnique tells whether no unique index follows x.
func (d *tableDef) lastUnique(x *indexDef) bool {
	last := d.primary
	for _, y := range d.indexes {
		if y.record.Unique {
			last = y
		}
	}
	return x == last
}

// Changes is a batch of rows that the statement has read and is about to
// change or delete; their keys are locked and probed.
type Changes struct {
	e     *statementEditor
	old   []sql.Row
	keys  [][]byte
	found []tablet.Probe
	seen  map[string]struct{}
}

// PrepareChanges locks and probes the rows that are to be changed.
func (w *Writer) PrepareChanges(ctx *sql.Context, old []sql.Row) (*Changes, error) {
	c, err := w.editor.prepareChanges(ctx, old)
	return c, translate(err)
}

func (e *statementEditor) prepareChanges(ctx *sql.Context, old []sql.Row) (*Changes, error) {
	c := &Changes{e: e, old: old, keys: make([][]byte, len(old)), found: make([]tablet.Probe, len(old))}
	if !e.def.codec.HasPrimaryKey() {
		return c, nil // equal rows share their keys: found one by one
	}
	for i, row := range old {
		var err error
		if c.keys[i], err = e.def.codec.PrimaryKey(ctx, row); err != nil {
			return nil, err
		}
		// One by one, in the order of the scan, as other statements do that lock
		// what they scan: nobody waits in a circle.
		if err := e.lockKeys(ctx, e.def.tabletID, c.keys[i]); err != nil {
			return nil, err
		}
	}
	return c, e.tx.tablet.Probe(ctx, e.def.tabletID, c.keys, c.found)
}

// current returns the newest image of row i.
func (c *Changes) current(ctx *sql.Context, i int) (image, tablet.Probe, error) {
	_, again := c.seen[string(c.keys[i])]
	if c.keys[i] == nil || again {
		return c.e.current(ctx, c.old[i])
	}
	if c.seen == nil {
		c.seen = make(map[string]struct{}, len(c.old))
	}
	c.seen[string(c.keys[i])] = struct{}{}
	m, err := c.e.checkCurrent(ctx, c.old[i], c.keys[i], c.found[i])
	return m, c.found[i], err
}

// Update writes the new image of row i; changed is false if nothing differs.
func (c *Changes) Update(ctx *sql.Context, i int, new sql.Row) (changed bool, err error) {
	was, found, err := c.current(ctx, i)
	if err == nil {
		changed, err = c.e.change(ctx, was, found, new)
	}
	return changed, translate(err)
}

// Delete deletes row i.
func (c *Changes) Delete(ctx *sql.Context, i int) error {
	was, found, err := c.current(ctx, i)
	if err == nil {
		err = c.e.remove(ctx, was, found)
	}
	return translate(err)
}
