package vfs

import (
	"math/rand"
	"sort"
)

// CrashConfig says how much of what was not synced survives a crash.
type CrashConfig struct {
	// UnsyncedPercent is the chance, 0 to 100, of each unsynced block of 4 KiB, each
	// unsynced size and each unsynced change of a name.
	UnsyncedPercent int
	// Rand makes the choices; nil is allowed for 0 and 100.
	Rand *rand.Rand
}

func (c CrashConfig) keep() bool {
	switch {
	case c.UnsyncedPercent <= 0:
		return false
	case c.UnsyncedPercent >= 100:
		return true
	}
	return c.Rand.Intn(100) < c.UnsyncedPercent
}

// CrashClone returns what a machine that loses power now would find after it came
// back. Unsynced blocks survive in any combination (so in any order), the last
// surviving one of a file may be torn at a 512-byte sector. The idea and the name
// are Pebble's (vfs/mem_fs.go).
func (m *MemFS) CrashClone(cfg CrashConfig) *MemFS {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := NewMem()
	seen := map[*memNode]*memNode{}
	for _, p := range sortedKeys(m.dirs) { // one order, so that a seed repeats
		d := m.dirs[p]
		names := map[string]*memNode{}
		for n, node := range d.durable {
			names[n] = node
		}
		for _, c := range d.pending {
			if cfg.keep() {
				c.apply(names)
			}
		}
		nd := newMemDir()
		for _, n := range sortedKeys(names) {
			node := names[n]
			if seen[node] == nil {
				seen[node] = node.crash(cfg)
			}
			nd.now[n], nd.durable[n] = seen[node], seen[node]
		}
		out.dirs[p] = nd
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	ks := make([]string, 0, len(m))
	for k := range m {
		ks = append(ks, k)
	}
	sort.Strings(ks)
	return ks
}

// crash returns the surviving state of one file, synced.
func (n *memNode) crash(cfg CrashConfig) *memNode {
	out := &memNode{}
	out.grow(n.syncedSize)
	copy(out.blocks, n.synced)
	if n.size != n.syncedSize && cfg.keep() {
		if n.size > n.syncedSize {
			out.grow(n.size)
		} else {
			out.truncate(n.size)
		}
	}
	dirty := make([]int, 0, len(n.dirty))
	for i := range n.dirty {
		dirty = append(dirty, i)
	}
	sort.Ints(dirty)
	last := -1
	for _, i := range dirty {
		if i < len(out.blocks) && cfg.keep() {
			b := make([]byte, memBlock)
			copy(b, n.blocks[i])
			out.blocks[i] = b
			last = i
		}
	}
	if last >= 0 && cfg.UnsyncedPercent < 100 && cfg.Rand.Intn(2) == 0 {
		torn := cfg.Rand.Intn(memBlock/512+1) * 512
		b := make([]byte, memBlock)
		if last < len(n.synced) {
			copy(b, n.synced[last])
		}
		copy(b[:torn], out.blocks[last])
		out.blocks[last] = b
	}
	if tail := out.size % memBlock; tail != 0 && out.blocks[len(out.blocks)-1] != nil {
		b := make([]byte, memBlock)
		copy(b, out.blocks[len(out.blocks)-1][:tail])
		out.blocks[len(out.blocks)-1] = b
	}
	out.dirty = nil
	out.sync()
	return out
}
