package catalog

import (
	"bytes"
	"fmt"
	"io"

	"github.com/dolthub/go-mysql-server/sql"

	"ksql/tablet"
	"ksql/tablet/rowcodec"
)

// rowIter reads one partition. What it does with a row that the scan finds
// depends on the read:
//
//	plain read       the row as it is at the read's epoch
//	locking read     lock the row's key, read its newest version, leave it out
//	                 if that is not in the range any more
//
// Locking reads are SELECT … FOR UPDATE and FOR SHARE, foreign key checks, and
// those scans of a DML statement's target tables that name rows by a full key,
// whose row others refer to, or that have been restarted too often.
type rowIter struct {
	table     *Table
	partition partition

	session *Session
	def     *tableDef
	tx      *Transaction
	decoder *rowDecoder
	full    *rowDecoder // all columns, to find a changed row's index key
	lock    lockRequest
	mode    tablet.ReadMode
	own     bool // show the running statement's writes
	keyless bool // remember row ids for the statement's editors
	open    bool
	next    int // next range, in scan direction
	current keyRange
	scan    *tablet.Iterator
	// collect: all rows of a range are taken before the first is returned,
	// because the scan shows what the statement goes on to write.
	collect   bool
	collected []tablet.Row
	rows      int
}

// start decides how to read.
func (it *rowIter) start(ctx *sql.Context) error {
	t := it.table
	if it.session = sessionOf(ctx); it.session == nil {
		return errNotSupported("reading tables outside a ksql session")
	}
	tx, err := it.session.begun(ctx)
	if err != nil {
		return err
	}
	it.open, it.tx, it.def = true, tx, t.def()
	// A DDL statement reads tablets that it has filled itself.
	it.own = t.ownStatement || it.session.ddl != nil
	if it.def.changedAt > 0 && !it.def.temporary {
		if e := tx.tablet.SnapshotEpoch(); e != 0 && e < it.def.changedAt && it.session.readMode() == tablet.ReadSnapshot {
			return errTableDefinitionChanged()
		}
	}
	it.lock, it.mode = t.lock, it.session.readMode()
	_, target := it.session.statement.targets[it.def.tabletID]
	switch {
	case it.lock.active:
	case t.newest:
		it.lock = lockRequest{active: true, mode: tablet.LockExclusive}
		if t.reference {
			it.lock.mode = tablet.LockShared
		}
	case target && it.lockTargets():
		it.lock = lockRequest{active: true, mode: tablet.LockExclusive}
	}
	if it.lock.active {
		it.mode = tablet.ReadStatement
		if t.newest {
			it.mode = tablet.ReadNewest
		}
	}
	it.collect = t.ownStatement && (target || t.newest) && !t.reference
	it.keyless = !it.def.codec.HasPrimaryKey() && (target || t.newest)
	it.decoder = it.def.codec.newDecoder(ctx, t.projection)
	return nil
}

// Next returns the next row.
func (it *rowIter) Next(ctx *sql.Context) (sql.Row, error) {
	if !it.open {
		if err := it.start(ctx); err != nil {
			return nil, translate(err)
		}
	}
	for {
		row, ok, err := it.step(ctx)
		if err != nil {
			return nil, translate(err)
		}
		if ok {
			return row, nil
		}
	}
}

// step returns the next row, or ok=false when a row was left out.
func (it *rowIter) step(ctx *sql.Context) (sql.Row, bool, error) {
	if len(it.collected) > 0 {
		found := it.collected[0]
		it.collected = it.collected[1:]
		return it.found(ctx, found)
	}
	if it.scan == nil {
		if it.next == len(it.partition.ranges) {
			return nil, false, io.EOF
		}
		if err := it.openRange(ctx); err != nil {
			return nil, false, err
		}
		if it.scan == nil {
			return it.point(ctx)
		}
		if it.collect {
			return nil, false, it.collectRange(ctx)
		}
	}
	if !it.scan.Next(tabletContext(ctx)) {
		err := it.scan.Err()
		if cerr := it.scan.Close(); err == nil {
			err = cerr
		}
		it.scan = nil
		return nil, false, err
	}
	if it.rows++; it.rows%1024 == 0 {
		if err := contextError(ctx); err != nil {
			return nil, false, err
		}
	}
	return it.found(ctx, it.scan.Row())
}

// found turns what the scan has found, a row or an index entry, into a row.
func (it *rowIter) found(ctx *sql.Context, found tablet.Row) (sql.Row, bool, error) {
	if it.partition.index == nil {
		return it.produce(ctx, found)
	}
	return it.byEntry(ctx, it.partition.index.codec.EntryPrimaryKey(found.Value))
}

