package tablet

import (
	"fmt"
	"math/rand"
	"sort"
	"strings"
	"testing"

	"ksql/internal/vfs"
	"ksql/tablet/rowcodec"
)

// crashRun is a history over two tablets that are always written together, a
// catalog of further tablets that come and go with their rows, and a counter.
type crashRun struct {
	t      *testing.T
	r      *rand.Rand
	fs     *vfs.MemFS
	m      *Manager
	a, b   TabletID
	more   []TabletID
	states []string // after commit i
	issued []uint64 // numbers that were issued before commit i began
	points []crashPoint
	armed  bool
}

// crashPoint is what a machine that stops at one sync would find.
type crashPoint struct {
	clone   *vfs.MemFS
	acked   int
	percent int
}

func catalogRow(t testing.TB, id TabletID) (key []byte, row rowcodec.Row) {
	t.Helper()
	d := rowcodec.Bytes(fmt.Appendf(nil, "%d", id))
	row, err := rowcodec.AppendRow(nil, catalogSchema(), []rowcodec.Datum{d, d})
	if err != nil {
		t.Fatal(err)
	}
	return rowcodec.AppendKey(nil, catalogSchema().Key, []rowcodec.Datum{d}), row
}

// dump is everything that the folder holds, as text.
func (c *crashRun) dump(m *Manager) (string, error) {
	tx := m.Begin(TxOptions{})
	defer tx.Rollback()
	tx.StartStatement(RepeatableRead)
	var out strings.Builder
	one := func(id TabletID) error {
		keys, rows, err := contents(tx, ScanSpec{Tablet: id})
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "\n%d:", id)
		for _, k := range keys {
			fmt.Fprintf(&out, " %d=%v", k, rows[k])
		}
		if t, ok := m.Tablet(id); !ok || t.RowCount() != int64(len(keys)) {
			return fmt.Errorf("tablet %d counts its rows wrongly", id)
		}
		return nil
	}
	ids := []TabletID{c.a, c.b}
	it, err := tx.Scan(bg, ScanSpec{Tablet: CatalogTabletID})
	if err != nil {
		return "", err
	}
	defer it.Close()
	for it.Next(bg) {
		var id TabletID
		if _, err := fmt.Sscan(string(it.Row().Value.Datum(catalogSchema(), 0).Bytes()), &id); err != nil {
			return "", err
		}
		ids = append(ids, id)
	}
	if it.Err() != nil {
		return "", it.Err()
	}
	sort.Slice(ids, func(i, j int) bool { return ids[i] < ids[j] })
	for _, id := range ids {
		if err := one(id); err != nil {
			return "", fmt.Errorf("tablet %d of the catalog: %w", id, err)
		}
	}
	if n := m.Stats().Tablets; n != len(ids)+1 {
		return "", fmt.Errorf("%d tablets, the catalog has %d", n, len(ids))
	}
	return out.String(), nil
}

// step commits one transaction. Now and then numbers are issued for nothing.
func (c *crashRun) step(i int) {
	tab, ok := c.m.Tablet(c.a)
	if !ok {
		c.t.Fatal("the tablet is gone")
	}
	if c.r.Intn(3) == 0 {
		c.next(tab) // its transaction is rolled back, say
	}
	before := tab.PeekCounter(CounterAutoIncrement)
	tx := c.m.Begin(TxOptions{})
	defer tx.Rollback()
	tx.StartStatement(RepeatableRead)
	if c.r.Intn(2) == 0 {
		c.next(tab)
		before = tab.PeekCounter(CounterAutoIncrement)
	}
	for range 1 + c.r.Intn(4) {
		k := int64(c.r.Intn(40))
		var v *kv
		if c.r.Intn(4) > 0 {
			v = &kv{int64(i), strings.Repeat("x", c.r.Intn(400))}
		}
		for _, id := range []TabletID{c.a, c.b} {
			if _, err := put(c.t, tx, id, k, v); err != nil {
				c.t.Fatal(err)
			}
		}
	}
	if c.r.Intn(6) == 0 {
		c.catalog(tx, i)
	}
	if !tx.HasWrites() { // deletes of absent rows
		if _, err := put(c.t, tx, c.a, 99, &kv{int64(i), ""}); err != nil {
			c.t.Fatal(err)
		}
	}
	c.issued = append(c.issued, before)
	if _, err := tx.Commit(bg); err != nil {
		c.t.Fatal(err)
	}
	c.remember()
}

