package tablet

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"ksql/internal/vfs"
	"ksql/tablet/wal"
)

const (
	// maintenanceTick is how often the worker looks when nobody kicks it.
	maintenanceTick = 100 * time.Millisecond
	// maintenanceRetry is how long it rests after a failed flush (a full disk).
	maintenanceRetry = time.Second
)

// maintenance is the Manager's one background goroutine: it flushes by memory and log
// pressure, frees the log, and gives up history that nobody reads any more.
type maintenance struct {
	m       *Manager
	cancel  context.CancelFunc
	kicked  chan struct{}
	done    chan struct{}
	stopped sync.Once

	mu     sync.Mutex
	failed error // of the last flush
}

func (w *maintenance) start(m *Manager) {
	w.m = m
	w.kicked, w.done = make(chan struct{}, 1), make(chan struct{})
	var ctx context.Context
	ctx, w.cancel = context.WithCancel(context.Background())
	go w.run(ctx)
}

// stop ends the worker and waits for it. A flush in progress is given up.
func (w *maintenance) stop() {
	w.stopped.Do(func() {
		if w.cancel != nil {
			w.cancel()
			<-w.done
		}
	})
}

func (w *maintenance) kick() {
	select {
	case w.kicked <- struct{}{}:
	default:
	}
}

// yield lets clients run: two busy goroutines on two cores cost a client the
// scheduler's time slice.
func (w *maintenance) yield() { runtime.Gosched() }

func (w *maintenance) lastError() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}

func (w *maintenance) run(ctx context.Context) {
	defer close(w.done)
	tick := time.NewTicker(maintenanceTick)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-w.kicked:
		}
		err := w.once(ctx)
		w.mu.Lock()
		w.failed = err
		w.mu.Unlock()
		if err == nil || ctx.Err() != nil {
			continue
		}
		w.m.counters.flushErrors.Add(1)
		w.m.logf("flush: %v (will be tried again)", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(maintenanceRetry):
		}
	}
}

// once does what is due.
func (w *maintenance) once(ctx context.Context) error {
	m := w.m
	if m.poisoned.Load() || m.options.ReadOnly {
		return nil
	}
	if ts := m.due(); len(ts) > 0 || m.dropsDue() {
		if err := m.flushTablets(ctx, ts); err != nil {
			return err
		}
	}
	m.purgeDropped()
	m.forgetHistory()
	return nil
}

// due are the tablets that should be flushed now: all that have something under log
// or memory pressure, else the large ones.
func (m *Manager) due() []*Tablet {
	mem := m.memBytes.Load() + m.dirtyBytes.Load()
	log := int64(m.log.End()) - m.super.replayFrom.Load()
	all := log > m.options.LogBytes || m.memBytes.Load()+m.deltaBytes.Load() > m.options.MemoryLimit/2 && mem > m.options.MemoryLimit/16
	if !all && mem < m.options.FlushBytes {
		return nil
	}
	var ts []*Tablet
	for _, t := range m.live() {
		if n := t.unflushed(); n > 0 && (all || n >= m.options.FlushBytes) {
			ts = append(ts, t)
		}
	}
	return ts
}

// unflushed is how many bytes of memory a flush would write, at least 1 if the tablet
// holds the log: a commit that found no space has left nothing but its anchor.
func (t *Tablet) unflushed() int64 {
	v := t.acquire()
	defer v.release()
	var n int64
	if t.anchor.Load() != 0 || t.flushing.Load() != 0 {
		n++
	}
	if !v.mem.empty() {
		n += v.mem.bytes.own.Load()
	}
	for _, f := range v.frozen {
		n += f.bytes.own.Load() + 1
	}
	for _, d := range v.disk {
		n += d.dms.dirty.own.Load()
	}
	return n
}

