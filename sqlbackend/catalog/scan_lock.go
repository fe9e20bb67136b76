package catalog

import (
	"bytes"
	"errors"

	"github.com/dolthub/go-mysql-server/sql"

	"ksql/tablet"
	"ksql/tablet/rowcodec"
)

// lockTargets tells whether rows of a DML statement's target table are locked
// before they are read.
func (it *rowIter) lockTargets() bool {
	if it.session.statement.lockScans {
		return true
	}
	for _, r := range it.partition.ranges {
		if !r.FullKey {
			return len(it.session.definitions().referencing(it.def.record.Database, it.def.record.Name)) > 0
		}
	}
	return true
}

// get reads one row by its key. It does not show what the running statement has
// written, as scans don't (a row of an UPDATE join may be looked up again after
// its change), unless the read is to see it.
func (it *rowIter) get(ctx *sql.Context, id tablet.TabletID, key []byte) (tablet.Row, bool, error) {
	mode := it.mode
	if it.lock.active {
		mode = tablet.ReadNewest
	}
	if it.own || !it.session.statement.writes(it.def.tabletID) {
		return it.tx.tablet.Get(tabletContext(ctx), id, key, mode)
	}
	scan, err := it.tx.tablet.Scan(tabletContext(ctx), tablet.ScanSpec{
		Tablet: id, Lower: key, Upper: append(bytes.Clone(key), 0), Mode: mode,
	})
	if err != nil {
		return tablet.Row{}, false, err
	}
	var found tablet.Row
	ok := scan.Next(tabletContext(ctx))
	if ok {
		found = scan.Row()
		found.Key, found.Value = key, bytes.Clone(found.Value)
	}
	err = scan.Err()
	if cerr := scan.Close(); err == nil {
		err = cerr
	}
	return found, ok && err == nil, err
}

// lockKey locks one key; ok is false if SKIP LOCKED leaves it out.
func (it *rowIter) lockKey(ctx *sql.Context, id tablet.TabletID, key []byte) (ok bool, err error) {
	err = it.tx.tablet.LockKeys(tabletContext(ctx), id, [][]byte{key}, it.lock.mode, it.lock.wait(it.session))
	if errors.Is(err, tablet.ErrLockNowait) && it.lock.skip {
		return false, nil
	}
	return err == nil, err
}

// locked locks a row by its primary key and returns its newest version if
// there is one that still belongs to the range.
func (it *rowIter) locked(ctx *sql.Context, key []byte) (sql.Row, bool, error) {
	if ok, err := it.lockKey(ctx, it.def.tabletID, key); err != nil || !ok {
		return nil, false, err
	}
	found, ok, err := it.get(ctx, it.def.tabletID, key)
	if err != nil || !ok {
		return nil, false, err
	}
	found.Key = key
	if x := it.partition.index; x != nil {
		ok, err := it.inRange(ctx, x, key, found.Value)
		if err != nil || !ok {
			return nil, false, err
		}
	}
	return it.decode(ctx, found)
}

// inRange tells whether a row's index key is in the range that is being read.
func (it *rowIter) inRange(ctx *sql.Context, x *indexDef, primaryKey []byte, value rowcodec.Row) (bool, error) {
	row, err := it.whole(ctx, value)
	if err != nil {
		return false, err
	}
	key, _, err := x.codec.Key(ctx, row, primaryKey)
	if err != nil {
		return false, err
	}
	return bytes.Compare(key, it.current.Lower) >= 0 &&
		(it.current.Upper == nil || bytes.Compare(key, it.current.Upper) < 0), nil
}
