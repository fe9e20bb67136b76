package tablet

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"time"

	"ksql/tablet/rowcodec"
	"ksql/tablet/wal"
)

// writeOp is one commit on its way: prepare (everything that can fail), append
// (epoch and log position), apply, sync, publish.
type writeOp struct {
	m        *Manager
	tx       *Transaction
	tablets  []*preparedTablet // by id
	sets     []*counterSet
	moved    []counterMove
	keep     snapshotSet
	payload  []byte
	sections int
	scratch  []byte
}

// preparedTablet is one tablet of a commit: its pinned components and resolved ops.
type preparedTablet struct {
	t   *Tablet
	to  *tabletOverlay
	v   *version
	ops []resolvedOp
}

// resolvedOp is a row operation whose place is known and whose outcome is certain.
type resolvedOp struct {
	typ     RowOpType
	key     []byte
	hash    uint64
	image   rowcodec.Row // new image of insert and update
	mem     *MemRowSet   // update, delete: where row is
	row     *memRow
	disk    *DiskRowSet // update, delete of a disk row
	ordinal uint32
}

type counterMove struct {
	t     *Tablet
	slot  int
	value uint64
}

// payloadPool keeps buffers of ordinary commits.
var payloadPool = sync.Pool{New: func() any { return new([]byte) }}

const maxPooledPayload = 1 << 20

// Commit makes all writes durable and visible at one epoch, or none of them.
// Whatever it returns, the transaction is finished and its locks are released. The
// context can stop it before the log record is written only. Errors: ErrNoSpace
// (nothing changed), ErrPoisoned (the log failed: whether the commit is durable
// shows at the next open), ErrKeyExists and ErrKeyNotFound for unprobed writes.
func (tx *Transaction) Commit(ctx context.Context) (Epoch, error) {
	if tx.done {
		return 0, ErrTransactionDone
	}
	defer tx.finish()
	if !tx.HasWrites() {
		return tx.m.Published(), nil
	}
	return tx.m.write(ctx, tx)
}

func (m *Manager) write(ctx context.Context, tx *Transaction) (Epoch, error) {
	m.gate.RLock()
	defer m.gate.RUnlock()
	if err := m.writable(); err != nil {
		return 0, err
	}
	if err := m.throttle(ctx); err != nil {
		return 0, err
	}
	buf := payloadPool.Get().(*[]byte)
	op := &writeOp{m: m, tx: tx, payload: (*buf)[:0]}
	defer func() {
		if cap(op.payload) <= maxPooledPayload {
			*buf = op.payload[:0]
			payloadPool.Put(buf)
		}
	}()
	e, end, err := op.run(ctx)
	if err != nil || e == 0 {
		return m.Published(), err
	}
	if err := m.log.Sync(end); err != nil { // it knows the sync mode
		return 0, m.logError(err)
	}
	m.mvcc.publish(e)
	m.counters.commits.Add(1)
	return e, nil
}

// run does everything between the row locks and the sync, with the components of
// all tablets pinned. Epoch 0: there was nothing to log.
func (op *writeOp) run(ctx context.Context) (Epoch, wal.LSN, error) {
	defer op.unlock()
	if err := op.lock(); err != nil {
		return 0, 0, err
	}
	if err := context.Cause(ctx); err != nil {
		return 0, 0, err
	}
	if err := op.prepare(); err != nil {
		return 0, 0, err
	}
	if op.sections == 0 {
		return 0, 0, nil
	}
	op.m.applying.RLock()
	defer op.m.applying.RUnlock()
	start := op.m.log.End()
	for _, p := range op.tablets {
		if len(p.ops) > 0 {
			p.t.hold(start)
		}
	}
	op.m.anchor.CompareAndSwap(0, uint64(start)+1)
	var e Epoch
	end, err := op.m.log.Append(op.payload, func(wal.LSN) wal.Stamp {
		e = op.m.mvcc.assign()
		for _, c := range op.moved {
			raise(&c.t.logged[c.slot], c.value)
		}
		for _, s := range op.sets {
			s.t.counters[s.slot].Store(s.value)
			s.t.logged[s.slot].Store(s.value)
		}
		return op.m.stamp(e)
	})
	if err != nil {
		return 0, 0, op.m.logError(err)
	}
	op.apply(e)
	op.m.mvcc.markApplied(e, end)
	return e, end, nil
}