// flushTablets flushes and frees the log that is not needed any more.
func (m *Manager) flushTablets(ctx context.Context, ts []*Tablet) error {
	m.flushMu.Lock()
	defer m.flushMu.Unlock()
	if err := m.flush(ctx, ts); err != nil {
		if vfs.IsNoSpace(err) {
			return fmt.Errorf("%w: %w", ErrNoSpace, err)
		}
		return err
	}
	return m.releaseLog()
}

// flushAll flushes everything and installs a superblock if there is anything that
// the present one does not hold.
func (m *Manager) flushAll(ctx context.Context) error {
	var ts []*Tablet
	for _, t := range m.live() {
		if t.unflushed() > 0 {
			ts = append(ts, t)
		}
	}
	if len(ts) == 0 && m.anchor.Load() == 0 && !m.countersMoved() {
		return nil
	}
	return m.flushTablets(ctx, ts)
}

// countersMoved tells whether a counter has a value that neither log nor superblock
// holds.
func (m *Manager) countersMoved() bool { return len(m.movedCounters()) > 0 }

// Flush writes everything that is in memory to files and frees the log. On an error
// everything stays as it was; ErrNoSpace clears by itself.
func (m *Manager) Flush(ctx context.Context) error {
	m.gate.RLock()
	defer m.gate.RUnlock()
	if err := m.writable(); err != nil {
		return err
	}
	err := m.flushAll(ctx)
	if err == nil {
		m.purgeDropped()
		m.forgetHistory()
	}
	return err
}

// releaseLog removes the log segments before the place where recovery would start.
func (m *Manager) releaseLog() error { return m.log.Release(wal.LSN(m.super.replayFrom.Load())) }

// forgetHistory drops what flushes have carried over for snapshots that are closed.
func (m *Manager) forgetHistory() {
	m.flushMu.Lock()
	defer m.flushMu.Unlock()
	oldest := m.mvcc.oldest()
	for _, t := range m.live() {
		v := t.acquire()
		for _, d := range v.disk {
			if d.historyUntil == 0 || d.historyUntil > oldest {
				continue
			}
			d.historyUntil = 0
			d.dms.each(func(ordinal uint32, h *versionHead) bool {
				if head := h.p.Load(); head != nil && head.kind == versionBase && head.epoch <= oldest {
					d.dms.forget(ordinal, head)
				}
				return true
			})
		}
		v.release()
		t.forgetGhosts(oldest)
	}
}

// forgetGhosts installs a version without the ghosts that no snapshot sees.
func (t *Tablet) forgetGhosts(oldest Epoch) {
	v := t.acquire()
	n := len(v.ghosts)
	v.release()
	if n == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	v = t.current.Load()
	kept := neededGhosts(v.ghosts, oldest)
	if len(kept) < len(v.ghosts) {
		t.install(newVersion(v.mem, v.frozen, v.disk, kept))
	}
}

// neededGhosts are the ghosts that a snapshot at or behind oldest still sees; the
// memory of the others is given up.
func neededGhosts(ghosts []*ghostRowSet, oldest Epoch) []*ghostRowSet {
	var kept []*ghostRowSet
	for _, g := range ghosts {
		if g.until > oldest {
			kept = append(kept, g)
		} else {
			g.bytes.drop()
		}
	}
	return kept
}

// throttle makes writers wait while memory that a flush can free is above its limit.
// It fails only if flushing does not work either.
func (m *Manager) throttle(ctx context.Context) error {
	limit := m.options.MemoryLimit / 4 * 3
	if m.memBytes.Load()+m.dirtyBytes.Load() <= limit {
		if m.memBytes.Load() > m.options.FlushBytes {
			m.maint.kick()
		}
		return nil
	}
	for m.memBytes.Load()+m.dirtyBytes.Load() > limit {
		m.maint.kick()
		if err := m.maint.lastError(); err != nil {
			return fmt.Errorf("memory is full and can't be flushed: %w", err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(time.Millisecond):
		}
	}
	return nil
}
