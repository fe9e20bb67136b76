package tablet

import (
	"fmt"
	"math/rand"
	"os"
	"testing"
	"time"

	"ksql/internal/vfs"
)

// modelRun is one random history against a model that is a map per committed state.
type modelRun struct {
	t     *testing.T
	r     *rand.Rand
	fs    *vfs.MemFS
	m     *Manager
	id    TabletID
	now   map[int64]kv
	open  []modelSnapshot
	count int64
}

type modelSnapshot struct {
	tx    *Transaction
	model map[int64]kv
}

func (g *modelRun) value() *kv {
	g.count++
	v := &kv{a: g.count}
	if g.r.Intn(3) > 0 {
		v.s = fmt.Sprintf("text %d", g.r.Intn(5))
	}
	return v
}

// transaction writes a few keys, several times some of them, with savepoints, and
// commits or rolls back. Inside, it must see its own writes.
func (g *modelRun) transaction() {
	tx := g.m.Begin(TxOptions{})
	state := clone(g.now)
	for range 1 + g.r.Intn(4) {
		tx.StartStatement(RepeatableRead)
		mark, before := tx.Mark(), clone(state)
		for range 1 + g.r.Intn(8) {
			k := int64(g.r.Intn(100))
			var v *kv
			if g.r.Intn(4) > 0 {
				v = g.value()
			}
			if _, err := put(g.t, tx, g.id, k, v); err != nil {
				g.t.Fatal(err)
			}
			if v == nil {
				delete(state, k)
			} else {
				state[k] = *v
			}
		}
		// the statement's own writes are hidden from its scans, not from the next one's
		if _, rows, err := contents(tx, ScanSpec{Tablet: g.id, Mode: ReadStatement}); err != nil || len(rows) != len(before) {
			g.t.Fatalf("a scan sees its own statement: %d rows, want %d (%v)", len(rows), len(before), err)
		}
		if g.r.Intn(4) == 0 {
			tx.UndoTo(mark)
			state = before
		}
		tx.StartStatement(RepeatableRead)
		if err := sameAs(tx, g.id, ReadStatement, state, g.r); err != nil {
			g.t.Fatalf("own writes: %v", err)
		}
	}
	if g.r.Intn(5) == 0 {
		tx.Rollback()
		return
	}
	if _, err := tx.Commit(bg); err != nil {
		g.t.Fatal(err)
	}
	g.now = state
}

func (g *modelRun) snapshot() {
	tx := g.m.Begin(TxOptions{})
	tx.PinSnapshot()
	g.open = append(g.open, modelSnapshot{tx, clone(g.now)})
}

func (g *modelRun) verify() {
	tx := g.m.Begin(TxOptions{})
	defer tx.Rollback()
	tx.StartStatement(RepeatableRead)
	if err := sameAs(tx, g.id, ReadSnapshot, g.now, g.r); err != nil {
		g.t.Fatal(err)
	}
	tab, ok := g.m.Tablet(g.id)
	if !ok || tab.RowCount() != int64(len(g.now)) {
		g.t.Fatalf("RowCount is %d, want %d", tab.RowCount(), len(g.now))
	}
	for i, s := range g.open {
		s.tx.StartStatement(RepeatableRead)
		if err := sameAs(s.tx, g.id, ReadSnapshot, s.model, g.r); err != nil {
			g.t.Fatalf("snapshot %d of %d: %v", i, len(g.open), err)
		}
	}
}

func (g *modelRun) closeSnapshots() {
	for _, s := range g.open {
		s.tx.Rollback()
	}
	g.open = nil
}

func (g *modelRun) reopen(crash bool) {
	g.closeSnapshots()
	old := g.m
	if crash {
		g.fs = g.fs.CrashClone(vfs.CrashConfig{UnsyncedPercent: 50, Rand: g.r})
	}
	if err := old.Close(); err != nil {
		g.t.Fatal(err)
	}
	g.m = openTest(g.t, g.fs)
	checkClean(g.t, g.m)
}

func (g *modelRun) step() {
	switch n := g.r.Intn(100); {
	case n < 70:
		g.transaction()
	case n < 80:
		if len(g.open) < 6 {
			g.snapshot()
		}
	case n < 84:
		if len(g.open) > 0 {
			i := g.r.Intn(len(g.open))
			g.open[i].tx.Rollback()
			g.open = append(g.open[:i], g.open[i+1:]...)
		}
	case n < 93:
		if err := g.m.Flush(bg); err != nil {
			g.t.Fatal(err)
		}
	case n < 96:
		g.reopen(n == 95)
	default:
		g.verify()
	}
}

// TestModel runs random histories with flushes, restarts, crashes and snapshots
// against a model. KSQL_STRESS=duration makes it long.
func TestModel(t *testing.T) {
	r := seeded(t)
	histories := []int{400, 400, 1500}
	if testing.Short() { // under the race detector
		histories = []int{300}
	}
	for _, steps := range histories {
		g := &modelRun{t: t, r: r, fs: vfs.NewMem(), now: map[int64]kv{}}
		g.m = openTest(t, g.fs)
		g.id = createTest(t, g.m)
		until := time.Time{}
		if d, err := time.ParseDuration(os.Getenv("KSQL_STRESS")); err == nil {
			until = time.Now().Add(d / 3)
		}
		for i := 0; i < steps || time.Now().Before(until); i++ {
			g.step()
		}
		g.verify()
		g.reopen(false)
		g.verify()
		if err := g.m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
