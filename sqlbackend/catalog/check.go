package catalog

import (
	"bytes"
	"context"
	"fmt"
	"sort"

	"ksql/tablet"
	"ksql/tablet/rowcodec"
)

// Check compares every index with its table, entry by entry, at one epoch, and
// reports each disagreement by table, index and key: a row without entry, an
// entry without row, an entry that names another row. The error is about
// running the check itself.
func (p *Provider) Check(ctx context.Context, report func(error)) error {
	s := p.current.Load()
	for _, db := range sortedDefs(s) {
		for _, t := range sorted(db.tables) {
			if err := p.checkTable(ctx, t, report); err != nil {
				return fmt.Errorf("check table %s: %w", t.name(), err)
			}
		}
	}
	return nil
}

func sortedDefs(s *snapshot) []*databaseDef {
	names := make([]string, 0, len(s.databases))
	for name := range s.databases {
		names = append(names, name)
	}
	sort.Strings(names)
	out := make([]*databaseDef, len(names))
	for i, name := range names {
		out[i] = s.databases[name]
	}
	return out
}

// tableCheck is the check of one table.
type tableCheck struct {
	ctx    context.Context
	tx     *tablet.Transaction
	def    *tableDef
	report func(error)
	rows   int64
}

func (p *Provider) checkTable(ctx context.Context, def *tableDef, report func(error)) error {
	tx := p.manager.Begin(tablet.TxOptions{ReadOnly: true})
	defer tx.Rollback()
	tx.StartStatement(tablet.RepeatableRead)
	c := &tableCheck{ctx: ctx, tx: tx, def: def, report: func(err error) {
		report(fmt.Errorf("table %s: %w", def.name(), err))
	}}
	stored, ok := tx.Tablet(def.tabletID)
	if !ok {
		c.report(fmt.Errorf("tablet %d is missing", def.tabletID))
		return nil
	}
	if err := def.codec.CheckStored(stored.Schema()); err != nil {
		c.report(err)
		return nil
	}
	for _, x := range def.indexes {
		if _, ok := tx.Tablet(x.tabletID); !ok {
			c.report(fmt.Errorf("index %s: tablet %d is missing", x.record.Name, x.tabletID))
			return nil
		}
	}
	if err := c.rowsHaveEntries(); err != nil {
		return err
	}
	for _, x := range def.indexes {
		if err := c.entriesHaveRows(x); err != nil {
			return err
		}
	}
	return nil
}

// scan calls each for every row of a tablet at the check's epoch.
func (c *tableCheck) scan(id tablet.TabletID, each func(tablet.Row) error) error {
	it, err := c.tx.Scan(c.ctx, tablet.ScanSpec{Tablet: id})
	if err != nil {
		return err
	}
	for it.Next(c.ctx) {
		if err := each(it.Row()); err != nil {
			it.Close()
			return err
		}
	}
	if err := it.Err(); err != nil {
		it.Close()
		return err
	}
	return it.Close()
}

// rowsHaveEntries looks every row up in every index.
func (c *tableCheck) rowsHaveEntries() error {
	decoder := c.def.codec.newDecoder(nil, nil)
	schema := c.def.codec.RowSchema()
	return c.scan(c.def.tabletID, func(r tablet.Row) error {
		c.rows++
		if err := rowcodec.ValidateRow(schema, r.Value); err != nil {
			c.report(fmt.Errorf("row %x: %w", r.Key, err))
			return nil
		}
		row, err := decoder.Decode(r.Value)
		if err != nil {
			c.report(fmt.Errorf("row %x: %w", r.Key, err))
			return nil
		}
		if c.def.codec.HasPrimaryKey() {
			key, err := c.def.codec.PrimaryKey(nil, row)
			if err != nil || !bytes.Equal(key, r.Key) {
				c.report(fmt.Errorf("row %x is stored under a key that its columns don't give (%x)", r.Key, key))
			}
		}
		for _, x := range c.def.indexes {
			key, _, err := x.codec.Key(nil, row, r.Key)
			if err != nil {
				return err
			}
			found, ok, err := c.tx.Get(c.ctx, x.tabletID, key, tablet.ReadSnapshot)
			switch {
			case err != nil:
				return err
			case !ok:
				c.report(fmt.Errorf("index %s: entry %x of row %x is missing", x.record.Name, key, r.Key))
			case !bytes.Equal(x.codec.EntryPrimaryKey(found.Value), r.Key):
				c.report(fmt.Errorf("index %s: entry %x names row %x instead of row %x",
					x.record.Name, key, x.codec.EntryPrimaryKey(found.Value), r.Key))
			}
		}
		return nil
	})
}

// entriesHaveRows finds entries beyond those of the rows.
func (c *tableCheck) entriesHaveRows(x *indexDef) error {
	decoder := c.def.codec.newDecoder(nil, nil)
	return c.scan(x.tabletID, func(r tablet.Row) error {
		primaryKey := x.codec.EntryPrimaryKey(r.Value)
		found, ok, err := c.tx.Get(c.ctx, c.def.tabletID, primaryKey, tablet.ReadSnapshot)
		if err != nil {
			return err
		}
		if !ok {
			c.report(fmt.Errorf("index %s: entry %x names row %x, which does not exist", x.record.Name, r.Key, primaryKey))
			return nil
		}
		row, err := decoder.Decode(found.Value)
		if err != nil {
			return nil // reported with the row
		}
		key, _, err := x.codec.Key(nil, row, primaryKey)
		if err != nil {
			return err
		}
		if !bytes.Equal(key, r.Key) {
			c.report(fmt.Errorf("index %s: extra entry %x of row %x", x.record.Name, r.Key, primaryKey))
		}
		return nil
	})
}
