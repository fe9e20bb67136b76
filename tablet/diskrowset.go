package tablet

import (
	"fmt"
	"sync"
	"sync/atomic"

	"ksql/tablet/cfile"
	"ksql/tablet/rowcodec"
)

// DiskRowSet is one immutable columnar file plus what has happened to its rows
// since: a DeltaMemStore, of which a REDO delta file holds the state at the last
// flush. The file is opened when it is first needed.
type DiskRowSet struct {
	id             uint64
	memID          uint64 // the MemRowSet that the rows came from
	rows           int
	minKey, maxKey []byte
	fileBytes      int64
	t              *Tablet

	dms    *DeltaMemStore
	refs   atomic.Int64 // versions that name it
	doomed atomic.Bool  // no superblock names it any more: delete when unreferenced
	heat   atomic.Uint32

	mu     sync.Mutex // opening
	reader atomic.Pointer[cfile.Reader]
	loaded atomic.Bool // the deltas of the REDO file are in dms
	// redoBytes is delta.Bytes for those who do not hold Manager.flushMu.
	redoBytes atomic.Int64

	// guarded by Manager.flushMu after opening
	delta        deltaFileInfo // the REDO file that the superblock names
	nextDelta    uint64        // number of the next REDO file; never reused
	live         int           // rows that the REDO file does not delete
	historyUntil Epoch         // snapshots from here on need no carried history
}

func rowSetFileName(id uint64) string { return fmt.Sprintf("rowsets/%016x.cfile", id) }

func (d *DiskRowSet) size() int64 { return d.fileBytes + d.redoBytes.Load() }

// open returns the file's reader, with the deltas of its REDO file in memory.
func (d *DiskRowSet) open() (*cfile.Reader, error) {
	if r := d.reader.Load(); r != nil {
		return r, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if r := d.reader.Load(); r != nil {
		return r, nil
	}
	m := d.t.m
	name := rowSetFileName(d.id)
	r, err := cfile.Open(m.fs, m.path(name), d.t.schema, m.cache)
	if err != nil {
		return nil, m.fileError(name, err)
	}
	if r.Rows() != d.rows {
		err := &CorruptionError{File: name, Offset: -1, Reason: fmt.Sprintf("%d rows, the superblock says %d", r.Rows(), d.rows)}
		return nil, closeAfter(r, err)
	}
	if d.delta.Seq != 0 && !d.loaded.Load() {
		if err := d.loadDeltas(); err != nil {
			return nil, closeAfter(r, err)
		}
	}
	d.loaded.Store(true)
	d.reader.Store(r)
	return r, nil
}

// unref drops one version's reference; the last one closes the file and, if no
// superblock names it any more, deletes it.
func (d *DiskRowSet) unref() {
	if d.refs.Add(-1) > 0 {
		return
	}
	d.dms.bytes.drop()
	d.dms.dirty.drop()
	d.mu.Lock()
	r := d.reader.Swap(nil)
	d.mu.Unlock()
	if r != nil {
		if err := r.Close(); err != nil {
			d.t.m.logf("close %s: %v", rowSetFileName(d.id), err)
		}
	}
	if d.doomed.Load() {
		d.t.m.removeFile(rowSetFileName(d.id))
		if d.delta.Seq != 0 {
			d.t.m.removeFile(deltaFileName(d.id, d.delta.Seq))
		}
	}
}

// touch makes a rowset more likely to be asked first; halves on overflow, so old
// hits fade.
func (d *DiskRowSet) touch() {
	if d.heat.Add(1) > 1<<16 {
		d.heat.Store(1 << 15)
	}
}

// image returns the packed row of a live version; base reads the row in the file.
// The result may alias the version and must not be changed.
func (d *DiskRowSet) image(v *rowVersion, base func() (rowcodec.Row, error)) (rowcodec.Row, error) {
	if v.kind == versionRow {
		return v.row(), nil
	}
	b, err := base()
	if err != nil || v.kind == versionBase {
		return b, err
	}
	row, err := rowcodec.Apply(nil, d.t.schema, b, rowcodec.ChangeList(v.image))
	if err != nil {
		return nil, fmt.Errorf("apply change list in rowset %d: %w", d.id, err)
	}
	return row, nil
}

// rowAt reads the row at an ordinal in a live version v.
func (d *DiskRowSet) rowAt(r *cfile.Reader, ordinal uint32, v *rowVersion) (rowcodec.Row, error) {
	return d.image(v, func() (rowcodec.Row, error) {
		row, err := r.Row(int(ordinal), nil)
		if err != nil {
			return nil, d.t.m.fileError(rowSetFileName(d.id), err)
		}
		return row, nil
	})
}

// findKey is one key seek, if the bloom filter does not spare it.
func (d *DiskRowSet) findKey(key []byte, bloom uint64, c *BatchCounters) (r *cfile.Reader, ordinal uint32, found bool, err error) {
	if r, err = d.open(); err != nil {
		return nil, 0, false, err
	}
	c.BloomChecks++
	if !r.MayContain(key, bloom) {
		c.BloomNegatives++
		return r, 0, false, nil
	}
	c.KeySeeks++
	o, found, err := r.Find(key)
	if err != nil {
		return nil, 0, false, d.t.m.fileError(rowSetFileName(d.id), err)
	}
	if !found {
		c.BloomFalsePositives++
	}
	return r, uint32(o), found, nil
}
