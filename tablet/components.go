package tablet

import "sync/atomic"

// version is the immutable set of a tablet's components at one time. Readers hold a
// reference while they use it; the files of a DiskRowSet stay open as long as a
// version names it.
type version struct {
	refs   atomic.Int64
	mem    *MemRowSet   // takes inserts
	frozen []*MemRowSet // being flushed, newest first; take mutations of their rows
	disk   []*DiskRowSet
	tree   *rowSetTree // over disk
	// ghosts holds rows that no longer exist but that open snapshots see; nothing
	// is ever added to one. Newest reads skip them.
	ghosts []*ghostRowSet
}

// ghostRowSet is what a flush keeps of the MemRowSets it wrote: the rows that were
// deleted when it was taken and that snapshots before until still see.
type ghostRowSet struct {
	*MemRowSet
	until Epoch
}

func newVersion(mem *MemRowSet, frozen []*MemRowSet, disk []*DiskRowSet, ghosts []*ghostRowSet) *version {
	v := &version{mem: mem, frozen: frozen, disk: disk, ghosts: ghosts, tree: newRowSetTree(disk)}
	v.refs.Store(1)
	for _, d := range disk {
		d.refs.Add(1)
	}
	return v
}

// acquire captures the present version.
func (t *Tablet) acquire() *version {
	for {
		v := t.current.Load()
		// A version whose count is zero has been replaced; never bring it back.
		if n := v.refs.Load(); n > 0 && v.refs.CompareAndSwap(n, n+1) {
			return v
		}
	}
}

func (v *version) release() {
	if v.refs.Add(-1) == 0 {
		for _, d := range v.disk {
			d.unref()
		}
	}
}

// install makes v the present version. The caller holds t.mu exclusively, or nobody
// else knows the tablet yet.
func (t *Tablet) install(v *version) {
	if old := t.current.Swap(v); old != nil {
		old.release()
	}
}

// memory visits the MemRowSets that can hold the newest version of a key.
func (v *version) memory(visit func(*MemRowSet) bool) {
	if !visit(v.mem) {
		return
	}
	for _, f := range v.frozen {
		if !visit(f) {
			return
		}
	}
}

// memRowSet finds a MemRowSet by id.
func (v *version) memRowSet(id uint64) *MemRowSet {
	if v.mem.id == id {
		return v.mem
	}
	for _, f := range v.frozen {
		if f.id == id {
			return f
		}
	}
	return nil
}

// diskRowSet finds a DiskRowSet by id.
func (v *version) diskRowSet(id uint64) *DiskRowSet {
	for _, d := range v.disk {
		if d.id == id {
			return d
		}
	}
	return nil
}

// memBytes is the memory of everything that is not in files yet.
func (v *version) memBytes() int64 {
	n := v.mem.bytes.own.Load()
	for _, f := range v.frozen {
		n += f.bytes.own.Load()
	}
	for _, d := range v.disk {
		n += d.dms.bytes.own.Load()
	}
	return n
}
