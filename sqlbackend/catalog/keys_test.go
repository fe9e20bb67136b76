package catalog

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"ksql/tablet/rowcodec"
)

// keyTypes are the column types that may be in a key.
func keyTypes() []codecType {
	var out []codecType
	for _, c := range codecTypes() {
		if conv, ok := converterOf(c.typ); ok && conv.keyable {
			out = append(out, c)
		}
	}
	return out
}

// TestKeyOrder: for every type, keys are ordered and equal as the engine's
// Compare says of what is stored.
func TestKeyOrder(t *testing.T) {
	r, ctx := codecRand(t), codecContext(t, "+00:00")
	for _, c := range keyTypes() {
		table := codecTable(t, []codecType{c}, 0)
		index, err := newIndexCodec(codecTable(t, []codecType{c}), []int{0}, nil, true)
		if err != nil {
			t.Fatal(err)
		}
		for range 200 {
			a, b := c.value(t, ctx, r), c.value(t, ctx, r)
			want, err := c.typ.Compare(ctx, stored(c.typ, a), stored(c.typ, b))
			if err != nil {
				t.Fatal(err)
			}
			ka, errA := table.PrimaryKey(ctx, sql.Row{a})
			kb, errB := table.PrimaryKey(ctx, sql.Row{b})
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			if got := bytes.Compare(ka, kb); got != want {
				t.Fatalf("%s: keys %x of %v and %x of %v compare %d, want %d", c.typ, ka, a, kb, b, got, want)
			}
			ia, uniqueA, errA := index.Key(ctx, sql.Row{a}, []byte{1})
			ib, _, errB := index.Key(ctx, sql.Row{b}, []byte{1})
			null, uniqueNull, errN := index.Key(ctx, sql.Row{nil}, []byte{7, 8})
			if errA != nil || errB != nil || errN != nil || !uniqueA || uniqueNull {
				t.Fatal(errA, errB, errN, uniqueA, uniqueNull)
			}
			if got := bytes.Compare(ia, ib); got != want {
				t.Fatalf("%s: index keys compare %d, want %d", c.typ, got, want)
			}
			if bytes.Compare(null, ia) >= 0 || !bytes.HasSuffix(null, []byte{7, 8}) {
				t.Fatalf("%s: key of NULL %x, of a value %x", c.typ, null, ia)
			}
		}
	}
	for _, c := range codecTypes() {
		if conv, _ := converterOf(c.typ); !conv.keyable {
			if _, err := newIndexCodec(codecTable(t, []codecType{c}), []int{0}, nil, false); err == nil {
				t.Errorf("%s was taken as a key", c.typ)
			}
		}
	}
}

func text(n int64, c sql.CollationID) codecType {
	return codecType{typ: types.MustCreateString(sqltypes.VarChar, n, c)}
}

