package tablet

import (
	"bytes"
	"slices"
	"sort"
)

// rowSetTree finds the DiskRowSets whose key range holds a key or meets a range. It
// is an array sorted by smallest key, read as an implicit balanced tree whose nodes
// know the largest key below them (an augmented interval tree); it is immutable.
type rowSetTree struct {
	sets []*DiskRowSet
	max  [][]byte // largest key in the subtree of the same index
}

func newRowSetTree(sets []*DiskRowSet) *rowSetTree {
	t := &rowSetTree{sets: slices.Clone(sets)}
	sort.Slice(t.sets, func(i, j int) bool { return bytes.Compare(t.sets[i].minKey, t.sets[j].minKey) < 0 })
	t.max = make([][]byte, len(t.sets))
	t.build(0, len(t.sets))
	return t
}

func (t *rowSetTree) build(lo, hi int) []byte {
	if lo >= hi {
		return nil
	}
	mid := (lo + hi) / 2
	max := t.sets[mid].maxKey
	for _, k := range [][]byte{t.build(lo, mid), t.build(mid+1, hi)} {
		if bytes.Compare(k, max) > 0 {
			max = k
		}
	}
	t.max[mid] = max
	return max
}

// find appends the rowsets with a key in [lower, upper) to dst; nil = open.
func (t *rowSetTree) find(lower, upper []byte, dst []*DiskRowSet) []*DiskRowSet {
	return t.findIn(0, len(t.sets), lower, upper, dst)
}

func (t *rowSetTree) findIn(lo, hi int, lower, upper []byte, dst []*DiskRowSet) []*DiskRowSet {
	if lo >= hi {
		return dst
	}
	mid := (lo + hi) / 2
	if lower != nil && bytes.Compare(t.max[mid], lower) < 0 {
		return dst
	}
	dst = t.findIn(lo, mid, lower, upper, dst)
	s := t.sets[mid]
	if upper != nil && bytes.Compare(s.minKey, upper) >= 0 {
		return dst
	}
	if lower == nil || bytes.Compare(s.maxKey, lower) >= 0 {
		dst = append(dst, s)
	}
	return t.findIn(mid+1, hi, lower, upper, dst)
}

// findKey appends the rowsets whose range holds key to dst.
func (t *rowSetTree) findKey(key []byte, dst []*DiskRowSet) []*DiskRowSet {
	lo, hi := 0, len(t.sets)
	return t.stab(lo, hi, key, dst)
}

func (t *rowSetTree) stab(lo, hi int, key []byte, dst []*DiskRowSet) []*DiskRowSet {
	if lo >= hi {
		return dst
	}
	mid := (lo + hi) / 2
	if bytes.Compare(t.max[mid], key) < 0 {
		return dst
	}
	dst = t.stab(lo, mid, key, dst)
	s := t.sets[mid]
	if bytes.Compare(s.minKey, key) > 0 {
		return dst
	}
	if bytes.Compare(s.maxKey, key) >= 0 {
		dst = append(dst, s)
	}
	return t.stab(mid+1, hi, key, dst)
}
