package tablet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"ksql/tablet/cfile"
	"ksql/tablet/rowcodec"
)

// rowSetBytes is the size at which a flush rolls to the next file: small enough to
// rewrite in a second, large enough that a gigabyte is sixteen files.
const rowSetBytes = 64 << 20

// tabletFlush is the flush of one tablet on its way. Everything that the tablet held
// at epoch s1 goes into files; what happens to the same rows meanwhile is remembered
// and moved to the new rowsets' DeltaMemStores at the swap.
type tabletFlush struct {
	t       *Tablet
	s1      Epoch
	pinned  bool                  // s1 is registered as a snapshot
	base    *version              // captured at the freeze, with a reference
	frozen  []*MemRowSet          // newest first
	oldest  Epoch                 // of the snapshots at the freeze
	dirty   map[*DiskRowSet]int64 // dirty bytes of each DeltaMemStore at the freeze
	outputs []*flushOutput
	ghosts  [][]*memRow // per frozen: deleted at s1, perhaps still seen
	deltas  []*deltaFlush
}

// flushOutput is one new DiskRowSet; rows[i] is what became ordinal i.
type flushOutput struct {
	set  *DiskRowSet
	rows []*memRow
	seen []uint32 // ordinals whose base some snapshot may be older than
}

// deltaFlush is one new REDO file.
type deltaFlush struct {
	set     *DiskRowSet
	info    deltaFileInfo
	old     deltaFileInfo
	deleted int
	dirty   int64 // dirty bytes of the DeltaMemStore that the file now holds
}

// flush writes the memory of tablets to files and installs one superblock that names
// them all. The caller holds flushMu. On an error everything stays as it was.
//
//  1. freeze: new MemRowSet, s1 = newest assigned epoch (short exclusive lock)
//  2. write: live rows as of s1 → cfiles, DeltaMemStores as of s1 → REDO files; each
//     is synced, then their directory
//  3. superblock: state captured, log synced up to it, superblock installed
//  4. swap: mutations after s1 → new DeltaMemStores (short exclusive lock)
//  5. old REDO files and log segments go
func (m *Manager) flush(ctx context.Context, tablets []*Tablet) error {
	var fs []*tabletFlush
	done := false
	defer func() {
		for _, f := range fs {
			f.end(done)
		}
	}()
	for _, t := range tablets {
		f := t.freeze()
		fs = append(fs, f)
		if err := f.write(ctx); err != nil {
			f.removeFiles(fs)
			return fmt.Errorf("flush tablet %d: %w", t.id, err)
		}
	}
	if err := m.syncRowSets(fs); err != nil {
		return err
	}
	renamed, err := m.installSuperBlock(fs)
	if err != nil {
		if renamed { // a crash may show the superblock that names the new files
			m.super.uncertain = append(m.super.uncertain, fs...)
		} else {
			tabletFlush{}.removeFiles(fs)
		}
		return err
	}
	done = true
	tabletFlush{}.removeFiles(m.super.uncertain)
	m.super.uncertain = nil
	for _, f := range fs {
		f.swap()
		m.counters.flushes.Add(1)
	}
	return nil
}

// removeFiles deletes what a failed flush has written.
func (tabletFlush) removeFiles(fs []*tabletFlush) {
	for _, f := range fs {
		for _, o := range f.outputs {
			f.t.m.removeFile(rowSetFileName(o.set.id))
		}
		for _, d := range f.deltas {
			f.t.m.removeFile(deltaFileName(d.set.id, d.info.Seq))
		}
	}
}

