package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"ksql/tablet"
	"ksql/tablet/rowcodec"
)

// The system catalog is tablet 1: key = kind, database and object name (lower
// case, separated by zero bytes), value = a JSON record.
const (
	kindDatabase   = "database"
	kindTable      = "table"
	kindView       = "view"
	kindTrigger    = "trigger"
	kindProcedure  = "procedure"
	kindEvent      = "event"
	kindTemporary  = "temporary"
	kindPrivileges = "privileges"
	kindVariable   = "variable"
)

// storeEntry is one row of the system catalog; a nil value deletes it.
type storeEntry struct {
	name  string
	value []byte
}

func temporaryName(id tablet.TabletID) string { return entryName(kindTemporary, fmt.Sprint(id)) }

func entryName(parts ...string) string { return strings.Join(parts, "\x00") }

// loadStore reads every row of the system catalog at the newest epoch.
func loadStore(ctx context.Context, m *tablet.Manager, each func(parts []string, value []byte) error) error {
	tx := m.Begin(tablet.TxOptions{ReadOnly: true})
	defer tx.Rollback()
	tx.StartStatement(tablet.ReadCommitted)
	t, ok := m.Tablet(tablet.CatalogTabletID)
	if !ok {
		return fmt.Errorf("system catalog: %w", tablet.ErrTabletNotFound)
	}
	it, err := tx.Scan(ctx, tablet.ScanSpec{Tablet: tablet.CatalogTabletID})
	if err != nil {
		return fmt.Errorf("read system catalog: %w", err)
	}
	for it.Next(ctx) {
		name, value, err := decodeStoreRow(t.Schema(), it.Row())
		if err == nil {
			err = each(strings.Split(name, "\x00"), value)
		}
		if err != nil {
			it.Close()
			return fmt.Errorf("system catalog entry %q: %w", name, err)
		}
	}
	if err := it.Err(); err != nil {
		it.Close()
		return fmt.Errorf("read system catalog: %w", err)
	}
	return it.Close()
}

// decodeStoreRow returns the name and a private copy of the value of a row.
func decodeStoreRow(s *rowcodec.Schema, r tablet.Row) (string, []byte, error) {
	key, _, err := rowcodec.DecodeKey(r.Key, s.Key, nil)
	if err != nil {
		return "", nil, err
	}
	if err := rowcodec.ValidateRow(s, r.Value); err != nil {
		return "", nil, err
	}
	return string(key[0].Bytes()), bytes.Clone(r.Value.Datum(s, len(s.Columns)-1).Bytes()), nil
}

// writeStore puts entries into a transaction.
func writeStore(ctx context.Context, m *tablet.Manager, tx *tablet.Transaction, entries []storeEntry) error {
	if len(entries) == 0 {
		return nil
	}
	t, ok := m.Tablet(tablet.CatalogTabletID)
	if !ok {
		return fmt.Errorf("system catalog: %w", tablet.ErrTabletNotFound)
	}
	s := t.Schema()
	keys := make([][]byte, len(entries))
	for i, e := range entries {
		keys[i] = rowcodec.AppendKey(nil, s.Key, []rowcodec.Datum{rowcodec.String(e.name)})
	}
	if err := tx.LockKeys(ctx, tablet.CatalogTabletID, keys, tablet.LockExclusive, -1); err != nil {
		return err
	}
	found := make([]tablet.Probe, len(keys))
	if err := tx.Probe(ctx, tablet.CatalogTabletID, keys, found); err != nil {
		return err
	}
	for i, e := range entries {
		op := tablet.RowOp{Key: keys[i], Ref: found[i].Ref}
		switch {
		case e.value == nil && !found[i].Found:
			continue
		case e.value == nil:
			op.Type = tablet.OpDelete
		default:
			op.Type = tablet.OpInsert
			if found[i].Found {
				op.Type = tablet.OpUpdate
			}
			row, err := storeRow(s, e)
			if err != nil {
				return err
			}
			op.Row = row
		}
		if err := tx.Write(tablet.CatalogTabletID, op); err != nil {
			return err
		}
	}
	return nil
}

// storeRow packs an entry: the value is the last column, the name the one
// before it if the schema repeats keys in rows.
func storeRow(s *rowcodec.Schema, e storeEntry) (rowcodec.Row, error) {
	vals := []rowcodec.Datum{rowcodec.Bytes(e.value)}
	if len(s.Columns) == 2 {
		vals = []rowcodec.Datum{rowcodec.String(e.name), rowcodec.Bytes(e.value)}
	}
	return rowcodec.AppendRow(nil, s, vals)
}

