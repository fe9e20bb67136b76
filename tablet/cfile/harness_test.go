package cfile

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand"
	"os"
	"testing"
	"time"

	"ksql/internal/vfs"
	"ksql/tablet/rowcodec"
)

// The schema of most tests: one column of each kind, nullable, and one that isn't.
var testSchema = &rowcodec.Schema{
	Columns: []rowcodec.Column{
		{Kind: rowcodec.KindInt64, Nullable: true, ID: 1},
		{Kind: rowcodec.KindUint64, Nullable: true, ID: 2},
		{Kind: rowcodec.KindFloat32, Nullable: true, ID: 3},
		{Kind: rowcodec.KindFloat64, Nullable: true, ID: 4},
		{Kind: rowcodec.KindBytes, Nullable: true, ID: 5},
		{Kind: rowcodec.KindInt64, ID: 6},
	},
	Key: []rowcodec.KeyColumn{{Kind: rowcodec.KindBytes}},
}

// model is what a file must hold: keys ascending, a row each.
type model struct {
	s    *rowcodec.Schema
	keys [][]byte
	vals [][]rowcodec.Datum
	rows []rowcodec.Row
}

func (m *model) add(t testing.TB, key []byte, vals ...rowcodec.Datum) {
	t.Helper()
	row, err := rowcodec.AppendRow(nil, m.s, vals)
	if err != nil {
		t.Fatal(err)
	}
	m.keys, m.vals, m.rows = append(m.keys, key), append(m.vals, vals), append(m.rows, row)
}