// collectRange takes all rows of the open scan.
func (it *rowIter) collectRange(ctx *sql.Context) error {
	for it.scan.Next(tabletContext(ctx)) {
		r := it.scan.Row()
		r.Key, r.Value = bytes.Clone(r.Key), bytes.Clone(r.Value)
		it.collected = append(it.collected, r)
	}
	err := it.scan.Err()
	if cerr := it.scan.Close(); err == nil {
		err = cerr
	}
	it.scan = nil
	return err
}

// openRange starts the scan of the next range. A full key needs none: it is
// left to point, with scan nil.
func (it *rowIter) openRange(ctx *sql.Context) error {
	i := it.next
	if it.partition.reverse {
		i = len(it.partition.ranges) - 1 - it.next
	}
	it.next++
	it.current = it.partition.ranges[i]
	if it.current.FullKey {
		return nil
	}
	spec := tablet.ScanSpec{
		Tablet:       it.def.tabletID,
		Lower:        it.current.Lower,
		Upper:        it.current.Upper,
		Reverse:      it.partition.reverse,
		Mode:         it.mode,
		OwnStatement: it.own,
	}
	if it.partition.index != nil {
		spec.Tablet = it.partition.index.tabletID
	} else if it.table.projection != nil && !it.lock.active && !it.keyless {
		spec.Projection = it.table.projection
	}
	var err error
	it.scan, err = it.tx.tablet.Scan(tabletContext(ctx), spec)
	return err
}

// point reads the one row of a full key.
func (it *rowIter) point(ctx *sql.Context) (sql.Row, bool, error) {
	key := it.current.Lower
	if x := it.partition.index; x != nil {
		return it.pointEntry(ctx, x, key)
	}
	if it.lock.active {
		return it.locked(ctx, key)
	}
	found, ok, err := it.get(ctx, it.def.tabletID, key)
	if err != nil || !ok {
		return nil, false, err
	}
	return it.produce(ctx, found)
}

// pointEntry reads the row of a full unique key. A locking read locks the row
// that has the key now; if it has lost it meanwhile, another may have it.
func (it *rowIter) pointEntry(ctx *sql.Context, x *indexDef, key []byte) (sql.Row, bool, error) {
	var last []byte
	for {
		entry, ok, err := it.get(ctx, x.tabletID, key)
		if err != nil || !ok {
			return nil, false, err
		}
		primaryKey := bytes.Clone(x.codec.EntryPrimaryKey(entry.Value))
		if bytes.Equal(primaryKey, last) {
			return nil, false, nil // SKIP LOCKED, or gone and not replaced
		}
		row, ok, err := it.byEntry(ctx, primaryKey)
		if err != nil || ok || !it.lock.active {
			return row, ok, err
		}
		last = primaryKey
	}
}

// byEntry reads the row that an index entry names.
func (it *rowIter) byEntry(ctx *sql.Context, primaryKey []byte) (sql.Row, bool, error) {
	key := bytes.Clone(primaryKey)
	if it.lock.active {
		return it.locked(ctx, key)
	}
	found, ok, err := it.get(ctx, it.def.tabletID, key)
	if err != nil {
		return nil, false, err
	}
	if !ok {
		return nil, false, errIndexDamaged(it.def.record.Name, it.partition.index.record.Name)
	}
	return it.produce(ctx, found)
}

// produce turns a stored row into the statement's.
func (it *rowIter) produce(ctx *sql.Context, found tablet.Row) (sql.Row, bool, error) {
	if it.lock.active {
		return it.locked(ctx, bytes.Clone(found.Key))
	}
	return it.decode(ctx, found)
}

// decode applies the partition's filter and returns the projected row.
func (it *rowIter) decode(ctx *sql.Context, found tablet.Row) (sql.Row, bool, error) {
	if it.partition.filter != nil {
		row, err := it.whole(ctx, found.Value)
		if err != nil {
			return nil, false, err
		}
		if ok, err := sql.EvaluateCondition(ctx, it.partition.filter, row); err != nil || !sql.IsTrue(ok) {
			return nil, false, err
		}
	}
	if it.keyless {
		it.session.rememberRow(it.def, found.Key, found.Value)
	}
	row, err := it.decoder.Decode(found.Value)
	if err != nil {
		return nil, false, fmt.Errorf("table %s: %w", it.def.name(), err)
	}
	return row, true, nil
}

// whole decodes all columns of a row.
func (it *rowIter) whole(ctx *sql.Context, value rowcodec.Row) (sql.Row, error) {
	if it.full == nil {
		it.full = it.def.codec.newDecoder(ctx, nil)
	}
	return it.full.Decode(value)
}

// Close ends the scan.
func (it *rowIter) Close(*sql.Context) error {
	it.next = len(it.partition.ranges)
	if it.scan == nil {
		return nil
	}
	err := it.scan.Close()
	it.scan = nil
	return translate(err)
}
