package vfs

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"sort"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Default is the operating system's file system.
var Default FS = osFS{}

type osFS struct{}

type osFile struct {
	f   *os.File
	end atomic.Int64 // where Write appends
}

func (osFS) open(name string, flag int) (File, error) {
	f, err := os.OpenFile(name, flag, 0o640)
	if err != nil {
		return nil, err
	}
	of := &osFile{f: f}
	if flag&os.O_RDWR != 0 && flag&os.O_TRUNC == 0 {
		n, err := of.Size()
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		of.end.Store(n)
	}
	return of, nil
}

func (o osFS) Create(name string) (File, error) {
	return o.open(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
}
func (o osFS) Open(name string) (File, error)          { return o.open(name, os.O_RDONLY) }
func (o osFS) OpenReadWrite(name string) (File, error) { return o.open(name, os.O_RDWR) }
func (o osFS) OpenDir(name string) (File, error)       { return o.open(name, os.O_RDONLY) }
func (osFS) Remove(name string) error                  { return os.Remove(name) }
func (osFS) Rename(oldname, newname string) error      { return os.Rename(oldname, newname) }

// MkdirAll syncs the parent of every directory that it makes.
func (o osFS) MkdirAll(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return os.MkdirAll(dir, 0o750) // tells a file from a directory
	}
	parent := filepath.Dir(filepath.Clean(dir))
	if parent != dir {
		if err := o.MkdirAll(parent); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	return SyncDir(o, parent)
}

func (osFS) List(dir string) ([]string, error) {
	es, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(es))
	for i, e := range es {
		names[i] = e.Name()
	}
	sort.Strings(names)
	return names, nil
}

func (osFS) Stat(name string) (FileInfo, error) {
	i, err := os.Stat(name)
	if err != nil {
		return FileInfo{}, err
	}
	return FileInfo{Size: i.Size(), IsDir: i.IsDir()}, nil
}

// Lock uses flock: it goes with the process, however that ends.
func (osFS) Lock(name string, owner []byte) (io.Closer, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return nil, err
	}
	err = retryInterrupted(func() error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) })
	if errors.Is(err, unix.EWOULDBLOCK) {
		held := &LockedError{Name: name}
		b := make([]byte, maxOwner)
		if n, rerr := f.ReadAt(b, 0); rerr == nil || errors.Is(rerr, io.EOF) {
			held.Owner = b[:n]
		}
		return nil, errors.Join(held, f.Close())
	}
	if err != nil {
		return nil, errors.Join(pathError("lock", name, err), f.Close())
	}
	if err := f.Truncate(0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := f.WriteAt(owner, 0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func retryInterrupted(f func() error) error {
	for {
		if err := f(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func (f *osFile) ReadAt(b []byte, off int64) (int, error)  { return f.f.ReadAt(b, off) }
func (f *osFile) WriteAt(b []byte, off int64) (int, error) { return f.f.WriteAt(b, off) }
func (f *osFile) Close() error                             { return f.f.Close() }
func (f *osFile) Truncate(n int64) error {
	if err := f.f.Truncate(n); err != nil {
		return err
	}
	f.end.Store(n)
	return nil
}

func (f *osFile) Write(b []byte) (int, error) {
	n, err := f.f.WriteAt(b, f.end.Load())
	f.end.Add(int64(n))
	return n, err
}

func (f *osFile) Size() (int64, error) {
	i, err := f.f.Stat()
	if err != nil {
		return 0, err
	}
	return i.Size(), nil
}

// Sync is fdatasync for files; a directory takes fsync. EINTR means that nothing
// was reported yet, so the call is made again; any other error is final.
func (f *osFile) Sync() error {
	err := retryInterrupted(func() error { return syncData(f.f) })
	if err != nil {
		return pathError("sync", f.f.Name(), err)
	}
	return nil
}

// Preallocate zero-fills what lies behind the end where fallocate is not supported.
func (f *osFile) Preallocate(off, n int64) error {
	size, err := f.Size()
	if err != nil {
		return err
	}
	err = retryInterrupted(func() error { return allocate(f.f, off, n) })
	if err == nil {
		return nil
	}
	if !errors.Is(err, unix.EOPNOTSUPP) && !errors.Is(err, unix.ENOSYS) {
		return pathError("preallocate", f.f.Name(), err)
	}
	zero := make([]byte, 64<<10)
	for at := max(off, size); at < off+n; {
		k := min(int64(len(zero)), off+n-at)
		if _, err := f.f.WriteAt(zero[:k], at); err != nil {
			return err
		}
		at += k
	}
	return nil
}
