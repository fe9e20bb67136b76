package tablet

import (
	"bytes"
	"context"

	"ksql/tablet/rowcodec"
)

// ReadMode says at which epoch a read looks. The transaction's own overlay is
// always merged in.
type ReadMode uint8

const (
	// ReadSnapshot is a plain SELECT: the transaction's snapshot under
	// RepeatableRead, the statement's epoch under ReadCommitted.
	ReadSnapshot ReadMode = iota
	// ReadStatement is DML: the statement's epoch.
	ReadStatement
	// ReadNewest is a read of rows that are locked: the newest version.
	ReadNewest
)

// Row is one row found by Get or Scan.
type Row struct {
	Key   []byte
	Value rowcodec.Row
	Ref   RowRef
	Epoch Epoch // of the version; see Probe.Epoch
}

// PredicateOp compares a column with a constant.
type PredicateOp uint8

const (
	PredEqual PredicateOp = iota
	PredLess
	PredLessEqual
	PredGreater
	PredGreaterEqual
	PredIsNull
	PredIsNotNull
)

// Predicate prunes vectors by their zone maps. It never removes a row for certain:
// rows that fail it may still come. On Bytes columns with a collation it prunes
// nothing.
type Predicate struct {
	Column int
	Op     PredicateOp
	Value  rowcodec.Datum
}

// ScanSpec describes one scan.
type ScanSpec struct {
	Tablet       TabletID
	Lower, Upper []byte // encoded keys, [Lower, Upper); nil = open
	Reverse      bool
	Mode         ReadMode
	Projection   []int // columns that must be filled; nil = all
	Predicates   []Predicate
	// Unordered allows any order of rows: components are read one after the other.
	Unordered bool
	// OwnStatement shows the statement's own writes (foreign key checks, triggers).
	// Otherwise a scan ignores them (Halloween rule).
	OwnStatement bool
}

// Iterator yields the rows of a scan: the components of one version of the tablet
// merged by key, with the transaction's own writes on top. It must be closed.
type Iterator struct {
	tx      *Transaction
	v       *version
	epoch   Epoch
	pinned  bool // epoch is registered for the iterator
	reverse bool
	ordered bool
	own     *overlaySource
	sources []scanSource // components; each key is visible in at most one of them
	row     Row
	rows    uint64
	err     error
}

// scanSource is one component of a scan, positioned on a row.
type scanSource interface {
	// next moves to the next visible row; false at the end or on an error.
	next() (bool, error)
	key() []byte
	row() (Row, error)
}

// Scan starts a scan. Its epoch and components are fixed here; flushes, commits of
// others and later statements of the transaction do not change what it yields.
func (tx *Transaction) Scan(ctx context.Context, spec ScanSpec) (*Iterator, error) {
	t, err := tx.tablet(spec.Tablet)
	if err != nil {
		return nil, err
	}
	it := &Iterator{tx: tx, epoch: tx.epochOf(spec.Mode), reverse: spec.Reverse, ordered: !spec.Unordered}
	if spec.Mode != ReadNewest {
		tx.m.mvcc.acquire(it.epoch)
		it.pinned = true
	}
	if it.v, err = tx.components(t); err != nil {
		if it.pinned {
			tx.m.mvcc.release(it.epoch)
		}
		return nil, err
	}
	tx.m.counters.scans.Add(1)
	if to := tx.overlay.tablets[spec.Tablet]; to != nil && len(to.list) > 0 {
		own := newOverlaySource(to, &spec, tx.hides(spec.OwnStatement))
		if ok, _ := own.next(); ok { // it can't fail
			it.own = own
		}
	}
	for _, s := range it.v.scanSources(t, &spec, it.epoch) {
		if err := it.advance(s); err != nil {
			return nil, closeAfter(it, err)
		}
	}
	return it, nil
}

// advance moves a source and puts it back into the merge unless it has ended.
func (it *Iterator) advance(s scanSource) error {
	ok, err := s.next()
	if ok {
		it.sources = append(it.sources, s)
	}
	return err
}

// Next moves to the next row. ctx is looked at every 256 rows.
func (it *Iterator) Next(ctx context.Context) bool {
	if it.err != nil || it.v == nil {
		return false
	}
	if it.rows%256 == 0 {
		if it.err = context.Cause(ctx); it.err != nil {
			return false
		}
	}
	ok, err := it.step()
	if err != nil {
		it.err = err
		return false
	}
	if ok {
		it.rows++
	}
	return ok
}

// step yields the next row of the merge. An own write hides the stored row under its
// key; an own delete yields nothing.
func (it *Iterator) step() (bool, error) {
	for {
		i := it.least()
		if it.own == nil && i < 0 {
			return false, nil
		}
		order := -1
		if i >= 0 {
			order = 1
			if it.own != nil {
				order = it.compare(it.own.key(), it.sources[i].key())
			}
		}
		if order > 0 {
			var err error
			it.row, err = it.sources[i].row()
			if err == nil {
				err = it.drop(i)
			}
			return err == nil, err
		}
		if order == 0 {
			if err := it.drop(i); err != nil {
				return false, err
			}
		}
		row, deleted := it.own.take()
		if ok, _ := it.own.next(); !ok {
			it.own = nil
		}
		if !deleted {
			it.row = row
			return true, nil
		}
	}
}

// least is the index of the source with the next key, -1 if all have ended. Without
// order it is the first one, unless own writes must be matched by key.
func (it *Iterator) least() int {
	best := -1
	for i, s := range it.sources {
		if best < 0 || it.compare(s.key(), it.sources[best].key()) < 0 {
			best = i
		}
		if !it.ordered && it.own == nil {
			break
		}
	}
	return best
}

func (it *Iterator) compare(a, b []byte) int {
	c := bytes.Compare(a, b)
	if it.reverse {
		return -c
	}
	return c
}

// drop moves source i on, whose row was taken. The row that was taken stays valid:
// sources hand out rows that moving does not overwrite.
func (it *Iterator) drop(i int) error {
	ok, err := it.sources[i].next()
	if !ok {
		it.sources = append(it.sources[:i], it.sources[i+1:]...)
	}
	return err
}

// Row is the current row; valid until Next. It must not be changed.
func (it *Iterator) Row() Row { return it.row }

// Err is the error that ended the scan.
func (it *Iterator) Err() error { return it.err }

// Close releases the components that the scan holds. A second Close does nothing.
func (it *Iterator) Close() error {
	if it.v == nil {
		return nil
	}
	it.tx.m.counters.rowsScanned.Add(it.rows)
	it.sources, it.own = nil, nil
	it.v.release()
	it.v = nil
	if it.pinned {
		it.tx.m.mvcc.release(it.epoch)
	}
	return nil
}
