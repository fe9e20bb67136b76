package tablet

import (
	"errors"
	"fmt"
	"maps"
	"syscall"
	"testing"

	"ksql/internal/vfs"
)

// faultRun is a short history on a disk that fails once. possible holds the states
// that a reopen may show: the last acknowledged one, and behind it, if the last
// commit ended in an error, that commit as well.
type faultRun struct {
	t        *testing.T
	fs       *vfs.MemFS
	m        *Manager
	id       TabletID
	acked    map[int64]kv
	possible []map[int64]kv
	errs     []error
	over     bool // no more faults
}

func (f *faultRun) failed(what string, err error) bool {
	if err != nil {
		f.errs = append(f.errs, fmt.Errorf("%s: %w", what, err))
	}
	return err != nil
}

// commit writes rows; a poisoned log must refuse every later write.
func (f *faultRun) commit(rows map[int64]*kv) {
	poisoned := f.m.poisoned.Load()
	next := clone(f.acked)
	for k, v := range rows {
		if v == nil {
			delete(next, k)
		} else {
			next[k] = *v
		}
	}
	err := tryWrite(f.t, f.m, f.id, rows)
	if poisoned && !errors.Is(err, ErrPoisoned) {
		f.t.Errorf("a commit on a failed log gives %v", err)
	}
	if f.failed("commit", err) {
		if !poisoned && errors.Is(err, ErrPoisoned) {
			f.possible = append(f.possible, next)
		}
		return
	}
	f.acked, f.possible = next, []map[int64]kv{next}
}

// history is what the disk fails under.
func (f *faultRun) history() {
	for i := int64(0); i < 4; i++ {
		f.commit(map[int64]*kv{i: {i, "new"}, i + 10: {i, ""}})
	}
	f.failed("flush", f.m.Flush(bg))
	f.commit(map[int64]*kv{1: {7, "changed"}, 2: nil, 20: {20, "fresh"}})
	f.commit(map[int64]*kv{2: {8, "again"}, 11: nil})
	f.failed("second flush", f.m.Flush(bg))
	f.commit(map[int64]*kv{1: nil, 20: {21, "more"}, 30: {30, ""}})
}

// opened tells whether the history could begin.
func (f *faultRun) open(fsys vfs.FS) bool {
	m, err := Open("data", Options{FS: fsys, SegmentSize: 64 << 10})
	if f.failed("open", err) {
		return false
	}
	f.m = m
	tx := m.Begin(TxOptions{})
	id, err := tx.CreateTablet(testSchema())
	if err != nil {
		f.t.Fatal(err)
	}
	_, err = tx.Commit(bg)
	f.id = id
	f.acked = map[int64]kv{}
	f.possible = []map[int64]kv{f.acked}
	return !f.failed("create tablet", err)
}

func (f *faultRun) readsServed() {
	f.t.Helper()
	tx := f.m.Begin(TxOptions{})
	defer tx.Rollback()
	tx.StartStatement(RepeatableRead)
	_, rows, err := contents(tx, ScanSpec{Tablet: f.id})
	if err != nil || !maps.Equal(rows, f.acked) {
		f.t.Errorf("after %v: reads give %v, %v, want %v", f.errs, rows, err, f.acked)
	}
}

// judge reopens a crash clone.
func (f *faultRun) judge(where string) {
	clone := f.fs.CrashClone(vfs.CrashConfig{})
	m, err := Open("data", Options{FS: clone})
	if err != nil {
		f.t.Errorf("%s: reopen after %v: %v", where, f.errs, err)
		return
	}
	defer m.Close()
	checkClean(f.t, m)
	if _, there := m.Tablet(f.id); !there {
		if len(f.acked) > 0 {
			f.t.Errorf("%s: after %v the tablet is lost", where, f.errs)
		}
		return
	}
	got := readAll(f.t, m, f.id)
	for _, p := range f.possible {
		if maps.Equal(got, p) {
			return
		}
	}
	f.t.Errorf("%s: after %v a reopen shows %v, want one of %v", where, f.errs, got, f.possible)
}

