package cfile

import (
	"path/filepath"
	"runtime"
	"testing"

	"ksql/internal/vfs"
	"ksql/tablet/rowcodec"
)

// A file far larger than the writer's buffers must not show in the heap, be it
// of many rows or of a few large values.
func TestWriterMemoryIsBounded(t *testing.T) {
	const bound = 24 << 20
	for _, c := range []struct{ rows, size int }{{300_000, 200}, {4000, 16_000}, {12, 6 << 20}} {
		m := &model{s: &rowcodec.Schema{Columns: []rowcodec.Column{{Kind: rowcodec.KindBytes}}, Key: []rowcodec.KeyColumn{{Kind: rowcodec.KindInt64}}}}
		noise := make([]byte, c.size)
		newSeeded(5).Read(noise)
		row, err := rowcodec.AppendRow(nil, m.s, []rowcodec.Datum{rowcodec.Bytes(noise)})
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(t.TempDir(), "file")
		w, err := NewWriter(vfs.Default, name, m.s, WriterOptions{NoCompression: true}) // so that the file is as large as the data
		if err != nil {
			t.Fatal(err)
		}
		base, peak := heap(), uint64(0)
		for i := range c.rows {
			if err := w.Append(numberKey(i), row); err != nil {
				t.Fatal(err)
			}
			if i%max(1, c.rows/12) == 0 {
				peak = max(peak, heap())
			}
		}
		info, err := w.Finish()
		if err != nil {
			t.Fatal(err)
		}
		if peak > base+bound {
			t.Errorf("%d rows of %d bytes (a file of %d): the heap grew by %d", c.rows, c.size, info.Size, peak-base)
		}
		r, err := Open(vfs.Default, name, m.s, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Row(c.rows-1, nil)
		if err != nil || string(got) != string(row) || r.Rows() != c.rows {
			t.Errorf("last row of %d: %d bytes, %v", r.Rows(), len(got), err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// heap returns the live bytes.
func heap() uint64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}
