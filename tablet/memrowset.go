package tablet

import (
	"bytes"
	"encoding/binary"
	"sync"
	"sync/atomic"

	"github.com/google/btree"
)

const (
	memShards = 16
	// memTreeDegree: nodes of at most 63 items of 16 bytes, 1 KiB: an insert moves
	// half of it, a descent in a million rows visits four.
	memTreeDegree = 32
	// memSliceRows is how many rows an ordered scan copies under the tree lock.
	memSliceRows = 256
	// memBatchRows is how many new rows a writer adds under the tree lock at once.
	memBatchRows = 64
	// memRowOverhead is what a row costs besides key and image: memRow, its places
	// in the tree and the hash table.
	memRowOverhead = 64 + 24 + 24
)

// memRow is one row of a MemRowSet: a key and its versions. It stays in its
// MemRowSet for good, as a ghost when it is deleted.
type memRow struct {
	key  []byte
	hash uint64
	next *memRow // same hash
	versionHead
}

func (r *memRow) newest() *rowVersion { return r.p.Load() }

type memItem struct {
	prefix uint64 // first 8 key bytes, so that most comparisons touch no row
	row    *memRow
}

func keyPrefix(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var b [8]byte
	copy(b[:], key)
	return binary.BigEndian.Uint64(b[:])
}

func memItemLess(a, b memItem) bool {
	if a.prefix != b.prefix {
		return a.prefix < b.prefix
	}
	return bytes.Compare(a.row.key, b.row.key) < 0
}

// MemRowSet holds the rows that were inserted since the last flush, ordered by a
// B-tree and found by a hash table. Key order and presence are guarded by locks;
// versions are read without any.
type MemRowSet struct {
	id    uint64
	bytes memGauge
	rows  atomic.Int64 // memRows, ghosts included

	shards atomic.Pointer[[memShards]memShard] // nil while empty: idle tablets cost nothing
	init   sync.Mutex

	mu   sync.RWMutex // tree
	tree *btree.BTreeG[memItem]

	// After freezing: rows that were mutated since, to be moved at the flush's swap.
	frozen  atomic.Bool
	dirtyMu sync.Mutex
	dirty   map[*memRow]struct{}
}

type memShard struct {
	mu sync.RWMutex
	m  map[uint64]*memRow
}

func newMemRowSet(id uint64, total *atomic.Int64) *MemRowSet {
	return &MemRowSet{id: id, bytes: memGauge{total: total}}
}

func (s *MemRowSet) shard(hash uint64) *memShard {
	if p := s.shards.Load(); p != nil {
		return &p[hash>>60]
	}
	return nil
}

// find returns the row of a key in any state; nil = never inserted here.
func (s *MemRowSet) find(key []byte, hash uint64) *memRow {
	sh := s.shard(hash)
	if sh == nil {
		return nil
	}
	sh.mu.RLock()
	r := sh.m[hash]
	sh.mu.RUnlock()
	for r != nil && !bytes.Equal(r.key, key) {
		r = r.next
	}
	return r
}

// insert adds a live version of a key: a new row, or a REINSERT on its ghost. New
// rows come back to the caller, who adds them to the order with link; until then
// only point reads find them, and the epoch hides them there too.
func (s *MemRowSet) insert(key []byte, hash uint64, v *rowVersion, keep *snapshotSet) (added *memRow) {
	sh := s.shard(hash)
	if sh == nil {
		sh = s.makeShards(hash)
	}
	sh.mu.Lock()
	first := sh.m[hash]
	for r := first; r != nil; r = r.next {
		if bytes.Equal(r.key, key) {
			sh.mu.Unlock()
			freed := r.push(v, keep)
			s.bytes.add(int64(len(v.image)) + versionOverhead - freed)
			return nil
		}
	}
	r := &memRow{key: key, hash: hash, next: first}
	r.p.Store(v)
	if sh.m == nil {
		sh.m = make(map[uint64]*memRow)
	}
	sh.m[hash] = r
	sh.mu.Unlock()
	s.bytes.add(int64(len(key)+len(v.image)) + memRowOverhead + versionOverhead)
	s.rows.Add(1)
	return r
}

func (s *MemRowSet) makeShards(hash uint64) *memShard {
	s.init.Lock()
	defer s.init.Unlock()
	if s.shards.Load() == nil {
		s.shards.Store(new([memShards]memShard))
	}
	return s.shard(hash)
}

// link puts new rows into key order.
func (s *MemRowSet) link(rows []*memRow) {
	for len(rows) > 0 {
		n := min(len(rows), memBatchRows)
		s.mu.Lock()
		if s.tree == nil {
			s.tree = btree.NewG(memTreeDegree, memItemLess)
		}
		for _, r := range rows[:n] {
			s.tree.ReplaceOrInsert(memItem{keyPrefix(r.key), r})
		}
		s.mu.Unlock()
		rows = rows[n:]
	}
}

// mutate adds a version to a row of s.
func (s *MemRowSet) mutate(r *memRow, v *rowVersion, keep *snapshotSet) {
	freed := r.push(v, keep)
	s.bytes.add(int64(len(v.image)) + versionOverhead - freed)
	if s.frozen.Load() {
		s.dirtyMu.Lock()
		if s.dirty == nil {
			s.dirty = make(map[*memRow]struct{})
		}
		s.dirty[r] = struct{}{}
		s.dirtyMu.Unlock()
	}
}

// empty tells whether no row was ever inserted.
func (s *MemRowSet) empty() bool { return s.rows.Load() == 0 }

// ascend copies up to max rows with from ≤ key < to (nil = open) in key order into
// buf; after excludes from itself.
func (s *MemRowSet) ascend(from, to []byte, after bool, buf []*memRow, max int) []*memRow {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.tree == nil {
		return buf
	}
	visit := func(it memItem) bool {
		if to != nil && bytes.Compare(it.row.key, to) >= 0 {
			return false
		}
		if after && bytes.Equal(it.row.key, from) {
			return true
		}
		buf = append(buf, it.row)
		max--
		return max > 0
	}
	if from == nil {
		s.tree.Ascend(visit)
	} else {
		s.tree.AscendGreaterOrEqual(memItem{keyPrefix(from), &memRow{key: from}}, visit)
	}
	return buf
}

// descend copies up to max rows with from ≤ key < before in descending order.
func (s *MemRowSet) descend(from, before []byte, buf []*memRow, max int) []*memRow {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.tree == nil {
		return buf
	}
	visit := func(it memItem) bool {
		if from != nil && bytes.Compare(it.row.key, from) < 0 {
			return false
		}
		if before != nil && bytes.Equal(it.row.key, before) {
			return true
		}
		buf = append(buf, it.row)
		max--
		return max > 0
	}
	if before == nil {
		s.tree.Descend(visit)
	} else {
		s.tree.DescendLessOrEqual(memItem{keyPrefix(before), &memRow{key: before}}, visit)
	}
	return buf
}