// faultAt runs the history with one fault at operation i and tells whether the
// fault was reached.
func faultAt(t *testing.T, i int64, fault error) bool {
	var what string
	f := &faultRun{t: t, fs: vfs.NewMem()}
	inj := &vfs.Injector{Op: func(op vfs.Op, name string, index int64) error {
		if index == i && !f.over {
			what = fmt.Sprintf("%v at operation %d, %s %s", fault, i, op, name)
			return fault
		}
		return nil
	}}
	if f.open(vfs.WithFaults(f.fs, inj)) {
		f.history()
		f.readsServed()
		f.over = fault == syscall.ENOSPC && what != ""
		f.judge(what + ", before close")
		if f.over && f.m.log.Poisoned() == nil { // space that was reserved can't be missing
			f.commit(map[int64]*kv{50: {50, "space is back"}})
			if len(f.possible) != 1 || f.acked[50].a != 50 {
				t.Errorf("%s: a later commit fails: %v", what, f.errs)
			}
			if err := f.m.Flush(bg); err != nil {
				t.Errorf("%s: a later flush fails: %v", what, err)
			}
			checkNoLogHeld(t, f.m)
			checkClean(t, f.m)
		}
	}
	if f.m != nil {
		f.failed("close", f.m.Close())
	}
	f.judge(what + ", after close")
	if what != "" && len(f.errs) == 0 {
		t.Logf("survived: %s", what)
	}
	return what != ""
}

// checkNoLogHeld: after a flush nothing keeps the log.
func checkNoLogHeld(t *testing.T, m *Manager) {
	t.Helper()
	if n := m.Stats().LogBytes; n != 0 {
		t.Errorf("after a flush %d bytes of log are kept", n)
	}
}

// TestFaultAtEveryOperation: a disk that fails once, at every place where it can.
func TestFaultAtEveryOperation(t *testing.T) {
	for _, fault := range []error{syscall.EIO, syscall.ENOSPC} {
		i := int64(0)
		for faultAt(t, i, fault) && !t.Failed() {
			i++
		}
		if i < 80 {
			t.Errorf("the history has %d operations only", i)
		}
	}
}

// TestFullDisk: while the disk is full commits and flushes fail with ErrNoSpace,
// reads work; when space returns everything does, and no log is held for commits
// that never were.
func TestFullDisk(t *testing.T) {
	fs := vfs.NewMem()
	f := &faultRun{t: t, fs: fs}
	if !f.open(fs) {
		t.Fatal(f.errs)
	}
	other := createTest(t, f.m)
	f.commit(map[int64]*kv{1: {1, "one"}, 2: {2, "two"}})
	if err := f.m.Flush(bg); err != nil {
		t.Fatal(err)
	}
	fs.SetSpace(0)
	big := &kv{1, string(make([]byte, 40<<10))}
	if err := tryWrite(t, f.m, other, map[int64]*kv{1: big}); err != nil {
		t.Fatal(err)
	}
	if err := tryWrite(t, f.m, f.id, map[int64]*kv{1: big}); !errors.Is(err, ErrNoSpace) {
		t.Fatalf("a commit on a full disk gives %v", err)
	}
	if err := f.m.Flush(bg); !errors.Is(err, ErrNoSpace) {
		t.Errorf("a flush on a full disk gives %v", err)
	}
	f.readsServed()
	f.judge("full")
	fs.SetSpace(-1)
	write(t, f.m, other, map[int64]*kv{2: big, 3: big})
	if err := f.m.Flush(bg); err != nil {
		t.Errorf("a flush after space came back: %v", err)
	}
	checkNoLogHeld(t, f.m)
	checkClean(t, f.m)
	f.readsServed()
	if err := f.m.Close(); err != nil {
		t.Error(err)
	}
	f.judge("closed")
}

