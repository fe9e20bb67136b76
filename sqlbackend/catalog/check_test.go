package catalog

import (
	"context"
	"strings"
	"testing"

	"ksql/tablet"
)

// TestCheckFindsPlantedMismatch: a missing, an extra and a wrong index entry
// are each reported by table and index.
func TestCheckFindsPlantedMismatch(t *testing.T) {
	h := newHarness(t)
	c := h.client("root")
	c.must("CREATE DATABASE test")
	c.must("CREATE TABLE test.t (id INT PRIMARY KEY, k INT, n INT, UNIQUE KEY uk (k), KEY kn (n))")
	c.must("INSERT INTO test.t VALUES (1,10,100),(2,20,200),(3,30,300)")
	if found := h.check(); found != "" {
		t.Fatal(found)
	}
	def := h.provider.current.Load().table("test", "t")
	key := func(x *indexDef, id, k, n int32) ([]byte, []byte) {
		row := []any{id, k, n}
		pk, err := def.codec.PrimaryKey(nil, row)
		if err != nil {
			t.Fatal(err)
		}
		key, _, err := x.codec.Key(nil, row, pk)
		if err != nil {
			t.Fatal(err)
		}
		return key, pk
	}
	uk, kn := def.index("uk"), def.index("kn")
	missing, _ := key(kn, 2, 20, 200)
	extra, pk3 := key(kn, 3, 30, 999)
	wrong, _ := key(uk, 1, 10, 100)
	orphan, pk9 := key(uk, 9, 90, 900)

	ctx := context.Background()
	tx := h.manager.Begin(tablet.TxOptions{})
	tx.StartStatement(tablet.RepeatableRead)
	write := func(x *indexDef, typ tablet.RowOpType, key, pk []byte) {
		t.Helper()
		if err := tx.LockKeys(ctx, x.tabletID, [][]byte{key}, tablet.LockExclusive, 0); err != nil {
			t.Fatal(err)
		}
		op := tablet.RowOp{Type: typ, Key: key}
		if typ != tablet.OpDelete {
			var err error
			if op.Row, err = x.codec.EntryRow(nil, pk); err != nil {
				t.Fatal(err)
			}
		}
		if err := tx.Write(x.tabletID, op); err != nil {
			t.Fatal(err)
		}
	}
	write(kn, tablet.OpDelete, missing, nil)
	write(kn, tablet.OpInsert, extra, pk3)
	write(uk, tablet.OpUpdate, wrong, pk3)
	write(uk, tablet.OpInsert, orphan, pk9)
	if _, err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}

	found := h.check()
	for _, want := range []string{
		"table test.t: index kn: entry", "is missing",
		"table test.t: index kn: extra entry",
		"table test.t: index uk: entry", "instead of row",
		"which does not exist",
	} {
		if !strings.Contains(found, want) {
			t.Errorf("check did not report %q:\n%s", want, found)
		}
	}
}
