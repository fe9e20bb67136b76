package vfs

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// A file that is cut and grows again reads as zeros, and after a crash that keeps
// everything it still does; one that keeps nothing has the old bytes.
func TestCutAndGrownFileAfterCrash(t *testing.T) {
	m := NewMem()
	f, err := m.Create("f")
	must(t, err)
	must(t, SyncDir(m, "."))
	old := bytes.Repeat([]byte{7}, 3*memBlock)
	_, err = f.Write(old)
	must(t, err)
	must(t, f.Sync())
	must(t, f.Truncate(100))
	must(t, f.Preallocate(0, 3*memBlock))
	now := append(bytes.Repeat([]byte{7}, 100), make([]byte, 3*memBlock-100)...)
	for percent, want := range map[int][]byte{0: old, 100: now} {
		if got := read(t, m.CrashClone(CrashConfig{UnsyncedPercent: percent}), "f"); got != string(want) {
			t.Errorf("%d %%: wrong bytes", percent)
		}
	}
	_, err = f.WriteAt([]byte{9}, 2*memBlock)
	must(t, err)
	now[2*memBlock] = 9
	if read(t, m, "f") != string(now) {
		t.Error("the present state is wrong")
	}
	must(t, f.Sync())
	if read(t, m.CrashClone(CrashConfig{}), "f") != string(now) {
		t.Error("the synced state is wrong")
	}
}

// The last surviving block may be torn, at a sector's border and nowhere else.
func TestTornSector(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed=%d", seed)
	r := rand.New(rand.NewSource(seed))
	m := NewMem()
	f, err := m.Create("f")
	must(t, err)
	must(t, SyncDir(m, "."))
	_, err = f.Write(bytes.Repeat([]byte{1}, memBlock))
	must(t, err)
	must(t, f.Sync())
	_, err = f.WriteAt(bytes.Repeat([]byte{2}, memBlock), 0)
	must(t, err)
	seen := map[int]bool{}
	for range 500 {
		got := read(t, m.CrashClone(CrashConfig{50, r}), "f")
		n := strings.Count(got, "\x02")
		if n%512 != 0 || got != strings.Repeat("\x02", n)+strings.Repeat("\x01", memBlock-n) {
			t.Fatalf("%d new bytes, not at a sector's border", n)
		}
		seen[n] = true
	}
	if len(seen) < 5 {
		t.Fatalf("only %d different outcomes", len(seen))
	}
}

// Names of one directory survive independently of each other, and of other
// directories' syncs.
func TestNamesSurviveIndependently(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed=%d", seed)
	r := rand.New(rand.NewSource(seed))
	m := NewMem()
	must(t, m.MkdirAll("a"))
	must(t, m.MkdirAll("b"))
	write(t, m, "a/1", "1", true)
	write(t, m, "a/2", "2", true)
	must(t, SyncDir(m, "b"))
	seen := map[string]bool{}
	for range 200 {
		seen[strings.Join(m.CrashClone(CrashConfig{50, r}).Files(), " ")] = true
	}
	if !reflect.DeepEqual(seen, map[string]bool{"": true, "a/1": true, "a/2": true, "a/1 a/2": true}) {
		t.Fatalf("%v", seen)
	}
}

func TestRenameBetweenDirectories(t *testing.T) {
	both(t, func(t *testing.T, fsys FS, dir string) {
		must(t, fsys.MkdirAll(filepath.Join(dir, "c")))
		from, to := filepath.Join(dir, "x"), filepath.Join(dir, "c", "y")
		write(t, fsys, from, "new", true)
		write(t, fsys, to, "old", true)
		must(t, fsys.Rename(from, to))
		if read(t, fsys, to) != "new" {
			t.Error("wrong file")
		}
		if _, err := fsys.Stat(from); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("old name: %v", err)
		}
		if err := fsys.Remove(filepath.Join(dir, "c")); err == nil {
			t.Error("a full directory was removed")
		}
		if err := fsys.MkdirAll(filepath.Join(to, "d")); err == nil {
			t.Error("a directory was made below a file")
		}
	})
}

func TestLockFileNamesTheOwner(t *testing.T) {
	both(t, func(t *testing.T, fsys FS, dir string) {
		name := filepath.Join(dir, "LOCK")
		write(t, fsys, name, "a longer text of an earlier owner", false)
		l, err := fsys.Lock(name, []byte("pid 1"))
		must(t, err)
		if _, err := fsys.Lock(name, []byte("pid 2")); err == nil {
			t.Error("locked twice")
		}
		if got := read(t, fsys, name); got != "pid 1" {
			t.Errorf("the file says %q", got)
		}
		must(t, l.Close())
	})
}

// An open file outlives its name; its space is given back once.
func TestRemovedFileIsStillThere(t *testing.T) {
	both(t, func(t *testing.T, fsys FS, dir string) {
		name := filepath.Join(dir, "x")
		f, err := fsys.Create(name)
		must(t, err)
		_, err = f.Write([]byte("hello"))
		must(t, err)
		must(t, fsys.Remove(name))
		_, err = f.Write([]byte(" world"))
		must(t, err)
		b := make([]byte, 11)
		if _, err := f.ReadAt(b, 0); err != nil || string(b) != "hello world" {
			t.Fatalf("%q, %v", b, err)
		}
		must(t, f.Close())
		if _, err := f.Write(b); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("write to a closed file: %v", err)
		}
	})
	m := NewMem()
	m.SetSpace(100)
	f, err := m.Create("f")
	must(t, err)
	must(t, f.Preallocate(0, 60))
	must(t, m.Remove("f"))
	must(t, f.Truncate(0))
	g, err := m.Create("g")
	must(t, err)
	must(t, g.Preallocate(0, 100))
	if _, err := g.WriteAt([]byte{1}, 100); !IsNoSpace(err) {
		t.Fatalf("space was given back twice: %v", err)
	}
	if _, err := g.ReadAt(make([]byte, 1), -1); !errors.Is(err, syscall.EINVAL) {
		t.Fatalf("negative offset: %v", err)
	}
}

// The operation with a number fails, once, and does nothing.
func TestInjectorFailsOneOperation(t *testing.T) {
	work := func(fsys FS) error {
		f, err := fsys.Create("f")
		if err != nil {
			return err
		}
		if _, err := f.Write([]byte("x")); err != nil {
			return errors.Join(err, f.Close())
		}
		return errors.Join(f.Sync(), f.Close())
	}
	for i := range int64(3) {
		m := NewMem()
		inj := &Injector{Op: func(_ Op, _ string, n int64) error {
			if n == i {
				return syscall.ENOSPC
			}
			return nil
		}}
		fsys := WithFaults(m, inj)
		if err := work(fsys); !IsNoSpace(err) {
			t.Errorf("operation %d: %v", i, err)
		}
		if err := work(fsys); err != nil {
			t.Errorf("operation %d fails again: %v", i, err)
		}
	}
}

// Added latency does not serialise syncs of several goroutines.
func TestSyncLatencyIsConcurrent(t *testing.T) {
	const files, d = 8, 50 * time.Millisecond
	fsys := WithSyncLatency(NewMem(), d)
	var wg sync.WaitGroup
	var failed atomic.Int32
	start := time.Now()
	for i := range files {
		wg.Go(func() {
			f, err := fsys.Create(string(rune('a' + i)))
			if err != nil || f.Sync() != nil || f.Close() != nil {
				failed.Add(1)
			}
		})
	}
	wg.Wait()
	if took := time.Since(start); failed.Load() > 0 || took < d || took > files*d/2 {
		t.Fatalf("%d failed, all took %v", failed.Load(), took)
	}
}
