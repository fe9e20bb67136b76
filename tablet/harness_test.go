package tablet

import (
	"context"
	"fmt"
	"maps"
	"math/rand"
	"sort"
	"testing"
	"time"

	"ksql/internal/vfs"
	"ksql/tablet/rowcodec"
)

var bg = context.Background()

// testSchema is k INT PRIMARY KEY, a INT, s TEXT NULL.
func testSchema() *rowcodec.Schema {
	return &rowcodec.Schema{
		Columns: []rowcodec.Column{
			{Kind: rowcodec.KindInt64, ID: 1}, {Kind: rowcodec.KindInt64, ID: 2},
			{Kind: rowcodec.KindBytes, Nullable: true, ID: 3},
		},
		Key: []rowcodec.KeyColumn{{Kind: rowcodec.KindInt64}},
	}
}

// kv is a row as a model keeps it; the text is NULL if empty.
type kv struct {
	a int64
	s string
}

func keyOf(k int64) []byte {
	return rowcodec.AppendKey(nil, testSchema().Key, []rowcodec.Datum{rowcodec.Int(k)})
}

func rowOf(t testing.TB, k int64, v kv) rowcodec.Row {
	t.Helper()
	text := rowcodec.Null()
	if v.s != "" {
		text = rowcodec.Bytes([]byte(v.s))
	}
	s := testSchema()
	r, err := rowcodec.AppendRow(nil, s, []rowcodec.Datum{rowcodec.Int(k), rowcodec.Int(v.a), text})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func kvOf(r rowcodec.Row) (int64, kv) {
	s := testSchema()
	v := kv{a: r.Datum(s, 1).Int()}
	if d := r.Datum(s, 2); !d.IsNull() {
		v.s = string(d.Bytes())
	}
	return r.Datum(s, 0).Int(), v
}

func openTest(t testing.TB, fsys vfs.FS) *Manager {
	t.Helper()
	m, err := Open("data", Options{FS: fsys, SegmentSize: 256 << 10, LockWait: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() }) // a test that cares closes it itself
	return m
}

func createTest(t testing.TB, m *Manager) TabletID {
	t.Helper()
	tx := m.Begin(TxOptions{})
	id, err := tx.CreateTablet(testSchema())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(bg); err != nil {
		t.Fatal(err)
	}
	return id
}

// put locks, probes and writes one key as a statement does: insert or update, or
// delete for a nil value. It reports whether something was written.
func put(t testing.TB, tx *Transaction, id TabletID, k int64, v *kv) (bool, error) {
	key := keyOf(k)
	if err := tx.LockKeys(bg, id, [][]byte{key}, LockExclusive, -1); err != nil {
		return false, err
	}
	var p [1]Probe
	if err := tx.Probe(bg, id, [][]byte{key}, p[:]); err != nil {
		return false, err
	}
	op := RowOp{Key: key, Ref: p[0].Ref}
	switch {
	case v == nil && !p[0].Found:
		return false, nil
	case v == nil:
		op.Type = OpDelete
	case p[0].Found:
		op.Type, op.Row = OpUpdate, rowOf(t, k, *v)
	default:
		op.Type, op.Row = OpInsert, rowOf(t, k, *v)
	}
	return true, tx.Write(id, op)
}

// contents scans a tablet in one direction.
func contents(tx *Transaction, spec ScanSpec) ([]int64, map[int64]kv, error) {
	it, err := tx.Scan(bg, spec)
	if err != nil {
		return nil, nil, err
	}
	defer it.Close()
	var keys []int64
	rows := map[int64]kv{}
	for it.Next(bg) {
		k, v := kvOf(it.Row().Value)
		if string(it.Row().Key) != string(keyOf(k)) {
			return nil, nil, fmt.Errorf("row %d stands under another key", k)
		}
		if _, twice := rows[k]; twice {
			return nil, nil, fmt.Errorf("row %d twice", k)
		}
		keys, rows[k] = append(keys, k), v
	}
	return keys, rows, it.Err()
}

// sameAs compares scans in every form and point reads with a model.
func sameAs(tx *Transaction, id TabletID, mode ReadMode, model map[int64]kv, r *rand.Rand) error {
	want := make([]int64, 0, len(model))
	for k := range model {
		want = append(want, k)
	}
	sort.Slice(want, func(i, j int) bool { return want[i] < want[j] })
	lo, hi := int64(r.Intn(120)-10), int64(r.Intn(120)-10)
	for _, spec := range []ScanSpec{
		{}, {Reverse: true}, {Unordered: true}, {Projection: []int{0, 1, 2}},
		{Lower: keyOf(lo), Upper: keyOf(hi)}, {Lower: keyOf(lo), Upper: keyOf(hi), Reverse: true}, {Lower: keyOf(lo)}, {Upper: keyOf(hi), Reverse: true},
	} {
		spec.Tablet, spec.Mode = id, mode
		keys, rows, err := contents(tx, spec)
		if err != nil {
			return err
		}
		var in []int64
		for _, k := range want {
			if (spec.Lower == nil || k >= lo) && (spec.Upper == nil || k < hi) {
				in = append(in, k)
			}
		}
		if spec.Unordered {
			sort.Slice(keys, func(i, j int) bool { return keys[i] < keys[j] })
		}
		if spec.Reverse {
			sort.Slice(in, func(i, j int) bool { return in[i] > in[j] })
		}
		if fmt.Sprint(keys) != fmt.Sprint(in) {
			return fmt.Errorf("scan %+v gives keys %v, want %v", spec, keys, in)
		}
		for _, k := range keys {
			if rows[k] != model[k] {
				return fmt.Errorf("scan gives %d = %v, want %v", k, rows[k], model[k])
			}
		}
	}
	for range 10 {
		k := int64(r.Intn(100))
		row, found, err := tx.Get(bg, id, keyOf(k), mode)
		v, there := model[k]
		if err != nil || found != there {
			return fmt.Errorf("get %d: found %v, want %v (%v)", k, found, there, err)
		}
		if found {
			if _, got := kvOf(row.Value); got != v {
				return fmt.Errorf("get %d gives %v, want %v", k, got, v)
			}
		}
	}
	return nil
}

func checkClean(t testing.TB, m *Manager) {
	t.Helper()
	if err := m.Check(bg, func(err error) { t.Error(err) }); err != nil {
		t.Fatal(err)
	}
}

func seeded(t testing.TB) *rand.Rand {
	t.Helper()
	seed := time.Now().UnixNano()
	t.Logf("seed=%d", seed)
	return rand.New(rand.NewSource(seed))
}

func clone(m map[int64]kv) map[int64]kv {
	c := make(map[int64]kv, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
}

// write commits rows in one transaction; nil deletes.
func write(t testing.TB, m *Manager, id TabletID, rows map[int64]*kv) {
	t.Helper()
	if err := tryWrite(t, m, id, rows); err != nil {
		t.Fatal(err)
	}
}

func tryWrite(t testing.TB, m *Manager, id TabletID, rows map[int64]*kv) error {
	tx := m.Begin(TxOptions{})
	defer tx.Rollback()
	tx.StartStatement(RepeatableRead)
	keys := make([]int64, 0, len(rows))
	for k := range rows {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool { return keys[i] < keys[j] })
	for _, k := range keys {
		if _, err := put(t, tx, id, k, rows[k]); err != nil {
			return err
		}
	}
	_, err := tx.Commit(bg)
	return err
}

// readAll is the newest published state of a tablet.
func readAll(t testing.TB, m *Manager, id TabletID) map[int64]kv {
	t.Helper()
	tx := m.Begin(TxOptions{})
	defer tx.Rollback()
	tx.StartStatement(RepeatableRead)
	_, rows, err := contents(tx, ScanSpec{Tablet: id})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func sameRows(t testing.TB, what string, got, want map[int64]kv) {
	t.Helper()
	if !maps.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
