// Package vfs is the seam between ksql and the file system. Everything that is
// kept on disk goes through an FS, so that tests can run on a file system that
// crashes, fills up, fails at the i-th operation or answers slowly.
//
// It promises no more than POSIX does: a created, renamed or removed name is
// durable only after its directory was synced, data only after the file was.
package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"
)

// File is an open file.
type File interface {
	io.ReaderAt
	// Write appends behind everything that was written or was there at opening.
	io.Writer
	io.WriterAt
	io.Closer
	// Sync makes the data durable (fdatasync: the size too, not the times). On a
	// directory it makes creations, renames and removals in it durable.
	Sync() error
	// Size is the present length in bytes.
	Size() (int64, error)
	// Truncate cuts or extends (with zeros) the file to n bytes.
	Truncate(n int64) error
	// Preallocate makes room for bytes [off, off+n): lack of space surfaces here,
	// and later writes in the range don't change the size. New bytes are zero.
	Preallocate(off, n int64) error
}

// FileInfo is what Stat tells.
type FileInfo struct {
	Size  int64
	IsDir bool
}

// FS is a file system. Names are slash-separated paths. A missing name gives an
// error that satisfies errors.Is(err, fs.ErrNotExist).
type FS interface {
	// Create makes a new file or truncates an old one, for reading and writing.
	Create(name string) (File, error)
	// Open opens an existing file for reading.
	Open(name string) (File, error)
	// OpenReadWrite opens an existing file; Write appends at its end.
	OpenReadWrite(name string) (File, error)
	// OpenDir opens a directory, of which only Sync and Close are legal.
	OpenDir(name string) (File, error)
	// Remove removes a file or an empty directory.
	Remove(name string) error
	// Rename moves a file over another, atomically.
	Rename(oldname, newname string) error
	// MkdirAll makes a directory and its parents, durably: a new name has been synced
	// when it returns, so that a folder cannot vanish with what was synced inside it.
	MkdirAll(dir string) error
	// List gives the base names in a directory, sorted.
	List(dir string) ([]string, error)
	// Stat tells size and kind of a name.
	Stat(name string) (FileInfo, error)
	// Lock takes the exclusive lock of a file for this process and writes owner
	// into it. If somebody holds it the error is a *LockedError.
	Lock(name string, owner []byte) (io.Closer, error)
}

// LockedError says that somebody else holds a lock.
type LockedError struct {
	Name  string
	Owner []byte // what the owner wrote into the file, at most 4 KiB
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("%s is locked by another owner (%s)", e.Name, e.Owner)
}

// maxOwner bounds what is read from a lock file.
const maxOwner = 4096

// IsNoSpace tells whether err means that the disk, or the user's share of it, is full.
func IsNoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// ErrTooBig is wrapped by ReadFile for a file above its bound.
var ErrTooBig = errors.New("file is larger than its bound")

// ReadFile reads a whole file of at most max bytes.
func ReadFile(fsys FS, name string, max int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	b, err := readAll(f, name, max)
	if cerr := f.Close(); err == nil && cerr != nil {
		return nil, cerr
	}
	return b, err
}

func readAll(f File, name string, max int64) ([]byte, error) {
	n, err := f.Size()
	if err != nil {
		return nil, err
	}
	if n > max {
		return nil, fmt.Errorf("read %s: %d bytes: %w", name, n, ErrTooBig)
	}
	b := make([]byte, n)
	if n == 0 {
		return b, nil
	}
	if got, err := f.ReadAt(b, 0); err != nil && !(errors.Is(err, io.EOF) && int64(got) == n) {
		return nil, err
	}
	return b, nil
}

// SyncDir syncs a directory.
func SyncDir(fsys FS, dir string) error {
	d, err := fsys.OpenDir(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	return err
}

func pathError(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: err}
}
