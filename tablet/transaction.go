package tablet

import (
	"context"
	"fmt"
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
type Transaction struct {
	m        *Manager
	id       uint64
	readOnly bool
	done     bool

	level     ReadLevel
	statement uint32 // number of the current statement, from 1
	stmtEpoch Epoch
	stmtOpen  bool
	snapshot  Epoch
	pinned    bool

	locks   []uint64 // lock ids held
	lockBuf []uint64
	overlay overlay
	batch   BatchCounters

	lastID  TabletID // one-entry cache of tablet look-ups
	lastTab *Tablet
}

// Begin starts a transaction.
func (m *Manager) Begin(o TxOptions) *Transaction {
	return &Transaction{m: m, id: m.nextTx.Add(1), readOnly: o.ReadOnly || m.options.ReadOnly}
}

// ID numbers transactions of this Manager from 1.
func (tx *Transaction) ID() uint64 { return tx.id }

// StartStatement picks the statement's epoch (the newest published one) and starts
// a new statement number for the Halloween rule. The first consistent read under
// RepeatableRead pins that epoch as the snapshot.
func (tx *Transaction) StartStatement(level ReadLevel) {
	if tx.done {
		return
	}
	tx.endStatement()
	tx.level = level
	tx.statement++
	tx.stmtEpoch = tx.m.mvcc.openNewest()
	tx.stmtOpen = true
}

func (tx *Transaction) endStatement() {
	if tx.stmtOpen {
		tx.m.mvcc.release(tx.stmtEpoch)
		tx.stmtOpen = false
	}
}

// PinSnapshot pins the newest published epoch now (WITH CONSISTENT SNAPSHOT), unless
// a snapshot is pinned already.
func (tx *Transaction) PinSnapshot() {
	if tx.done || tx.pinned {
		return
	}
	tx.snapshot = tx.m.mvcc.openNewest()
	tx.pinned = true
}

// StatementEpoch is the epoch that the current statement reads.
func (tx *Transaction) StatementEpoch() Epoch { return tx.stmtEpoch }

// SnapshotEpoch is the pinned snapshot; 0 if none is pinned yet.
func (tx *Transaction) SnapshotEpoch() Epoch { return tx.snapshot }

// epochOf says at which epoch a read looks and pins the snapshot if it must.
func (tx *Transaction) epochOf(mode ReadMode) Epoch {
	if mode == ReadNewest {
		return tx.m.newestReadable()
	}
	if !tx.stmtOpen {
		tx.StartStatement(tx.level)
	}
	if mode == ReadStatement || tx.level == ReadCommitted {
		return tx.stmtEpoch
	}
	if !tx.pinned {
		tx.m.mvcc.acquire(tx.stmtEpoch)
		tx.snapshot, tx.pinned = tx.stmtEpoch, true
	}
	return tx.snapshot
}

// Tablet finds a tablet as this transaction sees it: own creations included, own
// drops not, and dropped ones as long as its snapshot is older than the drop.
func (tx *Transaction) Tablet(id TabletID) (*Tablet, bool) {
	t, err := tx.tablet(id)
	return t, err == nil
}

func (tx *Transaction) tablet(id TabletID) (*Tablet, error) {
	if tx.done {
		return nil, ErrTransactionDone
	}
	if tx.lastTab != nil && tx.lastID == id && tx.lastTab.dropped.Load() == 0 {
		return tx.lastTab, nil
	}
	if to := tx.overlay.tablets[id]; to != nil {
		if to.dropped {
			return nil, fmt.Errorf("tablet %d: %w", id, ErrTabletNotFound)
		}
		if to.created {
			return to.t, nil
		}
	}
	t := tx.m.lookup(id)
	if tx.m.shutDown.Load() {
		return nil, ErrClosed
	}
	if t == nil || t.dropped.Load() != 0 && !t.aliveAt(tx.oldestRead()) {
		return nil, fmt.Errorf("tablet %d: %w", id, ErrTabletNotFound)
	}
	tx.lastID, tx.lastTab = id, t
	return t, nil
}

// components captures the present version of a tablet. Errors: ErrClosed.
func (tx *Transaction) components(t *Tablet) (*version, error) {
	v := t.acquire()
	if tx.m.shutDown.Load() { // v may be the nothing that Close has left
		v.release()
		return nil, ErrClosed
	}
	return v, nil
}

func (tx *Transaction) oldestRead() Epoch {
	switch {
	case tx.pinned:
		return tx.snapshot
	case tx.stmtOpen:
		return tx.stmtEpoch
	}
	return tx.m.Published()
}

// hides is the statement number whose writes a read must not see.
func (tx *Transaction) hides(ownStatement bool) uint32 {
	if ownStatement {
		return 0
	}
	return tx.statement
}

// Get reads one row by its full key. It sees the transaction's own writes, those of
// the running statement included. Errors: ErrTabletNotFound, *CorruptionError.
func (tx *Transaction) Get(ctx context.Context, id TabletID, key []byte, mode ReadMode) (Row, bool, error) {
	t, err := tx.tablet(id)
	if err != nil {
		return Row{}, false, err
	}
	e := tx.epochOf(mode)
	hash := hashKey(key)
	if r := tx.overlay.tablets[id].find(key, hash); r != nil {
		if row, found, ok := r.read(mode); ok {
			return row, found, nil
		}
	}
	v, err := tx.components(t)
	if err != nil {
		return Row{}, false, err
	}
	defer v.release()
	var c BatchCounters
	row, found, err := v.get(t, key, hash, e, &c)
	tx.m.counters.gets.Add(1)
	tx.m.counters.addProbe(&c)
	return row, found, err
}

// read answers from the overlay if it can: from an own image, or, for a read of the
// newest state, from a known base.
func (r *overlayRow) read(mode ReadMode) (row Row, found, ok bool) {
	if w := r.head; w != nil {
		return Row{Key: r.key, Value: w.row, Ref: r.ref, Epoch: r.epoch}, w.row != nil, true
	}
	if mode != ReadNewest {
		return Row{}, false, false
	}
	switch {
	case r.base == baseAbsent:
		return Row{}, false, true
	case r.base == basePresent && r.image != nil:
		return Row{Key: r.key, Value: r.image, Ref: r.ref, Epoch: r.epoch}, true, true
	}
	return Row{}, false, false
}

// Probe finds the newest state of keys in one batch; out has the length of keys. A
// key that this transaction has locked is probed once in its life: its location
// stays in the overlay. Answers for keys that are not locked may be stale at once.
func (tx *Transaction) Probe(ctx context.Context, id TabletID, keys [][]byte, out []Probe) error {
	t, err := tx.tablet(id)
	if err != nil {
		return err
	}
	if len(out) != len(keys) {
		return fmt.Errorf("probe: %d answers for %d keys", len(out), len(keys))
	}
	tx.batch = BatchCounters{}
	to := tx.overlay.tablets[id]
	ask := make([]probeKey, 0, len(keys))
	for i, key := range keys {
		hash := hashKey(key)
		out[i] = Probe{}
		if r := to.find(key, hash); r != nil && r.settle(&out[i]) {
			tx.batch.OverlayHits++
			continue
		}
		ask = append(ask, probeKey{key: key, hash: hash, at: i})
	}
	tx.batch.Keys = tx.batch.OverlayHits
	limit := tx.m.newestReadable()
	v, err := tx.components(t)
	if err != nil {
		return err
	}
	err = v.probe(t, ask, out, limit, &tx.batch)
	v.release()
	tx.m.counters.probeBatches.Add(1)
	tx.m.counters.addProbe(&tx.batch)
	if err != nil {
		return err
	}
	if len(tx.locks) == 0 {
		return nil
	}
	to = tx.overlay.tablet(t)
	for i := range ask {
		k := &ask[i]
		if !tx.m.locks.holds(tx.id, lockID(id, k.hash), LockShared) {
			continue
		}
		r := to.find(k.key, k.hash)
		if r == nil {
			r = to.add(k.key, k.hash)
		}
		r.setBase(&out[k.at])
	}
	return nil
}

// settle answers a probe from what the transaction knows.
func (r *overlayRow) settle(out *Probe) bool {
	row, found, ok := r.read(ReadNewest)
	if ok {
		*out = Probe{Found: found, Row: row.Value, Ref: row.Ref, Epoch: row.Epoch}
	}
	return ok
}

// LastBatch is what the last Probe has cost.
func (tx *Transaction) LastBatch() BatchCounters { return tx.batch }

// LockKeys locks keys to the end of the transaction, present or absent. wait 0 does
// not wait (ErrLockNowait), a negative wait means Options.LockWait, whose end gives
// ErrLockWaitTimeout. Locks are re-entrant; shared ones are upgraded. After an error
// those of the keys that were granted stay locked.
func (tx *Transaction) LockKeys(ctx context.Context, id TabletID, keys [][]byte, mode LockMode, wait time.Duration) error {
	if tx.done {
		return ErrTransactionDone
	}
	if wait < 0 {
		wait = tx.m.options.LockWait
	}
	ids := tx.lockBuf[:0]
	for _, k := range keys {
		ids = append(ids, lockID(id, hashKey(k)))
	}
	tx.lockBuf = ids
	var err error
	tx.locks, err = tx.m.locks.acquire(ctx, tx.id, ids, mode, wait, tx.locks)
	if err != nil {
		return fmt.Errorf("lock rows of tablet %d: %w", id, err)
	}
	return nil
}

// Write puts one row operation into the overlay. The key must be locked exclusively
// by this transaction (ErrKeyNotLocked). If the key's state is known (probed, or
// written before), ErrKeyExists and ErrKeyNotFound come back here; otherwise the
// state is probed at commit, in one batch with the others.
func (tx *Transaction) Write(id TabletID, op RowOp) error {
	t, err := tx.tablet(id)
	if err != nil {
		return err
	}
	if tx.readOnly {
		return ErrReadOnly
	}
	if err := checkOp(&op); err != nil {
		return err
	}
	hash := hashKey(op.Key)
	if !tx.m.locks.holds(tx.id, lockID(id, hash), LockExclusive) {
		return fmt.Errorf("write to tablet %d: %w", id, ErrKeyNotLocked)
	}
	to := tx.overlay.tablet(t)
	r := to.find(op.Key, hash)
	if r == nil {
		r = to.add(op.Key, hash)
	}
	if r.base == baseUnknown {
		switch {
		case op.Absent || to.created:
			r.base = baseAbsent
		case !op.Ref.IsZero():
			r.base, r.ref = basePresent, op.Ref
		}
	}
	if present, known := r.present(); known {
		if op.Type == OpInsert && present {
			return fmt.Errorf("insert into tablet %d: %w", id, ErrKeyExists)
		}
		if (op.Type == OpUpdate || op.Type == OpDelete) && !present {
			return fmt.Errorf("%v in tablet %d: %w", op.Type, id, ErrKeyNotFound)
		}
	}
	tx.overlay.push(r, op.Type, op.Row, tx.statement)
	return nil
}

func checkOp(op *RowOp) error {
	if len(op.Key) > MaxKeySize {
		return fmt.Errorf("key of %d bytes: %w", len(op.Key), ErrTooLarge)
	}
	if len(op.Row) > rowcodec.MaxRowSize {
		return fmt.Errorf("row of %d bytes: %w", len(op.Row), ErrTooLarge)
	}
	switch op.Type {
	case OpInsert, OpUpdate, OpUpsert:
		if op.Row == nil {
			return fmt.Errorf("%v without a row", op.Type)
		}
	case OpDelete:
		op.Row = nil
	default:
		return fmt.Errorf("row operation of type %d", op.Type)
	}
	return nil
}

// Mark remembers the present state of the transaction's writes.
func (tx *Transaction) Mark() Mark { return tx.overlay.mark() }

// UndoTo takes back every write, creation and drop since m. Locks stay.
func (tx *Transaction) UndoTo(m Mark) {
	if tx.done {
		return
	}
	tx.overlay.undoTo(m)
	tx.lastTab = nil
}

// HasWrites tells whether there is anything to commit.
func (tx *Transaction) HasWrites() bool { return len(tx.overlay.undo) > 0 }

// CreateTablet makes a tablet that this transaction can use at once and that exists
// for others after commit.
func (tx *Transaction) CreateTablet(schema *rowcodec.Schema) (TabletID, error) {
	if tx.done {
		return 0, ErrTransactionDone
	}
	if tx.readOnly {
		return 0, ErrReadOnly
	}
	if err := schema.Validate(); err != nil {
		return 0, fmt.Errorf("create tablet: %w", err)
	}
	id := TabletID(tx.m.nextTablet.Add(1) - 1)
	t := tx.m.newTablet(id, schema)
	to := tx.overlay.tablet(t)
	to.created = true
	tx.overlay.undo = append(tx.overlay.undo, undoItem{created: t})
	return id, nil
}

// DropTablet drops a tablet at commit; running snapshots keep reading it.
func (tx *Transaction) DropTablet(id TabletID) error {
	t, err := tx.tablet(id)
	if err != nil {
		return err
	}
	if tx.readOnly {
		return ErrReadOnly
	}
	if id == CatalogTabletID {
		return fmt.Errorf("drop tablet %d: the catalog can't be dropped", id)
	}
	to := tx.overlay.tablet(t)
	to.dropped = true
	tx.overlay.undo = append(tx.overlay.undo, undoItem{dropped: to})
	tx.lastTab = nil
	return nil
}

// SetCounter sets a counter at commit, also to a lower value.
func (tx *Transaction) SetCounter(id TabletID, slot int, value uint64) error {
	t, err := tx.tablet(id)
	if err != nil {
		return err
	}
	if tx.readOnly {
		return ErrReadOnly
	}
	if slot < 0 || slot >= counterSlots {
		return fmt.Errorf("counter slot %d of tablet %d", slot, id)
	}
	tx.overlay.tablet(t)
	tx.overlay.undo = append(tx.overlay.undo, undoItem{counter: &counterSet{t: t, slot: slot, value: value}})
	return nil
}

// Rollback drops all writes and locks. After Commit it does nothing.
func (tx *Transaction) Rollback() {
	if tx.done {
		return
	}
	if tx.HasWrites() {
		tx.m.counters.rollbacks.Add(1)
	}
	tx.finish()
}

// finish releases everything the transaction holds.
func (tx *Transaction) finish() {
	tx.done = true
	tx.endStatement()
	if tx.pinned {
		tx.m.mvcc.release(tx.snapshot)
		tx.pinned = false
	}
	tx.m.locks.release(tx.id, tx.locks)
	tx.locks, tx.lockBuf = nil, nil
	tx.overlay = overlay{}
}