// lock pins the tablets in id order: shared, or exclusively for a drop, so that no op
// of another transaction can be logged behind the drop.
func (op *writeOp) lock() error {
	for _, to := range op.tx.overlay.tablets {
		op.tablets = append(op.tablets, &preparedTablet{t: to.t, to: to})
	}
	slices.SortFunc(op.tablets, func(a, b *preparedTablet) int { return cmp.Compare(a.t.id, b.t.id) })
	for _, p := range op.tablets {
		if p.to.dropped {
			p.t.mu.Lock()
		} else {
			p.t.mu.RLock()
		}
		p.v = p.t.acquire()
	}
	for _, p := range op.tablets {
		if d := p.t.dropped.Load(); d != 0 {
			return fmt.Errorf("tablet %d was dropped at epoch %d: %w", p.t.id, d, ErrTabletNotFound)
		}
	}
	op.m.mvcc.fill(&op.keep)
	return nil
}

func (op *writeOp) unlock() {
	for _, p := range op.tablets {
		p.v.release()
		if p.to.dropped {
			p.t.mu.Unlock()
		} else {
			p.t.mu.RUnlock()
		}
	}
}

// prepare resolves every op and encodes the payload. It is the last place where
// anything but the log itself can fail.
func (op *writeOp) prepare() error {
	op.payload = append(op.payload, recordVersion)
	for _, p := range op.tablets {
		if p.to.created && !p.to.dropped {
			op.payload = appendTabletSection(op.payload, sectionCreate, p.t.id)
			op.payload = appendBytes(op.payload, p.t.schema.Marshal())
			op.sections++
		}
	}
	for i := range op.tx.overlay.undo {
		if s := op.tx.overlay.undo[i].counter; s != nil && !op.tx.overlay.tablets[s.t.id].dropped {
			op.sets = append(op.sets, s)
			op.payload = appendCounter(op.payload, sectionSet, s.t.id, s.slot, s.value)
			op.sections++
		}
	}
	for _, p := range op.tablets {
		if p.to.dropped || len(p.to.list) == 0 {
			continue
		}
		if err := op.prepareTablet(p); err != nil {
			return err
		}
	}
	for _, p := range op.tablets {
		if p.to.dropped && !p.to.created {
			op.payload = appendTabletSection(op.payload, sectionDrop, p.t.id)
			op.sections++
		}
	}
	if op.sections > 0 {
		op.addMovedCounters()
	}
	return nil
}

// addMovedCounters logs the counters whose values no log record holds yet: those of
// the tablets written here, so that their rows never outlive their numbers, and
// those that moved in transactions that were rolled back.
func (op *writeOp) addMovedCounters() {
	add := func(t *Tablet) {
		for slot := range t.counters {
			if v := t.counters[slot].Load(); v > t.logged[slot].Load() {
				op.moved = append(op.moved, counterMove{t, slot, v})
				op.payload = appendCounter(op.payload, sectionRaise, t.id, slot, v)
			}
		}
	}
	written := make(map[TabletID]bool, len(op.tablets))
	for _, p := range op.tablets {
		written[p.t.id] = true
		if !p.to.dropped {
			add(p.t)
		}
	}
	for _, t := range op.m.movedCounters() {
		if !written[t.id] {
			add(t)
		}
	}
}

func (op *writeOp) prepareTablet(p *preparedTablet) error {
	if err := op.resolve(p); err != nil {
		return err
	}
	p.ops = make([]resolvedOp, 0, len(p.to.list))
	start := len(op.payload)
	for _, r := range p.to.list {
		if r.head == nil {
			continue
		}
		if err := op.prepareRow(p, r); err != nil {
			return err
		}
	}
	if len(p.ops) == 0 {
		op.payload = op.payload[:start]
		return nil
	}
	head := appendTabletSection(nil, sectionOps, p.t.id)
	head = binary.AppendUvarint(head, uint64(len(p.ops)))
	op.payload = slices.Insert(op.payload, start, head...)
	op.sections++
	return nil
}

// resolve probes, in one batch, the written keys whose base is unknown or whose
// location has gone stale.
func (op *writeOp) resolve(p *preparedTablet) error {
	var rows []*overlayRow
	for _, r := range p.to.list {
		if r.head != nil && (r.base == baseUnknown || r.base == basePresent && !p.v.valid(r.ref)) {
			rows = append(rows, r)
		}
	}
	if len(rows) > 0 {
		keys := make([]probeKey, len(rows))
		out := make([]Probe, len(rows))
		for i, r := range rows {
			keys[i] = probeKey{key: r.key, hash: r.hash, at: i}
		}
		var c BatchCounters
		if err := p.v.probe(p.t, keys, out, op.m.newestReadable(), &c); err != nil {
			return err
		}
		op.m.counters.addProbe(&c)
		for i, r := range rows {
			r.setBase(&out[i])
		}
	}
	for _, r := range p.to.list {
		if r.head == nil {
			continue
		}
		switch first := r.firstOp(); {
		case first == OpInsert && r.base == basePresent:
			return fmt.Errorf("insert into tablet %d: %w", p.t.id, ErrKeyExists)
		case (first == OpUpdate || first == OpDelete) && r.base == baseAbsent:
			return fmt.Errorf("%v in tablet %d: %w", first, p.t.id, ErrKeyNotFound)
		}
	}
	return nil
}

