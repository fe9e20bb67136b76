package cfile

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	"ksql/internal/vfs"
)

// FuzzReader damages a file and then repairs every checksum it can find, so
// that the damage reaches the decoders: they must refuse it or read something,
// never panic, hang or allocate what the file's size can't justify.
func FuzzReader(f *testing.F) {
	var files [][]byte
	for _, o := range []WriterOptions{{}, {NoCompression: true}} {
		fs := vfs.NewMem()
		smallModel(f, 60).write(f, fs, "file", o)
		files = append(files, fileBytes(f, fs, "file"))
	}
	f.Add(false, []byte{})
	f.Add(true, []byte{40, 0, 0xFF, 90, 1, 1})
	f.Add(true, []byte{0, 3, 9, 1, 2, 0x80, 0xFF, 0, 7})
	f.Fuzz(func(t *testing.T, plain bool, edits []byte) {
		good := files[0]
		if plain {
			good = files[1]
		}
		bad := append([]byte(nil), good...)
		for ; len(edits) >= 3; edits = edits[3:] {
			bad[int(binary.LittleEndian.Uint16(edits))%len(bad)] ^= edits[2]
		}
		repair(bad, good)
		fs := vfs.NewMem()
		putFile(t, fs, "file", bad)
		r, err := Open(fs, "file", testSchema, NewCache(1<<20))
		if err != nil {
			wantCorruption(t, err, "open")
			return
		}
		if err := r.Check(); err != nil {
			wantCorruption(t, err, "check")
		}
		for i := range min(r.Rows(), 3*VectorRows) {
			if _, err := r.Row(i, nil); err != nil {
				wantCorruption(t, err, "row")
			}
			if key, err := r.Key(i); err != nil {
				wantCorruption(t, err, "key")
			} else if _, _, err := r.Find(key); err != nil {
				wantCorruption(t, err, "find")
			}
		}
		it := r.NewIterator(0, min(r.Rows(), 3*VectorRows), nil, true)
		for it.Next() {
			it.Key()
			it.Row()
		}
		if err := it.Err(); err != nil {
			wantCorruption(t, err, "scan")
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// repair walks the chunks of the good file and writes right checksums into the bad one.
func repair(bad, good []byte) {
	sum := func(from, to int) {
		binary.LittleEndian.PutUint32(bad[to:], crc32.Checksum(bad[from:to], castagnoli))
	}
	sum(0, headerSize-4)
	tail := len(good) - tailSize
	for pos := headerSize; pos < tail; {
		size := int(binary.LittleEndian.Uint32(good[pos+20:]))
		sum(pos, pos+24)
		sum(pos, pos+chunkHeaderSize+size)
		pos += chunkOverhead + size
	}
	sum(tail, tail+36)
}
