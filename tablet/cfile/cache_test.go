package cfile

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"ksql/internal/vfs"
	"ksql/tablet/rowcodec"
)

func TestCacheIsBoundedAndShared(t *testing.T) {
	const limit = 600_000
	cache := NewCache(limit)
	fs := vfs.NewMem()
	m := smallModel(t, 10_000)
	var readers []*Reader
	for i := range 3 {
		m.write(t, fs, fmt.Sprint(i), WriterOptions{})
		r, err := Open(fs, fmt.Sprint(i), m.s, cache)
		if err != nil {
			t.Fatal(err)
		}
		readers = append(readers, r)
	}
	rng := newRand(t)
	var wg sync.WaitGroup
	for g := range 4 {
		rng := newSeeded(rng.Int63() + int64(g))
		wg.Go(func() {
			var buf []byte
			for range 3000 {
				r, i := readers[rng.Intn(len(readers))], rng.Intn(len(m.rows))
				row, err := r.Row(i, buf[:0])
				ord, found, err2 := r.Find(m.keys[i])
				if err != nil || err2 != nil || !found || ord != i || !bytes.Equal(row, m.rows[i]) {
					t.Errorf("row %d: %v %v, found %v at %d", i, err, err2, found, ord)
					return
				}
				buf = row
				if s := cache.Stats(); s.Used > limit {
					t.Errorf("cache holds %d bytes", s.Used)
					return
				}
			}
		})
	}
	wg.Wait()
	s := cache.Stats()
	t.Logf("%+v", s)
	if s.Evictions == 0 || s.Entries == 0 {
		t.Errorf("%+v: nothing was evicted or nothing kept", s)
	}
	cache.SetLimit(limit / 4)
	if s := cache.Stats(); s.Used > limit/4 {
		t.Errorf("after SetLimit %+v", s)
	}
	checkRing(t, cache)
	for _, r := range readers {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if s := cache.Stats(); s.Used != 0 || s.Entries != 0 {
		t.Errorf("closed readers leave %+v", s)
	}
}

// checkRing recounts the ring.
func checkRing(t *testing.T, c *Cache) {
	t.Helper()
	var sum int64
	for i, e := range c.ring {
		sum += e.size
		if e.pos != i || (e.slot != nil && e.slot.Load() != e) {
			t.Errorf("entry %d says %d, or its slot has lost it", i, e.pos)
		}
	}
	if sum != c.used {
		t.Errorf("%d bytes in the ring, %d accounted", sum, c.used)
	}
}

// A scan of much more than the cache holds must not push out a hot vector.
func TestCacheKeepsHotVectors(t *testing.T) {
	s := &rowcodec.Schema{Columns: []rowcodec.Column{{Kind: rowcodec.KindInt64}}, Key: []rowcodec.KeyColumn{{Kind: rowcodec.KindInt64}}}
	m := &model{s: s}
	for i := range 100 * VectorRows {
		m.add(t, numberKey(i), rowcodec.Int(int64(i)))
	}
	cache := NewCache(20 * 17_000)
	r := m.open(t, WriterOptions{}, cache)
	hot, err := r.Vector(0, 50)
	if err != nil {
		t.Fatal(err)
	}
	for vec := range r.Vectors() {
		if v, err := r.Vector(0, 50); err != nil || v != hot {
			t.Fatalf("the hot vector was decoded again at %d (%v)", vec, err)
		}
		if _, err := r.Vector(0, vec); err != nil {
			t.Fatal(err)
		}
	}
	if got := cache.Stats(); got.Evictions < 50 {
		t.Errorf("%+v: the scan fits, the test tests nothing", got)
	}
}

func TestCachedVectorIsNotDecodedAgain(t *testing.T) {
	m := smallModel(t, 3000)
	cache := NewCache(64 << 20)
	r := m.open(t, WriterOptions{}, cache)
	for range 2 {
		if err := readAll(t, m, r); err != nil {
			t.Fatal(err)
		}
	}
	misses := cache.Stats().Misses
	if err := readAll(t, m, r); err != nil || cache.Stats().Misses != misses {
		t.Errorf("misses went from %d to %d (%v)", misses, cache.Stats().Misses, err)
	}
	long, err := r.Vector(4, 0)
	if err != nil || !long.HasLong() {
		t.Fatalf("no long value in the test data (%v)", err)
	}
}
