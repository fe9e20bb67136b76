package wal

import (
	"errors"
	"math/rand"
	"syscall"
	"testing"

	"ksql/internal/vfs"
)

// history appends random commits and calls each after every sync with the commits
// so far and how many of them are acknowledged.
func history(t *testing.T, r *rand.Rand, fsys vfs.FS, n int, each func(all []commit, acked int)) {
	t.Helper()
	l, _ := mustOpen(t, fsys, 0)
	var all []commit
	for i := range n {
		size := r.Intn(300)
		if i%40 == 17 {
			size = 1<<20 + 5000
		}
		c, err := appendCommit(l, uint64(i+1), payloadOf(r, uint64(i+1), size))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
		acked := -1
		if r.Intn(3) == 0 {
			if err := l.Sync(c.end); err != nil {
				t.Fatal(err)
			}
			acked = len(all)
		}
		if acked > 0 {
			each(all, acked)
		}
	}
	each(all, -1)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestCrashAtEverySync(t *testing.T) {
	r := seedOf(t)
	m := vfs.NewMem()
	ackedNow := 0
	history(t, r, m, 120, func(all []commit, acked int) {
		if acked > 0 {
			ackedNow = acked
		}
		for _, percent := range []int{0, 50, 100} {
			clone := m.CrashClone(vfs.CrashConfig{UnsyncedPercent: percent, Rand: r})
			l, got := mustOpen(t, clone, 0)
			checkPrefix(t, got, all)
			if len(got) < ackedNow {
				t.Fatalf("%d %%: %d commits, %d were acknowledged", percent, len(got), ackedNow)
			}
			c, err := appendCommit(l, 999, []byte("after the crash"))
			if err != nil || l.Sync(c.end) != nil {
				t.Fatal(err)
			}
			_, again := mustOpen(t, clone.CrashClone(vfs.CrashConfig{}), 0)
			checkPrefix(t, again, append(got, c))
			if len(again) != len(got)+1 {
				t.Fatalf("%d commits after the second crash, want %d", len(again), len(got)+1)
			}
		}
	})
}

// A log whose syncs do nothing must be caught by the same check.
func TestPlantedFaultIsFound(t *testing.T) {
	r := seedOf(t)
	m := vfs.NewMem()
	l, _ := mustOpen(t, lyingFS{m}, 0)
	lost := false
	for i := range 20 {
		c, err := appendCommit(l, uint64(i+1), payloadOf(r, uint64(i+1), 100))
		if err != nil || l.Sync(c.end) != nil {
			t.Fatal(err)
		}
		_, got, err := openLog(m.CrashClone(vfs.CrashConfig{}), 0, Options{})
		if err != nil || len(got) < i+1 {
			lost = true
		}
	}
	if !lost {
		t.Fatal("a sync that does nothing goes unnoticed")
	}
}

type lyingFS struct{ vfs.FS }

type lyingFile struct{ vfs.File }

func (f lyingFS) Create(name string) (vfs.File, error) {
	inner, err := f.FS.Create(name)
	return lyingFile{inner}, err
}
func (lyingFile) Sync() error { return nil }

// Every flipped byte is damage that is named, or lies behind what was durable.
func TestEveryFlippedByte(t *testing.T) {
	r := seedOf(t)
	build := func() (*vfs.MemFS, []commit, LSN) {
		m := vfs.NewMem()
		l, _ := mustOpen(t, m, 0)
		rr := rand.New(rand.NewSource(1))
		var all []commit
		for i := range 6 {
			c, err := appendCommit(l, uint64(i+1), payloadOf(rr, uint64(i+1), 20))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, c)
			if i < 5 {
				if err := l.Sync(c.end); err != nil {
					t.Fatal(err)
				}
			}
		}
		durable := l.Synced()
		_ = l.advance(l.End(), false) // the last one is written, not synced
		return m, all, durable
	}
	m, all, durable := build()
	name := m.Files()[0]
	size := int64(pageSize) + int64(all[len(all)-1].end) + 64
	found := 0
	for off := int64(0); off < size; off++ {
		if off > 600 && off < pageSize && off%97 != 0 {
			continue // unused part of the header page
		}
		clone := m.CrashClone(vfs.CrashConfig{UnsyncedPercent: 100})
		if err := clone.Corrupt(name, off, byte(1<<r.Intn(8))); err != nil {
			t.Fatal(err)
		}
		_, got, err := openLog(clone, 0, Options{SegmentSize: minSegmentSize})
		var ce *CorruptionError
		switch {
		case err == nil:
			checkPrefix(t, got, all)
			if len(got) < 5 && off < pageSize+int64(durable) {
				t.Fatalf("offset %d: only %d commits and no error", off, len(got))
			}
		case errors.As(err, &ce):
			found++
			if ce.File != name || off >= pageSize && (ce.Offset > off || off-ce.Offset > 200) {
				t.Fatalf("offset %d: %v", off, err)
			}
		default:
			t.Fatalf("offset %d: %v", off, err)
		}
	}
	if found < 300 {
		t.Fatalf("only %d flips were reported", found)
	}
}

