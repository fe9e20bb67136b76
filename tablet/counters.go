package tablet

import "sync/atomic"

// managerCounters are the counters behind Stats.
type managerCounters struct {
	probe        [9]atomic.Uint64 // fields of BatchCounters, in order
	probeBatches atomic.Uint64
	gets         atomic.Uint64

	scans         atomic.Uint64
	rowsScanned   atomic.Uint64
	vectorsRead   atomic.Uint64
	vectorsPruned atomic.Uint64
	rowSetsPruned atomic.Uint64

	commits     atomic.Uint64
	rollbacks   atomic.Uint64
	ops         [5]atomic.Uint64
	flushes     atomic.Uint64
	flushErrors atomic.Uint64
	replayed    atomic.Uint64
}

func (c *managerCounters) addProbe(b *BatchCounters) {
	for i, n := range [...]uint64{b.Keys, b.OverlayHits, b.MemProbes, b.MemHits, b.BloomChecks, b.BloomNegatives,
		b.BloomFalsePositives, b.KeySeeks, b.DeletedChecks} {
		if n != 0 {
			c.probe[i].Add(n)
		}
	}
}

func (c *managerCounters) probes() BatchCounters {
	p := &c.probe
	return BatchCounters{
		Keys: p[0].Load(), OverlayHits: p[1].Load(), MemProbes: p[2].Load(), MemHits: p[3].Load(), BloomChecks: p[4].Load(),
		BloomNegatives: p[5].Load(), BloomFalsePositives: p[6].Load(), KeySeeks: p[7].Load(), DeletedChecks: p[8].Load(),
	}
}

// Stats returns counters since Open and gauges of now.
func (m *Manager) Stats() Stats {
	c := &m.counters
	w := m.log.Stats()
	s := Stats{
		Probe: c.probes(), ProbeBatches: c.probeBatches.Load(), Gets: c.gets.Load(),
		Scans: c.scans.Load(), RowsScanned: c.rowsScanned.Load(), VectorsRead: c.vectorsRead.Load(),
		VectorsPruned: c.vectorsPruned.Load(), RowSetsPruned: c.rowSetsPruned.Load(),
		Commits: c.commits.Load(), Rollbacks: c.rollbacks.Load(), Syncs: uint64(w.Syncs),
		Flushes: c.flushes.Load(), FlushErrors: c.flushErrors.Load(),
		LockWaits: m.locks.waits.Load(), LockTimeouts: m.locks.expiry.Load(), LocksHeld: m.locks.held.Load(),
		LogBytes:       int64(m.log.End()) - m.super.replayFrom.Load(),
		MemRowSetBytes: m.memBytes.Load() + m.deltaBytes.Load(),
		OpenSnapshots:  m.mvcc.openSnapshots(),
		Assigned:       Epoch(m.mvcc.assigned.Load()), PublishedEpoch: m.Published(),
		Replayed: c.replayed.Load(), CacheBytes: m.cache.Stats().Used,
	}
	for i := range s.Ops {
		s.Ops[i] = c.ops[i].Load()
	}
	for _, t := range m.live() {
		s.Tablets++
		v := t.acquire()
		s.MemRowSetRows += v.mem.rows.Load()
		for _, f := range v.frozen {
			s.MemRowSetRows += f.rows.Load()
		}
		s.DiskRowSets += len(v.disk)
		for _, d := range v.disk {
			s.DiskBytes += d.fileBytes
		}
		v.release()
	}
	return s
}

// live are the tablets that are not dropped, by no order.
func (m *Manager) live() []*Tablet {
	m.mu.RLock()
	defer m.mu.RUnlock()
	ts := make([]*Tablet, 0, len(m.tablets))
	for _, t := range m.tablets {
		if t.dropped.Load() == 0 {
			ts = append(ts, t)
		}
	}
	return ts
}