// TestDropThenFailedClose: a drop that no superblock holds yet must not take the
// files away that the superblock names.
func TestDropThenFailedClose(t *testing.T) {
	for _, how := range []string{"full", "poisoned", "crash, read-only"} {
		fs := vfs.NewMem()
		fail := false
		m, err := Open("data", Options{FS: vfs.WithFaults(fs, &vfs.Injector{Op: func(op vfs.Op, _ string, _ int64) error {
			if fail && op == vfs.OpSync {
				return syscall.EIO
			}
			return nil
		}})})
		if err != nil {
			t.Fatal(err)
		}
		id, kept := createTest(t, m), createTest(t, m)
		write(t, m, id, map[int64]*kv{1: {1, "one"}})
		if err := m.Flush(bg); err != nil {
			t.Fatal(err)
		}
		m.maint.stop()
		dropTest(t, m, id)
		switch how {
		case "full":
			write(t, m, kept, map[int64]*kv{1: {1, "one"}})
			fs.SetSpace(0)
		case "poisoned":
			fail = true
			if err := tryWrite(t, m, kept, map[int64]*kv{1: {1, "one"}}); !errors.Is(err, ErrPoisoned) {
				t.Fatal(err)
			}
		case "crash, read-only":
			crashed := fs.CrashClone(vfs.CrashConfig{UnsyncedPercent: 100})
			_ = m.Close()
			fs = crashed
			if m, err = Open("data", Options{FS: fs, ReadOnly: true}); err != nil {
				t.Fatal(err)
			}
		}
		_ = m.Close() // it may fail, and must do no harm
		fs.SetSpace(-1)
		m, err = Open("data", Options{FS: fs})
		if err != nil {
			t.Errorf("%s: %v", how, err)
			continue
		}
		checkClean(t, m)
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

func dropTest(t *testing.T, m *Manager, id TabletID) {
	t.Helper()
	tx := m.Begin(TxOptions{})
	if err := tx.DropTablet(id); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(bg); err != nil {
		t.Fatal(err)
	}
}

// TestFailedFlushKeepsHistory: keys that were deleted in a MemRowSet whose flush
// failed and that came back in the next one are there for snapshots of both lives
// after the next flush.
func TestFailedFlushKeepsHistory(t *testing.T) {
	fs := vfs.NewMem()
	m := openTest(t, fs)
	id := createTest(t, m)
	var snaps []modelSnapshot
	now := map[int64]kv{}
	step := func(rows map[int64]*kv) {
		write(t, m, id, rows)
		for k, v := range rows {
			if v == nil {
				delete(now, k)
			} else {
				now[k] = *v
			}
		}
		tx := m.Begin(TxOptions{})
		tx.PinSnapshot()
		snaps = append(snaps, modelSnapshot{tx, clone(now)})
	}
	verify := func(when string) {
		t.Helper()
		for i, s := range snaps {
			s.tx.StartStatement(RepeatableRead)
			if err := sameAs(s.tx, id, ReadSnapshot, s.model, seeded(t)); err != nil {
				t.Errorf("%s, snapshot %d: %v", when, i, err)
			}
			for k := range int64(4) {
				row, found, err := s.tx.Get(bg, id, keyOf(k), ReadSnapshot)
				want, there := s.model[k]
				if err != nil || found != there {
					t.Errorf("%s, snapshot %d: key %d: found %v, want %v (%v)", when, i, k, found, there, err)
				} else if found {
					if _, v := kvOf(row.Value); v != want {
						t.Errorf("%s, snapshot %d: key %d is %v, want %v", when, i, k, v, want)
					}
				}
			}
		}
	}
	noFlush := func() {
		fs.SetSpace(0)
		if err := m.Flush(bg); !errors.Is(err, ErrNoSpace) {
			t.Fatalf("a flush on a full disk gives %v", err)
		}
		fs.SetSpace(-1)
	}
	step(map[int64]*kv{1: {1, "first life"}, 2: {2, "first"}, 3: {3, ""}})
	noFlush()
	step(map[int64]*kv{1: nil, 2: nil})
	step(map[int64]*kv{1: {10, "second life"}})
	noFlush()
	step(map[int64]*kv{3: nil, 1: nil})
	step(map[int64]*kv{1: {100, "third life"}, 2: {20, "second"}})
	verify("before the flush")
	if err := m.Flush(bg); err != nil {
		t.Fatal(err)
	}
	verify("after the flush")
	step(map[int64]*kv{1: nil, 2: {21, ""}})
	verify("after a change")
	for _, s := range snaps {
		s.tx.Rollback()
	}
	if err := m.Flush(bg); err != nil {
		t.Fatal(err)
	}
	checkClean(t, m)
	sameRows(t, "newest", readAll(t, m, id), now)
}
