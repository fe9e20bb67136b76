package tablet

import (
	"errors"
	"fmt"
	"math/rand"
	"testing"

	"ksql/internal/vfs"
	"ksql/tablet/cfile"
	"ksql/tablet/rowcodec"
)

// overlapping is a tablet with n DiskRowSets whose key ranges are nearly the same:
// rowset s holds the keys s, s+n, s+2n, ….
func overlapping(t testing.TB, m *Manager, n, rows int64) TabletID {
	t.Helper()
	id := createTest(t, m)
	for s := range n {
		batch := map[int64]*kv{}
		for i := range rows {
			batch[s+n*i] = &kv{s, ""}
		}
		write(t, m, id, batch)
		if err := m.Flush(bg); err != nil {
			t.Fatal(err)
		}
	}
	if got := m.Stats().DiskRowSets; got != int(n) {
		t.Fatalf("%d DiskRowSets, want %d", got, n)
	}
	return id
}

func keysOf(ks []int64) [][]byte {
	out := make([][]byte, len(ks))
	for i, k := range ks {
		out[i] = keyOf(k)
	}
	return out
}

// batch probes and writes all keys with one op type in one transaction and returns
// what that has cost, the commit included. carried: the locations that the probe
// found go with the ops; otherwise the commit must find them.
func batch(t testing.TB, m *Manager, id TabletID, typ RowOpType, ks []int64, carried bool) (cost BatchCounters, writeErr error) {
	t.Helper()
	before := m.Stats().Probe
	tx := m.Begin(TxOptions{})
	defer tx.Rollback()
	tx.StartStatement(RepeatableRead)
	keys := keysOf(ks)
	if err := tx.LockKeys(bg, id, keys, LockExclusive, -1); err != nil {
		t.Fatal(err)
	}
	probes := make([]Probe, len(ks))
	if carried {
		if err := tx.Probe(bg, id, keys, probes); err != nil {
			t.Fatal(err)
		}
		if err := tx.Probe(bg, id, keys, probes); err != nil { // free: the overlay knows
			t.Fatal(err)
		}
	}
	for i, k := range ks {
		op := RowOp{Type: typ, Key: keys[i], Ref: probes[i].Ref}
		if typ != OpDelete {
			op.Row = rowOf(t, k, kv{k, typ.String()})
		}
		if writeErr = tx.Write(id, op); writeErr != nil {
			break
		}
	}
	if writeErr == nil {
		_, writeErr = tx.Commit(bg)
	}
	after := m.Stats().Probe
	cost = BatchCounters{MemHits: after.MemHits - before.MemHits, BloomChecks: after.BloomChecks - before.BloomChecks,
		BloomNegatives: after.BloomNegatives - before.BloomNegatives, BloomFalsePositives: after.BloomFalsePositives - before.BloomFalsePositives,
		KeySeeks: after.KeySeeks - before.KeySeeks, DeletedChecks: after.DeletedChecks - before.DeletedChecks}
	return cost, writeErr
}

// fresh is n keys inside of the rowsets' range that none of them holds.
func fresh(r *rand.Rand, stored, n int64) []int64 {
	ks := make([]int64, 0, n)
	for i := range n {
		ks = append(ks, stored+i)
	}
	r.Shuffle(len(ks), func(i, j int) { ks[i], ks[j] = ks[j], ks[i] })
	return ks
}

