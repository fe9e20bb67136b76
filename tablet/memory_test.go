package tablet

import (
	"errors"
	"strings"
	"testing"
	"time"

	"ksql/internal/vfs"
)

// chainBytes is what a chain of versions takes.
func chainBytes(v *rowVersion) (n int64) {
	for ; v != nil && v != baseVersion; v = v.prev.Load() {
		n += int64(len(v.image)) + versionOverhead
	}
	return n
}

// recount walks a DeltaMemStore.
func (s *DeltaMemStore) recount() (n int64) {
	for i := range s.pages {
		p := s.pages[i].Load()
		if p == nil {
			continue
		}
		n += deltaPageRows / deltaLeafRows * 8
		for j := range p.leaves {
			if p.leaves[j].Load() != nil {
				n += deltaLeafRows * 8
			}
		}
	}
	s.each(func(_ uint32, h *versionHead) bool { n += chainBytes(h.p.Load()); return true })
	return n
}

// checkGauges compares every memory gauge with what is there. Nobody writes.
func checkGauges(t *testing.T, m *Manager, when string) {
	t.Helper()
	m.flushMu.Lock() // the maintenance goroutine gives up memory too
	defer m.flushMu.Unlock()
	var mem, delta, dirty int64
	for _, tab := range m.live() {
		v := tab.acquire()
		for _, s := range append([]*MemRowSet{v.mem}, v.frozen...) {
			var n int64
			for _, r := range s.ascend(nil, nil, false, nil, 1<<30) {
				n += int64(len(r.key)) + memRowOverhead + chainBytes(r.newest())
			}
			if own := s.bytes.own.Load(); own != n {
				t.Errorf("%s: a MemRowSet of %d bytes counts %d", when, n, own)
			}
			mem += n
		}
		for _, d := range v.disk {
			if own, n := d.dms.bytes.own.Load(), d.dms.recount(); own != n {
				t.Errorf("%s: a DeltaMemStore of %d bytes counts %d", when, n, own)
			}
			delta += d.dms.bytes.own.Load()
			dirty += d.dms.dirty.own.Load()
		}
		for _, g := range v.ghosts {
			delta += g.bytes.own.Load()
		}
		v.release()
	}
	if a, b, c := m.memBytes.Load(), m.deltaBytes.Load(), m.dirtyBytes.Load(); a != mem || b != delta || c != dirty {
		t.Errorf("%s: gauges say %d in memory, %d of deltas, %d dirty; there are %d, %d, %d", when, a, b, c, mem, delta, dirty)
	}
}

// TestMemoryGauges: whatever happens, the gauges that flushing and throttling go by
// are right.
func TestMemoryGauges(t *testing.T) {
	g := &modelRun{t: t, r: seeded(t), fs: vfs.NewMem(), now: map[int64]kv{}}
	g.m = openTest(t, g.fs)
	g.id = createTest(t, g.m)
	for range 300 {
		if n := g.r.Intn(100); n == 99 { // a flush that fails
			g.fs.SetSpace(0)
			if err := g.m.Flush(bg); err != nil && !errors.Is(err, ErrNoSpace) {
				t.Fatal(err)
			}
			g.fs.SetSpace(-1)
		} else {
			g.step()
		}
		checkGauges(t, g.m, "in the history")
		if t.Failed() {
			return
		}
	}
	g.closeSnapshots()
	if err := g.m.Flush(bg); err != nil {
		t.Fatal(err)
	}
	checkGauges(t, g.m, "after a flush")
	if a, b := g.m.memBytes.Load(), g.m.dirtyBytes.Load(); a != 0 || b != 0 {
		t.Errorf("after a flush %d bytes in memory, %d dirty", a, b)
	}
}

// TestFlushWithChangesBeside: rows that change while they are flushed and that open
// snapshots see are counted once.
func TestFlushWithChangesBeside(t *testing.T) {
	m := openTest(t, vfs.NewMem())
	id := createTest(t, m)
	old := m.Begin(TxOptions{})
	defer old.Rollback()
	old.PinSnapshot()
	write(t, m, id, map[int64]*kv{1: {1, "one"}, 2: {2, "two"}, 3: {3, ""}})
	between := m.Begin(TxOptions{})
	defer between.Rollback()
	between.PinSnapshot()
	tab, _ := m.Tablet(id)
	m.flushMu.Lock()
	f := tab.freeze()
	write(t, m, id, map[int64]*kv{1: {10, "changed"}, 2: nil})
	if err := f.write(bg); err != nil {
		t.Fatal(err)
	}
	if _, err := m.installSuperBlock([]*tabletFlush{f}); err != nil {
		t.Fatal(err)
	}
	write(t, m, id, map[int64]*kv{3: {30, ""}, 2: {20, "again"}})
	f.swap()
	f.end(true)
	m.flushMu.Unlock()
	checkGauges(t, m, "after the swap")
	now := map[int64]kv{1: {10, "changed"}, 2: {20, "again"}, 3: {30, ""}}
	sameRows(t, "newest", readAll(t, m, id), now)
	between.StartStatement(RepeatableRead)
	if _, rows, err := contents(between, ScanSpec{Tablet: id}); err != nil {
		t.Error(err)
	} else {
		sameRows(t, "snapshot", rows, map[int64]kv{1: {1, "one"}, 2: {2, "two"}, 3: {3, ""}})
	}
	old.StartStatement(RepeatableRead)
	if _, rows, err := contents(old, ScanSpec{Tablet: id}); err != nil || len(rows) != 0 {
		t.Errorf("the oldest snapshot shows %v, %v", rows, err)
	}
	checkClean(t, m)
}

// TestDropFreesEverything: a dropped tablet's memory leaves the gauges and its files
// the folder, without any further write; also if its flush had failed.
func TestDropFreesEverything(t *testing.T) {
	for _, failed := range []bool{false, true} {
		fs := vfs.NewMem()
		m := openTest(t, fs)
		id := createTest(t, m)
		write(t, m, id, map[int64]*kv{1: {1, "one"}, 2: {2, "two"}})
		if err := m.Flush(bg); err != nil {
			t.Fatal(err)
		}
		write(t, m, id, map[int64]*kv{1: {10, "dirty"}, 3: {3, "in memory"}})
		if failed {
			fs.SetSpace(0)
			if err := m.Flush(bg); !errors.Is(err, ErrNoSpace) {
				t.Fatal(err)
			}
			fs.SetSpace(-1)
		}
		reader := m.Begin(TxOptions{})
		reader.PinSnapshot()
		dropTest(t, m, id)
		reader.StartStatement(RepeatableRead)
		if _, rows, err := contents(reader, ScanSpec{Tablet: id}); err != nil || len(rows) != 3 {
			t.Errorf("a snapshot from before the drop shows %v, %v", rows, err)
		}
		reader.Rollback()
		gone := func() bool {
			for _, n := range fs.Files() {
				if strings.Contains(n, "/rowsets/") {
					return false
				}
			}
			return m.memBytes.Load() == 0 && m.deltaBytes.Load() == 0 && m.dirtyBytes.Load() == 0
		}
		for end := time.Now().Add(5 * time.Second); !gone() && time.Now().Before(end); {
			time.Sleep(5 * time.Millisecond)
		}
		if !gone() {
			t.Errorf("failed flush %v: after the drop %d bytes in memory, %d of deltas, %d dirty, files %v",
				failed, m.memBytes.Load(), m.deltaBytes.Load(), m.dirtyBytes.Load(), fs.Files())
		}
		checkClean(t, m)
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
