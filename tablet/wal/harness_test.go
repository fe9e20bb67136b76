package wal

import (
	"bytes"
	"encoding/binary"
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

func openLog(fsys vfs.FS, from LSN, o Options) (*Log, []commit, error) {
	l, err := Open(fsys, "wal", o)
	if err != nil {
		return nil, nil, err
	}
	var got []commit
	err = l.Replay(from, func(lsn LSN, s Stamp, p []byte) error {
		got = append(got, commit{first: lsn, epoch: s.Epoch, payload: bytes.Clone(p)})
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return l, got, nil
}

func mustOpen(t *testing.T, fsys vfs.FS, from LSN) (*Log, []commit) {
	t.Helper()
	l, got, err := openLog(fsys, from, Options{SegmentSize: minSegmentSize})
	if err != nil {
		t.Fatal(err)
	}
	return l, got
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
	end, err := l.Append(p, func(first LSN) Stamp {
		c.first = first
		return Stamp{Epoch: epoch, WallMicros: int64(epoch) * 10}
	})
	c.end = end
	return c, err
}

// checkPrefix demands that got is the first n commits of want.
func checkPrefix(t *testing.T, got, want []commit) {
	t.Helper()
	if len(got) > len(want) {
		t.Fatalf("%d commits recovered of %d appended", len(got), len(want))
	}
	for i, g := range got {
		if g.epoch != want[i].epoch || g.first != want[i].first || !bytes.Equal(g.payload, want[i].payload) {
			t.Fatalf("commit %d: epoch %d at %d (%d bytes), want epoch %d at %d (%d bytes)",
				i, g.epoch, g.first, len(g.payload), want[i].epoch, want[i].first, len(want[i].payload))
		}
	}
}
