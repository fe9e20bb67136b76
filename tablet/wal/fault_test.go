package wal

import (
	"errors"
	"math/rand"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"

	"ksql/internal/vfs"
)

func TestFailedSyncPoisons(t *testing.T) {
	var fail atomic.Bool
	syncs := 0
	fsys := vfs.WithFaults(vfs.NewMem(), &vfs.Injector{Op: func(op vfs.Op, name string, _ int64) error {
		if op == vfs.OpSync && fail.Load() {
			syncs++
			return syscall.EIO
		}
		return nil
	}})
	l, _ := mustOpen(t, fsys, 0)
	mustAppend(t, l, 1, []byte("good"), true)
	fail.Store(true)
	c := mustAppend(t, l, 2, []byte("bad"), false)
	if err := l.Sync(c.end); !errors.Is(err, ErrPoisoned) || !errors.Is(err, syscall.EIO) {
		t.Fatalf("sync: %v", err)
	}
	fail.Store(false)
	if _, err := appendCommit(l, 3, []byte("x")); !errors.Is(err, ErrPoisoned) {
		t.Fatalf("append after poisoning: %v", err)
	}
	if err := l.Sync(c.end); !errors.Is(err, ErrPoisoned) || syncs != 1 {
		t.Fatalf("a failed sync was tried again: %v, %d", err, syncs)
	}
	if l.Poisoned() == nil {
		t.Fatal("Poisoned says nothing")
	}
	mustClose(t, l)
}

// faultRun works on a file system of which operation i fails once. What it may rely
// on is in acked and all.
type faultRun struct {
	acked int
	all   []commit
	hit   vfs.Op // what failed
	err   error  // the first one that the log reported

	failed int  // commits
	lastOK bool // the last commit was acknowledged
}

func (f *faultRun) run(m *vfs.MemFS, i int64, errno syscall.Errno) {
	fsys := vfs.WithFaults(m, &vfs.Injector{Op: func(op vfs.Op, _ string, n int64) error {
		if n == i {
			f.hit = op
			return errno
		}
		return nil
	}})
	l, _, err := openLog(fsys, 0, smallSegments)
	if err != nil {
		f.err = err
		return
	}
	r := rand.New(rand.NewSource(7))
	released := false
	for e := uint64(1); e <= 40; e++ {
		// after a fault small commits follow a large one that found no room
		c, err := appendCommit(l, uint64(len(f.all)+1), payloadOf(r, e, []int{30, 9000, 100}[e%3]))
		if err == nil {
			f.all = append(f.all, c)
			if err = l.Sync(c.end); err == nil {
				f.acked = len(f.all)
			}
		}
		if f.lastOK = err == nil; !f.lastOK {
			f.failed++
		}
		if err != nil && f.err == nil {
			f.err = err
		}
		if e == 30 && f.err == nil && !released {
			released = true
			f.err = l.Release(0) // nothing to remove, must not fail
		}
	}
	if err := l.Close(); err != nil && f.err == nil {
		f.err = err
	}
}

// EIO and ENOSPC at operation i, for every i: it is reported, what was acknowledged
// is there after any crash, and ENOSPC does not stop what comes later.
func TestFaultAtEveryOperation(t *testing.T) {
	r := seedOf(t)
	for _, errno := range []syscall.Errno{syscall.EIO, syscall.ENOSPC} {
		goneOn := map[vfs.Op]int{}
		for i := int64(0); ; i++ {
			m := vfs.NewMem()
			var f faultRun
			f.run(m, i, errno)
			if f.hit == "" {
				if f.err != nil || f.acked != 40 || i < 100 {
					t.Fatalf("without a fault: %v, %d commits, %d operations", f.err, f.acked, i)
				}
				break
			}
			if f.err != nil && !errors.Is(f.err, errno) {
				t.Fatalf("%v at operation %d is reported as %v", errno, i, f.err)
			}
			if f.err != nil && f.failed == 1 && f.lastOK {
				goneOn[f.hit]++
			}
			for _, percent := range []int{0, 50, 50, 100} {
				_, got := mustOpen(t, m.CrashClone(vfs.CrashConfig{UnsyncedPercent: percent, Rand: r}), 0)
				if err := prefixError(got, f.all, f.acked); err != nil {
					t.Fatalf("%v at operation %d, %d %% kept: %v", errno, i, percent, err)
				}
			}
		}
		t.Logf("%v: the log went on after failures of %v", errno, goneOn)
		if goneOn[vfs.OpPreallocate] == 0 || goneOn[vfs.OpSync] != 0 || (goneOn[vfs.OpWrite] != 0) != (errno == syscall.ENOSPC) {
			t.Error("these are not the failures that leave the log usable")
		}
	}
}

