package wal

import (
	"bytes"
	"math/rand"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ksql/internal/vfs"
)

// Writers with small, large and chunked commits, a releaser and a reader of figures
// work at once, while the machine crashes again and again. Each crash finds a prefix
// of the epochs that holds all that was acknowledged before.
func TestConcurrentWritersAndCrashes(t *testing.T) {
	r := seedOf(t)
	m := vfs.NewMem()
	l, _ := mustOpen(t, vfs.WithSyncLatency(m, 100*time.Microsecond), 0)
	const writers, each = 6, 60
	var (
		mu       sync.Mutex
		byEpoch  = map[uint64]commit{}
		epoch    uint64 // guarded by the log's critical section
		acked    atomic.Uint64
		released atomic.Uint64
		wg, aux  sync.WaitGroup
		stop     = make(chan struct{})
	)
	write := func(r *rand.Rand) {
		p := payloadOf(r, 0, []int{10, 700, 5000, 30000}[r.Intn(4)])
		if r.Intn(40) == 0 {
			p = payloadOf(r, 0, MaxRecord+r.Intn(5000))
		}
		c := commit{payload: p}
		end, err := l.Append(p, func(first LSN) Stamp {
			epoch++
			c.epoch, c.first = epoch, first
			mu.Lock()
			byEpoch[epoch] = c
			mu.Unlock()
			return Stamp{Epoch: epoch, WallMicros: int64(epoch) * 10}
		})
		if err == nil {
			err = l.Sync(end)
		}
		if err != nil {
			t.Error(err)
			return
		}
		for old := acked.Load(); old < c.epoch && !acked.CompareAndSwap(old, c.epoch); old = acked.Load() {
		}
	}
	for range writers {
		seed := r.Int63()
		wg.Go(func() {
			r := rand.New(rand.NewSource(seed))
			for range each {
				write(r)
			}
		})
	}
	aux.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
			}
			if s := l.Stats(); s.MaxGroup > s.Records || l.Poisoned() != nil {
				t.Errorf("%+v", s)
			}
			if n%10 == 9 {
				before := l.Synced() / 2
				released.Store(uint64(before))
				must(t, l.Release(before))
			}
		}
	})
	crash := func() {
		least := acked.Load()
		clone := m.CrashClone(vfs.CrashConfig{UnsyncedPercent: 50, Rand: r})
		names, err := clone.List("wal")
		must(t, err)
		var from LSN // the first segment that is surely there, at a commit's beginning
		for _, n := range names {
			if first, ok := parseSegmentName(n); ok && uint64(first) <= released.Load() {
				from = first
			}
		}
		_, got, err := openLog(clone, from, smallSegments)
		if err != nil {
			t.Error(err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		for i, g := range got {
			w := byEpoch[g.epoch]
			if g.epoch != got[0].epoch+uint64(i) || w.first != g.first || !bytes.Equal(w.payload, g.payload) {
				t.Errorf("commit %d has epoch %d at %d, want %d bytes at %d", i, g.epoch, g.first, len(w.payload), w.first)
				return
			}
		}
		if least > 0 && (len(got) == 0 || got[len(got)-1].epoch < least) {
			t.Errorf("%d commits from %d, epoch %d was acknowledged", len(got), from, least)
		}
	}
	finished := make(chan struct{})
	go func() { wg.Wait(); close(finished) }()
	crashes := 0
	for done := false; !done; crashes++ {
		select {
		case <-finished:
			done = true
		case <-time.After(5 * time.Millisecond):
		}
		crash()
	}
	close(stop)
	aux.Wait()
	if len(byEpoch) != writers*each {
		t.Errorf("%d commits", len(byEpoch))
	}
	t.Logf("%d crashes, %+v", crashes, l.Stats())
	mustClose(t, l)
}

// Close ends appends that come at the same time with an error, never with a loss.
func TestCloseBesideWriters(t *testing.T) {
	r := seedOf(t)
	for range 20 {
		m := vfs.NewMem()
		l, _ := mustOpen(t, m, 0)
		var acked, epoch atomic.Uint64
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for {
					end, err := l.Append(make([]byte, 3000), func(LSN) Stamp {
						e := epoch.Add(1)
						return Stamp{Epoch: e, WallMicros: int64(e) * 10}
					})
					if err != nil {
						if err != ErrClosed {
							t.Error(err)
						}
						return
					}
					if err := l.Sync(end); err != nil {
						t.Error(err)
						return
					}
					acked.Add(1)
				}
			})
		}
		time.Sleep(time.Duration(r.Intn(3000)) * time.Microsecond)
		mustClose(t, l)
		wg.Wait()
		must(t, l.Close())
		_, got := mustOpen(t, m.CrashClone(vfs.CrashConfig{}), 0)
		if uint64(len(got)) != epoch.Load() || acked.Load() != epoch.Load() {
			t.Fatalf("%d commits on disk, %d sealed, %d acknowledged", len(got), epoch.Load(), acked.Load())
		}
	}
}
