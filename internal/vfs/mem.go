package vfs

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"sort"
	"strings"
	"sync"
	"syscall"
)

// memBlock is the unit in which unsynced data survives a crash or does not.
const memBlock = 4096

// MemFS is a file system in memory that knows what a crash would leave: data since
// the last Sync of a file and names since the last Sync of their directory may be
// lost (see CrashClone).
type MemFS struct {
	mu    sync.Mutex
	dirs  map[string]*memDir
	space int64 // bytes still free; < 0 = unlimited
	locks map[string][]byte
}

// memDir is one directory: names as they are now, as they are on disk, and the
// changes between the two in order.
type memDir struct {
	now     map[string]*memNode
	durable map[string]*memNode
	pending []nameChange
}

// nameChange is a creation (to), a removal (from) or a rename (both).
type nameChange struct {
	from, to string
	node     *memNode
}

func (c nameChange) apply(names map[string]*memNode) {
	if c.from != "" {
		delete(names, c.from)
	}
	if c.to != "" {
		names[c.to] = c.node
	}
}

// memNode is one file's data. Blocks are shared with the synced state until they
// are written to; a nil block is zeros.
type memNode struct {
	size, syncedSize int64
	blocks, synced   [][]byte
	dirty            map[int]struct{} // blocks that differ from synced
	unlinked         bool             // no name is left: its space is given back already
}

// NewMem returns an empty file system without a space limit.
func NewMem() *MemFS {
	m := &MemFS{dirs: map[string]*memDir{}, locks: map[string][]byte{}, space: -1}
	m.dirs["."], m.dirs["/"] = newMemDir(), newMemDir()
	return m
}

func newMemDir() *memDir {
	return &memDir{now: map[string]*memNode{}, durable: map[string]*memNode{}}
}

// SetSpace limits the free space to n more bytes; n < 0 lifts the limit.
func (m *MemFS) SetSpace(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.space = n
}

// take takes n bytes of space for a node.
func (m *MemFS) take(node *memNode, n int64) error {
	if m.space < 0 || n <= 0 || node.unlinked {
		return nil
	}
	if n > m.space {
		return syscall.ENOSPC
	}
	m.space -= n
	return nil
}

func (m *MemFS) give(node *memNode, n int64) {
	if m.space >= 0 && !node.unlinked {
		m.space += n
	}
}

// unlink gives a nameless file's space back; open handles go on.
func (m *MemFS) unlink(node *memNode) {
	m.give(node, node.size)
	node.unlinked = true
}

func (m *MemFS) dirOf(op, name string) (*memDir, string, error) {
	d := m.dirs[path.Dir(path.Clean(name))]
	if d == nil {
		return nil, "", pathError(op, name, fs.ErrNotExist)
	}
	return d, path.Base(name), nil
}

func (d *memDir) change(c nameChange) {
	c.apply(d.now)
	d.pending = append(d.pending, c)
}

// Create implements FS.
func (m *MemFS) Create(name string) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, base, err := m.dirOf("create", name)
	if err != nil {
		return nil, err
	}
	if m.dirs[path.Clean(name)] != nil {
		return nil, pathError("create", name, syscall.EISDIR)
	}
	n := d.now[base]
	if n == nil {
		n = &memNode{}
		d.change(nameChange{to: base, node: n})
	} else {
		m.give(n, n.size)
		n.truncate(0)
	}
	return &memFile{m: m, node: n, name: name, write: true}, nil
}

func (m *MemFS) lookup(op, name string) (*memNode, error) {
	d, base, err := m.dirOf(op, name)
	if err != nil {
		return nil, err
	}
	n := d.now[base]
	if n == nil {
		return nil, pathError(op, name, fs.ErrNotExist)
	}
	return n, nil
}

// Open implements FS.
func (m *MemFS) Open(name string) (File, error) { return m.openFile(name, false) }

// OpenReadWrite implements FS.
func (m *MemFS) OpenReadWrite(name string) (File, error) { return m.openFile(name, true) }

func (m *MemFS) openFile(name string, write bool) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.lookup("open", name)
	if err != nil {
		return nil, err
	}
	return &memFile{m: m, node: n, name: name, write: write, end: n.size}, nil
}

// OpenDir implements FS.
func (m *MemFS) OpenDir(name string) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.dirs[path.Clean(name)]
	if d == nil {
		return nil, pathError("open", name, fs.ErrNotExist)
	}
	return &memFile{m: m, dir: d, name: name}, nil
}

