package rowcodec

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func mustRow(t interface{ Fatalf(string, ...any) }, s *Schema, vals []Datum) Row {
	r, err := AppendRow(nil, s, vals)
	if err != nil {
		t.Fatalf("pack %v: %v", vals, err)
	}
	return r
}

func equalAll(a, b []Datum) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func TestRowRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchema(t)
		vals := drawRowValues(t, s)
		dirty := bytes.Repeat([]byte{0xAA}, 300) // a reused buffer must not shine through
		ext, err := AppendRow(dirty[:3], s, vals)
		if err != nil || !bytes.Equal(ext[:3], []byte{0xAA, 0xAA, 0xAA}) {
			t.Fatalf("append: %x, %v", ext[:3], err)
		}
		r := ext[3:]
		if err := ValidateRow(s, r); err != nil {
			t.Fatalf("%v", err)
		}
		if got := r.Datums(s, nil); !equalAll(got, vals) {
			t.Fatalf("got %v, want %v", got, vals)
		}
		for i := range vals {
			if r.IsNull(i) != vals[i].IsNull() {
				t.Fatalf("column %d: IsNull %v", i, r.IsNull(i))
			}
		}
		if !bytes.Equal(r, mustRow(t, s, vals)) {
			t.Fatalf("equal values, different bytes")
		}
		for n := range len(r) {
			if ValidateRow(s, r[:n]) == nil {
				t.Fatalf("%d of %d bytes are a valid row", n, len(r))
			}
		}
	})
}

func TestAppendRowRefuses(t *testing.T) {
	s := &Schema{Columns: []Column{{Kind: KindInt64}, {Kind: KindBytes, Nullable: true}}}
	for name, vals := range map[string][]Datum{
		"count":     {Int(1)},
		"kind":      {Uint(1), Null()},
		"not null":  {Null(), Null()},
		"null kind": {Int(1), Int(1)},
	} {
		if _, err := AppendRow(nil, s, vals); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	big := make([]byte, MaxRowSize)
	if _, err := AppendRow(nil, s, []Datum{Int(1), Bytes(big)}); err == nil {
		t.Error("a row above the limit was packed")
	}
	r, err := AppendProjected(nil, s, []Datum{Null(), Bytes([]byte("x"))})
	if err != nil || !r.IsNull(0) || string(r.Datum(s, 1).Bytes()) != "x" {
		t.Errorf("projection: %v, %v", r, err)
	}
	if err := ValidateRow(s, r); !errors.Is(err, ErrMalformed) {
		t.Errorf("a projection with NULL in a NOT NULL column passes as a row: %v", err)
	}
}

func TestRowAccessDoesNotAllocate(t *testing.T) {
	s := &Schema{Columns: []Column{{Kind: KindInt64}, {Kind: KindBytes}, {Kind: KindFloat32, Nullable: true}}, Key: []KeyColumn{{Kind: KindInt64}, {Kind: KindBytes}}}
	vals := []Datum{Int(-5), Bytes([]byte("hello\x00world")), F32(2)}
	row := mustRow(t, s, vals)
	next := mustRow(t, s, []Datum{Int(-6), Bytes([]byte("hello")), Null()})
	buf, key, out := make([]byte, 0, 256), make([]byte, 0, 256), make([]byte, 0, 256)
	if n := testing.AllocsPerRun(100, func() {
		for i := range s.Columns {
			_ = row.Datum(s, i)
		}
		cl := AppendDiff(buf[:0], s, row, next)
		key = AppendKey(key[:0], s.Key, vals[:2])
		if _, err := Apply(out[:0], s, row, cl); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzRowRoundTrip(f *testing.F) {
	s := fuzzSchema([]byte{0, 0x81, 2, 0x80})
	r, err := AppendRow(nil, s, []Datum{Int(1), Bytes([]byte("abc")), F32(1.5), Null()})
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{0, 0x81, 2, 0x80}, []byte(r))
	f.Add([]byte{}, []byte{})
	f.Fuzz(func(t *testing.T, spec, raw []byte) {
		s := fuzzSchema(spec)
		if ValidateRow(s, raw) != nil {
			return
		}
		vals := Row(raw).Datums(s, nil)
		again, err := AppendRow(nil, s, vals)
		if err != nil || !bytes.Equal(again, raw) {
			t.Fatalf("%x is valid, its values %v pack to %x (%v)", raw, vals, again, err)
		}
	})
}

func BenchmarkRow(b *testing.B) {
	s := &Schema{}
	var vals []Datum
	for i := range 10 {
		if i%2 == 0 {
			s.Columns = append(s.Columns, Column{Kind: KindInt64})
			vals = append(vals, Int(int64(i)))
		} else {
			s.Columns = append(s.Columns, Column{Kind: KindBytes, Nullable: true})
			vals = append(vals, Bytes(fmt.Appendf(nil, "value %d", i)))
		}
	}
	row, err := AppendRow(nil, s, vals)
	if err != nil {
		b.Fatal(err)
	}
	vals[4] = Int(99)
	next, _ := AppendRow(nil, s, vals)
	buf := make([]byte, 0, 512)
	b.Run("append", func(b *testing.B) {
		for b.Loop() {
			buf2, err := AppendRow(buf[:0], s, vals)
			if err != nil || len(buf2) == 0 {
				b.Fatal(err)
			}
		}
	})
	b.Run("datum", func(b *testing.B) {
		var sum uint64
		for b.Loop() {
			sum += row.Datum(s, 9).Bits()
		}
		_ = sum
	})
	b.Run("validate", func(b *testing.B) {
		for b.Loop() {
			if err := ValidateRow(s, row); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("diff+apply", func(b *testing.B) {
		cl := make([]byte, 0, 64)
		for b.Loop() {
			cl = AppendDiff(cl[:0], s, row, next)
			if _, err := Apply(buf[:0], s, row, cl); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("key", func(b *testing.B) {
		cols := []KeyColumn{{Kind: KindInt64}, {Kind: KindBytes, Nullable: true}}
		for b.Loop() {
			buf = AppendKey(buf[:0], cols, vals[:2])
		}
	})
}
