package cfile

import (
	"fmt"
	"testing"

	"ksql/internal/vfs"
	"ksql/tablet/rowcodec"
)

// benchModel is sysbench's row: id, k, c CHAR(120), pad CHAR(60), keyed by id (or by a string key).
func benchModel(b *testing.B, rows int, text bool) *model {
	s := &rowcodec.Schema{
		Columns: []rowcodec.Column{{Kind: rowcodec.KindInt64}, {Kind: rowcodec.KindInt64}, {Kind: rowcodec.KindBytes}, {Kind: rowcodec.KindBytes}},
		Key:     []rowcodec.KeyColumn{{Kind: rowcodec.KindInt64}},
	}
	m := &model{s: s}
	rng := newSeeded(1)
	digits := func(n int) []byte {
		out := make([]byte, n)
		for i := range out {
			out[i] = byte('0' + rng.Intn(10))
			if i%12 == 11 {
				out[i] = '-'
			}
		}
		return out
	}
	for i := range rows {
		k := numberKey(2 * i)
		if text {
			k = textKey(fmt.Sprintf("user:%09d:profile", 2*i))
		}
		m.add(b, k, rowcodec.Int(int64(2*i)), rowcodec.Int(rng.Int63n(int64(rows))), rowcodec.Bytes(digits(119)), rowcodec.Bytes(digits(59)))
	}
	return m
}

func benchOpen(b *testing.B, m *model, cache *Cache) *Reader {
	fs := vfs.NewMem()
	info := m.write(b, fs, "file", WriterOptions{})
	r, err := Open(fs, "file", m.s, cache)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := r.Close(); err != nil {
			b.Error(err)
		}
	})
	b.ReportMetric(float64(info.Size)/float64(len(m.keys)), "fileB/row")
	return r
}

func BenchmarkFind(b *testing.B) {
	for _, text := range []bool{false, true} {
		m := benchModel(b, 100_000, text)
		r := benchOpen(b, m, NewCache(1<<30))
		order := newSeeded(2).Perm(len(m.keys))
		hashes := make([]uint64, len(m.keys))
		miss := make([][]byte, len(m.keys))
		for i, k := range m.keys {
			miss[i] = append([]byte(nil), k...)
			miss[i][len(k)-1]++
			hashes[i] = HashKey(miss[i])
		}
		name := fmt.Sprintf("text=%v/", text)
		b.Run(name+"find", func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				if _, found, err := r.Find(m.keys[order[i%len(order)]]); !found || err != nil {
					b.Fatal(found, err)
				}
			}
		})
		b.Run(name+"bloom-miss", func(b *testing.B) {
			n := 0
			for i := 0; b.Loop(); i++ {
				j := order[i%len(order)]
				if r.MayContain(miss[j], hashes[j]) {
					n++
				}
			}
			b.ReportMetric(float64(n)/float64(b.N)*100, "fp%")
		})
	}
}

func BenchmarkRow(b *testing.B) {
	m := benchModel(b, 100_000, false)
	order := newSeeded(2).Perm(len(m.keys))
	for _, c := range []struct {
		name  string
		cache *Cache
	}{{"cached", NewCache(1 << 30)}, {"uncached", nil}} {
		r := benchOpen(b, m, c.cache)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			var buf []byte
			for i := 0; b.Loop(); i++ {
				row, err := r.Row(order[i%len(order)], buf[:0])
				if err != nil {
					b.Fatal(err)
				}
				buf = row
			}
		})
	}
}

func BenchmarkScan(b *testing.B) {
	m := benchModel(b, 100_000, false)
	r := benchOpen(b, m, NewCache(1<<30))
	for _, proj := range [][]int{nil, {1}} {
		b.Run(fmt.Sprintf("proj=%v", proj), func(b *testing.B) {
			for b.Loop() {
				it := r.NewIterator(0, r.Rows(), proj, false)
				for it.Next() {
					it.Key()
					it.Row()
				}
				if it.Err() != nil {
					b.Fatal(it.Err())
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*r.Rows()), "ns/row")
		})
	}
}

func BenchmarkVectorDecode(b *testing.B) {
	rng := newSeeded(3)
	for _, c := range []struct {
		name string
		val  func(i int) rowcodec.Datum
	}{
		{"plain", func(int) rowcodec.Datum { return rowcodec.Int(int64(rng.Uint64())) }},
		{"packed", func(int) rowcodec.Datum { return rowcodec.Int(int64(rng.Intn(100_000))) }},
		{"runs", func(i int) rowcodec.Datum { return rowcodec.Int(int64(i / 50)) }},
		{"dict", func(int) rowcodec.Datum { return rowcodec.Int(int64(rng.Intn(50)) << 50) }},
		{"strings", func(int) rowcodec.Datum { return rowcodec.String(fmt.Sprintf("%030d", rng.Int63())) }},
		{"string-dict", func(int) rowcodec.Datum { return rowcodec.String(fmt.Sprint("status ", rng.Intn(9))) }},
	} {
		m := &model{s: &rowcodec.Schema{Columns: []rowcodec.Column{{}}, Key: []rowcodec.KeyColumn{{Kind: rowcodec.KindInt64}}}}
		m.s.Columns[0].Kind = c.val(0).Kind()
		for i := range VectorRows {
			m.add(b, numberKey(i), c.val(i))
		}
		r := benchOpen(b, m, nil)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Vector(0, 0); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*VectorRows), "ns/value")
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	m := benchModel(b, 50_000, false)
	bytes := 0
	for _, row := range m.rows {
		bytes += len(row) + 8
	}
	for _, o := range []WriterOptions{{}, {NoCompression: true}} {
		b.Run(fmt.Sprintf("zstd=%v", !o.NoCompression), func(b *testing.B) {
			b.SetBytes(int64(bytes))
			for b.Loop() {
				m.write(b, vfs.NewMem(), "file", o)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(m.keys)), "ns/row")
		})
	}
}
