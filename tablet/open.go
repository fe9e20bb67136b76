package tablet

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"ksql/internal/vfs"
	"ksql/tablet/cfile"
	"ksql/tablet/wal"
)

const (
	rowSetsDir = "rowsets"
	walDir     = "wal"
	lockName   = "LOCK"
)

// Open opens the folder dir, which is made if need be, and recovers it: everything
// that was acknowledged is there, everything else is wholly there or absent. Errors:
// ErrFolderInUse, *CorruptionError, those of the file system.
func Open(dir string, o Options) (*Manager, error) {
	o = o.withDefaults()
	m := &Manager{dir: dir, options: o, fs: o.FS, logf: o.Logf, tablets: map[TabletID]*Tablet{}}
	m.mvcc = newMVCC(o.Sync == SyncFull)
	m.cache = cfile.NewCache(o.MemoryLimit / 4)
	if err := m.takeFolder(); err != nil {
		return nil, err
	}
	if err := m.recover(); err != nil {
		return nil, errors.Join(err, m.shut())
	}
	m.maint.start(m)
	return m, nil
}

func (m *Manager) takeFolder() error {
	for _, d := range []string{"", rowSetsDir, walDir} {
		if err := m.fs.MkdirAll(m.path(d)); err != nil {
			return fmt.Errorf("make data folder: %w", err)
		}
	}
	lock, err := m.fs.Lock(m.path(lockName), []byte(m.options.Owner))
	var held *vfs.LockedError
	if errors.As(err, &held) {
		return fmt.Errorf("%w by %s: %w", ErrFolderInUse, held.Owner, err)
	}
	if err != nil {
		return fmt.Errorf("lock data folder: %w", err)
	}
	m.lock = lock
	return nil
}

// recover reads superblock and log.
func (m *Manager) recover() error {
	sb, damaged, err := loadSuperBlock(m.fs, m.path(superBlockName))
	if err != nil {
		return err
	}
	if damaged != nil {
		m.logf("one of two copies is damaged, the other one is used: %v", damaged)
	}
	if sb == nil {
		if sb, err = m.createFolder(); err != nil {
			return err
		}
	}
	if err := m.loadTablets(sb); err != nil {
		return err
	}
	if err := m.removeOrphans(sb); err != nil {
		return err
	}
	log, err := wal.Open(m.fs, m.path(walDir), wal.Options{SegmentSize: m.options.SegmentSize,
		Sync: m.options.logSync(), Interval: m.options.SyncInterval})
	if err != nil {
		return err
	}
	m.log = log
	m.mvcc.synced = log.Synced
	return m.replay(sb)
}

func (o *Options) logSync() wal.SyncMode {
	switch o.Sync {
	case SyncInterval:
		return wal.Interval
	case SyncOff:
		return wal.Off
	case SyncFull:
	}
	return wal.Full
}

// createFolder installs the first superblock. A folder that has files but no
// superblock has lost it.
func (m *Manager) createFolder() (*SuperBlock, error) {
	for _, d := range []string{rowSetsDir, walDir} {
		names, err := m.fs.List(m.path(d))
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", d, err)
		}
		if len(names) > 0 {
			return nil, &CorruptionError{File: superBlockName, Offset: -1, Reason: fmt.Sprintf("missing, but there is %s/%s", d, names[0])}
		}
	}
	sb := &SuperBlock{Sequence: 1, NextTablet: firstUserTablet, NextRowSet: 1,
		Tablets: []SuperBlockTablet{{ID: CatalogTabletID, Schema: catalogSchema()}}}
	if _, err := sb.install(m.fs, m.dir); err != nil {
		return nil, fmt.Errorf("create data folder: %w", err)
	}
	// the folder's own name must be as durable as what it will hold; a parent that
	// may be passed but not read is left to the system
	if err := vfs.SyncDir(m.fs, filepath.Dir(m.dir)); err != nil && !errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("sync the parent of the data folder: %w", err)
	}
	return sb, nil
}

