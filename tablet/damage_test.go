package tablet

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"ksql/internal/vfs"
)

// damageFolder is a closed or crashed folder with one rowset, its REDO file, and, if
// crashed, rows in the log only.
func damageFolder(t *testing.T, crashed bool) (fs *vfs.MemFS, id TabletID, rows map[int64]kv) {
	t.Helper()
	fs = vfs.NewMem()
	m := openTest(t, fs)
	id = createTest(t, m)
	rows = map[int64]kv{}
	do := func(w map[int64]*kv) {
		write(t, m, id, w)
		for k, v := range w {
			if v == nil {
				delete(rows, k)
			} else {
				rows[k] = *v
			}
		}
	}
	first := map[int64]*kv{}
	for k := range int64(50) {
		first[k] = &kv{k, fmt.Sprintf("row %d", k)}
	}
	do(first)
	if err := m.Flush(bg); err != nil {
		t.Fatal(err)
	}
	do(map[int64]*kv{1: {100, "changed"}, 2: nil, 3: {101, ""}})
	if err := m.Flush(bg); err != nil {
		t.Fatal(err)
	}
	if crashed {
		for k := range int64(5) {
			do(map[int64]*kv{k + 60: {k, "in the log"}, k: {k, "in the log"}})
		}
		return fs.CrashClone(vfs.CrashConfig{}), id, rows
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	return fs, id, rows
}

func fileLike(t *testing.T, fs *vfs.MemFS, part string) string {
	t.Helper()
	for _, n := range fs.Files() {
		if strings.Contains(n, part) {
			return n
		}
	}
	t.Fatalf("no file like %s in %v", part, fs.Files())
	return ""
}

func sizeOf(t *testing.T, fs vfs.FS, name string) int64 {
	t.Helper()
	i, err := fs.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return i.Size
}

// outcome of opening and reading a damaged folder.
type outcome struct {
	open, read error
	faults     []error
	rows       map[int64]kv
}

func inspect(fs vfs.FS, id TabletID) (o outcome) {
	m, err := Open("data", Options{FS: fs, ReadOnly: true})
	if err != nil {
		o.open = err
		return o
	}
	defer m.Close()
	if err := m.Check(bg, func(err error) { o.faults = append(o.faults, err) }); err != nil {
		o.faults = append(o.faults, err)
	}
	tx := m.Begin(TxOptions{})
	defer tx.Rollback()
	_, o.rows, o.read = contents(tx, ScanSpec{Tablet: id})
	return o
}

// names demands a *CorruptionError that names a file by part of its name.
func names(err error, part string) bool {
	var c *CorruptionError
	return errors.As(err, &c) && strings.Contains(c.File, part) && c.Offset >= -1
}

func copyOf(fs *vfs.MemFS) *vfs.MemFS { return fs.CrashClone(vfs.CrashConfig{}) }

// TestFlippedByte changes one byte after the other: never wrong rows, never a panic;
// either an error that names the file, or right rows and a report by Check.
func TestFlippedByte(t *testing.T) {
	for _, part := range []string{".cfile", ".redo"} {
		fs, id, rows := damageFolder(t, false)
		name := fileLike(t, fs, part)
		size := sizeOf(t, fs, name)
		step := max(1, size/700)
		for off := int64(0); off < size; off += step {
			broken := copyOf(fs)
			if err := broken.Corrupt(name, off, 0x40); err != nil {
				t.Fatal(err)
			}
			o := inspect(broken, id)
			switch {
			case o.open != nil && !names(o.open, part), o.read != nil && !names(o.read, part):
				t.Errorf("%s, byte %d: open %v, read %v", name, off, o.open, o.read)
			case o.open == nil && o.read == nil && !maps.Equal(o.rows, rows):
				t.Errorf("%s, byte %d: wrong rows", name, off)
			case o.open == nil && len(o.faults) == 0:
				t.Errorf("%s, byte %d of %d: Check finds nothing", name, off, size)
			}
		}
	}
}

// TestFlippedByteInLog: a damaged record that was durable refuses the open and names
// segment and offset, unless it can't be told from a torn tail.
func TestFlippedByteInLog(t *testing.T) {
	fs, id, rows := damageFolder(t, true)
	name := fileLike(t, fs, "/wal/")
	refused, torn := 0, 0
	for off := int64(0); off < 8192; off += 8 {
		broken := copyOf(fs)
		if err := broken.Corrupt(name, off, 1); err != nil {
			t.Fatal(err)
		}
		o := inspect(broken, id)
		var c *CorruptionError
		switch {
		case o.open == nil && o.read == nil && maps.Equal(o.rows, rows):
		case o.open == nil && o.read == nil && len(o.rows) < len(rows):
			torn++ // the last record: nothing durable that is known of follows
		case errors.As(o.open, &c) && strings.HasPrefix(c.File, "wal/") && c.Offset >= 0:
			refused++
		default:
			t.Errorf("byte %d: open %v, read %v", off, o.open, o.read)
		}
	}
	if refused < 20 || torn > 80 {
		t.Errorf("%d of the places refuse the open, %d count as torn tail", refused, torn)
	}
}

// TestTruncatedAndMissingFiles: the open refuses and names the file.
func TestTruncatedAndMissingFiles(t *testing.T) {
	for _, part := range []string{".cfile", ".redo", "SUPERBLOCK", "/wal/"} {
		fs, id, rows := damageFolder(t, true)
		name := fileLike(t, fs, part)
		missing := copyOf(fs)
		if err := missing.Remove(name); err != nil {
			t.Fatal(err)
		}
		base := strings.TrimPrefix(name, "data/")
		if part == "/wal/" {
			base = "wal"
		}
		if o := inspect(missing, id); !names(o.open, base) {
			t.Errorf("%s missing: %v", name, o.open)
		}
		size := sizeOf(t, fs, name)
		for _, n := range []int64{0, 1, 23, size / 3, size / 2, size - 1} {
			short := copyOf(fs)
			f, err := short.OpenReadWrite(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(f.Truncate(n), f.Sync(), f.Close()); err != nil {
				t.Fatal(err)
			}
			o := inspect(short, id)
			switch {
			case o.open != nil && names(o.open, base):
			case o.open == nil && part == "SUPERBLOCK" && n >= size/2 && maps.Equal(o.rows, rows) && len(o.faults) == 1:
			case o.open == nil && part == "/wal/" && n > 8192 && maps.Equal(o.rows, rows): // only free room was cut
			default:
				t.Errorf("%s cut to %d of %d: open %v, read %v, faults %v", name, n, size, o.open, o.read, o.faults)
			}
		}
	}
}

// TestDamagedSuperBlock: with one good copy the folder opens, Check reports the
// other one, and the next flush heals it; with none the open refuses.
func TestDamagedSuperBlock(t *testing.T) {
	fs, id, rows := damageFolder(t, false)
	const name = "data/SUPERBLOCK"
	size := sizeOf(t, fs, name)
	for off := int64(0); off < size; off++ {
		broken := copyOf(fs)
		if err := broken.Corrupt(name, off, 0x10); err != nil {
			t.Fatal(err)
		}
		o := inspect(broken, id)
		if o.open != nil || !maps.Equal(o.rows, rows) || len(o.faults) != 1 || !names(o.faults[0], "SUPERBLOCK") {
			t.Fatalf("byte %d of one copy: open %v, faults %v", off, o.open, o.faults)
		}
		var c *CorruptionError
		if errors.As(o.faults[0], &c); c.Offset/(size/2) != off/(size/2) {
			t.Errorf("byte %d: reported at %d", off, c.Offset)
		}
		if err := broken.Corrupt(name, (off+size/2)%size, 0x10); err != nil {
			t.Fatal(err)
		}
		if o := inspect(broken, id); !names(o.open, "SUPERBLOCK") {
			t.Fatalf("byte %d of both copies: %v", off, o.open)
		}
	}
	broken := copyOf(fs)
	if err := broken.Corrupt(name, 40, 1); err != nil {
		t.Fatal(err)
	}
	m := openTest(t, broken)
	write(t, m, id, map[int64]*kv{1: {1, "after"}})
	if err := m.Flush(bg); err != nil {
		t.Fatal(err)
	}
	checkClean(t, m)
}

// TestDamagedDeltasAreNotCounted: reading a damaged REDO file again and again does
// not fill the memory gauges.
func TestDamagedDeltasAreNotCounted(t *testing.T) {
	fs, id, _ := damageFolder(t, false)
	name := fileLike(t, fs, ".redo")
	if err := fs.Corrupt(name, sizeOf(t, fs, name)-1, 1); err != nil {
		t.Fatal(err)
	}
	m := openTest(t, fs)
	for range 3 {
		tx := m.Begin(TxOptions{})
		if _, _, err := tx.Get(bg, id, keyOf(1), ReadNewest); !names(err, ".redo") {
			t.Errorf("a read gives %v", err)
		}
		tx.Rollback()
	}
	if n := m.deltaBytes.Load(); n != 0 {
		t.Errorf("%d bytes of deltas are counted", n)
	}
}
