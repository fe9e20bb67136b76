package tablet

import (
	"context"
	"time"

	"ksql/tablet/rowcodec"
)

// ReadLevel is the isolation level that a statement reads at.
type ReadLevel uint8

const (
	RepeatableRead ReadLevel = iota
	ReadCommitted
)

// TxOptions of Begin.
type TxOptions struct {
	ReadOnly bool // refuse writes
}

// Mark is a position in the transaction's undo list.
type Mark struct{ undo int }

// Transaction is one unit of work over any number of tablets. It is used by one
// goroutine at a time and must end in Commit or Rollback.
type Transaction struct{}

// StartStatement picks the statement's epoch (the newest published one). The first
// consistent read under RepeatableRead pins that epoch as the snapshot.
func (tx *Transaction) StartStatement(level ReadLevel) { panic("skeleton") }

// PinSnapshot pins the newest published epoch now (WITH CONSISTENT SNAPSHOT).
func (tx *Transaction) PinSnapshot() { panic("skeleton") }

// StatementEpoch is the epoch that the current statement reads.
func (tx *Transaction) StatementEpoch() Epoch { panic("skeleton") }

// SnapshotEpoch is the pinned snapshot; 0 if none is pinned yet.
func (tx *Transaction) SnapshotEpoch() Epoch { panic("skeleton") }

// Get reads one row by its full key.
func (tx *Transaction) Get(ctx context.Context, id TabletID, key []byte, mode ReadMode) (Row, bool, error) {
	panic("skeleton")
}

// Scan starts a scan.
func (tx *Transaction) Scan(ctx context.Context, spec ScanSpec) (*Iterator, error) { panic("skeleton") }

// Probe finds the newest state of keys in one batch; out has the length of keys.
func (tx *Transaction) Probe(ctx context.Context, id TabletID, keys [][]byte, out []Probe) error {
	panic("skeleton")
}

// LastBatch is what the last Probe has cost.
func (tx *Transaction) LastBatch() BatchCounters { panic("skeleton") }

// LockKeys locks keys to the end of the transaction. wait 0 does not wait
// (ErrLockNowait), a negative wait means Options.LockWait.
func (tx *Transaction) LockKeys(ctx context.Context, id TabletID, keys [][]byte, mode LockMode, wait time.Duration) error {
	panic("skeleton")
}

// Write puts one row operation into the overlay. The key must be locked
// exclusively by this transaction.
func (tx *Transaction) Write(id TabletID, op RowOp) error { panic("skeleton") }

// Mark remembers the present state of the transaction's writes.
func (tx *Transaction) Mark() Mark { panic("skeleton") }

// UndoTo takes back every write since m. Locks stay.
func (tx *Transaction) UndoTo(m Mark) { panic("skeleton") }

// CreateTablet makes a tablet that this transaction can use at once and that
// exists for others after commit.
func (tx *Transaction) CreateTablet(schema *rowcodec.Schema) (TabletID, error) { panic("skeleton") }

// DropTablet drops a tablet at commit; running snapshots keep reading it.
func (tx *Transaction) DropTablet(id TabletID) error { panic("skeleton") }

// SetCounter sets a counter at commit, also to a lower value.
func (tx *Transaction) SetCounter(id TabletID, slot int, value uint64) error { panic("skeleton") }

// Tablet finds a tablet as this transaction sees it, own creations included.
func (tx *Transaction) Tablet(id TabletID) (*Tablet, bool) { panic("skeleton") }

// Commit makes all writes durable and visible at one epoch, or none of them.
// Whatever it returns, the transaction is finished and its locks are released.
func (tx *Transaction) Commit(ctx context.Context) (Epoch, error) { panic("skeleton") }

// Rollback drops all writes and locks. After Commit it does nothing.
func (tx *Transaction) Rollback() { panic("skeleton") }

// HasWrites tells whether the overlay holds anything to commit.
func (tx *Transaction) HasWrites() bool { panic("skeleton") }

// ID numbers transactions of this Manager from 1.
func (tx *Transaction) ID() uint64 { panic("skeleton") }
