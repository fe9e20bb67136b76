package wal

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"ksql/internal/vfs"
)

func TestAppendAndReplayOverSegments(t *testing.T) {
	r := seedOf(t)
	m := vfs.NewMem()
	l, _ := mustOpen(t, m, 0)
	var want []commit
	for i := range 300 {
		size := r.Intn(3000)
		if i%100 == 50 {
			size = 2<<20 + r.Intn(1000) // chunked
		}
		c, err := appendCommit(l, uint64(i+1), payloadOf(r, uint64(i+1), size))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, c)
	}
	if err := l.Sync(l.End()); err != nil {
		t.Fatal(err)
	}
	if l.Stats().Segments < 5 {
		t.Fatalf("only %d segments", l.Stats().Segments)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l, got := mustOpen(t, m, 0)
	checkPrefix(t, got, want)
	if len(got) != len(want) {
		t.Fatalf("%d of %d commits", len(got), len(want))
	}
	// release and read on from the middle
	mid := want[200]
	if err := l.Release(mid.first); err != nil {
		t.Fatal(err)
	}
	before := l.Stats().Segments
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l, got = mustOpen(t, m, mid.first)
	checkPrefix(t, got, want[200:])
	if len(got) != 100 || l.Stats().Segments != before {
		t.Fatalf("%d commits from the middle, %d segments", len(got), l.Stats().Segments)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	var ce *CorruptionError
	if _, _, err := openLog(m, 0, Options{}); !errors.As(err, &ce) {
		t.Fatalf("a released beginning is not noticed: %v", err)
	}
}

func TestChunksInterleave(t *testing.T) {
	m := vfs.NewMem()
	l, _ := mustOpen(t, m, 0)
	var wg sync.WaitGroup
	var epoch atomic.Uint64
	order := make(chan uint64, 200)
	for w := range 4 {
		wg.Go(func() {
			for i := range 10 {
				p := make([]byte, 3<<20)
				for j := range p {
					p[j] = byte(w*10 + i)
				}
				if _, err := l.Append(p, func(LSN) Stamp {
					e := epoch.Add(1)
					order <- e<<8 | uint64(w*10+i)
					return Stamp{Epoch: e}
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	close(order)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, got := mustOpen(t, m, 0)
	i := 0
	for o := range order {
		if got[i].epoch != o>>8 || len(got[i].payload) != 3<<20 {
			t.Fatalf("commit %d has epoch %d", i, got[i].epoch)
		}
		for _, b := range got[i].payload {
			if b != byte(o) {
				t.Fatalf("commit %d mixes payloads", i)
			}
		}
		i++
	}
	if i != 40 || len(got) != 40 {
		t.Fatalf("%d commits", len(got))
	}
}

// Eight sessions with 2 ms a sync share syncs.
func TestGroupCommit(t *testing.T) {
	fsys := vfs.WithSyncLatency(vfs.NewMem(), 2*time.Millisecond)
	l, _, err := openLog(fsys, 0, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const sessions, each = 8, 100
	var epoch atomic.Uint64
	var wg sync.WaitGroup
	for range sessions {
		wg.Go(func() {
			for range each {
				end, err := l.Append([]byte("x"), func(LSN) Stamp { return Stamp{Epoch: epoch.Add(1)} })
				if err == nil {
					err = l.Sync(end)
				}
				if err != nil {
					t.Error(err)
				}
				if l.Synced() < end {
					t.Error("Sync returned early")
				}
			}
		})
	}
	wg.Wait()
	s := l.Stats()
	ratio := float64(s.Syncs) / (sessions * each)
	t.Logf("syncs %d, commits %d, ratio %.3f, largest group %d", s.Syncs, sessions*each, ratio, s.MaxGroup)
	if ratio > 0.27 {
		t.Fatalf("%.3f syncs a commit", ratio)
	}
}

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
	c, err := appendCommit(l, 1, []byte("good"))
	if err != nil || l.Sync(c.end) != nil {
		t.Fatal(err)
	}
	fail.Store(true)
	c, err = appendCommit(l, 2, []byte("bad"))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Sync(c.end); !errors.Is(err, ErrPoisoned) || !errors.Is(err, syscall.EIO) {
		t.Fatalf("sync: %v", err)
	}
	fail.Store(false)
	sealed := false
	if _, err := l.Append([]byte("x"), func(LSN) Stamp { sealed = true; return Stamp{} }); !errors.Is(err, ErrPoisoned) || sealed {
		t.Fatalf("append after poisoning: %v, sealed %v", err, sealed)
	}
	if err := l.Sync(c.end); !errors.Is(err, ErrPoisoned) || syncs != 1 {
		t.Fatalf("a failed sync was tried again: %v, %d", err, syncs)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestNoSpaceIsBeforeSealAndClears(t *testing.T) {
	m := vfs.NewMem()
	l, _ := mustOpen(t, m, 0)
	m.SetSpace(1000)
	var want []commit
	epoch := uint64(0)
	var failed error
	for failed == nil {
		c, err := appendCommit(l, epoch+1, make([]byte, 5000))
		if err != nil {
			failed = err
			break
		}
		epoch++
		want = append(want, c)
	}
	if !vfs.IsNoSpace(failed) || len(want) < 10 {
		t.Fatalf("after %d commits: %v", len(want), failed)
	}
	sealed := false
	if _, err := l.Append(make([]byte, 5000), func(LSN) Stamp { sealed = true; return Stamp{} }); !vfs.IsNoSpace(err) || sealed {
		t.Fatalf("%v, sealed %v", err, sealed)
	}
	if err := l.Sync(l.End()); err != nil {
		t.Fatal(err)
	}
	m.SetSpace(-1)
	c, err := appendCommit(l, epoch+1, make([]byte, 5000))
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, c)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, got := mustOpen(t, m, 0)
	checkPrefix(t, got, want)
	if len(got) != len(want) {
		t.Fatalf("%d of %d", len(got), len(want))
	}
}

func TestIntervalAndOff(t *testing.T) {
	for mode, synced := range map[SyncMode]bool{Interval: true, Off: false} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			m := vfs.NewMem()
			l, _, err := openLog(m, 0, Options{Sync: mode, Interval: 5 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			c, err := appendCommit(l, 1, []byte("x"))
			if err != nil || l.Sync(c.end) != nil {
				t.Fatal(err)
			}
			_, got := mustOpen(t, m.CrashClone(vfs.CrashConfig{UnsyncedPercent: 100}), 0)
			if len(got) != 1 {
				t.Fatal("Sync did not write")
			}
			time.Sleep(50 * time.Millisecond)
			_, got = mustOpen(t, m.CrashClone(vfs.CrashConfig{}), 0)
			if (len(got) == 1) != synced {
				t.Fatalf("%d commits after the interval", len(got))
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			_, got = mustOpen(t, m.CrashClone(vfs.CrashConfig{}), 0)
			if len(got) != 1 {
				t.Fatal("Close did not sync")
			}
		})
	}
}

func BenchmarkAppendSync(b *testing.B) {
	for _, size := range []int{100, 10000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			l, err := Open(vfs.Default, b.TempDir(), Options{})
			if err != nil {
				b.Fatal(err)
			}
			if err := l.Replay(0, nil); err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			p := make([]byte, size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				end, err := l.Append(p, func(LSN) Stamp { return Stamp{} })
				if err == nil {
					err = l.Sync(end)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