// freeze gives the tablet a new MemRowSet and fixes the epoch of the flush.
func (t *Tablet) freeze() *tabletFlush {
	t.mu.Lock()
	defer t.mu.Unlock()
	v := t.current.Load()
	f := &tabletFlush{t: t, s1: Epoch(t.m.mvcc.assigned.Load()), frozen: v.frozen, dirty: map[*DiskRowSet]int64{}}
	for _, d := range v.disk {
		if n := d.dms.dirty.own.Load(); n != 0 {
			f.dirty[d] = n // what comes later is in no file of this flush
		}
	}
	f.oldest = t.m.mvcc.oldest()
	t.m.mvcc.acquire(f.s1)
	f.pinned = true
	if !v.mem.empty() {
		v.mem.frozen.Store(true)
		f.frozen = append([]*MemRowSet{v.mem}, v.frozen...)
		t.install(newVersion(t.m.newMemRowSet(), f.frozen, v.disk, v.ghosts))
	}
	f.base = t.acquire()
	if t.flushing.Load() == 0 {
		t.flushing.Store(t.anchor.Load())
	}
	t.anchor.Store(0)
	return f
}

// write makes the files.
func (f *tabletFlush) write(ctx context.Context) error {
	if err := f.writeRows(ctx); err != nil {
		return err
	}
	for _, d := range f.base.disk {
		if f.dirty[d] == 0 {
			continue
		}
		if err := f.writeDeltas(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// writeRows writes the frozen rows that are live at s1 in key order.
func (f *tabletFlush) writeRows(ctx context.Context) error {
	var w *cfile.Writer
	var out *flushOutput
	close := func() error {
		info, err := w.Finish()
		w = nil
		if err != nil {
			return err
		}
		return out.finish(info)
	}
	f.ghosts = make([][]*memRow, len(f.frozen))
	rows := newFrozenRows(f.frozen, f.s1, f.ghost)
	for n := 0; ; n++ {
		r, v := rows.next()
		if r == nil {
			break
		}
		if n%1024 == 0 {
			if err := context.Cause(ctx); err != nil {
				return abortWriter(w, err)
			}
			f.t.m.maint.yield()
		}
		if w == nil {
			out = f.newOutput()
			var err error
			if w, err = cfile.NewWriter(f.t.m.fs, f.t.m.path(rowSetFileName(out.set.id)), f.t.schema, cfile.WriterOptions{}); err != nil {
				return err
			}
		}
		if err := w.Append(r.key, v.row()); err != nil {
			return abortWriter(w, err)
		}
		if v.epoch > f.oldest {
			out.seen = append(out.seen, uint32(len(out.rows)))
		}
		out.rows = append(out.rows, r)
		if w.Size() >= rowSetBytes {
			if err := close(); err != nil {
				return err
			}
		}
	}
	if w != nil {
		return close()
	}
	return nil
}

// ghost remembers a row of the i-th frozen MemRowSet that was deleted at version v.
func (f *tabletFlush) ghost(i int, r *memRow, v *rowVersion) {
	if v.epoch > f.oldest {
		f.ghosts[i] = append(f.ghosts[i], r)
	}
}

func abortWriter(w *cfile.Writer, err error) error {
	if w == nil {
		return err
	}
	return errors.Join(err, w.Abort())
}

func (f *tabletFlush) newOutput() *flushOutput {
	m := f.t.m
	o := &flushOutput{set: &DiskRowSet{id: m.nextRowSet.Add(1) - 1, memID: f.frozen[0].id, t: f.t}}
	f.outputs = append(f.outputs, o)
	return o
}

func (o *flushOutput) finish(info cfile.Info) error {
	d := o.set
	d.rows, d.live, d.fileBytes = info.Rows, info.Rows, info.Size
	d.minKey, d.maxKey = slices.Clone(info.MinKey), slices.Clone(info.MaxKey)
	d.dms = newDeltaMemStore(d.rows, &d.t.m.deltaBytes, &d.t.m.dirtyBytes)
	if d.rows != len(o.rows) {
		return fmt.Errorf("rowset %d: wrote %d of %d rows", d.id, d.rows, len(o.rows))
	}
	return nil
}

// frozenRows merges the rows of frozen MemRowSets that are live at s1 by key; the
// others are handed to ghost. A key is live in at most one: it comes back in a newer
// MemRowSet only after the older one has it as a ghost.
type frozenRows struct {
	s1    Epoch
	src   []frozenCursor
	ghost func(i int, r *memRow, v *rowVersion)
}

type frozenCursor struct {
	set  *MemRowSet
	rows []*memRow
	last []byte
	end  bool
}

func newFrozenRows(sets []*MemRowSet, s1 Epoch, ghost func(int, *memRow, *rowVersion)) *frozenRows {
	f := &frozenRows{s1: s1, ghost: ghost}
	for _, s := range sets {
		f.src = append(f.src, frozenCursor{set: s})
	}
	return f
}

func (c *frozenCursor) head() *memRow {
	if len(c.rows) == 0 && !c.end {
		c.rows = c.set.ascend(c.last, nil, c.last != nil, make([]*memRow, 0, memSliceRows), memSliceRows)
		if len(c.rows) == 0 {
			c.end = true
		} else {
			c.last = c.rows[len(c.rows)-1].key
		}
	}
	if len(c.rows) == 0 {
		return nil
	}
	return c.rows[0]
}

// next returns the next live row and its version at s1; nil at the end.
func (f *frozenRows) next() (*memRow, *rowVersion) {
	for {
		least, at := (*memRow)(nil), 0
		for i := range f.src {
			if r := f.src[i].head(); r != nil && (least == nil || bytes.Compare(r.key, least.key) < 0) {
				least, at = r, i
			}
		}
		if least == nil {
			return nil, nil
		}
		f.src[at].rows = f.src[at].rows[1:]
		switch v := least.newest().at(f.s1); {
		case v.live():
			return least, v
		case v != nil:
			f.ghost(at, least, v)
		}
	}
}

// writeDeltas writes the state at s1 of one rowset's deltas, the older REDO file's
// included, to a new REDO file.
func (f *tabletFlush) writeDeltas(ctx context.Context, d *DiskRowSet) error {
	reader, err := d.open()
	if err != nil {
		return err
	}
	df := &deltaFlush{set: d, old: d.delta, info: deltaFileInfo{Seq: d.delta.Seq + 1}, dirty: f.dirty[d]}
	df.info.Seq = max(df.info.Seq, d.nextDelta)
	d.nextDelta = df.info.Seq + 1
	name := deltaFileName(d.id, df.info.Seq)
	f.deltas = append(f.deltas, df) // a file that is begun only is removed, too
	w, err := newDeltaWriter(f.t.m.fs, f.t.m.path(name), d.id)
	if err != nil {
		return fmt.Errorf("create %s: %w", name, err)
	}
	var failed error
	n := 0
	d.dms.each(func(ordinal uint32, h *versionHead) bool {
		if n++; n%1024 == 0 {
			f.t.m.maint.yield()
			if failed = context.Cause(ctx); failed != nil {
				return false
			}
		}
		failed = f.writeDelta(w, d, reader, ordinal, h.p.Load().at(f.s1))
		return failed == nil
	})
	if failed == nil {
		failed = w.finish()
	}
	if err := errors.Join(failed, w.f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	df.info.Bytes, df.deleted = w.size, w.deleted
	return nil
}

func (f *tabletFlush) writeDelta(w *deltaWriter, d *DiskRowSet, reader *cfile.Reader, ordinal uint32, v *rowVersion) error {
	switch {
	case v == nil || v.kind == versionBase:
		return nil
	case v.kind == versionDeleted:
		return w.add(ordinal, v.epoch, nil)
	case v.kind == versionChange:
		return w.add(ordinal, v.epoch, rowcodec.ChangeList(v.image))
	}
	base, err := reader.Row(int(ordinal), nil)
	if err != nil {
		return f.t.m.fileError(rowSetFileName(d.id), err)
	}
	change := rowcodec.AppendDiff(make([]byte, 0, 16), f.t.schema, base, v.row())
	return w.add(ordinal, v.epoch, change)
}

// swap puts the new files in the place of what they hold.
func (f *tabletFlush) swap() {
	t := f.t
	t.mu.Lock()
	defer t.mu.Unlock()
	var keep snapshotSet
	t.m.mvcc.fill(&keep)
	v := t.current.Load()
	disk := slices.Clone(v.disk)
	for _, o := range f.outputs {
		o.carry(f.s1, &keep)
		disk = append(disk, o.set)
	}
	for _, s := range f.frozen {
		for r := range s.dirty {
			f.moveDirty(r)
		}
	}
	ghosts := neededGhosts(v.ghosts, keep.oldest())
	for _, rows := range f.ghosts {
		if g := f.keepGhosts(rows, &keep); g != nil {
			ghosts = append(ghosts, g)
		}
	}
	for _, d := range f.deltas {
		d.set.delta, d.set.live = d.info, d.set.rows-d.deleted
		d.set.redoBytes.Store(d.info.Bytes)
		d.set.dms.dirty.add(-d.dirty)
	}
	frozen := slices.DeleteFunc(slices.Clone(v.frozen), func(s *MemRowSet) bool { return slices.Contains(f.frozen, s) })
	t.install(newVersion(v.mem, frozen, disk, ghosts))
	t.durable = f.s1
	t.flushing.Store(0)
	for _, s := range f.frozen {
		s.bytes.drop()
	}
}

// moveDirty gives a row that was mutated after s1 its chain in the new rowset's
// DeltaMemStore.
func (f *tabletFlush) moveDirty(r *memRow) {
	head := r.newest()
	if head.epoch <= f.s1 {
		return
	}
	i, _ := slices.BinarySearchFunc(f.outputs, r.key, func(o *flushOutput, k []byte) int {
		return bytes.Compare(o.set.maxKey, k)
	})
	if i == len(f.outputs) {
		panic("BUG: a frozen row that was mutated is in no flushed rowset")
	}
	o := f.outputs[i]
	ord, found := slices.BinarySearchFunc(o.rows, r.key, func(r *memRow, k []byte) int { return bytes.Compare(r.key, k) })
	if !found {
		panic("BUG: a frozen row that was mutated is in no flushed rowset")
	}
	o.set.dms.put(uint32(ord), head, true)
}

// carry keeps, for the rows that are younger than some open snapshot, when they came
// and what they were before. The base itself stays in the file only.
func (o *flushOutput) carry(s1 Epoch, keep *snapshotSet) {
	oldest := keep.oldest()
	for _, ord := range o.seen {
		v := o.rows[ord].newest().at(s1)
		if v.epoch <= oldest || o.rows[ord].newest().epoch > s1 { // else moveDirty takes the chain
			continue
		}
		n := &rowVersion{epoch: v.epoch, kind: versionBase}
		n.prev.Store(v.prev.Load())
		o.set.dms.put(ord, n, false)
		o.set.historyUntil = max(o.set.historyUntil, v.epoch)
	}
}

// keepGhosts keeps the deleted rows of one MemRowSet that open snapshots still see.
func (f *tabletFlush) keepGhosts(ghosts []*memRow, keep *snapshotSet) *ghostRowSet {
	g := &ghostRowSet{MemRowSet: newMemRowSet(f.t.m.nextRowSet.Add(1)-1, &f.t.m.deltaBytes)}
	var rows []*memRow
	for _, r := range ghosts {
		v := r.newest().at(f.s1)
		if v.epoch <= keep.oldest() {
			continue
		}
		if n := g.insert(r.key, r.hash, v, keep); n != nil {
			rows = append(rows, n)
		}
		g.until = max(g.until, v.epoch)
	}
	if len(rows) == 0 {
		return nil
	}
	g.link(rows)
	return g
}

// end releases what a flush has pinned.
func (f *tabletFlush) end(done bool) {
	if f.pinned {
		f.t.m.mvcc.release(f.s1)
	}
	f.base.release()
	for _, d := range f.deltas {
		if done && d.old.Seq != 0 {
			f.t.m.removeFile(deltaFileName(d.set.id, d.old.Seq))
		}
	}
}
