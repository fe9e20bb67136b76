package tablet

import "ksql/tablet/rowcodec"

// TabletID names a tablet; never reissued within a folder.
type TabletID uint64

// Epoch numbers commits densely from 1.
type Epoch uint64

// CatalogTabletID is the tablet that exists from the first open: one Bytes key
// column, one Bytes value column.
const CatalogTabletID TabletID = 1

// Counter slots of a tablet.
const (
	CounterAutoIncrement = 0
	CounterHiddenRowID   = 1
	counterSlots         = 2
)

// Tablet is one ordered set of rows: a table or a secondary index.
type Tablet struct {
	id     TabletID
	schema *rowcodec.Schema
}

// ID is the tablet's id.
func (t *Tablet) ID() TabletID { return t.id }

// Schema is the immutable schema.
func (t *Tablet) Schema() *rowcodec.Schema { return t.schema }

// RowCount is the number of stored live rows, newest state.
func (t *Tablet) RowCount() int64 { panic("skeleton") }

// DataBytes is an estimate of the bytes in memory and on disk.
func (t *Tablet) DataBytes() int64 { panic("skeleton") }

// PeekCounter is the counter's value: the largest number issued so far.
func (t *Tablet) PeekCounter(slot int) uint64 { panic("skeleton") }

// NextCounter issues n numbers and returns the first: the counter goes from v to
// v+n, first is v+1. An error if that overflows.
func (t *Tablet) NextCounter(slot int, n uint64) (first uint64, err error) { panic("skeleton") }

// RaiseCounter lifts the counter to atLeast if it is lower.
func (t *Tablet) RaiseCounter(slot int, atLeast uint64) { panic("skeleton") }
