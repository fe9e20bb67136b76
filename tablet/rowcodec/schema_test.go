package rowcodec

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

var rewrite = flag.Bool("rewrite", false, "rewrite golden files (a format change needs a new version directory)")

func TestSchemaRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchema(t)
		if err := s.Validate(); err != nil {
			t.Fatalf("%v", err)
		}
		b := s.Marshal()
		var got Schema
		if err := got.Unmarshal(b); err != nil || !got.Equal(s) {
			t.Fatalf("got %+v, want %+v (%v)", got, s, err)
		}
		for n := range len(b) {
			if err := new(Schema).Unmarshal(b[:n]); !errors.Is(err, ErrMalformed) {
				t.Fatalf("%d of %d bytes: %v", n, len(b), err)
			}
		}
		if err := new(Schema).Unmarshal(append(b, 0)); !errors.Is(err, ErrMalformed) {
			t.Fatalf("trailing byte: %v", err)
		}
		junk := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "junk")
		if err := got.Unmarshal(junk); err == nil && !bytes.Equal(got.Marshal(), junk) {
			t.Fatalf("%x decodes to %+v, which encodes to %x", junk, got, got.Marshal())
		}
	})
}

func TestSchemaRefuses(t *testing.T) {
	for name, b := range map[string][]byte{
		"version":       {1, 0, 0, 0},
		"kind":          {0, 1, 9, 0, 0, 0, 0, 0},
		"flag":          {0, 1, 1, 2, 0, 0, 0, 0},
		"many columns":  {0, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F},
		"bloom columns": {0, 0, 0, 1},
		"long varint":   {0, 0x80, 0, 0, 0},
	} {
		if err := new(Schema).Unmarshal(b); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, s := range map[string]Schema{
		"kind":     {Columns: []Column{{}}},
		"key kind": {Key: []KeyColumn{{Kind: 6}}},
		"bloom":    {BloomColumns: 1},
		"columns":  {Columns: make([]Column, MaxColumns+1)},
	} {
		if s.Validate() == nil {
			t.Errorf("%s: valid", name)
		}
	}
}

// TestGoldenBytes pins the layouts. A changed byte is a changed format: it
// needs a new version directory, not a rewrite.
func TestGoldenBytes(t *testing.T) {
	s := &Schema{
		Columns: []Column{
			{Kind: KindInt64, ID: 1}, {Kind: KindUint64, Nullable: true, ID: 2}, {Kind: KindFloat32, ID: 3}, {Kind: KindFloat64, ID: 4},
			{Kind: KindBytes, ID: 5, Collation: 255}, {Kind: KindBytes, Nullable: true, ID: 300}, {Kind: KindBytes, ID: 7},
		},
		Key:          []KeyColumn{{Kind: KindInt64}, {Kind: KindUint64, Nullable: true}, {Kind: KindFloat32}, {Kind: KindFloat64}, {Kind: KindBytes}, {Kind: KindBytes, Nullable: true}},
		BloomColumns: 2,
	}
	vals := []Datum{Int(-2), Uint(7), F32(1.5), F64(math.Copysign(0, -1)), Bytes([]byte("a\x00b")), Null(), Bytes([]byte("xyz"))}
	row := mustRow(t, s, vals)
	next := mustRow(t, s, []Datum{Int(-2), Null(), F32(-1.5), F64(0), Bytes(nil), Bytes([]byte("n")), Bytes([]byte("xyz"))})
	var out bytes.Buffer
	for _, part := range []struct {
		name string
		b    []byte
	}{
		{"schema", s.Marshal()}, {"row", row}, {"key", AppendKey(nil, s.Key, vals[:6])}, {"changes", Diff(s, row, next)},
	} {
		fmt.Fprintf(&out, "# %s\n%s", part.name, hex.Dump(part.b))
	}
	path := filepath.Join("testdata", "golden", "v0", "all.hex")
	if *rewrite {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(want, out.Bytes()) {
		t.Errorf("bytes differ from %s (%v):\n%s", path, err, out.Bytes())
	}
}

func TestDatumBasics(t *testing.T) {
	for _, c := range []struct {
		a, b Datum
		want int
	}{
		{Null(), Int(math.MinInt64), -1}, {Null(), Null(), 0}, {Int(-1), Int(1), -1}, {Uint(1 << 63), Uint(1), 1},
		{F64(math.NaN()), F64(math.Inf(-1)), -1}, {F64(math.Copysign(0, -1)), F64(0), 0}, {F32(1), F32(2), -1}, {Bytes([]byte("a")), Bytes([]byte("ab")), -1},
	} {
		if got := Compare(c.a, c.b); got != c.want {
			t.Errorf("Compare(%v, %v) = %d, want %d", c.a, c.b, got, c.want)
		}
		if got := Compare(c.b, c.a); got != -c.want {
			t.Errorf("Compare(%v, %v) = %d, want %d", c.b, c.a, got, -c.want)
		}
	}
	if Equal(F64(0), F64(math.Copysign(0, -1))) || !Equal(Bytes(nil), Bytes([]byte{})) || Bytes(nil).IsNull() {
		t.Error("Equal or NULL is wrong")
	}
	if Bytes(nil).Bytes() == nil || Null().Bytes() != nil {
		t.Error(`the empty string must differ from "no bytes"`)
	}
	if got := fmt.Sprint(Null(), Int(-3), Bytes([]byte("x")), F32(0.1)); got != `NULL -3 "x" 0.1` {
		t.Errorf("printed %s", got)
	}
}
