package wal

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"ksql/internal/vfs"
)

// crashPoint is the disk as a crash left it and what must be, and may be, on it.
type crashPoint struct {
	clone *vfs.MemFS
	acked int
	all   []commit
	what  string
}

// crashRun appends a random history and takes crash points before every sync.
type crashRun struct {
	r      *rand.Rand
	wrap   func(vfs.FS) vfs.FS
	sizes  []int // of payloads; nil = a mixture
	epoch  uint64
	points []crashPoint
}

// hook returns m with wrap around it, and calls before at each sync of a file or
// directory, before anything else happens.
func (c *crashRun) hook(m *vfs.MemFS, before func(name string)) vfs.FS {
	return vfs.WithFaults(c.wrap(m), &vfs.Injector{Op: func(op vfs.Op, name string, _ int64) error {
		if op == vfs.OpSync {
			before(name)
		}
		return nil
	}})
}

func (c *crashRun) take(m *vfs.MemFS, acked int, all []commit, what string) {
	for _, percent := range []int{0, 50, 100} {
		c.points = append(c.points, crashPoint{m.CrashClone(vfs.CrashConfig{UnsyncedPercent: percent, Rand: c.r}),
			acked, all[:len(all):len(all)], fmt.Sprintf("%s, %d %% kept", what, percent)})
	}
}

// size takes few different sizes, so that records of different histories begin at the
// same places.
func (c *crashRun) size() int {
	sizes := c.sizes
	if sizes == nil {
		sizes = []int{0, 24, 600, 3000, 16000}
	}
	return sizes[c.r.Intn(len(sizes))]
}

// run opens m, which must hold all but what a crash may take, appends n commits and
// crashes at every sync, those of the opening included.
func (c *crashRun) run(m *vfs.MemFS, acked int, all []commit, n int) error {
	fsys := c.hook(m, func(name string) { c.take(m, acked, all, "before sync of "+name) })
	l, got, err := openLog(fsys, 0, smallSegments)
	if err != nil {
		return err
	}
	if err := prefixError(got, all, acked); err != nil {
		return err
	}
	if names, err := m.List("wal"); err != nil || slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(n, tempSuffix) }) {
		return fmt.Errorf("left behind: %v, %v", names, err)
	}
	acked, all = len(got), all[:len(got):len(got)]
	for i := range n {
		c.epoch++
		size := c.size()
		if c.sizes == nil && i > 8 && i == n*4/5 { // late, for every later crash carries it along
			size = MaxRecord + 5000 // chunked
		}
		ci, err := appendCommit(l, c.epoch, payloadOf(c.r, c.epoch, size))
		if err != nil {
			return err
		}
		all = append(all, ci)
		if c.r.Intn(3) == 0 {
			if err := l.Sync(ci.end); err != nil {
				return err
			}
			acked = len(all)
			if l.Synced() < ci.end {
				return fmt.Errorf("synced up to %d, want %d", l.Synced(), ci.end)
			}
			c.take(m, acked, all, "after sync")
		}
	}
	c.take(m, acked, all, "at the end")
	return l.Close()
}

// check crashes twice: at every sync of a first history, and, from some of those
// points, at every sync of the recovery and of a second history.
func (c *crashRun) check(n int) (points int, err error) {
	if err := c.run(vfs.NewMem(), 0, nil, n); err != nil {
		return 0, err
	}
	first := c.points
	step := 7
	if c.sizes != nil { // cheap
		step = 2
	}
	for i, p := range first {
		c.points = nil
		if err := c.run(p.clone, p.acked, p.all, 3); err != nil {
			return i, fmt.Errorf("point %d (%s): %w", i, p.what, err)
		}
		second := c.points
		for j, q := range second {
			if i%step != j%step {
				continue
			}
			c.points = nil
			if err := c.run(q.clone, q.acked, q.all, 0); err != nil {
				return i, fmt.Errorf("point %d (%s), then %d (%s): %w", i, p.what, j, q.what, err)
			}
			points++
		}
	}
	return points + len(first), nil
}

func plain(f vfs.FS) vfs.FS { return f }

func TestCrashAtEverySync(t *testing.T) {
	r := seedOf(t)
	commits := 80
	if testing.Short() { // under the race detector
		commits = 12
	}
	// the second history has a block a record, so that crashes leave holes, and what
	// stands behind them begins where new records will
	for _, sizes := range [][]int{nil, {4096 - headerSize - 8}} {
		c := crashRun{r: r, wrap: plain, sizes: sizes}
		points, err := c.check(commits)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d crashes", points)
		if points < 3*commits {
			t.Fatalf("only %d crashes", points)
		}
	}
}

// Whoever lies about one kind of operation is found by the same check.
func TestPlantedFaultsAreFound(t *testing.T) {
	r := seedOf(t)
	for name, p := range map[string]struct {
		lie   liar
		sizes []int
	}{
		"file sync":      {lie: liar{sync: true}},
		"directory sync": {lie: liar{dirSync: true}},
		"truncate":       {lie: liar{truncate: true}, sizes: []int{4096 - headerSize - 8}}, // a block each: holes
		"some writes":    {lie: liar{write: true}},
	} {
		t.Run(name, func(t *testing.T) {
			for range 20 {
				c := crashRun{r: r, sizes: p.sizes, wrap: func(f vfs.FS) vfs.FS { return lyingFS{f, p.lie} }}
				if _, err := c.check(40); err != nil {
					t.Log(err)
					return
				}
			}
			t.Fatal("the lie goes unnoticed")
		})
	}
}

// liar says which operations do nothing and report success.
type liar struct{ sync, dirSync, truncate, write bool }

type lyingFS struct {
	vfs.FS
	lie liar
}

type lyingFile struct {
	vfs.File
	lie    liar
	writes int
}

func (f lyingFS) file(inner vfs.File, err error, lie liar) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return &lyingFile{File: inner, lie: lie}, nil
}

func (f lyingFS) Create(name string) (vfs.File, error) {
	inner, err := f.FS.Create(name)
	return f.file(inner, err, f.lie)
}

func (f lyingFS) OpenReadWrite(name string) (vfs.File, error) {
	inner, err := f.FS.OpenReadWrite(name)
	return f.file(inner, err, f.lie)
}

func (f lyingFS) OpenDir(name string) (vfs.File, error) {
	inner, err := f.FS.OpenDir(name)
	return f.file(inner, err, liar{sync: f.lie.dirSync})
}

func (f *lyingFile) Sync() error {
	if f.lie.sync {
		return nil
	}
	return f.File.Sync()
}

func (f *lyingFile) Truncate(n int64) error {
	if f.lie.truncate {
		return nil
	}
	return f.File.Truncate(n)
}

func (f *lyingFile) WriteAt(b []byte, off int64) (int, error) {
	if f.writes++; f.lie.write && f.writes%7 == 0 {
		return len(b), nil
	}
	return f.File.WriteAt(b, off)
}
