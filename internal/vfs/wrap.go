package vfs

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// Op names an operation of a file system for the wrappers.
type Op string

// The operations that wrappers see.
const (
	OpCreate      Op = "create"
	OpOpen        Op = "open"
	OpRemove      Op = "remove"
	OpRename      Op = "rename"
	OpMkdir       Op = "mkdir"
	OpList        Op = "list"
	OpStat        Op = "stat"
	OpLock        Op = "lock"
	OpRead        Op = "read"
	OpWrite       Op = "write"
	OpSync        Op = "sync"
	OpTruncate    Op = "truncate"
	OpPreallocate Op = "preallocate"
	OpClose       Op = "close"
)

// wrapped calls before with every operation; an error ends the operation before it
// has begun. after is called with each operation that succeeded.
type wrapped struct {
	FS
	before func(op Op, name string) error
	after  func(op Op, name string)
}

type wrappedFile struct {
	File
	name string
	w    *wrapped
}

func (w *wrapped) run(op Op, name string, f func() error) error {
	if w.before != nil {
		if err := w.before(op, name); err != nil {
			return err
		}
	}
	if err := f(); err != nil {
		return err
	}
	if w.after != nil {
		w.after(op, name)
	}
	return nil
}

func (w *wrapped) open(op Op, name string, f func(string) (File, error)) (file File, err error) {
	err = w.run(op, name, func() error {
		inner, err := f(name)
		file = &wrappedFile{inner, name, w}
		return err
	})
	if err != nil {
		return nil, err
	}
	return file, nil
}

func (w *wrapped) Create(name string) (File, error) { return w.open(OpCreate, name, w.FS.Create) }
func (w *wrapped) Open(name string) (File, error)   { return w.open(OpOpen, name, w.FS.Open) }
func (w *wrapped) OpenReadWrite(name string) (File, error) {
	return w.open(OpOpen, name, w.FS.OpenReadWrite)
}
func (w *wrapped) OpenDir(name string) (File, error) { return w.open(OpOpen, name, w.FS.OpenDir) }
func (w *wrapped) Remove(name string) error {
	return w.run(OpRemove, name, func() error { return w.FS.Remove(name) })
}
func (w *wrapped) Rename(oldname, newname string) error {
	return w.run(OpRename, oldname+" -> "+newname, func() error { return w.FS.Rename(oldname, newname) })
}
func (w *wrapped) MkdirAll(dir string) error {
	return w.run(OpMkdir, dir, func() error { return w.FS.MkdirAll(dir) })
}
func (w *wrapped) List(dir string) (names []string, err error) {
	err = w.run(OpList, dir, func() error { names, err = w.FS.List(dir); return err })
	return names, err
}
func (w *wrapped) Stat(name string) (i FileInfo, err error) {
	err = w.run(OpStat, name, func() error { i, err = w.FS.Stat(name); return err })
	return i, err
}
func (w *wrapped) Lock(name string, owner []byte) (c io.Closer, err error) {
	err = w.run(OpLock, name, func() error { c, err = w.FS.Lock(name, owner); return err })
	return c, err
}

func (f *wrappedFile) ReadAt(b []byte, off int64) (n int, err error) {
	if f.w.before != nil {
		if err := f.w.before(OpRead, f.name); err != nil {
			return 0, err
		}
	}
	return f.File.ReadAt(b, off)
}
func (f *wrappedFile) Write(b []byte) (n int, err error) {
	err = f.w.run(OpWrite, f.name, func() error { n, err = f.File.Write(b); return err })
	return n, err
}
func (f *wrappedFile) WriteAt(b []byte, off int64) (n int, err error) {
	err = f.w.run(OpWrite, f.name, func() error { n, err = f.File.WriteAt(b, off); return err })
	return n, err
}
func (f *wrappedFile) Sync() error  { return f.w.run(OpSync, f.name, f.File.Sync) }
func (f *wrappedFile) Close() error { return f.w.run(OpClose, f.name, f.File.Close) }
func (f *wrappedFile) Truncate(n int64) error {
	return f.w.run(OpTruncate, f.name, func() error { return f.File.Truncate(n) })
}
func (f *wrappedFile) Preallocate(off, n int64) error {
	return f.w.run(OpPreallocate, f.name, func() error { return f.File.Preallocate(off, n) })
}

// Injector fails operations of a file system made by WithFaults. Op is asked before
// each operation with its number from 0; an error that it returns is the
// operation's, and nothing happens.
type Injector struct {
	Op    func(op Op, name string, index int64) error
	count atomic.Int64
}

// Count is the number of operations so far.
func (i *Injector) Count() int64 { return i.count.Load() }

// WithFaults wraps fsys with an injector. Close is counted but never failed before
// the file is closed.
func WithFaults(fsys FS, inj *Injector) FS {
	return &wrapped{FS: fsys, before: func(op Op, name string) error {
		if op == OpClose {
			return nil
		}
		n := inj.count.Add(1) - 1
		if inj.Op == nil {
			return nil
		}
		if err := inj.Op(op, name, n); err != nil {
			return pathError(string(op), name, err)
		}
		return nil
	}}
}

// WithSyncLatency adds d to every Sync of a file. Syncs wait beside each other.
func WithSyncLatency(fsys FS, d time.Duration) FS {
	return &wrapped{FS: fsys, before: func(op Op, _ string) error {
		if op == OpSync {
			time.Sleep(d)
		}
		return nil
	}}
}

// WithLog reports the operations that change the disk, one line each, after they
// succeeded: "sync: wal/0.log", "rename: a -> b".
func WithLog(fsys FS, line func(string)) FS {
	return &wrapped{FS: fsys, after: func(op Op, name string) {
		switch op {
		case OpCreate, OpRemove, OpRename, OpMkdir, OpWrite, OpSync, OpTruncate, OpPreallocate:
			line(fmt.Sprintf("%s: %s", op, name))
		}
	}}
}
