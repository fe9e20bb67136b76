package tablet

import (
	"context"
	"fmt"
	"strings"
)

// Check walks the folder: both copies of the superblock, every file that it names
// with every checksum in it, and files that it does not name. Each fault is
// reported; the error is for a check that could not go on. Flushes wait meanwhile.
func (m *Manager) Check(ctx context.Context, report func(error)) error {
	m.flushMu.Lock()
	defer m.flushMu.Unlock()
	sb, damaged, err := loadSuperBlock(m.fs, m.path(superBlockName))
	switch {
	case err != nil:
		report(err)
		return nil
	case sb == nil:
		report(&CorruptionError{File: superBlockName, Offset: -1, Reason: "missing"})
		return nil
	case damaged != nil:
		report(damaged)
	}
	m.checkNames(sb, report)
	for _, t := range m.live() {
		v := t.acquire()
		for _, d := range v.disk {
			if err := context.Cause(ctx); err != nil {
				v.release()
				return err
			}
			if err := d.check(); err != nil {
				report(err)
			}
		}
		v.release()
	}
	return nil
}

// checkNames compares the superblock with the names in the folder.
func (m *Manager) checkNames(sb *SuperBlock, report func(error)) {
	named := sb.files()
	names, err := m.fs.List(m.path(rowSetsDir))
	if err != nil {
		report(fmt.Errorf("list %s: %w", rowSetsDir, err))
		return
	}
	for _, n := range names {
		full := rowSetsDir + "/" + n
		if !named[full] && (strings.HasSuffix(n, ".cfile") || strings.HasSuffix(n, ".redo")) && !m.doomedFile(full) {
			report(fmt.Errorf("%s is in the folder, but no superblock names it", full))
		}
		delete(named, full)
	}
	for n := range named {
		report(&CorruptionError{File: n, Offset: -1, Reason: "missing"})
	}
}

// doomedFile tells whether a dropped tablet that is still read holds the file.
func (m *Manager) doomedFile(name string) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, t := range m.dropped {
		v := t.acquire()
		for _, d := range v.disk {
			if name == rowSetFileName(d.id) || d.delta.Seq != 0 && name == deltaFileName(d.id, d.delta.Seq) {
				v.release()
				return true
			}
		}
		v.release()
	}
	return false
}

// check reads every byte of the rowset's files.
func (d *DiskRowSet) check() error {
	r, err := d.open()
	if err != nil {
		return err
	}
	if err := r.Check(); err != nil {
		return d.t.m.fileError(rowSetFileName(d.id), err)
	}
	if d.delta.Seq == 0 {
		if d.live != d.rows {
			return &CorruptionError{File: superBlockName, Offset: -1, Reason: fmt.Sprintf("rowset %d: %d of %d rows live without a delta file", d.id, d.live, d.rows)}
		}
		return nil
	}
	deleted := 0
	name := deltaFileName(d.id, d.delta.Seq)
	err = readDeltaFile(d.t.m.fs, d.t.m.path(name), name, d.id, d.rows, d.t.schema, func(rec deltaRecord) {
		if rec.change == nil {
			deleted++
		}
	})
	if err == nil && d.live != d.rows-deleted {
		return &CorruptionError{File: name, Offset: -1, Reason: fmt.Sprintf("%d deletes, the superblock says %d", deleted, d.rows-d.live)}
	}
	return err
}
