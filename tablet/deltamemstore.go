package tablet

import (
	"sync/atomic"

	"ksql/tablet/cfile"
)

const (
	deltaPageRows = cfile.VectorRows // a clean page decides for its vector
	deltaLeafRows = 64
)

// DeltaMemStore holds the versions of a DiskRowSet's rows that differ from the
// file: newest image and undo chain per ordinal. Ordinals are dense, so it is a
// radix tree of pages and leaves, read without locks and in order; a lone delta
// costs a 512-byte leaf.
type DeltaMemStore struct {
	pages []atomic.Pointer[deltaPage]
	bytes memGauge    // all versions
	dirty memGauge    // the part that no delta file holds yet
	used  atomic.Bool // something was added once
}

type deltaPage struct {
	leaves [deltaPageRows / deltaLeafRows]atomic.Pointer[deltaLeaf]
}

type deltaLeaf struct{ heads [deltaLeafRows]versionHead }

func newDeltaMemStore(rows int, total, dirty *atomic.Int64) *DeltaMemStore {
	return &DeltaMemStore{
		bytes: memGauge{total: total},
		dirty: memGauge{total: dirty},
		pages: make([]atomic.Pointer[deltaPage], (rows+deltaPageRows-1)/deltaPageRows),
	}
}

// newest returns the newest version at an ordinal; baseVersion if nothing is known.
func (s *DeltaMemStore) newest(ordinal uint32) *rowVersion {
	if h := s.head(ordinal); h != nil {
		if v := h.p.Load(); v != nil {
			return v
		}
	}
	return baseVersion
}

func (s *DeltaMemStore) head(ordinal uint32) *versionHead {
	p := s.pages[ordinal/deltaPageRows].Load()
	if p == nil {
		return nil
	}
	l := p.leaves[ordinal%deltaPageRows/deltaLeafRows].Load()
	if l == nil {
		return nil
	}
	return &l.heads[ordinal%deltaLeafRows]
}

// slot is head, made if need be.
func (s *DeltaMemStore) slot(ordinal uint32) *versionHead {
	pp := &s.pages[ordinal/deltaPageRows]
	p := pp.Load()
	if p == nil {
		if pp.CompareAndSwap(nil, new(deltaPage)) {
			s.bytes.add(deltaPageRows / deltaLeafRows * 8)
		}
		p = pp.Load()
	}
	lp := &p.leaves[ordinal%deltaPageRows/deltaLeafRows]
	l := lp.Load()
	if l == nil {
		if lp.CompareAndSwap(nil, new(deltaLeaf)) {
			s.bytes.add(deltaLeafRows * 8)
		}
		l = lp.Load()
	}
	s.used.Store(true)
	return &l.heads[ordinal%deltaLeafRows]
}

// mutate adds a version that no file holds yet. The row's lock makes writers one at
// a time; forget may take a clean chain away beside them, which leaves the base.
func (s *DeltaMemStore) mutate(ordinal uint32, v *rowVersion, keep *snapshotSet) {
	h := s.slot(ordinal)
	cur := baseVersion
	for done := false; !done; {
		p := h.p.Load()
		if cur = p; p == nil {
			cur = baseVersion
		}
		v.prev.Store(cur)
		done = h.p.CompareAndSwap(p, v)
	}
	n := int64(len(v.image)) + versionOverhead
	s.bytes.add(n - cur.trim(keep))
	s.dirty.add(n)
}

// forget drops the chain at an ordinal whose newest version v says no more than the
// file does and is older than every snapshot.
func (s *DeltaMemStore) forget(ordinal uint32, v *rowVersion) {
	if !s.head(ordinal).p.CompareAndSwap(v, nil) {
		return
	}
	var n int64
	for ; v != nil && v != baseVersion; v = v.prev.Load() {
		n += int64(len(v.image)) + versionOverhead
	}
	s.bytes.add(-n)
}

// put sets a whole chain at an ordinal that nobody else can reach yet.
func (s *DeltaMemStore) put(ordinal uint32, v *rowVersion, dirty bool) {
	s.slot(ordinal).p.Store(v)
	for ; v != nil && v != baseVersion; v = v.prev.Load() {
		n := int64(len(v.image)) + versionOverhead
		s.bytes.add(n)
		if dirty {
			s.dirty.add(n)
		}
	}
}

// pageClean tells whether no row of a page (a vector) has a version of its own.
func (s *DeltaMemStore) pageClean(page int) bool {
	p := s.pages[page].Load()
	if p == nil {
		return true
	}
	for j := range p.leaves {
		l := p.leaves[j].Load()
		if l == nil {
			continue
		}
		for k := range l.heads {
			if l.heads[k].p.Load() != nil {
				return false
			}
		}
	}
	return true
}

// each visits the ordinals that have versions, ascending, until visit returns false.
func (s *DeltaMemStore) each(visit func(ordinal uint32, h *versionHead) bool) {
	if !s.used.Load() {
		return
	}
	for i := range s.pages {
		p := s.pages[i].Load()
		if p == nil {
			continue
		}
		for j := range p.leaves {
			l := p.leaves[j].Load()
			if l == nil {
				continue
			}
			for k := range l.heads {
				if l.heads[k].p.Load() == nil {
					continue
				}
				if !visit(uint32(i*deltaPageRows+j*deltaLeafRows+k), &l.heads[k]) {
					return
				}
			}
		}
	}
}
