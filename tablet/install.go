package tablet

import (
	"fmt"
	"sync/atomic"

	"ksql/internal/vfs"
	"ksql/tablet/wal"
)

// superBlockState is what the Manager knows of the installed superblock; guarded by
// flushMu but for the atomics.
type superBlockState struct {
	sequence   uint64
	replayFrom atomic.Int64 // LSN where recovery would start now
	// uncertain are flushes whose superblock was renamed, but perhaps not durably:
	// their files go when the next one is.
	uncertain []*tabletFlush
}

// syncRowSets makes the names of new files durable.
func (m *Manager) syncRowSets(fs []*tabletFlush) error {
	for _, f := range fs {
		if len(f.outputs)+len(f.deltas) > 0 {
			if err := vfs.SyncDir(m.fs, m.path(rowSetsDir)); err != nil {
				tabletFlush{}.removeFiles(fs)
				return fmt.Errorf("sync %s: %w", rowSetsDir, err)
			}
			return nil
		}
	}
	return nil
}

// installSuperBlock captures the folder's state as it is after the flushes fs, makes
// the log durable up to it, and installs the superblock. The caller holds flushMu.
func (m *Manager) installSuperBlock(fs []*tabletFlush) (renamed bool, err error) {
	flushes := make(map[*Tablet]*tabletFlush, len(fs))
	for _, f := range fs {
		flushes[f.t] = f
	}
	m.applying.Lock() // every assigned epoch is applied, every anchor is set
	sb := &SuperBlock{
		Sequence: m.super.sequence + 1, Epoch: Epoch(m.mvcc.assigned.Load()), LastWall: m.lastWall,
		NextTablet: TabletID(m.nextTablet.Load()), NextRowSet: m.nextRowSet.Load(),
		ReplayFrom: m.log.End(),
	}
	end := sb.ReplayFrom
	anchor := m.anchor.Swap(0)
	named := m.live()
	for _, t := range named {
		st, from := t.describe(flushes[t])
		sb.Tablets = append(sb.Tablets, st)
		if from != 0 {
			sb.ReplayFrom = min(sb.ReplayFrom, wal.LSN(from-1))
		}
	}
	m.applying.Unlock()
	// a logged record can't fail, but it must be durable before files that hold its
	// effects are named
	if err = m.log.SyncNow(); err != nil {
		err = m.logError(err)
	} else {
		renamed, err = sb.install(m.fs, m.dir)
	}
	if err != nil {
		if anchor != 0 && !m.anchor.CompareAndSwap(0, anchor) {
			m.anchor.Store(min(anchor, m.anchor.Load()))
		}
		return renamed, fmt.Errorf("install superblock up to LSN %d: %w", end, err)
	}
	m.super.sequence = sb.Sequence
	m.super.replayFrom.Store(int64(sb.ReplayFrom))
	m.markNamed(named, sb)
	return true, nil
}

// describe is the tablet as the superblock names it, and the anchor (LSN plus one) of
// its oldest op that no file holds; f is its flush, nil if it is not being flushed.
func (t *Tablet) describe(f *tabletFlush) (SuperBlockTablet, uint64) {
	st := SuperBlockTablet{ID: t.id, Schema: t.schema, Durable: t.durable}
	for i := range t.counters {
		st.Counters[i] = t.counters[i].Load()
	}
	from := t.anchor.Load()
	deltas := map[*DiskRowSet]*deltaFlush{}
	if f != nil {
		st.Durable = f.s1
		for _, d := range f.deltas {
			deltas[d.set] = d
		}
	} else if old := t.flushing.Load(); old != 0 && (from == 0 || old < from) {
		from = old
	}
	v := t.acquire()
	defer v.release()
	for _, d := range v.disk {
		r := d.describe()
		if n := deltas[d]; n != nil {
			r.Delta, r.Live = n.info, d.rows-n.deleted
		}
		st.RowSets = append(st.RowSets, r)
	}
	if f != nil {
		for _, o := range f.outputs {
			st.RowSets = append(st.RowSets, o.set.describe())
		}
	}
	return st, from
}

func (d *DiskRowSet) describe() SuperBlockRowSet {
	return SuperBlockRowSet{ID: d.id, MemRowSet: d.memID, Rows: d.rows, Live: d.live, Bytes: d.fileBytes,
		MinKey: d.minKey, MaxKey: d.maxKey, Delta: d.delta}
}

// markNamed remembers which tablets and counter values the new superblock holds.
func (m *Manager) markNamed(named []*Tablet, sb *SuperBlock) {
	for i, t := range named {
		t.inSuperBlock.Store(true)
		for slot, v := range sb.Tablets[i].Counters {
			raise(&t.logged[slot], v)
		}
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, t := range m.dropped {
		if Epoch(t.dropped.Load()) <= sb.Epoch {
			t.inSuperBlock.Store(false)
		}
	}
}
