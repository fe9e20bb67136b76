package tablet

import (
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

// Iterator yields the rows of a scan. It must be closed.
type Iterator struct{}

// Next moves to the next row.
func (it *Iterator) Next(ctx context.Context) bool { panic("skeleton") }

// Row is the current row; valid until Next.
func (it *Iterator) Row() Row { panic("skeleton") }

// Err is the error that ended the scan.
func (it *Iterator) Err() error { panic("skeleton") }

// Close releases the components that the scan holds.
func (it *Iterator) Close() error { panic("skeleton") }
