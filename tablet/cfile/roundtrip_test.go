package cfile

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"ksql/tablet/rowcodec"
)

func TestRoundTripSizes(t *testing.T) {
	rng := newRand(t)
	for i, rows := range []int{0, 1, 2, 15, 16, 17, 2047, 2048, 2049, 5000} {
		for style := range 7 {
			if style > 0 && rows > 2049 {
				break
			}
			m := &model{s: testSchema}
			for k := range rows {
				m.add(t, textKey(fmt.Sprintf("%08d", k*3)), randomVals(rng, style, k)...)
			}
			var cache *Cache
			if (i+style)%2 == 0 || rows > 100 {
				cache = NewCache(int64(100_000 << (i % 3 * 4)))
			}
			r := m.open(t, WriterOptions{NoCompression: style == 1}, cache)
			m.verify(t, r)
		}
	}
}

func TestRoundTripRandom(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &model{s: testSchema}
		keys := rapid.SliceOfNDistinct(rapid.StringOfN(rapid.RuneFrom([]rune{0, 1, 'a', 'b', 0x7F, 0x20AC}), 0, 6, -1), 0, 60, rapid.ID[string]).Draw(rt, "keys")
		sorted := map[string]bool{}
		for _, k := range keys {
			sorted[string(textKey(k))] = true
		}
		style := rapid.IntRange(0, 6).Draw(rt, "style")
		rng := newSeeded(rapid.Int64().Draw(rt, "seed"))
		for i, k := range sortedKeys(sorted) {
			m.add(t, []byte(k), randomVals(rng, style, i)...)
		}
		r := m.open(t, WriterOptions{}, NewCache(1<<20))
		m.verify(t, r)
		lo, hi := rapid.IntRange(-2, 62).Draw(rt, "lo"), rapid.IntRange(-2, 62).Draw(rt, "hi")
		proj := rapid.SampledFrom([][]int{nil, {}, {4}, {5, 0}, {0, 1, 2, 3, 4, 5}}).Draw(rt, "proj")
		m.verifyScan(t, r, lo, hi, proj)
	})
}

// Every encoding must be reached, and by the data it is meant for.
func TestEncodingsAreChosen(t *testing.T) {
	s := &rowcodec.Schema{Columns: []rowcodec.Column{{Kind: rowcodec.KindInt64}}, Key: []rowcodec.KeyColumn{{Kind: rowcodec.KindInt64}}}
	bs := &rowcodec.Schema{Columns: []rowcodec.Column{{Kind: rowcodec.KindBytes}}, Key: s.Key}
	rng := newRand(t)
	for _, c := range []struct {
		name string
		s    *rowcodec.Schema
		enc  byte
		val  func(i int) rowcodec.Datum
	}{
		{"int random", s, encPlain, func(int) rowcodec.Datum { return rowcodec.Int(int64(rng.Uint64())) }},
		{"int narrow", s, encFOR, func(int) rowcodec.Datum { return rowcodec.Int(-1000 + int64(rng.Intn(1000))) }},
		{"int widest packed", s, encFOR, func(int) rowcodec.Datum { return rowcodec.Int(rng.Int63() >> 7) }},
		{"int negative runs", s, encRLE, func(i int) rowcodec.Datum { return rowcodec.Int(-1 - int64(i/64)*1e12) }},
		{"int extreme runs", s, encRLE, func(i int) rowcodec.Datum { return rowcodec.Int([]int64{math.MinInt64, math.MaxInt64}[i/200%2]) }},
		{"int few", s, encDict, func(int) rowcodec.Datum { return rowcodec.Int(int64(rng.Intn(200)) * 1e15) }},
		{"string random", bs, encPlain, func(int) rowcodec.Datum { return rowcodec.String(fmt.Sprint(rng.Uint64())) }},
		{"string few", bs, encDict, func(int) rowcodec.Datum { return rowcodec.String(fmt.Sprint("status ", rng.Intn(20))) }},
		{"string constant", bs, encDict, func(int) rowcodec.Datum { return rowcodec.String("the same") }},
		// A quarter repeats, then all differ: the dictionary grows until it is given up.
		{"dictionary overflow", bs, encPlain, func(i int) rowcodec.Datum { return rowcodec.String(fmt.Sprint("v", max(i, 500))) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &model{s: c.s}
			for i := range VectorRows + 100 {
				m.add(t, numberKey(i), c.val(i))
			}
			r := m.open(t, WriterOptions{}, NewCache(1<<20))
			m.verify(t, r)
			v, err := r.Vector(0, 0)
			if err != nil || v.enc != c.enc {
				t.Errorf("encoding %d, want %d (%v)", v.enc, c.enc, err)
			}
			if v.Codes() != nil {
				for code := 1; code < v.DictLen(); code++ {
					if bytes.Compare(v.DictEntry(code-1), v.DictEntry(code)) >= 0 {
						t.Errorf("dictionary isn't sorted at %d", code)
					}
				}
			}
		})
	}
}

