package catalog

import (
	"fmt"
	"math/rand"
	"strings"
	"sync"
	"testing"
	"time"

	"ksql/internal/vfs"
)

// crashHistory changes rows and definitions of several tables; each entry is
// one acknowledged unit.
func crashHistory() [][]string {
	h := [][]string{
		{"CREATE DATABASE test"},
		{"CREATE TABLE test.a (id INT AUTO_INCREMENT PRIMARY KEY, v INT, KEY kv (v))"},
		{"CREATE TABLE test.b (id INT PRIMARY KEY, a INT, w VARCHAR(20), UNIQUE KEY uw (w), FOREIGN KEY (a) REFERENCES test.a (id))"},
	}
	for i := 1; i <= 12; i++ {
		h = append(h,
			[]string{"BEGIN", fmt.Sprintf("INSERT INTO test.a (v) VALUES (%d)", i), fmt.Sprintf("INSERT INTO test.b VALUES (%d, LAST_INSERT_ID(), 'w%d')", i, i), "COMMIT"},
			[]string{fmt.Sprintf("UPDATE test.a SET v = v + 1 WHERE id %% 2 = %d", i%2)})
		switch i {
		case 3:
			h = append(h, []string{"ALTER TABLE test.a ADD COLUMN c INT NOT NULL DEFAULT 7"})
		case 5:
			h = append(h, []string{"CREATE VIEW test.vw AS SELECT id FROM test.a"}, []string{"ALTER TABLE test.b ADD KEY ka (a, w)"})
		case 7:
			h = append(h, []string{"CREATE TABLE test.gone (x INT PRIMARY KEY)"}, []string{"INSERT INTO test.gone VALUES (1),(2)"}, []string{"DROP TABLE test.gone"})
		case 9:
			h = append(h, []string{"DELETE FROM test.b WHERE id = 4"}, []string{"RENAME TABLE test.b TO test.b2"}, []string{"RENAME TABLE test.b2 TO test.b"})
		}
	}
	return h
}

// state prints everything that the folder shows.
func (h *harness) state() string {
	h.t.Helper()
	c := h.client("state")
	c.session.SetCurrentDatabase("test")
	var out strings.Builder
	if h.provider.current.Load().database("test") == nil {
		return ""
	}
	for _, row := range c.must("SELECT table_name FROM information_schema.tables WHERE table_schema = 'test' ORDER BY 1").rows {
		fmt.Fprintln(&out, c.text("SHOW CREATE TABLE test."+row[0]))
		fmt.Fprintln(&out, c.text("SELECT * FROM test."+row[0]+" ORDER BY 1"))
	}
	return out.String()
}

// crashPoint is a folder as a crash would leave it while unit n of the history ran.
type crashPoint struct {
	fs      *vfs.MemFS
	unit    int
	percent int
	line    string
}

// TestCrashClones: at every sync of a history, a crash that keeps none, some or
// all of what was not synced leaves exactly the acknowledged state, or that of
// one more whole unit, and indexes that agree with their tables.
func TestCrashClones(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed=%d", seed)
	rnd := rand.New(rand.NewSource(seed))
	h := &harness{t: t, fs: vfs.NewMem(), clients: map[string]*client{}}
	var mu sync.Mutex
	var points []crashPoint
	unit := 0
	h.wrap = func(fs vfs.FS) vfs.FS {
		return vfs.WithLog(fs, func(line string) {
			if !strings.HasPrefix(line, "sync") {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			percent := []int{0, 50, 100}[len(points)%3]
			clone := h.fs.CrashClone(vfs.CrashConfig{UnsyncedPercent: percent, Rand: rnd})
			points = append(points, crashPoint{clone, unit, percent, line})
		})
	}
	h.start()
	states := []string{h.state()}
	c := h.client("main")
	c.session.SetCurrentDatabase("test")
	for _, statements := range crashHistory() {
		for _, q := range statements {
			c.must(q)
		}
		states = append(states, h.state())
		mu.Lock()
		unit++
		mu.Unlock()
	}
	h.close()
	t.Logf("%d units, %d crash points", unit, len(points))
	for i, p := range points {
		if testing.Short() && i%5 != 0 {
			continue
		}
		checkCrash(t, p, states)
	}
}

// checkCrash opens a crash clone twice.
func checkCrash(t *testing.T, p crashPoint, states []string) {
	t.Helper()
	for try := range 2 {
		h := &harness{t: t, fs: p.fs, clients: map[string]*client{}}
		h.open()
		got := h.state()
		ok := got == states[min(p.unit, len(states)-1)]
		if p.unit+1 < len(states) {
			ok = ok || got == states[p.unit+1]
		}
		if !ok {
			t.Errorf("crash in unit %d at %q keeping %d%%, open %d: state\n%s\nwant\n%s", p.unit, p.line, p.percent, try, got, states[p.unit])
		}
		if found := h.check(); found != "" {
			t.Errorf("crash in unit %d at %q: %s", p.unit, p.line, found)
		}
		h.close()
		if t.Failed() {
			t.FailNow()
		}
	}
}
