package wal

import (
	"errors"
	"fmt"
	"hash/crc32"
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
	// OnSync is told the number of records and the time of each sync. The next sync
	// waits for it.
	OnSync func(records int, d time.Duration)

	id uint64 // of a new log; 0 = random. For files that are the same in every run
}

const (
	defaultSegmentSize = 16 << 20
	minSegmentSize     = 64 << 10
	// maxPending is how much may collect in memory before Append writes it out: one
	// chunk of a large commit, and more than the disk needs to write at full speed.
	maxPending = 1 << 20
)

// Log is an open log. Its methods are safe for concurrent use after Replay.
type Log struct {
	groupCommit // its mu guards the fields here too, unless said otherwise

	fs  vfs.FS
	dir string
	o   Options
	id  uint64 // constant after Replay

	replayed  bool
	closed    bool
	rolling   bool       // a segment is being made
	segments  []*segment // ascending; the last one is written to
	abandoned []LSN      // first LSNs of begun commits that will have no end

	// of the leader
	dirty   []*segment        // written since their last sync, ascending
	noted   *segment          // where the promise goes
	promise [promiseSize]byte // buffer

	stop chan struct{} // of the interval goroutine
	done chan struct{}
}

// Open prepares the log in dir, which is made if need be. Replay comes next.
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
	l.init(commitEnv{write: l.writeGroup, sync: l.syncDirty, promise: l.notePromise, onSync: o.OnSync})
	return l, nil
}

// Append puts one commit into the log and returns its end, for Sync. seal is called
// in the critical section that orders commits, with the first LSN of the commit;
// it must be quick. An error means that seal was not called and nothing happened:
// no space (which clears by itself), or a log that is poisoned or closed.
func (l *Log) Append(payload []byte, seal func(first LSN) Stamp) (end LSN, err error) {
	if len(payload) <= MaxRecord {
		_, end, err = l.append(recordFull, 0, payload, seal)
		return end, err
	}
	first, _, err := l.append(recordBegin, 0, payload[:MaxRecord], nil)
	if err != nil {
		return 0, err
	}
	for payload = payload[MaxRecord:]; len(payload) > MaxRecord && err == nil; payload = payload[MaxRecord:] {
		_, _, err = l.append(recordMiddle, first, payload[:MaxRecord], nil)
	}
	if err == nil {
		_, end, err = l.append(recordEnd, first, payload, seal)
	}
	if err != nil {
		l.mu.Lock()
		l.abandoned = append(l.abandoned, first)
		l.mu.Unlock()
		return 0, err
	}
	return end, nil
}

// append puts one record into the group buffer and returns where it begins and ends.
// first is that of the commit, if this is not its first record.
func (l *Log) append(typ recordType, first LSN, payload []byte, seal func(LSN) Stamp) (at, end LSN, err error) {
	h := recordHeader{length: uint32(len(payload)), crc: crc32.Checksum(payload, castagnoli), typ: typ, first: first}
	at, end, full, err := l.place(h, payload, seal)
	if err == nil && full {
		// an error has poisoned the log and reaches the caller by its Sync
		_ = l.advance(end, false)
	}
	return at, end, err
}

// place is the critical section. full: so much has collected that it should be
// written.
func (l *Log) place(h recordHeader, payload []byte, seal func(LSN) Stamp) (at, end LSN, full bool, err error) {
	size := recordSize(len(payload))
	l.mu.Lock()
	defer l.mu.Unlock()
	seg, err := l.reserve(size)
	if err != nil {
		return 0, 0, false, err
	}
	l.logAbandoned(seg, size)
	at = l.end.load()
	if h.typ == recordFull || h.typ == recordBegin {
		h.first = at
	}
	if seal != nil {
		h.stamp = seal(h.first)
	}
	l.put(seg, at, h, payload)
	l.records.Add(1)
	l.stats.Records++
	return at, at + LSN(size), l.bytes > maxPending, nil
}

// put copies a record into the group buffer. The caller holds mu and has room.
func (l *Log) put(seg *segment, at LSN, h recordHeader, payload []byte) {
	h.durable = l.synced.load()
	c := l.chunkFor(seg, at)
	before := len(c.buf)
	c.buf = appendRecord(c.buf, at, l.id, h, payload)
	size := len(c.buf) - before
	l.end.store(at + LSN(size))
	l.bytes += size
	l.stats.Bytes += int64(size)
}

// logAbandoned writes off begun commits, as far as seg has room for it beside size
// bytes, so that their chunks don't wait in memory for an end at every start.
func (l *Log) logAbandoned(seg *segment, size int64) {
	for len(l.abandoned) > 0 && int64(seg.room-l.end.load()) >= size+headerSize {
		l.put(seg, l.end.load(), recordHeader{typ: recordAbandon, first: l.abandoned[0]}, nil)
		l.abandoned = l.abandoned[1:]
	}
}

func (l *Log) usable() error {
	switch {
	case l.err != nil:
		return l.err
	case l.closed:
		return ErrClosed
	case !l.replayed:
		return errors.New("BUG: Append before Replay")
	}
	return nil
}