func (c *crashRun) next(tab *Tablet) {
	if c.r.Intn(5) == 0 {
		tab.RaiseCounter(CounterAutoIncrement, tab.PeekCounter(CounterAutoIncrement)+3)
	} else if _, err := tab.NextCounter(CounterAutoIncrement, 1+uint64(c.r.Intn(3))); err != nil {
		c.t.Fatal(err)
	}
}

// catalog makes a tablet with a row in it, or drops one.
func (c *crashRun) catalog(tx *Transaction, i int) {
	var id TabletID
	op := RowOp{Type: OpDelete}
	if n := len(c.more); n > 2 || n > 0 && c.r.Intn(2) == 0 {
		id = c.more[0]
		c.more = c.more[1:]
		if err := tx.DropTablet(id); err != nil {
			c.t.Fatal(err)
		}
		op.Key, _ = catalogRow(c.t, id)
	} else {
		var err error
		if id, err = tx.CreateTablet(testSchema()); err != nil {
			c.t.Fatal(err)
		}
		if _, err := put(c.t, tx, id, int64(i), &kv{int64(i), "with its tablet"}); err != nil {
			c.t.Fatal(err)
		}
		c.more = append(c.more, id)
		op.Type = OpInsert
		op.Key, op.Row = catalogRow(c.t, id)
	}
	if err := tx.LockKeys(bg, CatalogTabletID, [][]byte{op.Key}, LockExclusive, -1); err != nil {
		c.t.Fatal(err)
	}
	if err := tx.Write(CatalogTabletID, op); err != nil {
		c.t.Fatal(err)
	}
}

func (c *crashRun) remember() {
	s, err := c.dump(c.m)
	if err != nil {
		c.t.Fatal(err)
	}
	c.states = append(c.states, s)
}

// run makes the history, with clones taken at every sync.
func (c *crashRun) run(commits int, wrap func(vfs.FS) vfs.FS) {
	c.fs = vfs.NewMem()
	fsys := vfs.WithFaults(wrap(c.fs), &vfs.Injector{Op: func(op vfs.Op, _ string, _ int64) error {
		if op == vfs.OpSync && c.armed {
			c.clone()
		}
		return nil
	}})
	m, err := Open("data", Options{FS: fsys, SegmentSize: 64 << 10})
	if err != nil {
		c.t.Fatal(err)
	}
	m.maint.stop() // flushes come where the history has them
	c.m = m
	c.a, c.b = createTest(c.t, m), createTest(c.t, m)
	c.issued = append(c.issued, 0)
	c.remember()
	c.armed = true
	for i := 1; i <= commits; i++ {
		c.step(i)
		if i%20 == 0 {
			if err := m.Flush(bg); err != nil {
				c.t.Fatal(err)
			}
		}
	}
	if err := m.Close(); err != nil {
		c.t.Fatal(err)
	}
	c.clone()
	c.armed = false
}

func (c *crashRun) clone() {
	for _, p := range []int{0, 50, 100} {
		c.points = append(c.points, crashPoint{c.fs.CrashClone(vfs.CrashConfig{UnsyncedPercent: p, Rand: c.r}), len(c.states) - 1, p})
	}
}