// A fault while the log is opened leaves it as it was.
func TestFaultAtEveryOperationOfRecovery(t *testing.T) {
	r := seedOf(t)
	m := vfs.NewMem()
	l, _ := mustOpen(t, m, 0)
	var all []commit
	for e := range uint64(30) {
		all = append(all, mustAppend(t, l, e+1, payloadOf(r, e+1, 7000), e < 25))
	}
	must(t, l.advance(l.End(), false))
	crashed := m.CrashClone(vfs.CrashConfig{UnsyncedPercent: 50, Rand: r})
	for i := int64(0); ; i++ {
		hit := false
		clone := crashed.CrashClone(vfs.CrashConfig{UnsyncedPercent: 100})
		_, _, err := openLog(vfs.WithFaults(clone, &vfs.Injector{Op: func(_ vfs.Op, _ string, n int64) error {
			if n == i {
				hit = true
				return syscall.EIO
			}
			return nil
		}}), 0, smallSegments)
		if !hit {
			must(t, err)
			if i < 10 {
				t.Fatalf("only %d operations", i)
			}
			return
		}
		if !errors.Is(err, syscall.EIO) {
			t.Fatalf("operation %d: %v", i, err)
		}
		_, got := mustOpen(t, clone.CrashClone(vfs.CrashConfig{UnsyncedPercent: 50, Rand: r}), 0)
		checkPrefix(t, got, all, 25)
	}
}

func TestNoSpaceIsBeforeSealAndClears(t *testing.T) {
	m := vfs.NewMem()
	l, _ := mustOpen(t, m, 0)
	m.SetSpace(1000)
	var want []commit
	var failed error
	for epoch := uint64(1); failed == nil; epoch++ {
		c, err := appendCommit(l, epoch, make([]byte, 5000)) // it checks that seal was not called
		if failed = err; err == nil {
			want = append(want, c)
		}
	}
	if !vfs.IsNoSpace(failed) || len(want) < 10 || l.Poisoned() != nil {
		t.Fatalf("after %d commits: %v", len(want), failed)
	}
	if _, err := appendCommit(l, 99, make([]byte, 5000)); !vfs.IsNoSpace(err) {
		t.Fatal(err)
	}
	must(t, l.Sync(l.End()))
	m.SetSpace(-1)
	want = append(want, mustAppend(t, l, uint64(len(want)+1), make([]byte, 5000), true))
	mustClose(t, l)
	mustClose(t, checkAll(t, m, 0, want))
}

// A disk that is full when the log is opened lets it be read; the empty segment gets
// its room when there is space, under its own name.
func TestOpenWithoutSpace(t *testing.T) {
	for _, before := range []int{0, 3} {
		m := vfs.NewMem()
		l, _ := mustOpen(t, m, 0)
		var want []commit
		for e := range before {
			want = append(want, mustAppend(t, l, uint64(e+1), []byte("x"), true))
		}
		mustClose(t, l)
		full := true
		// what cutting the tail gives back goes to somebody else
		l, got, err := openLog(vfs.WithFaults(m, &vfs.Injector{Op: func(op vfs.Op, _ string, _ int64) error {
			if op == vfs.OpPreallocate && full {
				m.SetSpace(0)
			}
			return nil
		}}), 0, smallSegments)
		must(t, err)
		checkPrefix(t, got, want, len(want))
		if _, err := appendCommit(l, 9, []byte("x")); !vfs.IsNoSpace(err) {
			t.Fatalf("append to a full disk: %v", err)
		}
		full = false
		m.SetSpace(-1)
		want = append(want, mustAppend(t, l, uint64(before+1), []byte("y"), true))
		must(t, l.Release(0))
		mustClose(t, l)
		mustClose(t, checkAll(t, m, 0, want))
	}
}

// The first record of an empty segment may be larger than the segment.
func TestRecordLargerThanAnEmptySegment(t *testing.T) {
	m := vfs.NewMem()
	l, _ := mustOpen(t, m, 0)
	want := []commit{mustAppend(t, l, 1, make([]byte, 500<<10), true)}
	mustClose(t, l)
	l, _ = mustOpen(t, m, 0)
	want = append(want, mustAppend(t, l, 2, make([]byte, 900<<10), true), mustAppend(t, l, 3, []byte("x"), true))
	mustClose(t, l)
	mustClose(t, checkAll(t, m, 0, want))
}

// A commit whose chunks find no space is written off, and is not kept in memory by
// later starts; so is one that a crash has cut short.
func TestAbandonedChunks(t *testing.T) {
	m := vfs.NewMem()
	l, _ := mustOpen(t, m, 0)
	big := make([]byte, 10<<20)
	m.SetSpace(6 << 20)
	for range 3 {
		if _, err := appendCommit(l, 1, big); !vfs.IsNoSpace(err) {
			t.Fatalf("%v", err)
		}
	}
	if len(l.abandoned) == 0 {
		t.Fatal("nothing is abandoned")
	}
	m.SetSpace(-1)
	want := []commit{mustAppend(t, l, 1, []byte("x"), true)}
	if len(l.abandoned) != 0 {
		t.Fatalf("abandoned: %v", l.abandoned)
	}
	// two chunks of a commit whose end never comes
	first, _, err := l.append(recordBegin, 0, big[:1000], nil)
	must(t, err)
	_, end, err := l.append(recordMiddle, first, big[:1000], nil)
	must(t, err)
	must(t, l.Sync(end))
	crashed := m.CrashClone(vfs.CrashConfig{})
	l = checkAll(t, crashed, 0, want)
	if !slices.Equal(l.abandoned, []LSN{first}) {
		t.Fatalf("abandoned after the crash: %v, want %d", l.abandoned, first)
	}
	want = append(want, mustAppend(t, l, 2, []byte("y"), true))
	mustClose(t, l)
	l = checkAll(t, crashed, 0, want)
	if len(l.abandoned) != 0 {
		t.Fatalf("still open: %v", l.abandoned)
	}
	mustClose(t, l)
	mustClose(t, checkAll(t, crashed, want[1].first, want[1:])) // the begin is below from
}
