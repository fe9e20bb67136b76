package tablet

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"ksql/tablet/cfile"
	"ksql/tablet/rowcodec"
	"ksql/tablet/wal"
)

// TabletID names a tablet; never reissued within a folder.
type TabletID uint64

// Epoch numbers commits densely from 1.
type Epoch uint64

// maxEpoch reads the newest version of everything, published or not.
const maxEpoch = Epoch(math.MaxUint64)

// CatalogTabletID is the tablet that exists from the first open: one Bytes key
// column, one Bytes value column.
const CatalogTabletID TabletID = 1

// firstUserTablet leaves room for system tablets to come.
const firstUserTablet TabletID = 16

// catalogSchema is fixed for good: the catalog must be readable before anything else.
func catalogSchema() *rowcodec.Schema {
	return &rowcodec.Schema{
		Columns: []rowcodec.Column{
			{Kind: rowcodec.KindBytes, ID: 1},
			{Kind: rowcodec.KindBytes, ID: 2},
		},
		Key: []rowcodec.KeyColumn{{Kind: rowcodec.KindBytes}},
	}
}

// Counter slots of a tablet.
const (
	CounterAutoIncrement = 0
	CounterHiddenRowID   = 1
	counterSlots         = 2
)

// MaxKeySize is the largest encoded key in bytes: far above MySQL's 3072-byte keys
// with their collation weights.
const MaxKeySize = 64 << 10

// Tablet is one ordered set of rows: a table or a secondary index.
type Tablet struct {
	id     TabletID
	schema *rowcodec.Schema
	m      *Manager

	// mu guards the identity of the components. An op holds it shared from prepare
	// to apply; whoever swaps components holds it exclusively, shortly.
	mu           sync.RWMutex
	current      atomic.Pointer[version]
	dropped      atomic.Uint64 // epoch of the drop; 0 = alive
	created      Epoch         // epoch of the creation; 0 = before the last open
	inSuperBlock atomic.Bool   // the folder's superblock names it

	durable Epoch // every op with an epoch ≤ durable is in files; guarded by Manager.flushMu
	// anchor is the log position of the oldest op that is only in memory, plus one;
	// 0 = none. flushing is the anchor of what a running flush is writing.
	anchor, flushing atomic.Uint64

	live     atomic.Int64 // stored live rows
	counters [counterSlots]atomic.Uint64
	logged   [counterSlots]atomic.Uint64 // counter values that log or superblock hold
}

// ID is the tablet's id.
func (t *Tablet) ID() TabletID { return t.id }

// Schema is the immutable schema.
func (t *Tablet) Schema() *rowcodec.Schema { return t.schema }

// RowCount is the number of stored live rows, newest state.
func (t *Tablet) RowCount() int64 { return t.live.Load() }

// DataBytes is an estimate of the bytes in memory and on disk.
func (t *Tablet) DataBytes() int64 {
	v := t.acquire()
	defer v.release()
	n := v.memBytes()
	for _, d := range v.disk {
		n += d.size()
	}
	return n
}

// PeekCounter is the counter's value: the largest number issued so far.
func (t *Tablet) PeekCounter(slot int) uint64 { return t.counters[slot].Load() }

// NextCounter issues n numbers and returns the first: the counter goes from v to
// v+n, first is v+1. An error if that overflows. Issued numbers are durable with the
// next commit of anybody, and before any row of this tablet that is committed later.
func (t *Tablet) NextCounter(slot int, n uint64) (first uint64, err error) {
	for {
		v := t.counters[slot].Load()
		if v+n < v {
			return 0, fmt.Errorf("counter %d of tablet %d is exhausted at %d", slot, t.id, v)
		}
		if t.counters[slot].CompareAndSwap(v, v+n) {
			t.m.counterMoved(t)
			return v + 1, nil
		}
	}
}

// RaiseCounter lifts the counter to atLeast if it is lower.
func (t *Tablet) RaiseCounter(slot int, atLeast uint64) {
	for {
		v := t.counters[slot].Load()
		if v >= atLeast {
			return
		}
		if t.counters[slot].CompareAndSwap(v, atLeast) {
			t.m.counterMoved(t)
			return
		}
	}
}

func raise(a *atomic.Uint64, to uint64) {
	for v := a.Load(); v < to && !a.CompareAndSwap(v, to); v = a.Load() {
	}
}

// bloomHash hashes the part of a key that bloom filters know.
func (t *Tablet) bloomHash(key []byte, keyHash uint64) uint64 {
	if t.schema.BloomColumns == 0 {
		return keyHash
	}
	n, err := rowcodec.KeyPrefixLen(key, t.schema.Key, t.schema.BloomColumns)
	if err != nil {
		return keyHash
	}
	return cfile.HashKey(key[:n])
}

// hold makes the log keep everything from lsn on until the next flush, if it is not
// held from an earlier place already.
func (t *Tablet) hold(lsn wal.LSN) { t.anchor.CompareAndSwap(0, uint64(lsn)+1) }

// aliveAt tells whether a reader of epoch e sees the tablet.
func (t *Tablet) aliveAt(e Epoch) bool {
	d := Epoch(t.dropped.Load())
	return t.created <= e && (d == 0 || d > e)
}