func (m *model) write(t testing.TB, fs vfs.FS, name string, o WriterOptions) Info {
	t.Helper()
	w, err := NewWriter(fs, name, m.s, o)
	if err != nil {
		t.Fatal(err)
	}
	for i, k := range m.keys {
		if err := w.Append(k, m.rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	info, err := w.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func (m *model) open(t testing.TB, o WriterOptions, cache *Cache) *Reader {
	t.Helper()
	fs := vfs.NewMem()
	m.write(t, fs, "file", o)
	r, err := Open(fs, "file", m.s, cache)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// verify compares everything a reader tells with the model.
func (m *model) verify(t testing.TB, r *Reader) {
	t.Helper()
	if r.Rows() != len(m.keys) {
		t.Fatalf("%d rows, want %d", r.Rows(), len(m.keys))
	}
	if n := len(m.keys); n > 0 && (!bytes.Equal(r.MinKey(), m.keys[0]) || !bytes.Equal(r.MaxKey(), m.keys[n-1])) {
		t.Fatalf("bounds %x…%x", r.MinKey(), r.MaxKey())
	}
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	var buf []byte
	for i, k := range m.keys {
		got, found, err := r.Find(k)
		if err != nil || !found || got != i {
			t.Fatalf("Find(%x) = %d, %v, %v; want %d", k, got, found, err, i)
		}
		key, err := r.Key(i)
		if err != nil || !bytes.Equal(key, k) {
			t.Fatalf("Key(%d) = %x, %v; want %x", i, key, err, k)
		}
		row, err := r.Row(i, buf[:0])
		if err != nil || !bytes.Equal(row, m.rows[i]) {
			t.Fatalf("Row(%d) = %v, %v; want %v", i, row, err, m.vals[i])
		}
		buf = row
	}
	m.verifyScan(t, r, 0, len(m.keys), nil)
	m.verifyZones(t, r)
}

func (m *model) verifyScan(t testing.TB, r *Reader, lo, hi int, proj []int) {
	t.Helper()
	for _, reverse := range []bool{false, true} {
		it := r.NewIterator(lo, hi, proj, reverse)
		for n := range max(0, min(hi, len(m.keys))-max(lo, 0)) {
			want := max(lo, 0) + n
			if reverse {
				want = min(hi, len(m.keys)) - 1 - n
			}
			if !it.Next() || it.Ordinal() != want || !bytes.Equal(it.Key(), m.keys[want]) {
				t.Fatalf("scan %d…%d reverse %v: at %d, want %d (%v)", lo, hi, reverse, it.Ordinal(), want, it.Err())
			}
			wantRow := m.rows[want]
			if proj != nil {
				vals := make([]rowcodec.Datum, len(m.s.Columns))
				for _, c := range proj {
					vals[c] = m.vals[want][c]
				}
				wantRow, _ = rowcodec.AppendProjected(nil, m.s, vals)
			}
			if got := it.Row(); !bytes.Equal(got, wantRow) {
				t.Fatalf("scan row %d is %x, want %x (%v)", want, got, wantRow, it.Err())
			}
		}
		if it.Next() || it.Err() != nil {
			t.Fatalf("scan %d…%d goes on at %d, err %v", lo, hi, it.Ordinal(), it.Err())
		}
	}
}

// verifyZones checks zone maps against the model, independently of Check.
func (m *model) verifyZones(t testing.TB, r *Reader) {
	t.Helper()
	for vec := range r.Vectors() {
		rows := m.vals[vec*VectorRows : min(len(m.vals), (vec+1)*VectorRows)]
		for col := range m.s.Columns {
			z := r.ZoneMap(col, vec)
			nulls := 0
			for _, vals := range rows {
				v := vals[col]
				if v.IsNull() {
					nulls++
				} else if z.Valid && (rowcodec.Compare(v, z.Min) < 0 || rowcodec.Compare(v, z.Max) > 0) {
					t.Fatalf("column %d vector %d: %v is outside %v…%v", col, vec, v, z.Min, z.Max)
				}
			}
			if z.HasNull != (nulls > 0) || z.AllNull != (nulls == len(rows)) {
				t.Fatalf("column %d vector %d: %+v with %d NULLs of %d", col, vec, z, nulls, len(rows))
			}
		}
	}
}

// numberKey is a single-column integer key.
func numberKey(i int) []byte {
	return rowcodec.AppendKey(nil, []rowcodec.KeyColumn{{Kind: rowcodec.KindInt64}}, []rowcodec.Datum{rowcodec.Int(int64(i))})
}

func textKey(s string) []byte {
	return rowcodec.AppendKey(nil, testSchema.Key, []rowcodec.Datum{rowcodec.String(s)})
}

// newRand returns a source whose seed is printed when the test fails; KSQL_SEED repeats one.
func newRand(t testing.TB) *rand.Rand {
	seed := time.Now().UnixNano()
	if s := os.Getenv("KSQL_SEED"); s != "" {
		if _, err := fmt.Sscan(s, &seed); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("seed=%d", seed)
	return rand.New(rand.NewSource(seed))
}

// randomVals draws a row of testSchema: style picks what the values look like, so that every encoding is met.
func randomVals(rng *rand.Rand, style, i int) []rowcodec.Datum {
	n := rng.Int63()
	s := fmt.Sprintf("%x", n)
	switch style % 5 {
	case 0: // few values far apart
		n = []int64{math.MinInt64, math.MaxInt64, -1, 0, 1 << 40}[rng.Intn(5)]
		s = []string{"", "one", "two\x00", "\xff\xff"}[rng.Intn(4)]
	case 1: // runs, negative
		n = -int64(i / 100)
		s = fmt.Sprint("run ", i/100)
	case 2: // a narrow range
		n = -5000 + int64(rng.Intn(1000))
		s = fmt.Sprintf("row %06d", i)
	case 3: // now and then a long value
		if rng.Intn(50) == 0 {
			s = string(bytes.Repeat([]byte(s), 20+rng.Intn(400)))
		}
	}
	vals := []rowcodec.Datum{
		rowcodec.Int(n), rowcodec.Uint(uint64(n)), rowcodec.F32(float32(n)), rowcodec.F64(float64(n) / 3), rowcodec.String(s), rowcodec.Int(n),
	}
	for c := range 5 {
		if rng.Intn(4) == 0 || style == 6 {
			vals[c] = rowcodec.Null()
		}
	}
	return vals
}

func wantCorruption(t testing.TB, err error, what string) *CorruptionError {
	t.Helper()
	var c *CorruptionError
	if !errors.As(err, &c) {
		t.Fatalf("%s: %v, want a CorruptionError", what, err)
	}
	if c.File != "file" || c.Offset < 0 || c.Reason == "" {
		t.Fatalf("%s: %+v", what, c)
	}
	return c
}
