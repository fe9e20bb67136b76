package tablet

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"ksql/internal/vfs"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files of this package anew")

// diskLog collects what changes the disk, in order.
type diskLog struct {
	mu    sync.Mutex
	lines []string
}

func (l *diskLog) line(s string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, s)
}

// take returns the lines since the last take; runs of equal lines become one.
func (l *diskLog) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for _, s := range l.lines {
		if len(out) == 0 || out[len(out)-1] != s {
			out = append(out, s)
		}
	}
	l.lines = nil
	return out
}

func golden(t *testing.T, name string, lines []string) {
	t.Helper()
	path := filepath.Join("testdata", "fsync", name)
	got := strings.Join(lines, "\n") + "\n"
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: the disk saw\n%swant\n%s", path, got, want)
	}
}

// inOrder demands that the patterns are found in this order in the lines.
func inOrder(t *testing.T, lines []string, patterns ...string) {
	t.Helper()
	at := 0
	for _, p := range patterns {
		for at < len(lines) && !strings.Contains(lines[at], p) {
			at++
		}
		if at == len(lines) {
			t.Errorf("%q is missing or too early in\n%s", p, strings.Join(lines, "\n"))
			return
		}
		at++
	}
}

// TestFsyncOrder pins, line by line, what reaches the disk in which order.
func TestFsyncOrder(t *testing.T) {
	var log diskLog
	fsys := vfs.WithLog(vfs.NewMem(), log.line)
	m, err := Open("data", Options{FS: fsys, SegmentSize: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	lines := log.take()
	golden(t, "open", lines)
	inOrder(t, lines, "sync: data/SUPERBLOCK.new", "rename: data/SUPERBLOCK.new -> data/SUPERBLOCK", "sync: data", "sync: .",
		"create: data/wal/", "sync: data/wal/", "sync: data/wal")

	id := createTest(t, m)
	log.take()
	write(t, m, id, map[int64]*kv{1: {1, "one"}, 2: {2, "two"}})
	lines = log.take()
	golden(t, "commit", lines)
	inOrder(t, lines, "write: data/wal/", "sync: data/wal/")

	if err := m.Flush(bg); err != nil { // the rows into a file
		t.Fatal(err)
	}
	write(t, m, id, map[int64]*kv{1: {5, "five"}})
	if err := m.Flush(bg); err != nil { // a first REDO file
		t.Fatal(err)
	}
	write(t, m, id, map[int64]*kv{2: nil, 3: {3, "three"}})
	for i := range 300 { // past the first log segment
		write(t, m, id, map[int64]*kv{4: {int64(i), strings.Repeat(string(rune(97+i%26)), 300)}})
	}
	log.take()
	if err := m.Flush(bg); err != nil { // rows, a second REDO file, a log segment goes
		t.Fatal(err)
	}
	lines = log.take()
	golden(t, "flush", lines)
	inOrder(t, lines, ".cfile", "sync: data/rowsets/", "-00000002.redo", "sync: data/rowsets", "sync: data/SUPERBLOCK.new",
		"rename: data/SUPERBLOCK.new -> data/SUPERBLOCK", "sync: data", "remove: data/rowsets/", "remove: data/wal/")
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if lines = log.take(); strings.Contains(strings.Join(lines, "\n"), "SUPERBLOCK") {
		t.Errorf("a Close with nothing to flush writes\n%s", strings.Join(lines, "\n"))
	}
}

// TestFlushSyncsLog: a flush makes the log durable before it names files that hold
// effects of records, in a mode in which commits do not.
func TestFlushSyncsLog(t *testing.T) {
	var log diskLog
	m, err := Open("data", Options{FS: vfs.WithLog(vfs.NewMem(), log.line), Sync: SyncOff})
	if err != nil {
		t.Fatal(err)
	}
	id := createTest(t, m)
	log.take()
	write(t, m, id, map[int64]*kv{1: {1, "one"}})
	if lines := strings.Join(log.take(), "\n"); strings.Contains(lines, "sync:") {
		t.Errorf("sync=off syncs at a commit:\n%s", lines)
	}
	if err := m.Flush(bg); err != nil {
		t.Fatal(err)
	}
	inOrder(t, log.take(), "sync: data/rowsets/", "sync: data/rowsets", "sync: data/wal/", "sync: data/SUPERBLOCK.new", "rename", "sync: data")
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}
