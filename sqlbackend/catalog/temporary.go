package catalog

import (
	"context"
	"errors"
	"sort"

	"github.com/dolthub/go-mysql-server/sql"

	"ksql/tablet"
)

// A temporary table belongs to one session. Its tablets are made and dropped by
// transactions of their own; the system catalog names them, so that an open
// after a crash can drop what nobody owns any more.

// CreateTemporaryTable creates a table that only the session sees.
func (d *Database) CreateTemporaryTable(ctx *sql.Context, name string, schema sql.PrimaryKeySchema, collation sql.CollationID) error {
	s := sessionOf(ctx)
	if s == nil {
		return errNotSupported("temporary tables outside a ksql session")
	}
	lock := tableLockName(d.name, name)
	if s.temporary[lock] != nil {
		return sql.ErrTableAlreadyExists.New(name)
	}
	record, err := newTableRecord(ctx, d.name, name, schema, nil, collation)
	if err != nil {
		return err
	}
	record.setOptions(s.pendingOptions)
	s.pendingOptions = nil
	draft, err := newTableDef(record)
	if err != nil {
		return err
	}
	id, err := d.provider.createTemporaryTablet(background(ctx), draft)
	if err != nil {
		return translate(err)
	}
	record.Tablet = uint64(id)
	def, err := newTableDef(record)
	if err != nil {
		return err
	}
	def.temporary = true
	s.temporary[lock] = def
	return nil
}

// createTemporaryTablet makes the tablet of a temporary table and notes it.
func (p *Provider) createTemporaryTablet(ctx context.Context, draft *tableDef) (tablet.TabletID, error) {
	tx := p.manager.Begin(tablet.TxOptions{})
	defer tx.Rollback()
	tx.StartStatement(tablet.ReadCommitted)
	id, err := tx.CreateTablet(draft.codec.RowSchema())
	if err != nil {
		return 0, err
	}
	entry, err := temporaryEntry([]tablet.TabletID{id})
	if err != nil {
		return 0, err
	}
	if err := writeStore(ctx, p.manager, tx, []storeEntry{entry}); err != nil {
		return 0, err
	}
	_, err = tx.Commit(ctx)
	return id, err
}

// temporaryEntry is the note of a temporary table's tablets.
func temporaryEntry(ids []tablet.TabletID) (storeEntry, error) {
	r := &temporaryRecord{}
	for _, id := range ids {
		r.Tablets = append(r.Tablets, uint64(id))
	}
	d := &differ{}
	d.put(temporaryName(ids[0]), r)
	return d.entries[0], d.err
}

// GetAllTemporaryTables lists the session's temporary tables in the database.
func (d *Database) GetAllTemporaryTables(ctx *sql.Context) ([]sql.Table, error) {
	s := sessionOf(ctx)
	if s == nil {
		return nil, nil
	}
	var out []sql.Table
	for _, def := range s.temporary {
		if def.record.Database == d.name {
			out = append(out, newTable(ctx, d, s, def))
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name() < out[j].Name() })
	return out, nil
}

// changeTemporary changes the definition of a temporary table at once.
func (s *Session) changeTemporary(ctx *sql.Context, old *tableDef, change func(*tableRecord) error) error {
	lock := tableLockName(old.record.Database, old.record.Name)
	if now := s.temporary[lock]; now != nil {
		old = now
	}
	record := old.record.clone()
	if err := change(record); err != nil {
		return err
	}
	def, err := newTableDef(record)
	if err != nil {
		return err
	}
	def.temporary = true
	s.temporary[lock] = def
	return nil
}

// dropTemporaryTable drops one temporary table. Its tablets stay until the open
// transaction, which may have written to them, has ended.
func (s *Session) dropTemporaryTable(ctx context.Context, lock string) error {
	def := s.temporary[lock]
	delete(s.temporary, lock)
	if s.tx != nil && !s.tx.done {
		s.tx.dropped = append(s.tx.dropped, def)
		return nil
	}
	return translate(s.provider.dropTemporary(background(ctx), def.tablets()))
}

// dropAfter drops the tablets of temporary tables that a transaction has
// dropped. A failure is no loss: the next open drops them.
func (s *Session) dropAfter(t *Transaction) {
	for _, def := range t.dropped {
		if err := s.provider.dropTemporary(context.Background(), def.tablets()); err != nil {
			s.GetLogger().Warnf("drop temporary table: %v", err)
		}
	}
	t.dropped = nil
}

// dropTemporaryTables drops what the session leaves behind. A failure is no
// loss: the next open drops the tablets.
func (s *Session) dropTemporaryTables() {
	for lock := range s.temporary {
		if err := s.dropTemporaryTable(context.Background(), lock); err != nil {
			s.GetLogger().Warnf("drop temporary table: %v", err)
		}
	}
}

// dropTemporary drops the tablets of a temporary table with their note.
func (p *Provider) dropTemporary(ctx context.Context, ids []tablet.TabletID) error {
	tx := p.manager.Begin(tablet.TxOptions{})
	defer tx.Rollback()
	tx.StartStatement(tablet.ReadCommitted)
	for _, id := range ids {
		if _, ok := tx.Tablet(id); !ok {
			continue
		}
		if err := tx.DropTablet(id); err != nil {
			return err
		}
	}
	if err := writeStore(ctx, p.manager, tx, []storeEntry{{name: temporaryName(ids[0])}}); err != nil {
		return err
	}
	_, err := tx.Commit(ctx)
	return err
}

// dropLeftTemporary drops the temporary tables of sessions that a crash ended.
func (p *Provider) dropLeftTemporary(ctx context.Context) error {
	for _, r := range p.leftTemporary {
		ids := make([]tablet.TabletID, len(r.Tablets))
		for i, id := range r.Tablets {
			ids[i] = tablet.TabletID(id)
		}
		err := p.dropTemporary(ctx, ids)
		if errors.Is(err, tablet.ErrReadOnly) {
			return nil // the next writable open does it
		}
		if err != nil {
			return err
		}
	}
	p.leftTemporary = nil
	return nil
}
