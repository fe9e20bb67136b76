package wal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand"
	"testing"
	"time"

	"ksql/internal/vfs"
)

// commit is what the model remembers of an append.
type commit struct {
	first, end LSN
	epoch      uint64
	payload    []byte
}

func seedOf(t *testing.T) *rand.Rand {
	t.Helper()
	seed := time.Now().UnixNano()
	t.Logf("seed=%d", seed)
	return rand.New(rand.NewSource(seed))
}

// smallSegments makes many segments of little data.
var smallSegments = Options{SegmentSize: minSegmentSize, id: 0x1122334455667788}

func openLog(fsys vfs.FS, from LSN, o Options) (*Log, []commit, error) {
	l, err := Open(fsys, "wal", o)
	if err != nil {
		return nil, nil, err
	}
	var got []commit
	err = l.Replay(from, func(lsn LSN, s Stamp, p []byte) error {
		if s.WallMicros != int64(s.Epoch)*10 {
			return fmt.Errorf("epoch %d has wall time %d", s.Epoch, s.WallMicros)
		}
		got = append(got, commit{first: lsn, epoch: s.Epoch, payload: bytes.Clone(p)})
		return nil
	})
	if err != nil {
		return nil, nil, errors.Join(err, l.Close())
	}
	return l, got, nil
}

func mustOpen(t testing.TB, fsys vfs.FS, from LSN) (*Log, []commit) {
	t.Helper()
	l, got, err := openLog(fsys, from, smallSegments)
	if err != nil {
		t.Fatal(err)
	}
	return l, got
}

func mustClose(t testing.TB, l *Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// payloadOf makes a payload that tells its epoch.
func payloadOf(r *rand.Rand, epoch uint64, size int) []byte {
	p := make([]byte, 8+size)
	r.Read(p)
	binary.LittleEndian.PutUint64(p, epoch)
	return p
}

func appendCommit(l *Log, epoch uint64, p []byte) (commit, error) {
	c := commit{epoch: epoch, payload: p}
	sealed := false
	end, err := l.Append(p, func(first LSN) Stamp {
		sealed, c.first = true, first
		return Stamp{Epoch: epoch, WallMicros: int64(epoch) * 10}
	})
	c.end = end
	if sealed != (err == nil) {
		panic(fmt.Sprintf("sealed %v, error %v", sealed, err))
	}
	return c, err
}

// mustAppend appends and, if asked for, syncs.
func mustAppend(t testing.TB, l *Log, epoch uint64, p []byte, sync bool) commit {
	t.Helper()
	c, err := appendCommit(l, epoch, p)
	if err == nil && sync {
		err = l.Sync(c.end)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// prefixError demands that got is the first n ≥ least commits of want.
func prefixError(got, want []commit, least int) error {
	if len(got) < least || len(got) > len(want) {
		return fmt.Errorf("%d commits are there, %d were acknowledged, %d appended", len(got), least, len(want))
	}
	for i, g := range got {
		w := want[i]
		if g.epoch != w.epoch || g.first != w.first || !bytes.Equal(g.payload, w.payload) {
			return fmt.Errorf("commit %d: epoch %d at %d (%d bytes), want epoch %d at %d (%d bytes)",
				i, g.epoch, g.first, len(g.payload), w.epoch, w.first, len(w.payload))
		}
	}
	return nil
}

func checkPrefix(t testing.TB, got, want []commit, least int) {
	t.Helper()
	if err := prefixError(got, want, least); err != nil {
		t.Fatal(err)
	}
}

// checkAll demands that the log in fsys has exactly these commits from LSN from on.
func checkAll(t testing.TB, fsys vfs.FS, from LSN, want []commit) *Log {
	t.Helper()
	l, got := mustOpen(t, fsys, from)
	checkPrefix(t, got, want, len(want))
	return l
}
