package tablet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"ksql/internal/vfs"
	"ksql/tablet/cfile"
	"ksql/tablet/rowcodec"
	"ksql/tablet/wal"
)

// Manager owns one data folder: its lock, log, superblock, tablets and the one
// maintenance goroutine.
type Manager struct {
	dir     string
	options Options
	fs      vfs.FS
	logf    func(string, ...any)
	lock    io.Closer
	log     *wal.Log
	cache   *cfile.Cache
	mvcc    *mvcc
	locks   lockManager

	// gate is held shared by every commit and exclusively by Close.
	gate   sync.RWMutex
	closed bool
	// shutDown is set before the components go: who takes a version and then finds
	// it unset has the real ones.
	shutDown atomic.Bool

	// applying is held shared from before a record is appended until its ops are
	// applied; whoever holds it exclusively sees every assigned epoch applied.
	applying sync.RWMutex
	// anchor is the log position plus one of the oldest record whose creations,
	// drops and counters no superblock holds; 0 = none.
	anchor atomic.Uint64

	mu      sync.RWMutex // tablets
	tablets map[TabletID]*Tablet
	dropped []*Tablet // dropped, still read by snapshots

	movedMu sync.Mutex
	moved   map[*Tablet]struct{} // counters that moved since they were logged

	nextTx     atomic.Uint64
	nextTablet atomic.Uint64
	nextRowSet atomic.Uint64 // MemRowSets and DiskRowSets; one number space

	lastWall int64 // in the log's critical section only
	times    epochTimes

	memBytes   atomic.Int64 // MemRowSets
	deltaBytes atomic.Int64 // DeltaMemStores
	dirtyBytes atomic.Int64 // the part of deltaBytes that no delta file holds

	counters managerCounters
	poisoned atomic.Bool

	flushMu sync.Mutex // one flush and one superblock at a time
	super   superBlockState
	maint   maintenance
}

// path names a file of the folder; name uses slashes.
func (m *Manager) path(name string) string { return filepath.Join(m.dir, filepath.FromSlash(name)) }

// Published is the newest epoch that snapshots may read.
func (m *Manager) Published() Epoch { return Epoch(m.mvcc.published.Load()) }

// WallTime is the commit time of an epoch in microseconds since 1970 UTC; false if
// it is not known any more.
func (m *Manager) WallTime(e Epoch) (int64, bool) { return m.times.find(e) }

// Tablet finds a committed, live tablet.
func (m *Manager) Tablet(id TabletID) (*Tablet, bool) {
	t := m.lookup(id)
	if t == nil || t.dropped.Load() != 0 {
		return nil, false
	}
	return t, true
}

// lookup finds a tablet, also one that is dropped but still read.
func (m *Manager) lookup(id TabletID) *Tablet {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.tablets[id]
}

func (m *Manager) newTablet(id TabletID, schema *rowcodec.Schema) *Tablet {
	t := &Tablet{id: id, schema: schema, m: m}
	t.install(newVersion(m.newMemRowSet(), nil, nil, nil))
	return t
}

func (m *Manager) newMemRowSet() *MemRowSet {
	return newMemRowSet(m.nextRowSet.Add(1)-1, &m.memBytes)
}

func (m *Manager) addTablet(t *Tablet) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tablets[t.id] = t
}

// dropTablet marks a tablet dropped at e. Its components stay until no snapshot
// older than e is open; maintenance purges them then.
func (m *Manager) dropTablet(t *Tablet, e Epoch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t.dropped.Store(uint64(e))
	m.dropped = append(m.dropped, t)
}

// purgeDropped forgets the dropped tablets that nobody can read any more.
func (m *Manager) purgeDropped() {
	m.flushMu.Lock() // a flush may be writing files for one of them
	defer m.flushMu.Unlock()
	oldest := m.mvcc.oldest()
	m.mu.Lock()
	var gone []*Tablet
	kept := m.dropped[:0]
	for _, t := range m.dropped {
		if Epoch(t.dropped.Load()) <= oldest && !t.inSuperBlock.Load() {
			gone = append(gone, t)
			delete(m.tablets, t.id)
		} else {
			kept = append(kept, t)
		}
	}
	m.dropped = kept
	m.mu.Unlock()
	for _, t := range gone {
		t.purge(true)
	}
}

// dropsDue tells whether the next superblock would set the files of dropped tablets
// free.
func (m *Manager) dropsDue() bool {
	oldest := m.mvcc.oldest()
	m.mu.RLock()
	defer m.mu.RUnlock()
	return slices.ContainsFunc(m.dropped, func(t *Tablet) bool {
		return Epoch(t.dropped.Load()) <= oldest && t.inSuperBlock.Load()
	})
}

// purge gives up the components of a tablet; doom deletes its files when the last
// reader is gone.
func (t *Tablet) purge(doom bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	old := t.current.Load()
	for _, d := range old.disk {
		d.doomed.Store(doom)
	}
	t.install(newVersion(t.m.newMemRowSet(), nil, nil, nil))
	old.mem.bytes.drop()
	for _, f := range old.frozen {
		f.bytes.drop()
	}
	for _, g := range old.ghosts {
		g.bytes.drop()
	}
}

