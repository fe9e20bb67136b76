package wal

import (
	"errors"
	"fmt"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// groupCommit collects records in memory and brings them to the disk in groups.
// There is neither a goroutine nor a timer: whoever waits and finds nobody at work
// leads, takes all that has collected, and writes and syncs it without the lock,
// while the next group collects.
type groupCommit struct {
	env commitEnv

	mu    sync.Mutex
	moved sync.Cond // a leader has finished, or a segment is made
	err   error     // poisoned
	// end of what was appended, written, synced; stored under mu, loaded anywhere
	end, written, synced position
	pending              []chunk      // the group that collects
	free                 []chunk      // of the last group, with its buffers
	bytes                int          // in pending
	records              atomic.Int64 // in pending; added to under mu
	unsynced             int64        // records written and not synced
	want                 int64        // records that make the next group complete
	leading              bool
	stats                Stats
}

// commitEnv is all that group commit needs of the world, so that it can be tested
// without one. Only the leader calls these, without mu.
type commitEnv struct {
	write   func(group []chunk) error
	sync    func() error            // everything written becomes durable
	promise func(durable LSN) error // notes how far the log is durable
	onSync  func(records int, d time.Duration)
}

// chunk is what goes to one segment with one write.
type chunk struct {
	seg *segment
	at  LSN
	buf []byte
}

// position is an LSN that is read without a lock.
type position struct{ v atomic.Uint64 }

func (p *position) load() LSN   { return LSN(p.v.Load()) }
func (p *position) store(l LSN) { p.v.Store(uint64(l)) }

const (
	// maxSpare bounds each of the two buffers that are kept for the next groups: a
	// group that is full and a chunk, as append grows it.
	maxSpare = 3 << 20
	// maxYields bounds gather: about 5 µs when nobody comes, a twentieth of the
	// fastest sync seen.
	maxYields = 64
)

func (g *groupCommit) init(env commitEnv) {
	g.env = env
	g.moved.L = &g.mu
}

// chunkFor returns the chunk of the present group for a record of seg at LSN at. The
// caller holds mu.
func (g *groupCommit) chunkFor(seg *segment, at LSN) *chunk {
	n := len(g.pending)
	if n > 0 && g.pending[n-1].seg == seg {
		return &g.pending[n-1]
	}
	if n < cap(g.pending) {
		g.pending = g.pending[:n+1]
	} else {
		g.pending = append(g.pending, chunk{})
	}
	c := &g.pending[n]
	c.seg, c.at, c.buf = seg, at, c.buf[:0]
	return c
}

// advance waits until everything below upTo is written, and synced if asked for.
func (g *groupCommit) advance(upTo LSN, sync bool) error {
	reached := &g.written
	if sync {
		reached = &g.synced
	}
	if reached.load() >= upTo {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	upTo = min(upTo, g.end.load())
	for reached.load() < upTo {
		switch {
		case g.err != nil:
			return g.err
		case g.leading:
			g.moved.Wait()
		default:
			g.lead(sync)
		}
	}
	return nil
}

// lead writes, and syncs if asked for, what is pending. The caller holds mu, which is
// released meanwhile.
func (g *groupCommit) lead(sync bool) {
	g.leading = true
	if sync {
		g.gather()
	}
	group, end := g.pending, g.end.load()
	g.pending, g.free, g.bytes = g.free, nil, 0
	g.unsynced += g.records.Swap(0)
	records := g.unsynced
	g.mu.Unlock()

	err := g.run(group, end, int(records), sync)
	for i := range group {
		group[i].seg = nil
		if cap(group[i].buf) > maxSpare {
			group[i].buf = nil
		}
	}

	g.mu.Lock()
	g.leading = false
	g.free = group[:0]
	g.moved.Broadcast()
	if err != nil {
		g.poison(err)
		return
	}
	g.written.store(end)
	if sync {
		g.synced.store(end)
		g.unsynced = 0
		g.want = records + g.records.Load()
		g.stats.addGroup(records)
	}
}

func (g *groupCommit) run(group []chunk, end LSN, records int, sync bool) error {
	start := time.Now()
	if err := g.env.write(group); err != nil {
		return err
	}
	if !sync {
		return nil
	}
	if err := g.env.sync(); err != nil {
		return err
	}
	d := time.Since(start)
	if err := g.env.promise(end); err != nil {
		return err
	}
	if g.env.onSync != nil {
		g.env.onSync(records, d)
	}
	return nil
}

// gather lets the committers that the last sync has released, and that are runnable,
// join before the group leaves. Without it, n sessions in lockstep fall into groups
// of 1 and n-1 for ever: the first one back leads alone. It yields the processor and
// does not wait for a time. The caller holds mu, which is released meanwhile.
func (g *groupCommit) gather() {
	want := g.want
	if g.records.Load() >= want {
		return
	}
	g.mu.Unlock()
	for i := 0; i < maxYields && g.records.Load() < want; i++ {
		runtime.Gosched()
	}
	g.mu.Lock()
}

// poison makes err, and that the log must be reopened, the answer to everything from
// now on. The caller holds mu.
func (g *groupCommit) poison(err error) {
	if g.err != nil {
		return
	}
	if !errors.Is(err, ErrPoisoned) {
		err = fmt.Errorf("%w: %w", ErrPoisoned, err)
	}
	g.err = err
}

// groupBuckets is the length of Stats.Groups: the last one is 32768 records and more.
const groupBuckets = 16

// Stats counts since Open.
type Stats struct {
	Records, Bytes int64 // appended
	Syncs          int64
	MaxGroup       int64 // most records made durable by one sync
	// Groups[i] is the number of syncs that made 2^i to 2^(i+1)-1 records durable.
	Groups   [groupBuckets]int64
	Segments int
}

func (s *Stats) addGroup(records int64) {
	s.Syncs++
	s.MaxGroup = max(s.MaxGroup, records)
	if records > 0 {
		s.Groups[min(bits.Len64(uint64(records))-1, groupBuckets-1)]++
	}
}
