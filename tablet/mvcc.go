package tablet

import (
	"slices"
	"sync"
	"sync/atomic"

	"ksql/tablet/wal"
)

// mvcc knows which epochs are assigned, published and read.
//
// The published epoch is the largest e such that every commit with an epoch ≤ e is
// applied and (in sync=full) synced. Snapshots are chosen from published epochs
// only, and are registered in the same critical section in which they are chosen:
// whoever computes what history is still needed reads published first and the
// registry second, and so misses no snapshot.
type mvcc struct {
	assigned  atomic.Uint64 // newest epoch given to a log record
	published atomic.Uint64

	// needSync: an epoch is published after its record is synced only.
	needSync bool
	synced   func() wal.LSN

	mu      sync.Mutex // pending
	moved   *sync.Cond
	pending []pendingCommit // epoch of pending[i] is published+1+i

	regMu  sync.Mutex
	active []activeSnapshot // ascending epochs
}

type pendingCommit struct {
	end     wal.LSN
	applied bool
}

type activeSnapshot struct {
	epoch Epoch
	refs  int
}

func newMVCC(needSync bool) *mvcc {
	m := &mvcc{needSync: needSync}
	m.moved = sync.NewCond(&m.mu)
	return m
}

// reset sets the state after recovery: everything up to e is durable and applied.
func (m *mvcc) reset(e Epoch) {
	m.assigned.Store(uint64(e))
	m.published.Store(uint64(e))
}

// assign gives the next epoch. It is called inside the log's critical section, so
// that epochs and log positions have one order.
func (m *mvcc) assign() Epoch {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pending = append(m.pending, pendingCommit{})
	return Epoch(m.assigned.Add(1))
}

// markApplied says that the ops of epoch e, whose record ends at end, are in their
// memory stores.
func (m *mvcc) markApplied(e Epoch, end wal.LSN) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := &m.pending[uint64(e)-m.published.Load()-1]
	p.end, p.applied = end, true
	if !m.needSync {
		m.advanceLocked(0)
	}
}

// publish waits until epoch e is published. The caller has applied it and, if that
// is asked for, synced its record; what is missing at most is an older epoch whose
// record is synced too, by the log's order, and which is just being applied.
//
// The log is asked before mu is taken: it calls assign, which takes mu, with its own
// lock held. What it says covers e and so everything that e waits for.
func (m *mvcc) publish(e Epoch) {
	var limit wal.LSN
	if m.needSync {
		limit = m.synced()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.advanceLocked(limit)
	for Epoch(m.published.Load()) < e {
		m.moved.Wait()
		m.advanceLocked(limit)
	}
}

// advanceLocked publishes what is applied and, if that is asked for, ends at or
// before limit.
func (m *mvcc) advanceLocked(limit wal.LSN) {
	n := 0
	for n < len(m.pending) && m.pending[n].applied && (!m.needSync || m.pending[n].end <= limit) {
		n++
	}
	if n == 0 {
		return
	}
	m.pending = append(m.pending[:0], m.pending[n:]...)
	m.published.Add(uint64(n))
	m.moved.Broadcast()
}

// openNewest registers a snapshot of the newest published epoch.
func (m *mvcc) openNewest() Epoch {
	m.regMu.Lock()
	defer m.regMu.Unlock()
	e := Epoch(m.published.Load())
	m.acquireLocked(e)
	return e
}

// acquire registers one more user of an epoch that is registered already.
func (m *mvcc) acquire(e Epoch) {
	m.regMu.Lock()
	defer m.regMu.Unlock()
	m.acquireLocked(e)
}

func (m *mvcc) acquireLocked(e Epoch) {
	i, found := m.findLocked(e)
	if found {
		m.active[i].refs++
		return
	}
	m.active = slices.Insert(m.active, i, activeSnapshot{epoch: e, refs: 1})
}

// release undoes one openNewest or acquire.
func (m *mvcc) release(e Epoch) {
	m.regMu.Lock()
	defer m.regMu.Unlock()
	i, found := m.findLocked(e)
	if !found {
		panic("BUG: release of a snapshot that is not open")
	}
	if m.active[i].refs--; m.active[i].refs == 0 {
		m.active = slices.Delete(m.active, i, i+1)
	}
}

func (m *mvcc) findLocked(e Epoch) (int, bool) {
	return slices.BinarySearchFunc(m.active, e, func(a activeSnapshot, e Epoch) int {
		switch {
		case a.epoch < e:
			return -1
		case a.epoch > e:
			return 1
		}
		return 0
	})
}

// openSnapshots is the number of different epochs that are read now.
func (m *mvcc) openSnapshots() int {
	m.regMu.Lock()
	defer m.regMu.Unlock()
	return len(m.active)
}

// oldest is the oldest epoch that an open or future snapshot can read.
func (m *mvcc) oldest() Epoch {
	p := Epoch(m.published.Load())
	m.regMu.Lock()
	defer m.regMu.Unlock()
	if len(m.active) > 0 && m.active[0].epoch < p {
		return m.active[0].epoch
	}
	return p
}

// snapshotSet is a copy of the epochs that open and future snapshots can read.
type snapshotSet struct {
	published Epoch
	active    []Epoch // ascending
}

// fill takes the present state; the slice of s is used again.
func (m *mvcc) fill(s *snapshotSet) {
	s.published = Epoch(m.published.Load())
	m.regMu.Lock()
	defer m.regMu.Unlock()
	s.active = s.active[:0]
	for _, a := range m.active {
		s.active = append(s.active, a.epoch)
	}
}

// sees tells whether a snapshot e with from ≤ e < to can exist: whether a version
// that was written at from and replaced at to is still needed.
func (s *snapshotSet) sees(from, to Epoch) bool {
	if s.published < to {
		return true
	}
	i, _ := slices.BinarySearch(s.active, from)
	return i < len(s.active) && s.active[i] < to
}

// oldest is the oldest epoch that a snapshot of s can read.
func (s *snapshotSet) oldest() Epoch {
	if len(s.active) > 0 && s.active[0] < s.published {
		return s.active[0]
	}
	return s.published
}