func (m *Manager) counterMoved(t *Tablet) {
	m.movedMu.Lock()
	defer m.movedMu.Unlock()
	if m.moved == nil {
		m.moved = make(map[*Tablet]struct{})
	}
	m.moved[t] = struct{}{}
}

// movedCounters are the tablets with a counter value that no log record holds yet.
// They stay in the set until one does: the commit that asks may be overtaken by
// another one that is acknowledged before.
func (m *Manager) movedCounters() []*Tablet {
	m.movedMu.Lock()
	defer m.movedMu.Unlock()
	if len(m.moved) == 0 {
		return nil
	}
	ts := make([]*Tablet, 0, len(m.moved))
	for t := range m.moved {
		if t.countersLogged() || t.dropped.Load() != 0 || m.lookup(t.id) != t {
			delete(m.moved, t) // a tablet that is not created yet logs its own
		} else {
			ts = append(ts, t)
		}
	}
	return ts
}

// countersLogged tells whether log or superblock hold every counter value of t.
func (t *Tablet) countersLogged() bool {
	for slot := range t.counters {
		if t.counters[slot].Load() > t.logged[slot].Load() {
			return false
		}
	}
	return true
}

// writable tells why a commit can't be taken; the caller holds gate.
func (m *Manager) writable() error {
	switch {
	case m.closed:
		return ErrClosed
	case m.poisoned.Load():
		return ErrPoisoned
	case m.options.ReadOnly:
		return ErrReadOnly
	}
	return nil
}

// newestReadable is the epoch that reads of the newest state use. After the log has
// failed, what was applied but not published must not be seen.
func (m *Manager) newestReadable() Epoch {
	if m.poisoned.Load() {
		return m.Published()
	}
	return maxEpoch
}

// logError turns an error of the log into ours and remembers that it is poisoned.
func (m *Manager) logError(err error) error {
	if errors.Is(err, wal.ErrPoisoned) || m.log.Poisoned() != nil {
		m.poisoned.Store(true)
		return fmt.Errorf("%w: %w", ErrPoisoned, err)
	}
	if vfs.IsNoSpace(err) {
		return fmt.Errorf("%w: %w", ErrNoSpace, err)
	}
	return err
}

// fileError names the file in an error of cfile.
func (m *Manager) fileError(name string, err error) error {
	var c *cfile.CorruptionError
	if errors.As(err, &c) {
		return &CorruptionError{File: name, Offset: c.Offset, Reason: c.Reason}
	}
	return fmt.Errorf("%s: %w", name, err)
}

// removeFile deletes a file that nothing names any more. A failure leaks the file
// until the next open, which deletes what the superblock does not name.
func (m *Manager) removeFile(name string) {
	if err := m.fs.Remove(m.path(name)); err != nil {
		m.logf("remove %s: %v (the next open retries)", name, err)
	}
}

// closeAfter closes c because of err and returns err, joined with what closing says.
func closeAfter(c io.Closer, err error) error { return errors.Join(err, c.Close()) }

// Close flushes everything, frees the log and releases the folder. A second Close
// does nothing. Transactions that are still open can't commit any more.
func (m *Manager) Close() error {
	m.gate.Lock()
	if m.closed {
		m.gate.Unlock()
		return nil
	}
	m.closed = true
	m.gate.Unlock()
	m.maint.stop()
	var errs []error
	if !m.poisoned.Load() && !m.options.ReadOnly {
		if err := m.flushAll(context.Background()); err != nil {
			errs = append(errs, fmt.Errorf("flush at close: %w", err))
		}
	}
	return errors.Join(append(errs, m.shut())...)
}

// shut closes files and lock without writing anything.
func (m *Manager) shut() error {
	var errs []error
	m.mu.Lock()
	tablets := m.tablets
	m.tablets = map[TabletID]*Tablet{}
	m.mu.Unlock()
	m.shutDown.Store(true)
	for _, t := range tablets {
		// the files of a dropped tablet stay while the superblock names them
		t.purge(t.dropped.Load() != 0 && !t.inSuperBlock.Load())
	}
	if m.log != nil {
		if err := m.log.Close(); err != nil {
			errs = append(errs, fmt.Errorf("close log: %w", err))
		}
	}
	if m.lock != nil {
		if err := m.lock.Close(); err != nil {
			errs = append(errs, fmt.Errorf("release folder: %w", err))
		}
	}
	return errors.Join(errs...)
}

// epochTimes remembers the wall times of the newest epochs.
type epochTimes struct {
	mu    sync.Mutex
	first Epoch
	micro []int64 // of first, first+1, …
}

// epochTimesKept: 8 bytes an epoch, 512 KiB.
const epochTimesKept = 1 << 16

func (t *epochTimes) add(e Epoch, micro int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e != t.first+Epoch(len(t.micro)) || len(t.micro) == 0 {
		t.first, t.micro = e, t.micro[:0]
	}
	if len(t.micro) >= 2*epochTimesKept {
		t.first += epochTimesKept
		t.micro = append(t.micro[:0], t.micro[epochTimesKept:]...)
	}
	t.micro = append(t.micro, micro)
}

func (t *epochTimes) find(e Epoch) (int64, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e < t.first || e-t.first >= Epoch(len(t.micro)) {
		return 0, false
	}
	return t.micro[e-t.first], true
}