// saveEntries writes entries in a transaction of its own.
func saveEntries(ctx context.Context, m *tablet.Manager, entries []storeEntry) error {
	tx := m.Begin(tablet.TxOptions{})
	defer tx.Rollback()
	tx.StartStatement(tablet.ReadCommitted)
	if err := writeStore(ctx, m, tx, entries); err != nil {
		return translate(err)
	}
	_, err := tx.Commit(ctx)
	return translate(err)
}

// diff lists the entries that turn the stored form of a into that of b.
// Definitions are immutable, so equal pointers are equal definitions.
func diff(a, b *snapshot) ([]storeEntry, error) {
	d := &differ{}
	for name, old := range a.databases {
		if b.databases[name] == nil {
			d.database(name, old, newDatabaseDef(nil))
		}
	}
	for name, now := range b.databases {
		old := a.databases[name]
		if old == nil {
			old = newDatabaseDef(nil)
		}
		d.database(name, old, now)
	}
	return d.entries, d.err
}

type differ struct {
	entries []storeEntry
	err     error
}

func (d *differ) put(name string, record any) {
	value, err := json.Marshal(record)
	if err != nil && d.err == nil {
		d.err = fmt.Errorf("encode system catalog entry %q: %w", name, err)
	}
	d.entries = append(d.entries, storeEntry{name: name, value: value})
}

func (d *differ) database(name string, a, b *databaseDef) {
	switch {
	case b.record == nil:
		d.entries = append(d.entries, storeEntry{name: entryName(kindDatabase, name)})
	case a.record != b.record:
		d.put(entryName(kindDatabase, name), b.record)
	}
	in := func(kind string) func(string) string {
		return func(object string) string { return entryName(kind, name, object) }
	}
	diffObjects(d, a.tables, b.tables, in(kindTable), func(t *tableDef) any { return t.record })
	diffObjects(d, a.views, b.views, in(kindView), func(r *viewRecord) any { return r })
	diffObjects(d, a.triggers, b.triggers, in(kindTrigger), func(r *triggerRecord) any { return r })
	diffObjects(d, a.procedures, b.procedures, in(kindProcedure), func(r *procedureRecord) any { return r })
	diffObjects(d, a.events, b.events, in(kindEvent), func(r *eventRecord) any { return r })
}

func diffObjects[K comparable, V any](d *differ, a, b map[K]*V, name func(K) string, record func(*V) any) {
	for k := range a {
		if b[k] == nil {
			d.entries = append(d.entries, storeEntry{name: name(k)})
		}
	}
	for k, v := range b {
		if a[k] != v {
			d.put(name(k), record(v))
		}
	}
}

// load reads what the system catalog holds.
func (p *Provider) load(ctx context.Context) error {
	s := &snapshot{version: 1, databases: map[string]*databaseDef{}}
	err := loadStore(ctx, p.manager, func(parts []string, value []byte) error {
		switch {
		case parts[0] == kindPrivileges && len(parts) == 1:
			p.privileges = value
		case parts[0] == kindVariable && len(parts) == 2:
			p.variables[parts[1]] = value
		case parts[0] == kindTemporary && len(parts) == 2:
			r, err := decodeRecord[temporaryRecord](value)
			if err != nil {
				return err
			}
			p.leftTemporary = append(p.leftTemporary, r)
		default:
			return s.load(parts, value)
		}
		return nil
	})
	s.parents = s.foreignKeysByParent()
	p.current.Store(s)
	return err
}

// load adds one stored entry. Databases come before their objects in key
// order ("database" < "event" < "procedure" < "table" < …).
func (s *snapshot) load(parts []string, value []byte) error {
	if parts[0] == kindDatabase && len(parts) == 2 {
		r, err := decodeRecord[databaseRecord](value)
		if err == nil {
			s.databases[parts[1]] = newDatabaseDef(r)
		}
		return err
	}
	if len(parts) != 3 || s.databases[parts[1]] == nil {
		return fmt.Errorf("unknown kind or database")
	}
	db, name := s.databases[parts[1]], parts[2]
	switch parts[0] {
	case kindTable:
		r, err := decodeRecord[tableRecord](value)
		if err != nil {
			return err
		}
		db.tables[name], err = newTableDef(r)
		return err
	case kindView:
		return decodeInto(db.views, name, value)
	case kindTrigger:
		return decodeInto(db.triggers, name, value)
	case kindProcedure:
		return decodeInto(db.procedures, name, value)
	case kindEvent:
		return decodeInto(db.events, name, value)
	}
	return fmt.Errorf("unknown kind")
}

func decodeRecord[T any](value []byte) (*T, error) {
	r := new(T)
	if err := json.Unmarshal(value, r); err != nil {
		return nil, err
	}
	return r, nil
}

func decodeInto[T any](m map[string]*T, name string, value []byte) error {
	r, err := decodeRecord[T](value)
	if err == nil {
		m[name] = r
	}
	return err
}
