package vfs

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand"
	"path/filepath"
	"reflect"
	"syscall"
	"testing"
	"time"
)

// both runs a test on the operating system's and on the memory file system.
func both(t *testing.T, f func(t *testing.T, fsys FS, dir string)) {
	t.Run("os", func(t *testing.T) { f(t, Default, t.TempDir()) })
	t.Run("mem", func(t *testing.T) {
		m := NewMem()
		must(t, m.MkdirAll("a/b"))
		f(t, m, "a/b")
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, fsys FS, name, data string, sync bool) {
	t.Helper()
	f, err := fsys.Create(name)
	must(t, err)
	_, err = f.Write([]byte(data))
	must(t, err)
	if sync {
		must(t, f.Sync())
	}
	must(t, f.Close())
}

func read(t *testing.T, fsys FS, name string) string {
	t.Helper()
	b, err := ReadFile(fsys, name, 1<<20)
	must(t, err)
	return string(b)
}

func TestFileSystem(t *testing.T) {
	both(t, func(t *testing.T, fsys FS, dir string) {
		p := func(n string) string { return filepath.Join(dir, n) }
		if _, err := fsys.Open(p("none")); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("open of a missing file: %v", err)
		}
		write(t, fsys, p("x"), "hello", true)
		f, err := fsys.OpenReadWrite(p("x"))
		must(t, err)
		_, err = f.Write([]byte(" world"))
		must(t, err)
		_, err = f.WriteAt([]byte("J"), 0)
		must(t, err)
		if got := read(t, fsys, p("x")); got != "Jello world" {
			t.Fatalf("read %q", got)
		}
		must(t, f.Preallocate(0, 20))
		if n, _ := f.Size(); n != 20 {
			t.Fatalf("size after preallocation is %d", n)
		}
		b := make([]byte, 30)
		n, err := f.ReadAt(b, 5)
		if n != 15 || !errors.Is(err, io.EOF) || !bytes.Equal(b[6:15], make([]byte, 9)) {
			t.Fatalf("read %d %v %q", n, err, b[:n])
		}
		must(t, f.Truncate(3))
		must(t, fsys.Rename(p("x"), p("y")))
		if _, err := f.WriteAt([]byte("!"), 3); err != nil { // an open handle survives the rename
			t.Fatal(err)
		}
		must(t, f.Close())
		if got := read(t, fsys, p("y")); got != "Jel!" {
			t.Fatalf("read %q", got)
		}
		must(t, fsys.MkdirAll(p("sub/deep")))
		names, err := fsys.List(dir)
		must(t, err)
		if !reflect.DeepEqual(names, []string{"sub", "y"}) {
			t.Fatalf("list %v", names)
		}
		if i, err := fsys.Stat(p("sub")); err != nil || !i.IsDir {
			t.Fatalf("stat %v %v", i, err)
		}
		must(t, SyncDir(fsys, dir))
		must(t, fsys.Remove(p("y")))
		if _, err := fsys.Stat(p("y")); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("stat of a removed file: %v", err)
		}
		if _, err := ReadFile(fsys, p("sub"), 1); err == nil {
			t.Fatal("a directory was read")
		}
		write(t, fsys, p("big"), "12345", false)
		if _, err := ReadFile(fsys, p("big"), 4); !errors.Is(err, ErrTooBig) {
			t.Fatalf("bound: %v", err)
		}
	})
}

func TestLock(t *testing.T) {
	both(t, func(t *testing.T, fsys FS, dir string) {
		name := filepath.Join(dir, "LOCK")
		l, err := fsys.Lock(name, []byte("pid 1"))
		must(t, err)
		var held *LockedError
		if _, err := fsys.Lock(name, []byte("pid 2")); !errors.As(err, &held) || string(held.Owner) != "pid 1" {
			t.Fatalf("second lock: %v", err)
		}
		must(t, l.Close())
		l, err = fsys.Lock(name, []byte("pid 3"))
		must(t, err)
		must(t, l.Close())
	})
}