// A fault at operation i, for every i: Append and Sync report it, and what was
// acknowledged is there after a crash.
func TestFaultAtEveryOperation(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EIO, syscall.ENOSPC} {
		for i := int64(0); ; i++ {
			m := vfs.NewMem()
			hit := false
			fsys := vfs.WithFaults(m, &vfs.Injector{Op: func(op vfs.Op, name string, n int64) error {
				if n == i {
					hit = true
					return errno
				}
				return nil
			}})
			var all []commit
			acked := 0
			l, _, err := openLog(fsys, 0, Options{SegmentSize: minSegmentSize})
			for e := uint64(1); err == nil && e <= 40; e++ {
				var c commit
				if c, err = appendCommit(l, e, payloadOf(rand.New(rand.NewSource(int64(e))), e, 4000)); err != nil {
					break
				}
				all = append(all, c)
				if err = l.Sync(c.end); err == nil {
					acked = len(all)
				}
			}
			if !hit {
				if err != nil {
					t.Fatal(err)
				}
				if i < 50 {
					t.Fatalf("only %d operations", i)
				}
				break
			}
			_, got := mustOpen(t, m.CrashClone(vfs.CrashConfig{}), 0)
			checkPrefix(t, got, all)
			if len(got) < acked {
				t.Fatalf("%v at operation %d: %d commits, %d acknowledged", errno, i, len(got), acked)
			}
		}
	}
}

func FuzzReplay(f *testing.F) {
	m := vfs.NewMem()
	l, _, err := openLog(m, 0, Options{SegmentSize: minSegmentSize})
	if err != nil {
		f.Fatal(err)
	}
	for e := range uint64(5) {
		if _, err := appendCommit(l, e+1, payloadOf(rand.New(rand.NewSource(1)), e+1, 30)); err != nil {
			f.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		f.Fatal(err)
	}
	b, err := vfs.ReadFile(m, m.Files()[0], 1<<20)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b[:pageSize+600])
	f.Add([]byte{})
	f.Add(make([]byte, 5000))
	f.Fuzz(func(t *testing.T, data []byte) {
		m := vfs.NewMem()
		if err := m.MkdirAll("wal"); err != nil {
			t.Fatal(err)
		}
		file, err := m.Create("wal/" + segmentName(0))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.Write(data); err != nil {
			t.Fatal(err)
		}
		l, _, err := openLog(m, 0, Options{SegmentSize: minSegmentSize})
		var ce *CorruptionError
		if err != nil && !errors.As(err, &ce) {
			t.Fatalf("neither opened nor damaged: %v", err)
		}
		if err == nil {
			if _, err := appendCommit(l, 100, []byte("x")); err != nil {
				t.Fatal(err)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