// valid tells whether a carried location still names a component of v.
func (v *version) valid(r RowRef) bool {
	if r.row != nil {
		return v.memRowSet(r.rowset) != nil
	}
	return r.rowset != 0 && v.diskRowSet(r.rowset) != nil
}

// prepareRow turns what a transaction has done to one key into at most one op.
func (op *writeOp) prepareRow(p *preparedTablet, r *overlayRow) error {
	final := r.head.row
	ro := resolvedOp{key: r.key, hash: r.hash, image: final}
	var change rowcodec.ChangeList
	switch {
	case r.base == baseAbsent && final == nil:
		return nil
	case r.base == baseAbsent:
		ro.typ = OpInsert
	default:
		if r.ref.row != nil {
			ro.mem, ro.row = p.v.memRowSet(r.ref.rowset), r.ref.row
		} else {
			ro.disk, ro.ordinal = p.v.diskRowSet(r.ref.rowset), r.ref.ordinal
		}
		ro.typ = OpDelete
		if final == nil {
			break
		}
		old, err := op.oldImage(p, r)
		if err != nil {
			return err
		}
		op.scratch = rowcodec.AppendDiff(op.scratch[:0], p.t.schema, old, final)
		if len(op.scratch) == 0 {
			return nil // nothing changed: no store is touched
		}
		ro.typ, change = OpUpdate, op.scratch
	}
	op.payload = appendOp(op.payload, &ro, change)
	p.ops = append(p.ops, ro)
	return nil
}

// oldImage is the stored row under a present key.
func (op *writeOp) oldImage(p *preparedTablet, r *overlayRow) (rowcodec.Row, error) {
	if r.image != nil {
		return r.image, nil
	}
	if r.ref.row != nil {
		return r.ref.row.newest().row(), nil
	}
	d := p.v.diskRowSet(r.ref.rowset)
	reader, err := d.open()
	if err != nil {
		return nil, err
	}
	return d.rowAt(reader, r.ref.ordinal, d.dms.newest(r.ref.ordinal))
}

// apply puts the ops into their memory stores. It can't fail.
func (op *writeOp) apply(e Epoch) {
	var counts [5]uint64
	for _, p := range op.tablets {
		switch {
		case p.to.created && !p.to.dropped:
			p.t.created = e
			op.m.addTablet(p.t)
		case p.to.dropped && !p.to.created:
			op.m.dropTablet(p.t, e)
		}
		applyRowOps(p.t, p.v, p.ops, e, &op.keep)
		for i := range p.ops {
			counts[p.ops[i].typ]++
		}
	}
	for i, n := range counts {
		if n > 0 {
			op.m.counters.ops[i].Add(n)
		}
	}
}

// applyRowOps applies the ops of one tablet, in order.
func applyRowOps(t *Tablet, v *version, ops []resolvedOp, e Epoch, keep *snapshotSet) {
	var added []*memRow
	live := int64(0)
	for i := range ops {
		r, n := applyRowOp(v, &ops[i], e, keep)
		live += n
		if r != nil {
			if added = append(added, r); len(added) == memBatchRows {
				v.mem.link(added)
				added = added[:0]
			}
		}
	}
	v.mem.link(added)
	t.live.Add(live)
}

// applyRowOp is the one place that acts on an op's type; commits and recovery both
// come through here. It returns a new row of the MemRowSet that is to be linked into
// its order, and by how much the number of live rows changes.
func applyRowOp(v *version, op *resolvedOp, e Epoch, keep *snapshotSet) (added *memRow, live int64) {
	ver := &rowVersion{epoch: e, image: op.image}
	switch op.typ {
	case OpInsert:
		return v.mem.insert(op.key, op.hash, ver, keep), 1
	case OpDelete:
		ver.kind, ver.image = versionDeleted, nil
		live = -1
	case OpUpdate:
	default:
		panic(fmt.Sprintf("BUG: apply of a %v op", op.typ))
	}
	if op.row != nil {
		op.mem.mutate(op.row, ver, keep)
	} else {
		op.disk.dms.mutate(op.ordinal, ver, keep)
	}
	return nil, live
}

// stamp gives an epoch its wall time, which never goes back. It is called in the
// log's critical section.
func (m *Manager) stamp(e Epoch) wal.Stamp {
	now := time.Now().UnixMicro()
	if now < m.lastWall {
		now = m.lastWall
	}
	m.lastWall = now
	m.times.add(e, now)
	return wal.Stamp{Epoch: uint64(e), WallMicros: now}
}