func TestCrashCloneKeepsWhatWasSynced(t *testing.T) {
	m := NewMem()
	must(t, m.MkdirAll("d"))
	write(t, m, "d/synced", "one", true)
	write(t, m, "d/unsynced", "two", false)
	must(t, SyncDir(m, "d"))
	write(t, m, "d/noname", "three", true)
	must(t, m.Rename("d/synced", "d/renamed"))
	none, all := m.CrashClone(CrashConfig{}), m.CrashClone(CrashConfig{UnsyncedPercent: 100})
	if got := none.Files(); !reflect.DeepEqual(got, []string{"d/synced", "d/unsynced"}) {
		t.Fatalf("0 %%: %v", got)
	}
	if read(t, none, "d/synced") != "one" || read(t, none, "d/unsynced") != "" {
		t.Fatal("0 %: wrong data")
	}
	if got := all.Files(); !reflect.DeepEqual(got, []string{"d/noname", "d/renamed", "d/unsynced"}) {
		t.Fatalf("100 %%: %v", got)
	}
	if read(t, all, "d/renamed") != "one" || read(t, all, "d/unsynced") != "two" {
		t.Fatal("100 %: wrong data")
	}
}

// Every surviving byte is the old or the new one, synced bytes are always there,
// and different choices are really made.
func TestCrashCloneModel(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed=%d", seed)
	r := rand.New(rand.NewSource(seed))
	differs := 0
	for round := range 200 {
		m := NewMem()
		f, err := m.Create("f")
		must(t, err)
		must(t, SyncDir(m, "."))
		old := bytes.Repeat([]byte{1}, r.Intn(40000))
		_, err = f.WriteAt(old, 0)
		must(t, err)
		must(t, f.Sync())
		now := append([]byte{}, old...)
		for range r.Intn(5) {
			off, n := r.Intn(50000), r.Intn(9000)
			if need := off + n - len(now); need > 0 {
				now = append(now, make([]byte, need)...)
			}
			chunk := bytes.Repeat([]byte{byte(2 + r.Intn(100))}, n)
			copy(now[off:], chunk)
			_, err := f.WriteAt(chunk, int64(off))
			must(t, err)
		}
		if got := read(t, m, "f"); got != string(now) {
			t.Fatalf("round %d: the present state is wrong", round)
		}
		got := []byte(read(t, m.CrashClone(CrashConfig{50, r}), "f"))
		if len(got) != len(old) && len(got) != len(now) {
			t.Fatalf("round %d: size %d is neither %d nor %d", round, len(got), len(old), len(now))
		}
		for i, b := range got {
			was := byte(0)
			if i < len(old) {
				was = old[i]
			}
			if b != was && b != now[i] && b != 0 || (b == 0 && was != 0 && now[i] != 0) {
				t.Fatalf("round %d: byte %d is %d, was %d, then %d", round, i, b, was, now[i])
			}
		}
		if !bytes.Equal(got, old) && !bytes.Equal(got, now) {
			differs++
		}
		must(t, f.Sync())
		if got := read(t, m.CrashClone(CrashConfig{}), "f"); got != string(now) {
			t.Fatalf("round %d: synced data is lost", round)
		}
	}
	if differs == 0 {
		t.Fatal("no crash kept a part only")
	}
}

func TestNoSpace(t *testing.T) {
	m := NewMem()
	m.SetSpace(10)
	f, err := m.Create("f")
	must(t, err)
	_, err = f.Write(make([]byte, 8))
	must(t, err)
	if _, err := f.Write(make([]byte, 8)); !IsNoSpace(err) {
		t.Fatalf("write: %v", err)
	}
	if err := f.Preallocate(0, 11); !IsNoSpace(err) {
		t.Fatalf("preallocate: %v", err)
	}
	must(t, f.Truncate(0))
	_, err = f.Write(make([]byte, 10))
	must(t, err)
}

func TestWrappers(t *testing.T) {
	var lines []string
	inj := &Injector{Op: func(op Op, name string, i int64) error {
		if op == OpSync {
			return syscall.EIO
		}
		return nil
	}}
	fsys := WithFaults(WithLog(NewMem(), func(l string) { lines = append(lines, l) }), inj)
	f, err := fsys.Create("f")
	must(t, err)
	_, err = f.Write([]byte("x"))
	must(t, err)
	if err := f.Sync(); !errors.Is(err, syscall.EIO) {
		t.Fatalf("sync: %v", err)
	}
	must(t, fsys.Rename("f", "g"))
	if want := []string{"create: f", "write: f", "rename: f -> g"}; !reflect.DeepEqual(lines, want) {
		t.Fatalf("log %v", lines)
	}
	if inj.Count() != 4 {
		t.Fatalf("count %d", inj.Count())
	}
	slow := WithSyncLatency(NewMem(), 20*time.Millisecond)
	g, err := slow.Create("f")
	must(t, err)
	start := time.Now()
	must(t, g.Sync())
	if time.Since(start) < 20*time.Millisecond {
		t.Fatal("no latency")
	}
}