// TestFreshRowsCostNoDisk: mutations of rows in memory ask no DiskRowSet, however
// many of them overlap (T5).
func TestFreshRowsCostNoDisk(t *testing.T) {
	r := seeded(t)
	for _, carried := range []bool{true, false} {
		m := openTest(t, vfs.NewMem())
		const sets, rows, n = 10, 300, 1000
		id := overlapping(t, m, sets, rows)
		ks := fresh(r, sets*rows, n)
		// the fresh rows must lie inside of the rowsets' ranges
		write(t, m, id, map[int64]*kv{1 << 40: {1, ""}, -1: {1, ""}})
		for i := range int64(3) {
			write(t, m, id, map[int64]*kv{1<<40 + i: {1, ""}, -1 - i: {1, ""}})
			if err := m.Flush(bg); err != nil {
				t.Fatal(err)
			}
		}
		if cost, err := batch(t, m, id, OpInsert, ks, carried); err != nil || cost.BloomNegatives == 0 {
			t.Fatalf("inserts of absent keys: %+v, %v", cost, err)
		}
		free := func(typ RowOpType, want error) {
			t.Helper()
			cost, err := batch(t, m, id, typ, ks, carried)
			if !errors.Is(err, want) {
				t.Errorf("%v of fresh rows: %v", typ, err)
			}
			if cost.BloomChecks != 0 || cost.KeySeeks != 0 || cost.MemHits != n {
				t.Errorf("%v of %d fresh rows costs %+v (carried: %v)", typ, n, cost, carried)
			}
		}
		free(OpUpdate, nil)
		free(OpUpsert, nil)
		free(OpInsert, ErrKeyExists)
		free(OpDelete, nil)
		free(OpUpdate, ErrKeyNotFound) // the ghosts settle the keys
		free(OpDelete, ErrKeyNotFound)
		free(OpInsert, nil) // REINSERT
		free(OpUpdate, nil)
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDiskRowsCostOneSeek: a mutation of a row on disk costs one key seek, not one a
// rowset, plus the bloom filters' false positives, which are counted (T6).
func TestDiskRowsCostOneSeek(t *testing.T) {
	r := seeded(t)
	m := openTest(t, vfs.NewMem())
	const sets, rows, n = 10, 1000, 1000
	id := overlapping(t, m, sets, rows)
	for _, carried := range []bool{true, false} {
		for _, s := range []int64{0, 4, sets - 1} {
			ks := make([]int64, n)
			for i := range ks {
				ks[i] = s + sets*int64(i)
			}
			r.Shuffle(n, func(i, j int) { ks[i], ks[j] = ks[j], ks[i] })
			cost, err := batch(t, m, id, OpUpdate, ks, carried)
			if err != nil || cost.KeySeeks != n+cost.BloomFalsePositives || cost.DeletedChecks != n {
				t.Errorf("rowset %d, carried %v: %+v, %v", s, carried, cost, err)
			}
			if limit := uint64(n * sets / 20); cost.BloomFalsePositives > limit {
				t.Errorf("rowset %d: %d false positives, more than %d", s, cost.BloomFalsePositives, limit)
			}
			if s != 0 || !carried {
				continue
			}
			// it is the hottest rowset now, so it is asked first
			if cost, err = batch(t, m, id, OpUpdate, ks, carried); err != nil || cost.BloomChecks != n || cost.KeySeeks != n {
				t.Errorf("rowset %d is hot: %+v, %v", s, cost, err)
			}
		}
	}
}

// TestReinsertKeepsThreeStates: snapshots of old, none and new of one key (T7).
func TestReinsertKeepsThreeStates(t *testing.T) {
	m := openTest(t, vfs.NewMem())
	id := overlapping(t, m, 3, 20)
	var snaps []*Transaction
	want := []string{"[{1 old}]", "[]", "[{2 new}]"}
	before := m.Stats().Probe.BloomChecks
	for i, v := range []*kv{{1, "old"}, nil, {2, "new"}} {
		if i == 1 {
			before = m.Stats().Probe.BloomChecks
		}
		write(t, m, id, map[int64]*kv{500: v})
		tx := m.Begin(TxOptions{})
		tx.PinSnapshot()
		snaps = append(snaps, tx)
	}
	if n := m.Stats().Probe.BloomChecks; n != before {
		t.Errorf("ghost and REINSERT cost %d bloom checks", n-before)
	}
	verify := func(when string) {
		t.Helper()
		for i, tx := range snaps {
			tx.StartStatement(RepeatableRead)
			_, rows, err := contents(tx, ScanSpec{Tablet: id, Lower: keyOf(500)})
			got := []kv{}
			for _, v := range rows {
				got = append(got, v)
			}
			if err != nil || fmt.Sprint(got) != want[i] {
				t.Errorf("%s: snapshot %d shows %v, want %s (%v)", when, i, got, want[i], err)
			}
		}
	}
	verify("in memory")
	if err := m.Flush(bg); err != nil {
		t.Fatal(err)
	}
	verify("flushed")
	write(t, m, id, map[int64]*kv{500: {3, "newer"}})
	verify("changed")
	for _, tx := range snaps {
		tx.Rollback()
	}
	m.forgetHistory()
	sameRows(t, "newest", map[int64]kv{500: readAll(t, m, id)[500]}, map[int64]kv{500: {3, "newer"}})
}

// TestUpdateGoesToLiveCopy: a key that was deleted on disk and inserted again is in
// several DiskRowSets, of which one has it live; updates reach that one, whichever
// is asked first, also after a crash (T8).
func TestUpdateGoesToLiveCopy(t *testing.T) {
	r := seeded(t)
	fs := vfs.NewMem()
	m := openTest(t, fs)
	id := overlapping(t, m, 2, 50)
	model := readAll(t, m, id)
	for round := range 4 {
		write(t, m, id, map[int64]*kv{7: nil, 8: nil})
		write(t, m, id, map[int64]*kv{7: {int64(round), "again"}})
		if err := m.Flush(bg); err != nil {
			t.Fatal(err)
		}
	}
	delete(model, 8)
	for i := range 100 {
		tab, _ := m.Tablet(id)
		v := tab.acquire()
		for _, d := range v.disk { // every order in which they are asked
			d.heat.Store(uint32(r.Intn(1000)))
		}
		v.release()
		model[7] = kv{int64(i), "changed"}
		val := model[7]
		write(t, m, id, map[int64]*kv{7: &val})
		if i%10 == 9 {
			fs = fs.CrashClone(vfs.CrashConfig{UnsyncedPercent: 50, Rand: r})
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			m = openTest(t, fs)
		}
		if i%25 == 7 {
			if err := m.Flush(bg); err != nil {
				t.Fatal(err)
			}
		}
		sameRows(t, "live copy", readAll(t, m, id), model)
	}
	checkClean(t, m)
}

// TestUnchangedRowTouchesNothing: an upsert of the row that is there writes nothing
// (T4).
func TestUnchangedRowTouchesNothing(t *testing.T) {
	m := openTest(t, vfs.NewMem())
	id := createTest(t, m)
	write(t, m, id, map[int64]*kv{1: {1, "same"}})
	for range 2 {
		published, ops := m.Published(), m.Stats().Ops
		write(t, m, id, map[int64]*kv{1: {1, "same"}})
		if s := m.Stats(); s.PublishedEpoch != published || s.Ops != ops {
			t.Errorf("an unchanged row is written: epoch %d after %d, ops %v after %v", s.PublishedEpoch, published, s.Ops, ops)
		}
		if err := m.Flush(bg); err != nil {
			t.Fatal(err)
		}
	}
}

// TestZoneMapsPruneVectors: vectors that a predicate excludes are not read, unless
// one of their rows has a delta; the rows that satisfy it come all the same.
func TestZoneMapsPruneVectors(t *testing.T) {
	m := openTest(t, vfs.NewMem())
	id := createTest(t, m)
	const vectors = 6
	rows := map[int64]*kv{}
	for k := range int64(vectors * cfile.VectorRows) {
		rows[k] = &kv{k / cfile.VectorRows, ""}
	}
	write(t, m, id, rows)
	if err := m.Flush(bg); err != nil {
		t.Fatal(err)
	}
	scan := func(p Predicate) (found map[int64]kv, pruned, read uint64) {
		t.Helper()
		before := m.Stats()
		tx := m.Begin(TxOptions{})
		defer tx.Rollback()
		tx.StartStatement(RepeatableRead)
		found = map[int64]kv{}
		for _, reverse := range []bool{false, true} {
			_, all, err := contents(tx, ScanSpec{Tablet: id, Reverse: reverse, Predicates: []Predicate{p}})
			if err != nil {
				t.Fatal(err)
			}
			for k, v := range all {
				if p.Op == PredEqual && v.a == p.Value.Int() || p.Op == PredIsNotNull && v.s != "" {
					found[k] = v
				}
			}
		}
		after := m.Stats()
		return found, (after.VectorsPruned - before.VectorsPruned) / 2, (after.VectorsRead - before.VectorsRead) / 2
	}
	check := func(what string, p Predicate, want int, wantPruned uint64) {
		t.Helper()
		found, pruned, read := scan(p)
		if len(found) != want || pruned != wantPruned || pruned+read != vectors {
			t.Errorf("%s: %d rows, want %d; %d vectors pruned, want %d; %d read", what, len(found), want, pruned, wantPruned, read)
		}
	}
	two := Predicate{Column: 1, Op: PredEqual, Value: rowcodec.Int(2)}
	check("a = 2", two, cfile.VectorRows, vectors-1)
	check("a = 77", Predicate{Column: 1, Op: PredEqual, Value: rowcodec.Int(77)}, 0, vectors)
	check("s IS NOT NULL", Predicate{Column: 2, Op: PredIsNotNull}, 0, vectors)
	// deltas: one row comes to the value, one leaves it, one gets a text
	write(t, m, id, map[int64]*kv{10: {2, ""}, 2 * cfile.VectorRows: {3, ""}, 5 * cfile.VectorRows: {5, "text"}})
	for _, when := range []string{"in memory", "flushed", "reopened"} {
		check("a = 2, "+when, two, cfile.VectorRows, vectors-3)
		check("s IS NOT NULL, "+when, Predicate{Column: 2, Op: PredIsNotNull}, 1, vectors-3)
		if when == "in memory" {
			if err := m.Flush(bg); err != nil {
				t.Fatal(err)
			}
			continue
		}
		fs := m.fs
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		m = openTest(t, fs)
	}
}

// TestBloomsPruneByPrefix: the bloom filters of an index whose blooms know the first
// key column only spare look-ups of full keys.
func TestBloomsPruneByPrefix(t *testing.T) {
	m := openTest(t, vfs.NewMem())
	schema := testSchema()
	schema.Key = []rowcodec.KeyColumn{{Kind: rowcodec.KindInt64}, {Kind: rowcodec.KindInt64}}
	schema.BloomColumns = 1
	key := func(a, b int64) []byte {
		return rowcodec.AppendKey(nil, schema.Key, []rowcodec.Datum{rowcodec.Int(a), rowcodec.Int(b)})
	}
	tx := m.Begin(TxOptions{})
	id, err := tx.CreateTablet(schema)
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(200) {
		k := key(2*i, i)
		if err := tx.LockKeys(bg, id, [][]byte{k}, LockExclusive, 0); err != nil {
			t.Fatal(err)
		}
		if err := tx.Write(id, RowOp{Type: OpInsert, Key: k, Row: rowOf(t, i, kv{i, ""}), Absent: true}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tx.Commit(bg); err != nil {
		t.Fatal(err)
	}
	if err := m.Flush(bg); err != nil {
		t.Fatal(err)
	}
	before := m.Stats().Probe
	read := m.Begin(TxOptions{})
	defer read.Rollback()
	for i := range int64(200) {
		for odd := range int64(2) {
			row, found, err := read.Get(bg, id, key(2*i+odd, i), ReadNewest)
			if err != nil || found != (odd == 0) {
				t.Fatalf("get (%d, %d): %v, %v", 2*i+odd, i, found, err)
			}
			if found && row.Value.Datum(schema, 0).Int() != i {
				t.Errorf("get (%d, %d) gives a wrong row", 2*i, i)
			}
		}
	}
	after := m.Stats().Probe
	if n := after.BloomNegatives - before.BloomNegatives; n < 180 || after.BloomChecks-before.BloomChecks > 400 {
		t.Errorf("of 200 absent keys blooms spare %d look-ups", n)
	}
}
