package cfile

import (
	"bytes"
	"strings"
	"testing"

	"ksql/internal/vfs"
	"ksql/tablet/rowcodec"
)

func bytesModel(t testing.TB, collation uint16, vals ...string) *model {
	m := &model{s: &rowcodec.Schema{Columns: []rowcodec.Column{{Kind: rowcodec.KindBytes, Nullable: true, Collation: collation}}, Key: []rowcodec.KeyColumn{{Kind: rowcodec.KindInt64}}}}
	for i, v := range vals {
		m.add(t, numberKey(i), rowcodec.String(v))
	}
	return m
}

func TestZoneMapOfStrings(t *testing.T) {
	x31, ff := strings.Repeat("x", 31), strings.Repeat("\xff", 40)
	for _, c := range []struct {
		vals     []string
		min, max string
		valid    bool
	}{
		{[]string{"b", "a", "c"}, "a", "c", true},
		{[]string{""}, "", "", true},
		{[]string{x31 + "b", x31 + "a"}, x31 + "a", x31 + "b", true},
		{[]string{x31 + "bc", x31 + "ab"}, x31 + "a", x31 + "c", true},              // cut; rounded up
		{[]string{"a", x31 + "\xff\xff"}, "a", strings.Repeat("x", 30) + "y", true}, // the carry runs
		{[]string{"a", ff}, "", "", false},                                          // nothing above
		{[]string{ff[:32]}, ff[:32], ff[:32], true},
		{[]string{"a", strings.Repeat("m", 1000)}, "a", strings.Repeat("m", 31) + "n", true}, // a long value
		{[]string{strings.Repeat("m", 1000), "z"}, strings.Repeat("m", 32), "z", true},
		{[]string{strings.Repeat("m", 1000)}, strings.Repeat("m", 32), strings.Repeat("m", 31) + "n", true},
		{[]string{ff + strings.Repeat("z", 1000)}, "", "", false},
	} {
		m := bytesModel(t, 0, c.vals...)
		r := m.open(t, WriterOptions{}, nil)
		m.verify(t, r)
		z := r.ZoneMap(0, 0)
		if z.Valid != c.valid || string(z.Min.Bytes()) != c.min || string(z.Max.Bytes()) != c.max {
			t.Errorf("%.40q: %v…%v (%v), want %q…%q (%v)", c.vals, z.Min, z.Max, z.Valid, c.min, c.max, c.valid)
		}
	}
}

func TestZoneMapOfCollatedColumn(t *testing.T) {
	weights := func(collation uint16, dst, v []byte) []byte {
		if collation != 9 {
			t.Errorf("weights of collation %d", collation)
		}
		return append(dst, bytes.ToUpper(v)...)
	}
	m := bytesModel(t, 9, "a", "B", "c", "Z", "y")
	r := m.open(t, WriterOptions{Weights: weights}, nil)
	if z := r.ZoneMap(0, 0); !z.Valid || string(z.Min.Bytes()) != "A" || string(z.Max.Bytes()) != "Z" {
		t.Errorf("%+v", z)
	}
	if err := r.CheckWeights(weights); err != nil {
		t.Error(err)
	}
	lower := func(_ uint16, dst, v []byte) []byte { return append(dst, bytes.ToLower(v)...) }
	if err := r.CheckWeights(lower); err == nil {
		t.Error("other weights fit the zone map")
	}
	for name, r := range map[string]*Reader{
		"no function": m.open(t, WriterOptions{}, nil),
		"long value":  bytesModel(t, 9, "a", strings.Repeat("b", 1000)).open(t, WriterOptions{Weights: weights}, nil),
	} {
		if z := r.ZoneMap(0, 0); z.Valid {
			t.Errorf("%s: %+v", name, z)
		}
		if err := r.Check(); err != nil {
			t.Error(err)
		}
	}
}

// Check must find a zone map, a flag, a bloom page, an index key that lies although every checksum is right.
func TestCheckFindsLies(t *testing.T) {
	for name, lie := range map[string]func(w *Writer){
		"int minimum":  func(w *Writer) { w.index.zones[0].min[0]++ },
		"int maximum":  func(w *Writer) { w.index.zones[5].max[0]-- },
		"string bound": func(w *Writer) { w.index.zones[4].data[0]++ },
		"null flag":    func(w *Writer) { w.index.zones[0].flags[0] ^= zoneHasNull },
		"all null":     func(w *Writer) { w.index.zones[0].flags[0] |= zoneAllNull },
		"first key":    func(w *Writer) { w.index.firstKeys.data[3]++ },
		"smallest key": func(w *Writer) { w.minKey[2]++ },
		"largest key":  func(w *Writer) { w.keys.last[2]++ },
		"bloom key":    func(w *Writer) { w.bloom.hashes[3]++ },
		"bloom count":  func(w *Writer) { w.bloom.hashes = append(w.bloom.hashes, 1) },
		"two places":   func(w *Writer) { w.index.columns[1] = w.index.columns[0] },
	} {
		m := smallModel(t, 40)
		fs := vfs.NewMem()
		w, err := NewWriter(fs, "file", m.s, WriterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i, k := range m.keys {
			if err := w.Append(k, m.rows[i]); err != nil {
				t.Fatal(err)
			}
		}
		w.flushVector()
		lie(w)
		if _, err := w.Finish(); err != nil {
			t.Fatal(err)
		}
		r, err := Open(fs, "file", m.s, nil)
		if err != nil {
			wantCorruption(t, err, name)
			continue
		}
		wantCorruption(t, r.Check(), name)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}
