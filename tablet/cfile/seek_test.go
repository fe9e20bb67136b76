package cfile

import (
	"bytes"
	"fmt"
	"math/rand"
	"slices"
	"sort"
	"testing"

	"ksql/tablet/rowcodec"
)

func newSeeded(seed int64) *rand.Rand { return rand.New(rand.NewSource(seed)) }

func sortedKeys(set map[string]bool) []string {
	out := make([]string, 0, len(set))
	for k := range set {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// Find and SeekGE against a sorted slice, for keys of many shapes: present
// ones, their neighbours, cut and lengthened ones.
func TestSeekAgainstModel(t *testing.T) {
	rng := newRand(t)
	shapes := map[string]func() []byte{
		"8 bytes":     func() []byte { b := make([]byte, 8); rng.Read(b[5:]); return b },
		"few letters": func() []byte { return randomString(rng, "\x00\x01ab\xff", 12) },
		"deep prefix": func() []byte { return append(bytes.Repeat([]byte("p"), rng.Intn(300)), randomString(rng, "ab", 8)...) },
		"long":        func() []byte { return bytes.Repeat(randomString(rng, "abc", 9), 1+rng.Intn(40)) },
	}
	for name, draw := range shapes {
		t.Run(name, func(t *testing.T) {
			set := map[string]bool{}
			for range 5000 {
				set[string(draw())] = true
			}
			keys := sortedKeys(set)
			m := &model{s: &rowcodec.Schema{Columns: []rowcodec.Column{{Kind: rowcodec.KindBytes}}}}
			for _, k := range keys {
				m.add(t, []byte(k), rowcodec.String(k))
			}
			r := m.open(t, WriterOptions{}, NewCache(64<<20))
			probe := func(k []byte) {
				want := sort.SearchStrings(keys, string(k))
				present := want < len(keys) && keys[want] == string(k)
				got, err := r.SeekGE(k)
				ord, found, err2 := r.Find(k)
				if err != nil || err2 != nil || got != want || found != present || ord != want {
					t.Fatalf("%x: SeekGE %d %v, Find %d %v %v; want %d %v", k, got, err, ord, found, err2, want, present)
				}
				if present && !r.MayContain(k, HashKey(k)) {
					t.Fatalf("%x: the bloom denies it", k)
				}
			}
			for range 20000 {
				k := []byte(keys[rng.Intn(len(keys))])
				switch rng.Intn(6) {
				case 0:
					k = draw()
				case 1:
					k = k[:rng.Intn(len(k)+1)]
				case 2:
					k = append(k, byte(rng.Intn(3)))
				case 3:
					if len(k) > 0 {
						k[rng.Intn(len(k))] += byte(rng.Intn(3) - 1)
					}
				}
				probe(k)
			}
			probe(nil)
			probe(bytes.Repeat([]byte{0xFF}, 400))
			if err := r.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

func randomString(rng *rand.Rand, letters string, n int) []byte {
	b := make([]byte, rng.Intn(n+1))
	for i := range b {
		b[i] = letters[rng.Intn(len(letters))]
	}
	return b
}

func TestEmptyFile(t *testing.T) {
	m := &model{s: testSchema}
	r := m.open(t, WriterOptions{}, nil)
	m.verify(t, r)
	ord, found, err := r.Find([]byte("x"))
	if ord != 0 || found || err != nil || r.MinKey() != nil || r.MaxKey() != nil || r.Vectors() != 0 || r.MayContain([]byte("x"), HashKey([]byte("x"))) {
		t.Errorf("an empty file finds something: %d %v %v", ord, found, err)
	}
	if _, err := r.Row(0, nil); err == nil {
		t.Error("row 0 of an empty file")
	}
	if _, err := r.Key(-1); err == nil {
		t.Error("key -1")
	}
}

func TestBloomFalsePositives(t *testing.T) {
	const n = 40_000
	m := &model{s: &rowcodec.Schema{Key: []rowcodec.KeyColumn{{Kind: rowcodec.KindInt64}}}}
	for i := range n {
		m.add(t, numberKey(2*i))
	}
	r := m.open(t, WriterOptions{}, NewCache(1<<20))
	wrong := 0
	for i := range n {
		if k := numberKey(2 * i); !r.MayContain(k, HashKey(k)) {
			t.Fatalf("key %d is denied", 2*i)
		}
		if k := numberKey(2*i + 1); r.MayContain(k, HashKey(k)) {
			wrong++
		}
	}
	t.Logf("%d false positives of %d (%.4f %%), %d pages", wrong, n, float64(wrong)/n*100, len(r.blooms))
	if wrong > n/500 {
		t.Errorf("%d false positives of %d: more than 0.2 %%", wrong, n)
	}
	if r.MayContain(numberKey(-1), HashKey(numberKey(-1))) {
		t.Error("a key below the first page is said to be possible")
	}
	if r = m.open(t, WriterOptions{NoBloom: true}, nil); !r.MayContain(numberKey(1), HashKey(numberKey(1))) {
		t.Error("without blooms anything is possible")
	}
}

// An index tablet's blooms hash the leading columns; one value may fill many vectors.
func TestBloomPrefix(t *testing.T) {
	key := []rowcodec.KeyColumn{{Kind: rowcodec.KindBytes, Nullable: true}, {Kind: rowcodec.KindInt64}}
	s := &rowcodec.Schema{Key: key, BloomColumns: 1}
	m := &model{s: s}
	prefix := func(v int) []byte {
		return rowcodec.AppendKey(nil, key[:1], []rowcodec.Datum{rowcodec.String(fmt.Sprintf("%05d", v))})
	}
	for v := range 4000 {
		count := 1
		if v == 1700 || v == 7 {
			count = 5000
		}
		for i := range count {
			m.add(t, rowcodec.AppendKey(prefix(2*v), key[1:], []rowcodec.Datum{rowcodec.Int(int64(i))}))
		}
	}
	r := m.open(t, WriterOptions{}, NewCache(1<<20))
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	wrong := 0
	for v := range 4000 {
		p := prefix(2 * v)
		full := rowcodec.AppendKey(bytes.Clone(p), key[1:], []rowcodec.Datum{rowcodec.Int(1 << 60)})
		if !r.MayContain(p, HashKey(p)) || !r.MayContain(full, HashKey(p)) {
			t.Fatalf("prefix %d is denied", 2*v)
		}
		if p = prefix(2*v + 1); r.MayContain(p, HashKey(p)) {
			wrong++
		}
	}
	if wrong > 8 || len(r.blooms) != 3 {
		t.Errorf("%d false positives of 4000, %d pages", wrong, len(r.blooms))
	}
}

func TestFindDoesNotAllocate(t *testing.T) {
	for _, wide := range []bool{false, true} {
		m := &model{s: testSchema}
		rng := newRand(t)
		for i := range 5000 {
			k := numberKey(i)
			if wide {
				k = textKey(fmt.Sprintf("some key %08d", i))
			}
			m.add(t, k, randomVals(rng, 2, i)...)
		}
		r := m.open(t, WriterOptions{}, NewCache(64<<20))
		miss := append(bytes.Clone(m.keys[3000]), 0)
		buf := make([]byte, 0, 1024)
		run := func() {
			if _, found, err := r.Find(m.keys[3000]); !found || err != nil {
				t.Fatal(found, err)
			}
			if _, found, err := r.Find(miss); found || err != nil {
				t.Fatal(found, err)
			}
			r.MayContain(miss, HashKey(miss))
			if _, err := r.Row(3000, buf); err != nil {
				t.Fatal(err)
			}
		}
		run()
		if n := testing.AllocsPerRun(100, run); n != 0 {
			t.Errorf("wide %v: %v allocations", wide, n)
		}
	}
}