// Remove implements FS.
func (m *MemFS) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	clean := path.Clean(name)
	if d := m.dirs[clean]; d != nil {
		if len(d.now) > 0 || len(m.subdirs(clean)) > 0 {
			return pathError("remove", name, syscall.ENOTEMPTY)
		}
		delete(m.dirs, clean)
		return nil
	}
	n, err := m.lookup("remove", name)
	if err != nil {
		return err
	}
	m.unlink(n)
	d := m.dirs[path.Dir(clean)]
	d.change(nameChange{from: path.Base(clean)})
	return nil
}

// Rename implements FS for files. Between two directories it is a removal in one and
// a creation in the other, of which a crash may keep either alone.
func (m *MemFS) Rename(oldname, newname string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.lookup("rename", oldname)
	if err != nil {
		return err
	}
	to, base, err := m.dirOf("rename", newname)
	if err != nil {
		return err
	}
	if m.dirs[path.Clean(newname)] != nil {
		return pathError("rename", newname, syscall.EISDIR)
	}
	if old := to.now[base]; old == n {
		return nil
	} else if old != nil {
		m.unlink(old)
	}
	from := m.dirs[path.Dir(path.Clean(oldname))]
	if from == to {
		to.change(nameChange{from: path.Base(oldname), to: base, node: n})
		return nil
	}
	to.change(nameChange{to: base, node: n})
	from.change(nameChange{from: path.Base(oldname)})
	return nil
}

// MkdirAll implements FS.
func (m *MemFS) MkdirAll(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for p := path.Clean(dir); m.dirs[p] == nil; p = path.Dir(p) {
		if d := m.dirs[path.Dir(p)]; d != nil && d.now[path.Base(p)] != nil {
			return pathError("mkdir", dir, syscall.ENOTDIR)
		}
	}
	for p := path.Clean(dir); m.dirs[p] == nil; p = path.Dir(p) {
		m.dirs[p] = newMemDir()
	}
	return nil
}

// subdirs gives the base names of the directories in a directory.
func (m *MemFS) subdirs(dir string) []string {
	var names []string
	for p := range m.dirs {
		if p != dir && path.Dir(p) == dir && p != "." && p != "/" {
			names = append(names, path.Base(p))
		}
	}
	return names
}

// List implements FS.
func (m *MemFS) List(dir string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	clean := path.Clean(dir)
	d := m.dirs[clean]
	if d == nil {
		return nil, pathError("list", dir, fs.ErrNotExist)
	}
	names := m.subdirs(clean)
	for n := range d.now {
		names = append(names, n)
	}
	sort.Strings(names)
	return names, nil
}

// Stat implements FS.
func (m *MemFS) Stat(name string) (FileInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dirs[path.Clean(name)] != nil {
		return FileInfo{IsDir: true}, nil
	}
	n, err := m.lookup("stat", name)
	if err != nil {
		return FileInfo{}, err
	}
	return FileInfo{Size: n.size}, nil
}

type memLock struct {
	m    *MemFS
	name string
	once sync.Once
}

func (l *memLock) Close() error {
	l.once.Do(func() {
		l.m.mu.Lock()
		delete(l.m.locks, l.name)
		l.m.mu.Unlock()
	})
	return nil
}

// Lock implements FS. A crash clone starts unlocked.
func (m *MemFS) Lock(name string, owner []byte) (io.Closer, error) {
	clean := path.Clean(name)
	m.mu.Lock()
	o, held := m.locks[clean]
	if !held {
		m.locks[clean] = append([]byte{}, owner...)
	}
	m.mu.Unlock()
	if held {
		return nil, &LockedError{Name: name, Owner: o}
	}
	l := &memLock{m: m, name: clean}
	if err := m.writeOwner(name, owner); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func (m *MemFS) writeOwner(name string, owner []byte) error {
	f, err := m.Create(name)
	if err != nil {
		return err
	}
	_, err = f.Write(owner)
	return errors.Join(err, f.Close())
}

// Corrupt changes one byte of a file behind everybody's back, synced state included.
func (m *MemFS) Corrupt(name string, off int64, xor byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.lookup("corrupt", name)
	if err != nil {
		return err
	}
	if off < 0 || off >= n.size {
		return pathError("corrupt", name, io.ErrUnexpectedEOF)
	}
	b := n.own(int(off / memBlock))
	b[off%memBlock] ^= xor
	n.sync()
	return nil
}

// Files gives the paths of all files, sorted.
func (m *MemFS) Files() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var names []string
	for p, d := range m.dirs {
		for n := range d.now {
			names = append(names, strings.TrimPrefix(path.Join(p, n), "./"))
		}
	}
	sort.Strings(names)
	return names
}
