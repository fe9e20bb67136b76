package wal

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"ksql/internal/vfs"
)

// fakeDisk is a commitEnv whose syncs take 2 ms of synctest's clock.
type fakeDisk struct {
	mu       sync.Mutex
	written  LSN // end of the last write
	durable  LSN
	promised LSN
	writes   []int // chunks of each write
	fail     error // of the next sync
	syncs    int
}

func (d *fakeDisk) env() commitEnv {
	return commitEnv{
		write: func(group []chunk) error {
			d.mu.Lock()
			defer d.mu.Unlock()
			for _, c := range group {
				if c.at != d.written {
					return errors.New("a write leaves a gap")
				}
				d.written = c.at + LSN(len(c.buf))
			}
			d.writes = append(d.writes, len(group))
			return nil
		},
		sync: func() error {
			d.mu.Lock()
			end, err := d.written, d.fail
			d.syncs++
			d.mu.Unlock()
			time.Sleep(2 * time.Millisecond)
			if err == nil {
				d.mu.Lock()
				d.durable = end
				d.mu.Unlock()
			}
			return err
		},
		promise: func(durable LSN) error {
			d.mu.Lock()
			defer d.mu.Unlock()
			if durable > d.durable {
				return errors.New("a promise of what is not durable")
			}
			d.promised = durable
			return nil
		},
	}
}

// add puts a record of one byte into the group and returns its end.
func add(g *groupCommit, seg *segment) LSN {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.end.load()
	c := g.chunkFor(seg, at)
	c.buf = append(c.buf, 1)
	g.end.store(at + 1)
	g.records.Add(1)
	return at + 1
}

// Sessions in lockstep share every sync: n sessions, one sync a round.
func TestLockstepSessionsShareEverySync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d fakeDisk
		var g groupCommit
		g.init(d.env())
		const sessions, rounds = 8, 50
		seg := &segment{}
		start := time.Now()
		var wg sync.WaitGroup
		for range sessions {
			wg.Go(func() {
				for range rounds {
					end := add(&g, seg)
					if err := g.advance(end, true); err != nil {
						t.Error(err)
					}
					d.mu.Lock()
					if d.durable < end {
						t.Errorf("acknowledged %d, durable up to %d", end, d.durable)
					}
					d.mu.Unlock()
				}
			})
		}
		wg.Wait()
		// the first round can't know who will come
		if d.syncs > rounds+rounds/5 || time.Since(start) > time.Duration(rounds+rounds/5)*2*time.Millisecond {
			t.Errorf("%d syncs of %d rounds in %v", d.syncs, rounds, time.Since(start))
		}
		if len(d.writes) != d.syncs || slices.Max(d.writes) != 1 {
			t.Errorf("%d writes for %d syncs: %v", len(d.writes), d.syncs, d.writes)
		}
		if d.promised != sessions*rounds {
			t.Errorf("promised %d", d.promised)
		}
		total := int64(0)
		for i, n := range g.stats.Groups {
			total += n << i
		}
		if g.stats.Syncs != int64(d.syncs) || g.stats.MaxGroup != sessions || total > sessions*rounds || total < sessions*rounds/2 {
			t.Errorf("%+v", g.stats)
		}
	})
}

// While a sync runs the next group collects, and then goes with one write.
func TestNextGroupCollectsWhileASyncRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d fakeDisk
		var g groupCommit
		g.init(d.env())
		seg := &segment{}
		var wg sync.WaitGroup
		wg.Go(func() { must(t, g.advance(add(&g, seg), true)) })
		synctest.Wait()
		for range 20 {
			wg.Go(func() { must(t, g.advance(add(&g, seg), true)) })
			time.Sleep(10 * time.Microsecond)
		}
		wg.Wait()
		if d.syncs != 2 || !slices.Equal(d.writes, []int{1, 1}) || g.stats.MaxGroup != 20 {
			t.Errorf("%d syncs, writes %v, %+v", d.syncs, d.writes, g.stats)
		}
	})
}

// A commit that came after the last one synced is not acknowledged by its sync.
func TestLateCommitWaitsForItsOwnSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d fakeDisk
		var g groupCommit
		g.init(d.env())
		seg := &segment{}
		start := time.Now()
		done := make(chan struct{})
		go func() { defer close(done); must(t, g.advance(add(&g, seg), true)) }()
		time.Sleep(time.Millisecond)
		must(t, g.advance(add(&g, seg), true))
		if took := time.Since(start); took != 4*time.Millisecond {
			t.Errorf("acknowledged after %v", took)
		}
		<-done
	})
}

// A failed sync is everybody's: those who waited for it and those who come later.
func TestFailedSyncReachesEveryWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := fakeDisk{fail: syscall.EIO}
		var g groupCommit
		g.init(d.env())
		seg := &segment{}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if err := g.advance(add(&g, seg), true); !errors.Is(err, ErrPoisoned) || !errors.Is(err, syscall.EIO) {
					t.Errorf("%v", err)
				}
			})
		}
		wg.Wait()
		d.fail = nil
		if err := g.advance(add(&g, seg), true); !errors.Is(err, ErrPoisoned) || d.syncs != 1 {
			t.Errorf("a failed sync was tried again: %v, %d", err, d.syncs)
		}
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// Eight goroutines on a disk with 2 ms a sync, through the whole log.
func TestSyncsPerCommit(t *testing.T) {
	fsys := vfs.WithSyncLatency(vfs.NewMem(), 2*time.Millisecond)
	l, _, err := openLog(fsys, 0, Options{})
	if err != nil {
		t.Fatal(err)
	}
	const sessions, each = 8, 100
	var epoch atomic.Uint64
	var wg sync.WaitGroup
	for range sessions {
		wg.Go(func() {
			for range each {
				end, err := l.Append([]byte("x"), func(LSN) Stamp { return Stamp{Epoch: epoch.Add(1)} })
				must(t, err)
				must(t, l.Sync(end))
				if l.Synced() < end {
					t.Error("Sync returned early")
				}
			}
		})
	}
	wg.Wait()
	s := l.Stats()
	mustClose(t, l)
	ratio := float64(s.Syncs) / (sessions * each)
	t.Logf("syncs %d, commits %d, ratio %.3f, groups %v", s.Syncs, sessions*each, ratio, s.Groups)
	if ratio > 0.2 || s.Records != sessions*each {
		t.Fatalf("%.3f syncs a commit, %d records", ratio, s.Records)
	}
}

// In steady state an append allocates nothing.
func TestAppendDoesNotAllocate(t *testing.T) {
	l, _, err := openLog(vfs.NewMem(), 0, Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 200)
	seal := func(LSN) Stamp { return Stamp{Epoch: 1} }
	commit := func() {
		end, err := l.Append(p, seal)
		if err != nil || l.advance(end, false) != nil {
			t.Fatal(err)
		}
	}
	commit()
	// the memory file system allocates for one block in some twenty
	if n := testing.AllocsPerRun(2000, commit); n >= 1 {
		t.Fatalf("%v allocations an append", n)
	}
	mustClose(t, l)
}
