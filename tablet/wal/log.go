package wal

import (
	"errors"
	"fmt"
	"hash/crc32"
	"sync"
	"time"

	"ksql/internal/vfs"
)

// SyncMode says what Sync waits for.
type SyncMode uint8

const (
	// Full syncs before Sync returns.
	Full SyncMode = iota
	// Interval writes before Sync returns and syncs every Options.Interval: a
	// killed process loses nothing, a lost machine up to one interval.
	Interval
	// Off writes before Sync returns and leaves syncing to the system.
	Off
)

// Options of Open.
type Options struct {
	SegmentSize int64         // bytes of a segment file; default 16 MiB, at least 64 KiB
	Sync        SyncMode      // default Full
	Interval    time.Duration // of SyncMode Interval; default 1 s
	// OnSync is told the number of records and the time of each sync.
	OnSync func(records int, d time.Duration)
}

const (
	defaultSegmentSize = 16 << 20
	minSegmentSize     = 64 << 10
	// maxPending is how much may collect in memory before Append writes it out.
	maxPending = 4 << 20
)

// Stats counts since Open.
type Stats struct {
	Records, Bytes int64 // appended
	Syncs          int64
	MaxGroup       int64 // most records made durable by one sync
	Segments       int
}

// Log is an open log. Its methods are safe for concurrent use after Replay.
type Log struct {
	fs  vfs.FS
	dir string
	o   Options

	mu       sync.Mutex
	moved    *sync.Cond // a leader has finished
	replayed bool
	closed   bool
	err      error // poisoned
	id       uint64
	segments []*segment // ascending; the last one is written to
	end      LSN        // of what was appended
	written  LSN
	synced   LSN
	pending  []chunk
	spare    []byte // buffer for the next group
	bytes    int    // in pending
	records  int    // in pending
	unsynced int    // records written and not synced
	leading  bool   // somebody writes or syncs
	stats    Stats

	stop chan struct{} // of the interval goroutine
	done chan struct{}
}

// segment is one file; offsets in it follow from the LSN.
type segment struct {
	name  string
	first LSN
	room  LSN // end of its preallocated space
	f     vfs.File
	dirty bool // written since its last sync; guarded by leading
}

func (s *segment) offset(at LSN) int64 { return pageSize + int64(at-s.first) }

// chunk is what goes to one segment with one write.
type chunk struct {
	seg *segment
	at  LSN
	buf []byte
}

// Open opens or prepares the log in dir. Replay comes next.
func Open(fsys vfs.FS, dir string, o Options) (*Log, error) {
	if o.SegmentSize == 0 {
		o.SegmentSize = defaultSegmentSize
	}
	if o.SegmentSize < minSegmentSize {
		o.SegmentSize = minSegmentSize
	}
	if o.Interval <= 0 {
		o.Interval = time.Second
	}
	if err := fsys.MkdirAll(dir); err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	l := &Log{fs: fsys, dir: dir, o: o}
	l.moved = sync.NewCond(&l.mu)
	return l, nil
}

// Append puts one commit into the log and returns its end, for Sync. seal is called
// in the critical section that orders commits, with the first LSN of the commit;
// it must be quick. An error means that seal was not called and nothing happened:
// no space (which clears by itself), or a poisoned log.
func (l *Log) Append(payload []byte, seal func(LSN) Stamp) (LSN, error) {
	var first LSN
	chunked := false
	for len(payload) > MaxRecord {
		at, err := l.append(payload[:MaxRecord], func(at LSN) recordHeader {
			if !chunked {
				return recordHeader{typ: recordBegin, first: at}
			}
			return recordHeader{typ: recordMiddle, first: first}
		})
		if err != nil {
			return 0, err
		}
		if !chunked {
			first, chunked = at, true
		}
		payload = payload[MaxRecord:]
	}
	at, err := l.append(payload, func(at LSN) recordHeader {
		if chunked {
			return recordHeader{typ: recordEnd, first: first, stamp: seal(first)}
		}
		return recordHeader{typ: recordFull, first: at, stamp: seal(at)}
	})
	if err != nil {
		return 0, err
	}
	return at + LSN(recordSize(len(payload))), nil
}

// append puts one record into the group buffer and returns its LSN.
func (l *Log) append(payload []byte, header func(LSN) recordHeader) (LSN, error) {
	crc := crc32.Checksum(payload, castagnoli)
	size := recordSize(len(payload))
	l.mu.Lock()
	if err := l.usable(); err != nil {
		l.mu.Unlock()
		return 0, err
	}
	seg := l.segments[len(l.segments)-1]
	if seg.room-l.end < LSN(size) {
		var err error
		if seg, err = l.roll(size); err != nil {
			l.mu.Unlock()
			return 0, err
		}
	}
	at := l.end
	h := header(at)
	h.length, h.crc, h.durable = uint32(len(payload)), crc, l.synced
	c := l.chunkFor(seg, at)
	c.buf = appendHeader(c.buf, at, h)
	c.buf = append(c.buf, payload...)
	for int64(len(c.buf))%align != 0 {
		c.buf = append(c.buf, 0)
	}
	l.end += LSN(size)
	l.bytes += int(size)
	l.records++
	l.stats.Records++
	l.stats.Bytes += size
	full := l.bytes > maxPending
	l.mu.Unlock()
	if full { // its error poisons the log and reaches the caller's Sync
		_ = l.advance(at+LSN(size), false)
	}
	return at, nil
}

func (l *Log) usable() error {
	switch {
	case l.err != nil:
		return l.err
	case l.closed:
		return errors.New("the log is closed")
	case !l.replayed:
		return errors.New("BUG: Append before Replay")
	}
	return nil
}

func (l *Log) chunkFor(seg *segment, at LSN) *chunk {
	if n := len(l.pending); n > 0 && l.pending[n-1].seg == seg {
		return &l.pending[n-1]
	}
	buf := l.spare[:0]
	l.spare = nil
	l.pending = append(l.pending, chunk{seg, at, buf})
	return &l.pending[len(l.pending)-1]
}

// roll begins a new segment at l.end with room for at least size bytes.
func (l *Log) roll(size int64) (*segment, error) {
	s, err := l.createSegment(l.end, max(l.o.SegmentSize-pageSize, size))
	if err != nil {
		return nil, fmt.Errorf("extend the log: %w", err)
	}
	l.segments = append(l.segments, s)
	return s, nil
}

// createSegment makes a durable empty segment. A half-made one is removed, or
// recognised at the next start by its empty header.
func (l *Log) createSegment(first LSN, room int64) (*segment, error) {
	name := l.dir + "/" + segmentName(first)
	f, err := l.fs.Create(name)
	if err != nil {
		return nil, err
	}
	s := &segment{name: name, first: first, room: first + LSN(room), f: f}
	err = f.Preallocate(0, pageSize+room)
	if err == nil {
		_, err = f.WriteAt(segmentHeader(first, l.id), 0)
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = vfs.SyncDir(l.fs, l.dir)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), l.fs.Remove(name))
	}
	return s, nil
}