// judge opens a clone twice: it must show the acknowledged commits or one whole
// commit more, both times the same, and be clean.
func (c *crashRun) judge(p crashPoint) error {
	first := ""
	for again := range 2 {
		m, err := Open("data", Options{FS: p.clone, SegmentSize: 64 << 10})
		if err != nil {
			return fmt.Errorf("open: %w", err)
		}
		err = c.judgeOpen(m, p, &first)
		if again == 1 { // the first time it crashes again
			if e := m.Close(); err == nil {
				err = e
			}
		} else {
			m.maint.stop()
			p.clone = p.clone.CrashClone(vfs.CrashConfig{UnsyncedPercent: p.percent, Rand: c.r})
			_ = m.shut()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *crashRun) judgeOpen(m *Manager, p crashPoint, first *string) error {
	var fault error
	if err := m.Check(bg, func(err error) { fault = err }); err != nil || fault != nil {
		return fmt.Errorf("check: %w, %w", fault, err)
	}
	s, err := c.dump(m)
	if err != nil {
		return err
	}
	n := p.acked
	if s != c.states[n] {
		if n++; n == len(c.states) || s != c.states[n] {
			return fmt.Errorf("shows%s\nwant%s", s, c.states[p.acked])
		}
	}
	if *first != "" && s != *first {
		return fmt.Errorf("a second reopen shows%s\nthe first%s", s, *first)
	}
	*first = s
	tab, ok := m.Tablet(c.a)
	if !ok || tab.PeekCounter(CounterAutoIncrement) < c.issued[n] {
		return fmt.Errorf("the counter went back to %d, %d was issued before commit %d", tab.PeekCounter(CounterAutoIncrement), c.issued[n], n)
	}
	return nil
}

func (c *crashRun) firstFault() error {
	for i, p := range c.points {
		if err := c.judge(p); err != nil {
			return fmt.Errorf("crash %d of %d, %d commits acknowledged, %d%% of unsynced kept: %w", i, len(c.points), p.acked, p.percent, err)
		}
	}
	return nil
}

// TestCrashAtEverySync stops the machine at every sync of a history.
func TestCrashAtEverySync(t *testing.T) {
	c := &crashRun{t: t, r: seeded(t)}
	c.run(200, func(f vfs.FS) vfs.FS { return f })
	if len(c.points) < 3*240 {
		t.Errorf("only %d crashes", len(c.points))
	}
	if err := c.firstFault(); err != nil {
		t.Error(err)
	}
}

// lyingFS says that it has synced what it has not.
type lyingFS struct {
	vfs.FS
	lies func(name string) bool
}

type lyingFile struct{ vfs.File }

func (lyingFile) Sync() error { return nil }

func (l lyingFS) wrap(f vfs.File, name string, err error) (vfs.File, error) {
	if err == nil && l.lies(name) {
		return lyingFile{f}, nil
	}
	return f, err
}

func (l lyingFS) Create(name string) (vfs.File, error) {
	f, err := l.FS.Create(name)
	return l.wrap(f, name, err)
}

func (l lyingFS) OpenReadWrite(name string) (vfs.File, error) {
	f, err := l.FS.OpenReadWrite(name)
	return l.wrap(f, name, err)
}

func (l lyingFS) OpenDir(name string) (vfs.File, error) {
	f, err := l.FS.OpenDir(name)
	return l.wrap(f, name, err)
}

// TestCrashFindsPlantedFaults: the judge above is worth something.
func TestCrashFindsPlantedFaults(t *testing.T) {
	for what, lies := range map[string]func(string) bool{
		"log not synced":                       func(n string) bool { return strings.HasPrefix(n, "data/wal/") },
		"directory of superblock not synced":   func(n string) bool { return n == "data" },
		"row file not synced":                  func(n string) bool { return strings.HasSuffix(n, ".cfile") },
		"REDO file not synced":                 func(n string) bool { return strings.HasSuffix(n, ".redo") },
		"directory of row files not synced":    func(n string) bool { return n == "data/rowsets" },
		"superblock not synced before renamed": func(n string) bool { return strings.HasSuffix(n, "SUPERBLOCK.new") },
	} {
		c := &crashRun{t: t, r: seeded(t)}
		c.run(60, func(f vfs.FS) vfs.FS {
			return lyingFS{f, func(n string) bool { return c.armed && lies(n) || strings.HasPrefix(n, "data/wal/") && lies(n) }}
		})
		if err := c.firstFault(); err == nil {
			t.Errorf("%s: not found", what)
		}
	}
}

// TestCounterOfSlowCommit: numbers that were issued for nothing are durable with the
// next commit that is acknowledged, also if another one, which is still on its way,
// has taken it upon itself to log them.
func TestCounterOfSlowCommit(t *testing.T) {
	fs := vfs.NewMem()
	m := openTest(t, fs)
	counted, slow, quick := createTest(t, m), createTest(t, m), createTest(t, m)
	tab, _ := m.Tablet(counted)
	if _, err := tab.NextCounter(CounterHiddenRowID, 7); err != nil {
		t.Fatal(err)
	}
	tx := m.Begin(TxOptions{})
	defer tx.Rollback()
	if _, err := put(t, tx, slow, 1, &kv{1, ""}); err != nil {
		t.Fatal(err)
	}
	op := &writeOp{m: m, tx: tx}
	if err := op.lock(); err != nil {
		t.Fatal(err)
	}
	if err := op.prepare(); err != nil {
		t.Fatal(err)
	}
	write(t, m, quick, map[int64]*kv{1: {1, ""}})
	clone := fs.CrashClone(vfs.CrashConfig{})
	op.unlock()
	after := openTest(t, clone)
	if tab, ok := after.Tablet(counted); !ok || tab.PeekCounter(CounterHiddenRowID) != 7 {
		t.Errorf("the counter is %d after a crash, 7 was issued before an acknowledged commit", tab.PeekCounter(CounterHiddenRowID))
	}
	// once they are durable nothing is left to be written
	if err := m.Flush(bg); err != nil {
		t.Fatal(err)
	}
	if m.countersMoved() {
		t.Error("a counter that the superblock holds counts as moved")
	}
}
