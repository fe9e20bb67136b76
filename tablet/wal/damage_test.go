package wal

import (
	"errors"
	"math/rand"
	"testing"

	"ksql/internal/vfs"
)

// smallLog has five commits that are synced, one of them in three chunks among which
// another one stands, and a sixth that is only written.
func smallLog(t testing.TB) (m *vfs.MemFS, all []commit, durable LSN) {
	t.Helper()
	m = vfs.NewMem()
	l, _ := mustOpen(t, m, 0)
	r := rand.New(rand.NewSource(1))
	for e := uint64(1); e <= 3; e++ {
		all = append(all, mustAppend(t, l, e, payloadOf(r, e, int(e)*7), true))
	}
	p := payloadOf(r, 5, 30)
	first, _, err := l.append(recordBegin, 0, p[:10], nil)
	must(t, err)
	all = append(all, mustAppend(t, l, 4, payloadOf(r, 4, 3), false))
	_, _, err = l.append(recordMiddle, first, p[10:20], nil)
	must(t, err)
	_, end, err := l.append(recordEnd, first, p[20:], func(LSN) Stamp { return Stamp{5, 50} })
	must(t, err)
	must(t, l.Sync(end))
	all = append(all, commit{first: first, end: end, epoch: 5, payload: p})
	durable = l.Synced()
	all = append(all, mustAppend(t, l, 6, payloadOf(r, 6, 20), false))
	must(t, l.advance(l.End(), false))
	return m, all, durable
}

