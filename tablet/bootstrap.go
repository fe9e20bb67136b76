package tablet

import (
	"bytes"
	"errors"
	"fmt"

	"ksql/tablet/rowcodec"
	"ksql/tablet/wal"
)

// bootstrap replays the log onto what the superblock names.
type bootstrap struct {
	m    *Manager
	sb   *SuperBlock
	last Epoch
	keep snapshotSet // nobody reads yet: no old version is kept
}

// replay brings the folder to the end of the log and makes the log ready for
// appending.
func (m *Manager) replay(sb *SuperBlock) error {
	b := &bootstrap{m: m, sb: sb, keep: snapshotSet{published: maxEpoch}}
	err := m.log.Replay(sb.ReplayFrom, b.record)
	var c *wal.CorruptionError
	if errors.As(err, &c) {
		return &CorruptionError{File: m.relative(c.File), Offset: c.Offset, Reason: c.Reason}
	}
	if err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	m.mvcc.reset(max(b.last, sb.Epoch))
	if n := m.counters.replayed.Load(); n > 0 {
		m.logf("recovered %d row operations up to epoch %d", n, m.Published())
	}
	return nil
}

// relative is a path's part inside of the folder.
func (m *Manager) relative(path string) string {
	prefix := m.path("") + "/"
	if len(path) > len(prefix) && path[:len(prefix)] == prefix {
		return path[len(prefix):]
	}
	return path
}

// record applies one commit. What files or the superblock hold already is skipped:
// row operations by their tablet's durable epoch, the rest by the superblock's.
func (b *bootstrap) record(lsn wal.LSN, stamp wal.Stamp, payload []byte) error {
	e := Epoch(stamp.Epoch)
	if b.last != 0 && e != b.last+1 || b.last == 0 && e > b.sb.Epoch+1 {
		return b.bad(lsn, fmt.Sprintf("epoch %d follows epoch %d", e, max(b.last, b.sb.Epoch)))
	}
	b.last = e
	b.m.lastWall = max(b.m.lastWall, stamp.WallMicros)
	b.m.times.add(e, stamp.WallMicros)
	r := newRecordReader(bytes.Clone(payload)) // rows and keys keep parts of it
	for r.more() {
		if err := b.section(r, e, lsn); err != nil {
			return err
		}
	}
	if r.err != nil {
		return b.bad(lsn, r.err.Error())
	}
	return nil
}

func (b *bootstrap) bad(lsn wal.LSN, reason string) error {
	return &CorruptionError{File: walDir, Offset: int64(lsn), Reason: "commit at this LSN: " + reason}
}

func (b *bootstrap) section(r *recordReader, e Epoch, lsn wal.LSN) error {
	section, id := r.byte(), TabletID(r.uvarint())
	if section == sectionOps {
		return b.ops(r, id, e, lsn)
	}
	known := e <= b.sb.Epoch
	if !known {
		b.m.anchor.CompareAndSwap(0, uint64(lsn)+1)
	}
	t := b.m.tablets[id]
	switch section {
	case sectionCreate:
		schema := new(rowcodec.Schema)
		if err := schema.Unmarshal(r.bytes()); err != nil || r.err != nil {
			return b.bad(lsn, fmt.Sprintf("create tablet %d: %v", id, errors.Join(err, r.err)))
		}
		if known {
			return nil
		}
		if t != nil {
			return b.bad(lsn, fmt.Sprintf("tablet %d is created twice", id))
		}
		t = b.m.newTablet(id, schema)
		t.created = e
		b.m.addTablet(t)
		raise(&b.m.nextTablet, uint64(id)+1)
	case sectionDrop:
		if t != nil && !known {
			b.m.dropTablet(t, e)
		}
	case sectionRaise, sectionSet:
		slot, v := r.limited(counterSlots-1, "counter"), r.uvarint()
		if r.err != nil || known || t == nil {
			return nil
		}
		if section == sectionSet {
			t.counters[slot].Store(v)
		} else {
			raise(&t.counters[slot], v)
		}
		t.logged[slot].Store(t.counters[slot].Load())
	default:
		r.fail(fmt.Sprintf("section of type %d", section))
	}
	return nil
}

// ops applies the row operations of one tablet.
func (b *bootstrap) ops(r *recordReader, id TabletID, e Epoch, lsn wal.LSN) error {
	t := b.m.tablets[id]
	n := r.uvarint()
	if t != nil && e > t.durable && t.dropped.Load() == 0 {
		t.hold(lsn)
	}
	for ; n > 0 && r.err == nil; n-- {
		lo := r.op()
		// a tablet that is not there was dropped before the superblock was made
		if r.err != nil || t == nil || e <= t.durable || t.dropped.Load() != 0 {
			continue
		}
		if err := b.op(t, &lo, e); err != nil {
			var c *CorruptionError
			if errors.As(err, &c) {
				return err
			}
			return b.bad(lsn, fmt.Sprintf("%v in tablet %d: %v", lo.typ, id, err))
		}
	}
	return nil
}

func (b *bootstrap) op(t *Tablet, lo *loggedOp, e Epoch) error {
	v := t.current.Load()
	ro := resolvedOp{typ: lo.typ, key: lo.key}
	if lo.typ == OpInsert {
		ro.hash = hashKey(lo.key)
		ro.image = rowcodec.Row(lo.content)
		if err := rowcodec.ValidateRow(t.schema, ro.image); err != nil {
			return err
		}
	} else {
		old, err := b.locate(t, v, lo, &ro)
		if err != nil {
			return err
		}
		if lo.typ == OpUpdate {
			change := rowcodec.ChangeList(lo.content)
			if err := rowcodec.ValidateChangeList(t.schema, change); err != nil {
				return err
			}
			if ro.image, err = rowcodec.Apply(nil, t.schema, old, change); err != nil {
				return err
			}
		}
	}
	b.m.counters.replayed.Add(1)
	applyRowOps(t, v, []resolvedOp{ro}, e, &b.keep)
	return nil
}

// locate finds the row of an update or delete. A row that was in memory when the
// record was logged is there again, or a flush has moved it to a DiskRowSet since.
func (b *bootstrap) locate(t *Tablet, v *version, lo *loggedOp, ro *resolvedOp) (rowcodec.Row, error) {
	if lo.onDisk {
		d := v.diskRowSet(lo.rowset)
		if d == nil || int64(lo.ordinal) >= int64(d.rows) {
			return nil, fmt.Errorf("rowset %d, ordinal %d does not exist", lo.rowset, lo.ordinal)
		}
		reader, err := d.open() // the REDO file's deltas come first
		if err != nil {
			return nil, err
		}
		ver := d.dms.newest(lo.ordinal)
		if !ver.live() {
			return nil, fmt.Errorf("rowset %d, ordinal %d is deleted", lo.rowset, lo.ordinal)
		}
		ro.disk, ro.ordinal = d, lo.ordinal
		return d.rowAt(reader, lo.ordinal, ver)
	}
	keys := []probeKey{{key: lo.key, hash: hashKey(lo.key)}}
	out := make([]Probe, 1)
	var c BatchCounters
	if err := v.probe(t, keys, out, maxEpoch, &c); err != nil {
		return nil, err
	}
	if !out[0].Found {
		return nil, errors.New("the row does not exist")
	}
	ref := out[0].Ref
	ro.hash = keys[0].hash
	if ref.row != nil {
		ro.mem, ro.row = v.memRowSet(ref.rowset), ref.row
	} else {
		ro.disk, ro.ordinal = v.diskRowSet(ref.rowset), ref.ordinal
	}
	return out[0].Row, nil
}
