package cfile

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"ksql/internal/vfs"
	"ksql/tablet/rowcodec"
)

// smallModel has every chunk type: two columns with blobs, all encodings of a short vector, NULLs, a bloom page.
func smallModel(t testing.TB, rows int) *model {
	m := &model{s: testSchema}
	rng := newSeeded(7)
	for i := range rows {
		vals := randomVals(rng, i%6, i)
		if i == rows/2 {
			vals[4] = rowcodec.Bytes(bytes.Repeat([]byte("long "), 80))
		}
		m.add(t, textKey(fmt.Sprintf("%04d", i)), vals...)
	}
	return m
}

func fileBytes(t testing.TB, fs vfs.FS, name string) []byte {
	t.Helper()
	b, err := vfs.ReadFile(fs, name, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func putFile(t testing.TB, fs vfs.FS, name string, b []byte) {
	t.Helper()
	f, err := fs.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// readAll reads every row by ordinal, by scan and by key; what it can read must be right.
func readAll(t testing.TB, m *model, r *Reader) error {
	var first error
	note := func(err error) {
		if err != nil && first == nil {
			first = err
		}
	}
	for i, k := range m.keys {
		row, err := r.Row(i, nil)
		note(err)
		if err == nil && !bytes.Equal(row, m.rows[i]) {
			t.Fatalf("a wrong row came back: %d", i)
		}
		ord, found, err := r.Find(k)
		note(err)
		if err == nil && (!found || ord != i) {
			t.Fatalf("key %x was found at %d, %v", k, ord, found)
		}
	}
	it := r.NewIterator(0, r.Rows(), nil, false)
	n := 0
	for it.Next() {
		if !bytes.Equal(it.Key(), m.keys[n]) || !bytes.Equal(it.Row(), m.rows[n]) {
			t.Fatalf("a wrong row came from a scan: %d", n)
		}
		n++
	}
	note(it.Err())
	if it.Err() == nil && n != len(m.keys) {
		t.Fatalf("the scan ends after %d rows without an error", n)
	}
	return first
}

// Each byte of a file, one by one, gets another value: Open, the reads or at the
// latest Check must say so with the file and an offset at or before the byte.
func TestEveryByteFlipIsNoticed(t *testing.T) {
	m := smallModel(t, 40)
	fs := vfs.NewMem()
	m.write(t, fs, "good", WriterOptions{})
	good := fileBytes(t, fs, "good")
	t.Logf("%d bytes", len(good))
	atOpen, atRead := 0, 0
	for pos := range good {
		for _, mask := range []byte{0x01, 0x80, 0xFF} {
			bad := bytes.Clone(good)
			bad[pos] ^= mask
			putFile(t, fs, "file", bad)
			r, err := Open(fs, "file", m.s, nil)
			if err != nil {
				wantCorruption(t, err, fmt.Sprint("open with byte ", pos))
				atOpen++
				continue
			}
			c := wantCorruption(t, r.Check(), fmt.Sprint("check with byte ", pos))
			if c.Offset > int64(pos) {
				t.Fatalf("byte %d is reported at %d", pos, c.Offset)
			}
			wantCorruption(t, readAll(t, m, r), fmt.Sprint("read with byte ", pos))
			atRead++
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if atOpen == 0 || atRead == 0 {
		t.Errorf("%d flips noticed by Open, %d by reads: the test tests nothing", atOpen, atRead)
	}
}

func TestCutAndExtendedFiles(t *testing.T) {
	m := smallModel(t, 40)
	fs := vfs.NewMem()
	m.write(t, fs, "good", WriterOptions{})
	good := fileBytes(t, fs, "good")
	for n := range len(good) {
		putFile(t, fs, "file", good[:n])
		_, err := Open(fs, "file", m.s, nil)
		wantCorruption(t, err, fmt.Sprint("cut to ", n))
	}
	for _, extra := range [][]byte{{0}, make([]byte, 4096), good} {
		putFile(t, fs, "file", append(bytes.Clone(good), extra...))
		_, err := Open(fs, "file", m.s, nil)
		wantCorruption(t, err, fmt.Sprint("longer by ", len(extra)))
	}
}

// A chunk of the same file at the wrong place has a right checksum and still must not be taken.
func TestSwappedChunksAreNoticed(t *testing.T) {
	s := &rowcodec.Schema{Columns: []rowcodec.Column{{Kind: rowcodec.KindInt64}, {Kind: rowcodec.KindInt64}}, Key: []rowcodec.KeyColumn{{Kind: rowcodec.KindInt64}}}
	m := &model{s: s}
	for i := range 2 * VectorRows {
		m.add(t, numberKey(i), rowcodec.Int(int64(1<<20+i)), rowcodec.Int(int64(1<<21+i)))
	}
	fs := vfs.NewMem()
	m.write(t, fs, "good", WriterOptions{NoCompression: true})
	good := fileBytes(t, fs, "good")
	r, err := Open(fs, "good", s, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	swap := func(a, b extent) {
		if a.size != b.size {
			t.Fatalf("chunks of %d and %d bytes can't be swapped", a.size, b.size)
		}
		bad := bytes.Clone(good)
		copy(bad[a.off:a.end()], good[b.off:b.end()])
		copy(bad[b.off:b.end()], good[a.off:a.end()])
		putFile(t, fs, "file", bad)
		r, err := Open(fs, "file", s, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		wantCorruption(t, r.Check(), "check")
		wantCorruption(t, readAll(t, m, r), "read")
	}
	col := r.index.columns
	swap(col[0][0], col[0][1])
	swap(col[0][0], col[1][0])
}

func TestOtherSchemaIsRefused(t *testing.T) {
	m := smallModel(t, 3)
	fs := vfs.NewMem()
	m.write(t, fs, "file", WriterOptions{})
	clone := func() *rowcodec.Schema {
		s := *testSchema
		s.Columns = append([]rowcodec.Column(nil), s.Columns...)
		return &s
	}
	for name, change := range map[string]func(s *rowcodec.Schema){
		"kind":         func(s *rowcodec.Schema) { s.Columns[0].Kind = rowcodec.KindUint64 },
		"id":           func(s *rowcodec.Schema) { s.Columns[1].ID = 99 },
		"collation":    func(s *rowcodec.Schema) { s.Columns[4].Collation = 1 },
		"not nullable": func(s *rowcodec.Schema) { s.Columns[0].Nullable = false },
		"columns":      func(s *rowcodec.Schema) { s.Columns = s.Columns[:5] },
		"key":          func(s *rowcodec.Schema) { s.Key = []rowcodec.KeyColumn{{Kind: rowcodec.KindInt64}} },
		"bloom":        func(s *rowcodec.Schema) { s.BloomColumns = 1 },
	} {
		s := clone()
		change(s)
		_, err := Open(fs, "file", s, nil)
		wantCorruption(t, err, name)
	}
	s := clone()
	s.Columns[5].Nullable = true // ALTER TABLE … MODIFY … NULL keeps the files
	r, err := Open(fs, "file", s, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if row, err := r.Row(1, nil); err != nil || !bytes.Equal(row, m.rows[1]) {
		t.Errorf("row %x, %v", row, err)
	}
}

func TestWriterRefuses(t *testing.T) {
	fs := vfs.NewMem()
	w, err := NewWriter(fs, "file", testSchema, WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m := smallModel(t, 3)
	for i, k := range []int{1, 2} {
		if err := w.Append(m.keys[k], m.rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	for name, err := range map[string]error{
		"equal key":   w.Append(m.keys[2], m.rows[2]),
		"smaller key": w.Append(m.keys[0], m.rows[2]),
		"long key":    w.Append(bytes.Repeat([]byte{0xFF}, MaxKeySize+1), m.rows[2]),
		"bad row":     w.Append([]byte("\xff"), m.rows[2][:5]),
	} {
		if err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	if _, err := w.Finish(); err != nil { // refusals changed nothing
		t.Fatal(err)
	}
	if err := w.Append([]byte("\xff"), m.rows[2]); err == nil {
		t.Error("append after Finish")
	}
	if _, err := w.Finish(); err == nil {
		t.Error("second Finish")
	}
	if err := w.Abort(); err != nil {
		t.Error(err)
	}
	want := &model{s: testSchema, keys: m.keys[1:3], vals: m.vals[:2], rows: m.rows[:2]}
	r, err := Open(fs, "file", testSchema, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	want.verify(t, r)
	if _, err := NewWriter(fs, "bad", &rowcodec.Schema{BloomColumns: 3}, WriterOptions{}); err == nil {
		t.Error("a schema that isn't valid")
	}
}

func TestAbortRemovesTheFile(t *testing.T) {
	fs := vfs.NewMem()
	w, err := NewWriter(fs, "file", testSchema, WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.Abort(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := fs.Stat("file"); err == nil {
		t.Error("the file is still there")
	}
	if err := w.Append([]byte("k"), nil); err == nil {
		t.Error("append after Abort")
	}
}

// Every I/O operation of a write and of a read fails in turn: the error comes
// out, no file that opens is left by a write that failed.
func TestEveryFailureComesOut(t *testing.T) {
	m := smallModel(t, 5000)
	boom := errors.New("boom")
	for i := int64(0); ; i++ {
		mem := vfs.NewMem()
		failed := false
		fs := vfs.WithFaults(mem, &vfs.Injector{Op: func(_ vfs.Op, _ string, index int64) error {
			if index == i {
				failed = true
				return boom
			}
			return nil
		}})
		err := writeAndRead(t, m, fs)
		if !failed {
			if err != nil || i < 10 {
				t.Fatalf("after %d operations: %v", i, err)
			}
			t.Logf("%d operations", i)
			return
		}
		if !errors.Is(err, boom) {
			t.Fatalf("operation %d failed, the caller heard %v", i, err)
		}
	}
}

func writeAndRead(t *testing.T, m *model, fs vfs.FS) error {
	w, err := NewWriter(fs, "file", m.s, WriterOptions{})
	if err != nil {
		return err
	}
	for i, k := range m.keys {
		if err := w.Append(k, m.rows[i]); err != nil {
			return errors.Join(err, w.Abort())
		}
	}
	if _, err := w.Finish(); err != nil {
		if _, err2 := w.Finish(); err2 == nil {
			t.Fatal("Finish succeeds after it failed")
		}
		return errors.Join(err, w.Abort())
	}
	r, err := Open(fs, "file", m.s, NewCache(1<<20))
	if err != nil {
		return err
	}
	err = readAll(t, m, r)
	return errors.Join(err, r.Close())
}
