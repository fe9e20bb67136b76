package cfile

import (
	"sync"
	"sync/atomic"
)

// entryOverhead is what an entry costs beside its payload: itself, its slot, its place in the ring.
const entryOverhead = 128

// Cache bounds the memory of decoded vectors and blobs of all readers that
// share it. A hit is one atomic load through the reader's own table, without a
// lock or a hash; misses and evictions take the lock. The victim is chosen by
// CLOCK: an entry goes when the hand passes it twice without a hit between, and
// a new entry starts without a hit, so a scan can't push out what point reads
// use. An evicted vector stays alive for whoever still holds it.
type Cache struct {
	mu    sync.Mutex
	limit int64
	used  int64
	ring  []*entry
	hand  int

	misses, evictions atomic.Int64
}

// CacheStats counts since the cache was made, Used and Limit in bytes.
type CacheStats struct {
	Used, Limit       int64
	Entries           int
	Misses, Evictions int64
}

// NewCache returns a cache of at most limit bytes.
func NewCache(limit int64) *Cache { return &Cache{limit: limit} }

// Stats returns the present state.
func (c *Cache) Stats() CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return CacheStats{Used: c.used, Limit: c.limit, Entries: len(c.ring), Misses: c.misses.Load(), Evictions: c.evictions.Load()}
}

// SetLimit changes the bound and evicts down to it.
func (c *Cache) SetLimit(limit int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limit = limit
	c.evict(nil)
}

// entry is one cached object: a vector, a key vector or a blob.
type entry struct {
	vector *Vector
	keys   *keyVector
	blob   []byte

	size int64
	hit  atomic.Bool
	pos  int // in the ring; -1 if not in it
	// where readers find the entry: a slot, or a blob's offset
	reader *Reader
	slot   *atomic.Pointer[entry]
	offset int64
}

// touch marks a hit. The load first keeps a hot entry's line shared between cores.
func (e *entry) touch() {
	if !e.hit.Load() {
		e.hit.Store(true)
	}
}

// unlink makes the entry unfindable.
func (e *entry) unlink() {
	if e.slot != nil {
		e.slot.CompareAndSwap(e, nil)
		return
	}
	e.reader.dropBlob(e)
}

// insert takes an entry that can be found already and makes room for it. An
// entry above an eighth of the cache is unlinked again: its owner uses it once.
func (c *Cache) insert(e *entry) {
	c.misses.Add(1)
	e.size += entryOverhead
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.size > c.limit/8 {
		e.pos = -1
		e.unlink()
		return
	}
	e.pos = len(c.ring)
	c.ring = append(c.ring, e)
	c.used += e.size
	c.evict(e)
}

// evict removes entries until the limit holds, keep last of all.
func (c *Cache) evict(keep *entry) {
	for c.used > c.limit && len(c.ring) > 0 {
		if c.hand >= len(c.ring) {
			c.hand = 0
		}
		e := c.ring[c.hand]
		if (e.hit.Swap(false) || e == keep) && len(c.ring) > 1 {
			c.hand++
			continue
		}
		c.evictions.Add(1)
		c.take(e)
		e.unlink()
	}
}

// take removes an entry from the ring; the last one fills its place.
func (c *Cache) take(e *entry) {
	last := len(c.ring) - 1
	c.ring[e.pos] = c.ring[last]
	c.ring[e.pos].pos = e.pos
	c.ring[last] = nil
	c.ring = c.ring[:last]
	c.used -= e.size
	e.pos = -1
}

// forget drops the entries of a closed reader.
func (c *Cache) forget(entries []*entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range entries {
		if e.pos >= 0 {
			c.take(e)
		}
	}
}
