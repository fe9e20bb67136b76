package vfs

import (
	"io"
	"io/fs"
	"syscall"
)

type memFile struct {
	m      *MemFS
	node   *memNode
	dir    *memDir // of OpenDir
	name   string
	write  bool
	end    int64
	closed bool
}

// grow makes the node at least size bytes long.
func (n *memNode) grow(size int64) {
	if size <= n.size {
		return
	}
	n.size = size
	for int64(len(n.blocks))*memBlock < size {
		i := len(n.blocks)
		n.blocks = append(n.blocks, nil)
		if i < len(n.synced) && n.synced[i] != nil { // was cut, comes back as zeros
			n.mark(i)
		}
	}
}

// mark notes that block i differs from its synced state.
func (n *memNode) mark(i int) {
	if n.dirty == nil {
		n.dirty = map[int]struct{}{}
	}
	n.dirty[i] = struct{}{}
}

// own returns block i for writing.
func (n *memNode) own(i int) []byte {
	if _, ok := n.dirty[i]; ok && n.blocks[i] != nil {
		return n.blocks[i]
	}
	b := make([]byte, memBlock)
	copy(b, n.blocks[i])
	n.blocks[i] = b
	n.mark(i)
	return b
}

func (n *memNode) writeAt(p []byte, off int64) {
	n.grow(off + int64(len(p)))
	for len(p) > 0 {
		k := copy(n.own(int(off / memBlock))[off%memBlock:], p)
		p, off = p[k:], off+int64(k)
	}
}

func (n *memNode) readAt(p []byte, off int64) int {
	p = p[:min(int64(len(p)), max(0, n.size-off))]
	for at := 0; at < len(p); {
		o := off + int64(at)
		b := n.blocks[o/memBlock]
		k := min(len(p)-at, int(memBlock-o%memBlock))
		if b == nil {
			clear(p[at : at+k])
		} else {
			copy(p[at:at+k], b[o%memBlock:])
		}
		at += k
	}
	return len(p)
}

func (n *memNode) truncate(size int64) {
	if size >= n.size {
		n.grow(size)
		return
	}
	keep := int((size + memBlock - 1) / memBlock)
	for i := range n.dirty {
		if i >= keep {
			delete(n.dirty, i)
		}
	}
	n.blocks = n.blocks[:keep:keep]
	if size%memBlock != 0 && n.blocks[keep-1] != nil {
		clear(n.own(keep - 1)[size%memBlock:])
	}
	n.size = size
}

func (n *memNode) sync() {
	n.syncedSize = n.size
	for len(n.synced) < len(n.blocks) {
		i := len(n.synced)
		n.synced = append(n.synced, n.blocks[i])
	}
	n.synced = n.synced[:len(n.blocks)]
	for i := range n.dirty {
		n.synced[i] = n.blocks[i]
	}
	n.dirty = nil
}

func (f *memFile) check(op string, write bool) error {
	switch {
	case f.closed:
		return pathError(op, f.name, fs.ErrClosed)
	case f.node == nil:
		return pathError(op, f.name, syscall.EISDIR)
	case write && !f.write:
		return pathError(op, f.name, syscall.EBADF)
	}
	return nil
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.check("read", false); err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, pathError("read", f.name, syscall.EINVAL)
	}
	if n := f.node.readAt(p, off); n < len(p) {
		return n, io.EOF
	}
	return len(p), nil
}

func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	return f.writeAt(p, off)
}

func (f *memFile) writeAt(p []byte, off int64) (int, error) {
	if err := f.check("write", true); err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, pathError("write", f.name, syscall.EINVAL)
	}
	if err := f.m.take(f.node, off+int64(len(p))-f.node.size); err != nil {
		return 0, pathError("write", f.name, err)
	}
	f.node.writeAt(p, off)
	return len(p), nil
}

func (f *memFile) Write(p []byte) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	n, err := f.writeAt(p, f.end)
	f.end += int64(n)
	return n, err
}

func (f *memFile) Close() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if f.closed {
		return pathError("close", f.name, fs.ErrClosed)
	}
	f.closed = true
	return nil
}

func (f *memFile) Sync() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if f.dir != nil && !f.closed {
		for _, c := range f.dir.pending {
			c.apply(f.dir.durable)
		}
		f.dir.pending = nil
		return nil
	}
	if err := f.check("sync", false); err != nil {
		return err
	}
	f.node.sync()
	return nil
}

func (f *memFile) Size() (int64, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.check("size", false); err != nil {
		return 0, err
	}
	return f.node.size, nil
}

func (f *memFile) Truncate(n int64) error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.check("truncate", true); err != nil {
		return err
	}
	if err := f.m.take(f.node, n-f.node.size); err != nil {
		return pathError("truncate", f.name, err)
	}
	f.m.give(f.node, f.node.size-min(n, f.node.size))
	f.node.truncate(n)
	f.end = n
	return nil
}

func (f *memFile) Preallocate(off, n int64) error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.check("preallocate", true); err != nil {
		return err
	}
	if err := f.m.take(f.node, off+n-f.node.size); err != nil {
		return pathError("preallocate", f.name, err)
	}
	f.node.grow(off + n)
	return nil
}
