package wal

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
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
	checkPrefix(t, got, want, len(want))
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
	checkPrefix(t, got, want[200:], 100)
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
					return Stamp{Epoch: e, WallMicros: int64(e) * 10}
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

// Release keeps what is not synced, whatever the caller says.
func TestReleaseKeepsWhatIsNotSynced(t *testing.T) {
	m := vfs.NewMem()
	o := smallSegments
	o.Sync = Off
	l, _, err := openLog(m, 0, o)
	must(t, err)
	for e := range uint64(40) {
		mustAppend(t, l, e+1, make([]byte, 9000), true)
	}
	n := l.Stats().Segments
	must(t, l.Release(l.End()))
	if got := l.Stats().Segments; got != n || n < 5 {
		t.Fatalf("%d of %d segments are left", got, n)
	}
	must(t, l.SyncNow())
	must(t, l.Release(l.End()))
	if got := l.Stats().Segments; got != 1 {
		t.Fatalf("%d segments are left", got)
	}
	mustClose(t, l)
}

// Much that nobody syncs does not stay in memory.
func TestAppendWritesWhenMuchHasCollected(t *testing.T) {
	l, _, err := openLog(vfs.NewMem(), 0, Options{})
	must(t, err)
	for e := range uint64(10) {
		mustAppend(t, l, e+1, make([]byte, 1<<19), false)
	}
	if w := l.written.load(); w < 4*maxPending || l.Synced() != 0 {
		t.Fatalf("written up to %d, synced up to %d", w, l.Synced())
	}
	mustClose(t, l)
}

// BenchmarkAppendSync commits on the real disk, from one session and from several.
func BenchmarkAppendSync(b *testing.B) {
	for _, size := range []int{100, 10000} {
		for _, sessions := range []int{1, 8, 64} {
			b.Run(fmt.Sprintf("size=%d/sessions=%d", size, sessions), func(b *testing.B) {
				l, err := Open(vfs.Default, b.TempDir(), Options{})
				if err != nil {
					b.Fatal(err)
				}
				must(b, l.Replay(0, nil))
				b.SetBytes(int64(size))
				b.ReportAllocs()
				var wg sync.WaitGroup
				for s := range sessions {
					wg.Go(func() {
						p := make([]byte, size)
						seal := func(LSN) Stamp { return Stamp{} }
						for range (b.N + s) / sessions {
							end, err := l.Append(p, seal)
							must(b, err)
							must(b, l.Sync(end))
						}
					})
				}
				wg.Wait()
				st := l.Stats()
				b.ReportMetric(float64(st.Syncs)/float64(max(1, st.Records)), "syncs/commit")
				must(b, l.Close())
			})
		}
	}
}

// BenchmarkAppend is the critical path without the disk.
func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{100, 1000} {
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			l := &Log{replayed: true, segments: []*segment{{room: 1 << 62}}}
			l.init(commitEnv{write: func([]chunk) error { return nil }})
			p := make([]byte, size)
			seal := func(LSN) Stamp { return Stamp{} }
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := l.Append(p, seal); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkReplay reads records of 200 bytes.
func BenchmarkReplay(b *testing.B) {
	const records = 50000
	dir := b.TempDir()
	l, err := Open(vfs.Default, dir, Options{})
	must(b, err)
	must(b, l.Replay(0, nil))
	p := make([]byte, 200)
	for range records {
		if _, err := l.Append(p, func(LSN) Stamp { return Stamp{} }); err != nil {
			b.Fatal(err)
		}
	}
	must(b, l.Close())
	for b.Loop() {
		l, err := Open(vfs.Default, dir, Options{})
		must(b, err)
		n := 0
		must(b, l.Replay(0, func(LSN, Stamp, []byte) error { n++; return nil }))
		must(b, l.Close())
		if n != records {
			b.Fatalf("%d records", n)
		}
	}
	b.ReportMetric(float64(records*b.N)/b.Elapsed().Seconds(), "records/s")
}