func TestNullShapes(t *testing.T) {
	shapes := map[string]func(i int) bool{
		"all":       func(int) bool { return true },
		"first run": func(i int) bool { return i < 1000 },
		"last run":  func(i int) bool { return i >= 1000 },
		"only last": func(i int) bool { return i == VectorRows-1 },
		"every 2nd": func(i int) bool { return i%2 == 0 },
		"but one":   func(i int) bool { return i != 77 },
		"2nd vec":   func(i int) bool { return i >= VectorRows },
	}
	for name, null := range shapes {
		t.Run(name, func(t *testing.T) {
			for _, distinct := range []int{3, 1 << 30} {
				m := &model{s: testSchema}
				for i := range VectorRows + 3 {
					n := int64(i % distinct)
					vals := []rowcodec.Datum{rowcodec.Int(-n), rowcodec.Uint(uint64(n)), rowcodec.F32(float32(n)), rowcodec.F64(float64(-n)), rowcodec.String(fmt.Sprint(n)), rowcodec.Int(n)}
					for c := range 5 {
						if null(i) {
							vals[c] = rowcodec.Null()
						}
					}
					m.add(t, textKey(fmt.Sprintf("%05d", i)), vals...)
				}
				m.verify(t, m.open(t, WriterOptions{}, NewCache(1<<20)))
			}
		})
	}
}

func TestFloatsKeepTheirBits(t *testing.T) {
	m := &model{s: testSchema}
	special := []float64{math.NaN(), math.Float64frombits(0x7FF0000000000001), math.Copysign(0, -1), 0, math.Inf(1), math.Inf(-1), 1.5}
	for i, f := range special {
		m.add(t, textKey(fmt.Sprint(i)), rowcodec.Null(), rowcodec.Null(), rowcodec.F32(float32(f)), rowcodec.F64(f), rowcodec.Null(), rowcodec.Int(0))
	}
	m.verify(t, m.open(t, WriterOptions{}, nil))
}

func TestEmptyKey(t *testing.T) {
	s := &rowcodec.Schema{Columns: []rowcodec.Column{{Kind: rowcodec.KindBytes}}, Key: nil}
	m := &model{s: s}
	for _, k := range []string{"", "\x00", "\x00\x00", "a", "a\x00", "aa", "\xff", "\xff\xff"} {
		m.add(t, []byte(k), rowcodec.String(k))
	}
	r := m.open(t, WriterOptions{}, nil)
	m.verify(t, r)
	if got, err := r.SeekGE([]byte("\xff\xff\x00")); err != nil || got != r.Rows() {
		t.Errorf("seek beyond the end: %d, %v", got, err)
	}
}

func TestHugeValues(t *testing.T) {
	s := &rowcodec.Schema{Columns: []rowcodec.Column{{Kind: rowcodec.KindBytes, Nullable: true}, {Kind: rowcodec.KindBytes}}, Key: []rowcodec.KeyColumn{{Kind: rowcodec.KindInt64}}}
	rng := newRand(t)
	m := &model{s: s}
	noise := make([]byte, 5<<20)
	rng.Read(noise)
	sizes := []int{0, longValue, longValue + 1, blobTarget - 1, blobTarget, blobTarget + 1, 3, blobPiece, blobPiece + 1, 3*blobPiece - 1, 5 << 20, 40_000, 40_000}
	for i, n := range sizes {
		m.add(t, numberKey(i), rowcodec.Bytes(noise[:n]), rowcodec.Bytes(bytes.Repeat([]byte("ab"), n/2)))
	}
	for i := range 300 { // NULLs between long values of one blob
		v := rowcodec.Null()
		if i%3 == 0 {
			v = rowcodec.Bytes(noise[i : i+300+i])
		}
		m.add(t, numberKey(100+i), v, rowcodec.Bytes(noise[:i]))
	}
	for _, cache := range []*Cache{nil, NewCache(1 << 20), NewCache(64 << 20)} {
		r := m.open(t, WriterOptions{}, cache)
		m.verify(t, r)
		if v, err := r.Vector(0, 0); err != nil || !v.HasLong() || !v.IsLong(2) || v.IsLong(1) {
			t.Errorf("long values aren't seen: %v", err)
		}
	}
}

func TestASCIIFlag(t *testing.T) {
	s := &rowcodec.Schema{Columns: []rowcodec.Column{{Kind: rowcodec.KindBytes}}, Key: []rowcodec.KeyColumn{{Kind: rowcodec.KindInt64}}}
	for _, c := range []struct {
		v    string
		want bool
	}{{"plain text ~ 123", true}, {"", true}, {"tab\t", false}, {"12345678\x7f", false}, {"1234567é", false}, {"\x1f2345678", false}, {string(bytes.Repeat([]byte("x"), 300)), true}, {string(bytes.Repeat([]byte("é"), 300)), false}} {
		m := &model{s: s}
		m.add(t, numberKey(0), rowcodec.String("ok"))
		m.add(t, numberKey(1), rowcodec.String(c.v))
		r := m.open(t, WriterOptions{}, nil)
		m.verify(t, r)
		if v, err := r.Vector(0, 0); err != nil || v.ASCII() != c.want {
			t.Errorf("%.20q: ASCII %v, want %v (%v)", c.v, v.ASCII(), c.want, err)
		}
	}
	for b := range 256 {
		for pos := range 9 {
			s := []byte("         ")
			s[pos] = byte(b)
			if want := b >= 0x20 && b <= 0x7E; printableASCII(s) != want {
				t.Fatalf("%q: %v", s, !want)
			}
		}
	}
}
