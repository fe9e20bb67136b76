package tablet

import (
	"sync/atomic"

	"ksql/tablet/rowcodec"
)

// versionKind says what a rowVersion's image is.
type versionKind uint8

const (
	versionRow     versionKind = iota // a packed row
	versionDeleted                    // nothing: the row was deleted at this epoch
	versionBase                       // nothing: the row as it stands in the DiskRowSet's file
	versionChange                     // a change list against the row in the DiskRowSet's file
)

// rowVersion is one version of one row. Versions of a row form a chain, newest
// first; behind the last one the row did not exist. A version never changes
// except for prev, which skips versions that no snapshot can need any more.
type rowVersion struct {
	epoch Epoch
	prev  atomic.Pointer[rowVersion]
	image []byte
	kind  versionKind
}

// baseVersion ends the chain of a DiskRowSet row whose base no open snapshot is
// older than. It is shared by all of them.
var baseVersion = &rowVersion{kind: versionBase}

// versionOverhead is what a rowVersion costs in memory besides its image.
const versionOverhead = 48

// at returns the version that a reader of epoch e sees; nil = the row did not
// exist yet.
func (v *rowVersion) at(e Epoch) *rowVersion {
	for v != nil && v.epoch > e {
		v = v.prev.Load()
	}
	return v
}

// live tells whether v is a version of an existing row.
func (v *rowVersion) live() bool { return v != nil && v.kind != versionDeleted }

// row is the image of a version that needs no file to be read.
func (v *rowVersion) row() rowcodec.Row { return rowcodec.Row(v.image) }

// versionHead is the newest version of a row. The row's lock makes its writers
// one at a time; readers need no lock.
type versionHead struct{ p atomic.Pointer[rowVersion] }

// push makes v the newest version and unlinks the versions below the former
// newest one that no snapshot in keep can see; it returns the bytes they held. So a
// chain is as long as there are snapshots that differ, however often the row is
// written, and a push is O(1).
func (h *versionHead) push(v *rowVersion, keep *snapshotSet) (freed int64) {
	cur := h.p.Load()
	v.prev.Store(cur)
	h.p.Store(v)
	if cur == nil {
		return 0
	}
	return cur.trim(keep)
}

// trim unlinks the versions directly below v that no snapshot in keep sees.
func (v *rowVersion) trim(keep *snapshotSet) (freed int64) {
	first := v.prev.Load()
	old := first
	for old != nil && !keep.sees(old.epoch, v.epoch) {
		if old != baseVersion {
			freed += versionOverhead + int64(len(old.image))
		}
		old = old.prev.Load()
	}
	if old != first {
		v.prev.Store(old)
	}
	return freed
}

// memGauge counts the bytes of one memory store and of all of them together.
type memGauge struct {
	own   atomic.Int64
	total *atomic.Int64
}

func (g *memGauge) add(n int64) {
	g.own.Add(n)
	g.total.Add(n)
}

// set corrects the store's own count.
func (g *memGauge) set(n int64) { g.total.Add(n - g.own.Swap(n)) }

// drop takes the store's bytes out of the total for good.
func (g *memGauge) drop() { g.set(0) }