// loadTablets makes the tablets that the superblock names; their files are opened
// when they are first needed.
func (m *Manager) loadTablets(sb *SuperBlock) error {
	m.super.sequence = sb.Sequence
	m.super.replayFrom.Store(int64(sb.ReplayFrom))
	m.nextTablet.Store(uint64(sb.NextTablet))
	m.nextRowSet.Store(sb.NextRowSet)
	m.lastWall = sb.LastWall
	for i := range sb.Tablets {
		st := &sb.Tablets[i]
		if m.tablets[st.ID] != nil {
			return &CorruptionError{File: superBlockName, Offset: -1, Reason: fmt.Sprintf("tablet %d twice", st.ID)}
		}
		t := &Tablet{id: st.ID, schema: st.Schema, m: m, durable: st.Durable}
		t.inSuperBlock.Store(true)
		var disk []*DiskRowSet
		for j := range st.RowSets {
			d, err := t.loadRowSet(&st.RowSets[j])
			if err != nil {
				return err
			}
			disk = append(disk, d)
			t.live.Add(int64(d.live))
		}
		for slot, v := range st.Counters {
			t.counters[slot].Store(v)
			t.logged[slot].Store(v)
		}
		t.install(newVersion(m.newMemRowSet(), nil, disk, nil))
		m.tablets[t.id] = t
	}
	return nil
}

func (t *Tablet) loadRowSet(r *SuperBlockRowSet) (*DiskRowSet, error) {
	m := t.m
	d := &DiskRowSet{id: r.ID, memID: r.MemRowSet, rows: r.Rows, live: r.Live, fileBytes: r.Bytes,
		minKey: slices.Clone(r.MinKey), maxKey: slices.Clone(r.MaxKey), t: t, delta: r.Delta, nextDelta: r.Delta.Seq + 1}
	d.redoBytes.Store(r.Delta.Bytes)
	d.dms = newDeltaMemStore(d.rows, &m.deltaBytes, &m.dirtyBytes)
	if err := m.checkSize(rowSetFileName(r.ID), r.Bytes); err != nil {
		return nil, err
	}
	if r.Delta.Seq != 0 {
		if err := m.checkSize(deltaFileName(r.ID, r.Delta.Seq), r.Delta.Bytes); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// checkSize demands that a named file is there and as long as it was.
func (m *Manager) checkSize(name string, size int64) error {
	i, err := m.fs.Stat(m.path(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &CorruptionError{File: name, Offset: -1, Reason: "missing"}
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	case i.Size != size:
		return &CorruptionError{File: name, Offset: i.Size, Reason: fmt.Sprintf("%d bytes, the superblock says %d", i.Size, size)}
	}
	return nil
}

// files are the names that the superblock lists.
func (sb *SuperBlock) files() map[string]bool {
	named := map[string]bool{}
	for _, t := range sb.Tablets {
		for _, r := range t.RowSets {
			named[rowSetFileName(r.ID)] = true
			if r.Delta.Seq != 0 {
				named[deltaFileName(r.ID, r.Delta.Seq)] = true
			}
		}
	}
	return named
}

// removeOrphans deletes files that a crash has left behind.
func (m *Manager) removeOrphans(sb *SuperBlock) error {
	named := sb.files()
	names, err := m.fs.List(m.path(rowSetsDir))
	if err != nil {
		return fmt.Errorf("list %s: %w", rowSetsDir, err)
	}
	for _, n := range names {
		full := rowSetsDir + "/" + n
		if named[full] || !strings.HasSuffix(n, ".cfile") && !strings.HasSuffix(n, ".redo") {
			continue
		}
		m.logf("remove %s, which no superblock names", full)
		m.removeFile(full)
	}
	if _, err := m.fs.Stat(m.path(superBlockTemp)); err == nil {
		m.removeFile(superBlockTemp)
	}
	return nil
}