// damaged opens a copy of m that damage has been done to.
func damaged(t testing.TB, m *vfs.MemFS, name string, damage func(f vfs.File) error) ([]commit, error) {
	t.Helper()
	clone := m.CrashClone(vfs.CrashConfig{UnsyncedPercent: 100})
	f, err := clone.OpenReadWrite(name)
	if err == nil {
		err = errors.Join(damage(f), f.Sync(), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	l, got, err := openLog(clone, 0, smallSegments)
	if err != nil {
		return nil, err
	}
	mustClose(t, l)
	// what was recovered is what every later start finds
	_, again := mustOpen(t, clone, 0)
	checkPrefix(t, again, got, len(got))
	return got, nil
}

func flip(off int64, xor byte) func(f vfs.File) error {
	return func(f vfs.File) error {
		var b [1]byte
		if _, err := f.ReadAt(b[:], off); err != nil {
			return err
		}
		b[0] ^= xor
		_, err := f.WriteAt(b[:], off)
		return err
	}
}

// Every byte, flipped: in the header page and below the durable LSN it is an error
// that names the place; behind it the torn tail begins; it never changes a record.
func TestEveryFlippedByte(t *testing.T) {
	r := seedOf(t)
	m, all, durable := smallLog(t)
	name := m.Files()[0]
	end := int64(pageSize) + int64(all[5].end)
	for off := int64(0); off < end+200; off++ {
		for _, xor := range []byte{1 << r.Intn(8), byte(1 + r.Intn(255))} {
			got, err := damaged(t, m, name, flip(off, xor))
			var ce *CorruptionError
			switch {
			case off >= promiseOffset && off < promiseOffset+promiseSize:
				// the promise is a hint: without it the next one counts
				if err != nil || len(got) != 6 {
					t.Fatalf("offset %d (promise): %d commits, %v", off, len(got), err)
				}
			case off < pageSize+int64(durable):
				if !errors.As(err, &ce) || ce.File != name || ce.Offset > off || off < pageSize && ce.Offset != 0 {
					t.Fatalf("offset %d: %d commits, %v", off, len(got), err)
				}
				if off >= pageSize && off-ce.Offset >= headerSize+40 {
					t.Fatalf("offset %d is reported as %d", off, ce.Offset)
				}
			case off < end:
				if err != nil || len(got) != 5 {
					t.Fatalf("offset %d (not synced): %d commits, %v", off, len(got), err)
				}
			default:
				if err != nil || len(got) != 6 {
					t.Fatalf("offset %d (behind the end): %d commits, %v", off, len(got), err)
				}
			}
			if err == nil {
				checkPrefix(t, got, all, 5)
			}
		}
	}
}

// A file that is cut at any length, or zeroed from there, has lost a tail that was
// not durable, or is damaged.
func TestEveryTruncation(t *testing.T) {
	m, all, durable := smallLog(t)
	name := m.Files()[0]
	end := int64(pageSize) + int64(all[5].end)
	zero := make([]byte, end)
	data, err := vfs.ReadFile(m, name, 1<<20)
	must(t, err)
	for n := int64(0); n < end+8; n++ {
		if n > promiseOffset+promiseSize && n < pageSize-8 && n%16 != 0 {
			continue // all alike
		}
		cut := func(f vfs.File) error { return f.Truncate(n) }
		blank := func(f vfs.File) error { _, err := f.WriteAt(zero[:max(0, end-n)], n); return err }
		for i, damage := range []func(vfs.File) error{cut, blank} {
			got, err := damaged(t, m, name, damage)
			var ce *CorruptionError
			switch {
			case i == 1 && n > promiseOffset && n < promiseOffset+promiseSize:
				// half a promise is what a lost machine may leave, here without any record
				if len(got) != 0 {
					t.Fatalf("zeros at %d: %d commits", n, len(got))
				}
			case i == 1 && n < pageSize+int64(durable) && isZero(data[n:pageSize+int64(durable)]):
				if err != nil || len(got) != 5 { // it was zero before
					t.Fatalf("zeros at %d: %d commits, %v", n, len(got), err)
				}
			case n < pageSize+int64(durable):
				if !errors.As(err, &ce) || ce.File != name {
					t.Fatalf("damage %d at %d: %d commits, %v", i, n, len(got), err)
				}
			default:
				if err != nil {
					t.Fatalf("damage %d at %d: %v", i, n, err)
				}
				checkPrefix(t, got, all, 5)
			}
		}
	}
}

// After a clean end damage of the very last record is seen even if the machine was
// lost right then.
func TestLastRecordAfterCleanCloseAndPowerLoss(t *testing.T) {
	m := vfs.NewMem()
	l, _ := mustOpen(t, m, 0)
	mustAppend(t, l, 1, []byte("only one"), true)
	mustClose(t, l)
	lost := m.CrashClone(vfs.CrashConfig{})
	_, err := damaged(t, lost, lost.Files()[0], flip(pageSize+headerSize, 1))
	var ce *CorruptionError
	if !errors.As(err, &ce) || ce.Offset != pageSize {
		t.Fatalf("%v", err)
	}
}

// Damage in any segment, of records or of the file's name, is seen. A missing one is
// a gap.
func TestDamagedSegments(t *testing.T) {
	m := vfs.NewMem()
	l, _ := mustOpen(t, m, 0)
	r := rand.New(rand.NewSource(3))
	var all []commit
	for e := uint64(1); e <= 60; e++ {
		all = append(all, mustAppend(t, l, e, payloadOf(r, e, 5000), true))
	}
	mustClose(t, l)
	files := m.Files()
	if len(files) < 4 {
		t.Fatalf("files %v", files)
	}
	bad := func(what string, fsys vfs.FS, from LSN) {
		t.Helper()
		var ce *CorruptionError
		if _, got, err := openLog(fsys, from, smallSegments); !errors.As(err, &ce) {
			t.Fatalf("%s: %d commits, %v", what, len(got), err)
		}
	}
	for i, name := range files {
		clone := m.CrashClone(vfs.CrashConfig{UnsyncedPercent: 100})
		must(t, clone.Corrupt(name, pageSize+3000, 4))
		bad("flip in "+name, clone, 0)
		clone = m.CrashClone(vfs.CrashConfig{UnsyncedPercent: 100})
		must(t, clone.Remove(name))
		if i < len(files)-1 {
			bad("missing "+name, clone, 0)
		}
		first, ok := parseSegmentName(name[len("wal/"):])
		if !ok {
			t.Fatal(name)
		}
		bad("missing "+name, clone, first+1) // the end is needed and gone
		clone = m.CrashClone(vfs.CrashConfig{UnsyncedPercent: 100})
		must(t, clone.Rename(name, "wal/"+segmentName(first+8)))
		bad("renamed "+name, clone, 0)
	}
	// a segment of another log
	other := vfs.NewMem()
	o := smallSegments
	o.id++
	l, _, err := openLog(other, 0, o)
	must(t, err)
	for _, c := range all {
		mustAppend(t, l, c.epoch, c.payload, true)
	}
	mustClose(t, l)
	data, err := vfs.ReadFile(other, files[1], 1<<20)
	must(t, err)
	clone := m.CrashClone(vfs.CrashConfig{UnsyncedPercent: 100})
	f, err := clone.Create(files[1])
	must(t, err)
	_, err = f.Write(data)
	must(t, err)
	bad("segment of another log", clone, 0)
}
