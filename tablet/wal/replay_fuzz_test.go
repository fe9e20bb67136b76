package wal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"testing"

	"ksql/internal/vfs"
)

// FuzzDamage applies any damage to a log: data is a list of changes, each an offset
// (2 bytes), a length and a byte that is written there (length 0: the file is cut).
// The log opens with a prefix of what was appended, or names the damage.
func FuzzDamage(f *testing.F) {
	m, all, _ := smallLog(f)
	name := m.Files()[0]
	f.Add([]byte{})
	f.Add([]byte{0x10, 0x00, 1, 0xff})
	f.Add([]byte{0x10, 0x40, 0, 0, 0x12, 0x00, 9, 9})
	f.Add([]byte{0x02, 0x00, 12, 0, 0x10, 0x50, 60, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		changed := false
		got, err := damaged(t, m, name, func(f vfs.File) error {
			for ; len(data) >= 4; data = data[4:] {
				off := int64(binary.BigEndian.Uint16(data))
				if data[2] == 0 {
					if err := f.Truncate(off); err != nil {
						return err
					}
				} else if _, err := f.WriteAt(bytes.Repeat(data[3:4], int(data[2])), off); err != nil {
					return err
				}
				changed = true
			}
			return nil
		})
		var ce *CorruptionError
		switch {
		case err == nil && changed:
			checkPrefix(t, got, all, 0)
		case err == nil:
			checkPrefix(t, got, all, 6)
		case !errors.As(err, &ce) || !changed:
			t.Fatalf("neither opened nor damaged: %v", err)
		}
	})
}

// FuzzRecords writes records whose checksums are right and whose fields are anything:
// type, first LSN, durable LSN, length, payload. Opening must end, in bounds, with or
// without an error, and what opened goes on working.
func FuzzRecords(f *testing.F) {
	f.Add([]byte{1, 0, 0, 5, 'h', 'e', 'l', 'l', 'o', 1, 0, 0, 0})
	f.Add([]byte{2, 0, 0, 1, 'a', 3, 56, 0, 1, 'b', 4, 112, 0, 1, 'c', 5, 168, 0, 0})
	f.Add([]byte{4, 8, 0, 255, 9, 9, 9})
	f.Fuzz(func(t *testing.T, data []byte) {
		const id = 42
		b := segmentHeader(0, id)
		for len(data) >= 4 {
			at := LSN(len(b) - pageSize)
			n := min(int(data[3]), len(data)-4)
			p := data[4 : 4+n]
			h := recordHeader{typ: recordType(data[0]), first: at - LSN(data[1]), durable: LSN(data[2]) << 3,
				length: uint32(n), crc: crc32.Checksum(p, castagnoli)}
			if int(data[3]) > n { // a length that lies, up to 4 GiB
				h.length = uint32(data[3]) << 24
			}
			b = appendRecord(b, at, id, h, p)
			data = data[4+n:]
		}
		m := vfs.NewMem()
		must(t, m.MkdirAll("wal"))
		file, err := m.Create("wal/" + segmentName(0))
		must(t, err)
		_, err = file.Write(b)
		must(t, err)
		l, got, err := openLog(m, 0, Options{SegmentSize: minSegmentSize})
		var ce *CorruptionError
		if err != nil && !errors.As(err, &ce) {
			if err.Error() != "epoch 0 has wall time 0" {
				t.Fatalf("neither opened nor damaged: %v", err)
			}
		}
		if err != nil {
			return
		}
		mustAppend(t, l, 100, []byte("x"), true)
		mustClose(t, l)
		_, again := mustOpen(t, m, 0)
		if len(again) != len(got)+1 {
			t.Fatalf("%d commits, then %d", len(got), len(again))
		}
	})
}

// FuzzReplay opens any bytes as a segment.
func FuzzReplay(f *testing.F) {
	f.Add([]byte{})
	f.Add(make([]byte, 5000))
	f.Add(segmentHeader(0, 1))
	f.Add(append(segmentHeader(0, 1), bytes.Repeat([]byte{1}, 100)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		m := vfs.NewMem()
		must(t, m.MkdirAll("wal"))
		file, err := m.Create("wal/" + segmentName(0))
		must(t, err)
		_, err = file.Write(data)
		must(t, err)
		l, _, err := openLog(m, 0, Options{SegmentSize: minSegmentSize})
		var ce *CorruptionError
		if err != nil && !errors.As(err, &ce) {
			t.Fatalf("neither opened nor damaged: %v", err)
		}
		if err == nil {
			mustAppend(t, l, 100, []byte("x"), true)
			mustClose(t, l)
		}
	})
}
