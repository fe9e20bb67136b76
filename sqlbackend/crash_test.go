package sqlbackend

import (
	"context"
	"fmt"
	"math/rand"
	"strings"
	"sync/atomic"
	"testing"

	"ksql/internal/vfs"
)

// crashHistory is a history of transactions over two tables with secondary and
// unique indexes, and what each commit left.
type crashHistory struct {
	fs     *vfs.MemFS
	states []string // dump after commit i; states[0] is before the first
	acked  atomic.Int64
}

const crashSchema = `CREATE DATABASE d;
USE d;
CREATE TABLE a (id INT PRIMARY KEY, v VARCHAR(20), n INT, UNIQUE KEY uv (v), KEY kn (n));
CREATE TABLE b (id INT AUTO_INCREMENT PRIMARY KEY, a INT, t TEXT, KEY ka (a))`

// dump is the content of both tables as text.
func dump(c *client) (string, error) {
	a, err := c.try("SELECT id, v, n FROM d.a ORDER BY id")
	if err != nil {
		return "", err
	}
	b, err := c.try("SELECT a, t FROM d.b ORDER BY a, t")
	if err != nil {
		return "", err
	}
	return strings.Join(a, "\n") + "\n--\n" + strings.Join(b, "\n"), nil
}

// step runs one transaction of the history.
func step(c *client, r *rand.Rand, i int) {
	id := r.Intn(30)
	switch r.Intn(5) {
	case 0, 1:
		c.must(fmt.Sprintf("BEGIN;\nINSERT INTO a VALUES (%d, 'v%d', %d) ON DUPLICATE KEY UPDATE n = n + 1;\n"+
			"INSERT INTO b (a, t) VALUES (%d, REPEAT('x', %d));\nCOMMIT", id, id, i, id, r.Intn(200)))
	case 2:
		c.must(fmt.Sprintf("BEGIN;\nUPDATE a SET n = %d WHERE id < %d;\nDELETE FROM b WHERE a = %d;\nCOMMIT", i, id, id))
	case 3:
		c.must(fmt.Sprintf("BEGIN;\nREPLACE INTO a VALUES (%d, 'v%d', %d);\nUPDATE b SET t = 'y' WHERE a = %d;\nCOMMIT", id, id, i, id))
	case 4:
		c.must(fmt.Sprintf("BEGIN;\nDELETE FROM a WHERE id = %d;\nINSERT INTO b (a, t) SELECT id, v FROM a WHERE n > %d;\nCOMMIT", id, i-3))
	}
}

// run makes the history; hook is called at every sync of a file.
func (h *crashHistory) run(t *testing.T, r *rand.Rand, commits int, hook func(), wrap func(vfs.FS) vfs.FS) {
	h.fs = vfs.NewMem()
	inner := vfs.FS(h.fs)
	if wrap != nil {
		inner = wrap(inner)
	}
	armed := false
	fsys := vfs.WithFaults(inner, &vfs.Injector{Op: func(op vfs.Op, _ string, _ int64) error {
		if op == vfs.OpSync && armed {
			hook()
		}
		return nil
	}})
	b := openMem(t, fsys)
	c := connect(t, b, "")
	c.must(crashSchema)
	state, err := dump(c)
	if err != nil {
		t.Fatal(err)
	}
	h.states = append(h.states, state)
	armed = true
	for i := range commits {
		// what the commit will leave must be known before a crash in its middle
		// is judged, so the hook looks at states only after the next append
		step(c, r, i)
		if state, err = dump(c); err != nil {
			t.Fatal(err)
		}
		h.states = append(h.states, state)
		h.acked.Store(int64(i + 1))
		if i%60 == 59 {
			if err := b.Flush(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
	}
	armed = false
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

// crashPoint is a clone taken at a sync and the commits acknowledged by then.
type crashPoint struct {
	clone   *vfs.MemFS
	acked   int
	percent int
}

// judge reopens a clone twice: it must hold exactly the acknowledged commits or one
// whole commit more, and be clean.
func (h *crashHistory) judge(t *testing.T, p crashPoint) error {
	var first string
	for again := range 2 {
		b, err := Open("data", Options{FS: p.clone, MemoryLimit: 64 << 20})
		if err != nil {
			return fmt.Errorf("open: %w", err)
		}
		var faults []string
		if err := b.Check(context.Background(), func(err error) { faults = append(faults, err.Error()) }); err != nil {
			return fmt.Errorf("check: %w", err)
		}
		c := connect(t, b, "")
		got, err := dump(c)
		if err != nil {
			return err
		}
		c.s.Close()
		switch {
		case len(faults) > 0:
			return fmt.Errorf("verify finds %q", faults)
		case again == 1 && got != first:
			return fmt.Errorf("the second start gives another state")
		case got != h.states[p.acked] && (p.acked+1 >= len(h.states) || got != h.states[p.acked+1]):
			return fmt.Errorf("after %d commits neither they nor one more:\n%s", p.acked, got)
		}
		first = got
		if again == 0 { // the second start is after a crash too
			p.clone = p.clone.CrashClone(vfs.CrashConfig{})
		}
		if err := b.Close(); err != nil {
			return err
		}
	}
	return nil
}

func crashPoints(t *testing.T, r *rand.Rand, commits int, wrap func(vfs.FS) vfs.FS) (*crashHistory, []crashPoint) {
	h := &crashHistory{}
	var points []crashPoint
	h.run(t, r, commits, func() {
		for _, percent := range []int{0, 50, 100} {
			points = append(points, crashPoint{
				clone: h.fs.CrashClone(vfs.CrashConfig{UnsyncedPercent: percent, Rand: r}),
				acked: int(h.acked.Load()), percent: percent,
			})
		}
	}, wrap)
	return h, points
}

// TestCrashAtEverySync crashes at every sync of a history of 500 commits over
// tables and indexes, flushes in between.
func TestCrashAtEverySync(t *testing.T) {
	r := seeded(t)
	commits := 500
	if testing.Short() { // under the race detector
		commits = 60
	}
	h, points := crashPoints(t, r, commits, nil)
	if len(points) < 3*commits {
		t.Fatalf("only %d crash points", len(points))
	}
	for i, p := range points {
		if err := h.judge(t, p); err != nil {
			t.Fatalf("crash point %d, %d %% of unsynced data kept: %v", i, p.percent, err)
		}
	}
	t.Logf("%d crash points, each reopened twice", len(points))
}

// TestPlantedCrashFault demands that the check above finds a log that is not synced.
func TestPlantedCrashFault(t *testing.T) {
	r := seeded(t)
	h, points := crashPoints(t, r, 30, func(fsys vfs.FS) vfs.FS { return forgetfulFS{fsys} })
	for _, p := range points {
		if h.judge(t, p) != nil {
			return
		}
	}
	t.Fatal("a log that is never synced goes unnoticed")
}

// forgetfulFS does not sync log segments.
type forgetfulFS struct{ vfs.FS }

type forgetfulFile struct{ vfs.File }

func (f forgetfulFS) OpenReadWrite(name string) (vfs.File, error) {
	inner, err := f.FS.OpenReadWrite(name)
	if err == nil && strings.HasSuffix(name, ".log") {
		return forgetfulFile{inner}, nil
	}
	return inner, err
}

func (f forgetfulFile) Sync() error { return nil }
