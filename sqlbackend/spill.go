package sqlbackend

import (
	"errors"
	"fmt"
	"io/fs"

	"ksql/internal/vfs"
	"ksql/sqlbackend/wire"
)

// spillFile is a file for rows that don't fit in memory; it is removed when closed.
type spillFile struct {
	vfs.File
	fs   vfs.FS
	name string
}

func (f *spillFile) Close() error { return errors.Join(f.File.Close(), f.fs.Remove(f.name)) }

// newSpill makes a spill file in the folder.
func (b *Backend) newSpill() (wire.SpillFile, error) {
	dir := b.dir + "/spill"
	if err := b.fs.MkdirAll(dir); err != nil {
		return nil, fmt.Errorf("spill: %w", err)
	}
	name := fmt.Sprintf("%s/%d", dir, b.spills.Add(1))
	f, err := b.fs.Create(name)
	if err != nil {
		return nil, fmt.Errorf("spill: %w", err)
	}
	return &spillFile{File: f, fs: b.fs, name: name}, nil
}

// clearSpill removes what a crash has left.
func (b *Backend) clearSpill() error {
	dir := b.dir + "/spill"
	names, err := b.fs.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, n := range names {
		err = errors.Join(err, b.fs.Remove(dir+"/"+n))
	}
	return err
}

// removeSocket removes a socket that a killed process has left.
func (b *Backend) removeSocket(name string) error {
	if err := vfs.Default.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the old socket: %w", err)
	}
	return nil
}