// TestIndexKey: which parts an entry's key has, and prefixes in characters or bytes.
func TestIndexKey(t *testing.T) {
	ctx := codecContext(t, "+00:00")
	cols := []codecType{{typ: types.Int64}, text(20, sql.Collation_utf8mb4_0900_ai_ci), {typ: types.Blob}}
	table := codecTable(t, cols, 0)
	unique, err := newIndexCodec(table, []int{1, 2}, []uint16{2, 3}, true)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := newIndexCodec(table, []int{1}, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	key := func(x *indexCodec, row sql.Row) (string, bool) {
		pk, err := table.PrimaryKey(ctx, row)
		if err != nil {
			t.Fatal(err)
		}
		k, u, err := x.Key(ctx, row, pk)
		if err != nil {
			t.Fatal(err)
		}
		entry, err := x.EntryRow(nil, pk)
		if err != nil || rowcodec.ValidateRow(x.Schema(), entry) != nil || !bytes.Equal(x.EntryPrimaryKey(entry), pk) {
			t.Fatalf("entry %x, %v", entry, err)
		}
		if _, rest, err := rowcodec.DecodeKey(k, x.Schema().Key, nil); err != nil || (len(rest) > 0) != (x.unique && !u) {
			t.Fatalf("key %x: rest %x, %v", k, rest, err)
		}
		return string(k), u
	}
	a, uniqueA := key(unique, sql.Row{int64(1), "ÄBc", []byte{1, 2, 3, 4}})
	b, _ := key(unique, sql.Row{int64(2), "abX", []byte{1, 2, 3}})
	c, _ := key(unique, sql.Row{int64(2), "aXX", []byte{1, 2, 3}})
	d, uniqueD := key(unique, sql.Row{int64(2), "ab", nil})
	e, _ := key(unique, sql.Row{int64(3), "ab", nil})
	if a != b || a == c || !uniqueA || uniqueD || d == e {
		t.Errorf("unique keys %x %x %x %x %x", a, b, c, d, e)
	}
	a, uniqueA = key(plain, sql.Row{int64(1), "x", nil})
	b, _ = key(plain, sql.Row{int64(2), "X", nil})
	if a == b || uniqueA || a > b {
		t.Errorf("keys %x %x", a, b)
	}
	if n, err := rowcodec.KeyPrefixLen([]byte(a), plain.Schema().Key, plain.Schema().BloomColumns); err != nil || a[:n] != b[:n] {
		t.Errorf("equal values have different bloom prefixes: %x, %x, %v", a, b, err)
	}
	// The key of a row read in a zone with DST is that of the row as stored: see TestTimestampColumn.
	if got := plain.BoundTypes(); !reflect.DeepEqual(got, []sql.Type{cols[1].typ}) {
		t.Errorf("bound types %v", got)
	}
}

// TestCharKey: trailing spaces of a CHAR are no part of the value; those of a VARCHAR are.
func TestCharKey(t *testing.T) {
	ctx := codecContext(t, "+00:00")
	char := types.MustCreateString(sqltypes.Char, 5, sql.Collation_utf8mb4_0900_ai_ci)
	for _, c := range []struct {
		typ   sql.Type
		equal bool
	}{{char, true}, {text(5, sql.Collation_utf8mb4_0900_ai_ci).typ, false}} {
		table := codecTable(t, []codecType{{typ: c.typ}}, 0)
		a, errA := table.PrimaryKey(ctx, sql.Row{"a"})
		b, errB := table.PrimaryKey(ctx, sql.Row{"A  "})
		if errA != nil || errB != nil || bytes.Equal(a, b) != c.equal {
			t.Errorf("%s: %x, %x, %v, %v", c.typ, a, b, errA, errB)
		}
	}
}

// TestPrimaryPrefix: a primary key on prefixes, its index view, and its ranges agree.
func TestPrimaryPrefix(t *testing.T) {
	ctx := codecContext(t, "+00:00")
	schema := sql.Schema{{Name: "a", Type: types.LongText, PrimaryKey: true}, {Name: "b", Type: types.Int64}}
	table, err := newTableCodec(sql.NewPrimaryKeySchema(schema, 0), sql.Collation_utf8mb4_0900_ai_ci, 2)
	if err != nil {
		t.Fatal(err)
	}
	index, err := newIndexCodec(table, []int{0}, []uint16{2}, true)
	if err != nil {
		t.Fatal(err)
	}
	abc, errA := table.PrimaryKey(ctx, sql.Row{"abc", nil})
	abd, _, errB := index.Key(ctx, sql.Row{"abd", nil}, nil)
	if errA != nil || errB != nil || !bytes.Equal(abc, abd) {
		t.Fatalf("%x, %x, %v, %v", abc, abd, errA, errB)
	}
	got, precise, err := table.Ranges(ctx, sql.MySQLRangeCollection{{sql.ClosedRangeColumnExpr("abe", "abe", types.LongText)}})
	if err != nil || precise || len(got) != 1 || !got[0].FullKey || !bytes.Equal(got[0].Lower, abc) {
		t.Errorf("%v, %v, %v", got, precise, err)
	}
}
