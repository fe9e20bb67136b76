package wal

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"ksql/internal/vfs"
)

// Replay delivers every whole commit whose first record is at or behind from, in
// order, cuts the torn tail, and makes the log ready for Append. lsn is the commit's
// first LSN; payload is valid during the call only. It is called once after Open.
// Damage before the last durable record is a *CorruptionError.
func (l *Log) Replay(from LSN, fn func(lsn LSN, stamp Stamp, payload []byte) error) error {
	if l.replayed {
		return errors.New("BUG: Replay twice")
	}
	if err := l.openSegments(from); err != nil {
		return err
	}
	r := replayer{l: l, from: from, fn: fn, open: map[LSN][]byte{}}
	for i, s := range l.segments {
		next := LSN(0)
		if i+1 < len(l.segments) {
			next = l.segments[i+1].first
		}
		whole, err := r.segment(s, next)
		if err != nil {
			return err
		}
		if !whole {
			if err := l.tornAt(i, r.at, r.promised); err != nil {
				return err
			}
			break
		}
	}
	return l.start(r.at, from)
}

// openSegments finds the segments, checks their headers and drops those before from.
func (l *Log) openSegments(from LSN) error {
	names, err := l.fs.List(l.dir)
	if err != nil {
		return fmt.Errorf("list log segments: %w", err)
	}
	for _, n := range names {
		first, ok := parseSegmentName(n)
		if !ok {
			continue
		}
		f, err := l.fs.OpenReadWrite(l.dir + "/" + n)
		if err != nil {
			return fmt.Errorf("open log segment: %w", err)
		}
		s := &segment{name: l.dir + "/" + n, first: first, f: f}
		l.segments = append(l.segments, s)
		size, err := f.Size()
		if err != nil {
			return err
		}
		s.room = first + LSN(max(0, size-pageSize))
	}
	if err := l.checkHeaders(); err != nil {
		return err
	}
	if len(l.segments) == 0 {
		if from != 0 {
			return &CorruptionError{l.dir, 0, fmt.Sprintf("the log from LSN %d is missing", from)}
		}
		return nil
	}
	if l.segments[0].first > from {
		return &CorruptionError{l.segments[0].name, 0, fmt.Sprintf("the log from LSN %d to %d is missing", from, l.segments[0].first)}
	}
	for len(l.segments) > 1 && l.segments[1].first <= from {
		if err := l.dropFirst(); err != nil {
			return err
		}
	}
	return nil
}

// checkHeaders reads the header pages. The last segment may be one that was being
// made when the machine stopped: empty, and removed.
func (l *Log) checkHeaders() error {
	for i, s := range l.segments {
		page := make([]byte, pageSize)
		n, err := s.f.ReadAt(page, 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read %s: %w", s.name, err)
		}
		id, reason := parseSegmentHeader(page, s.first)
		if reason == "" && i > 0 && id != l.id {
			reason = "segment of another log"
		}
		if reason == "" {
			l.id = id
			continue
		}
		blank := bytes.Equal(page[:n], make([]byte, n))
		if i == len(l.segments)-1 && blank {
			if _, found, err := s.findPromise(s.first, 0); err != nil || found {
				return errors.Join(err, &CorruptionError{s.name, 0, "the header is blank, records follow"})
			}
			return l.dropLast()
		}
		return &CorruptionError{s.name, 0, reason}
	}
	return nil
}

func (l *Log) dropFirst() error {
	s := l.segments[0]
	l.segments = l.segments[1:]
	return l.remove(s)
}

func (l *Log) dropLast() error {
	s := l.segments[len(l.segments)-1]
	l.segments = l.segments[:len(l.segments)-1]
	return l.remove(s)
}

func (l *Log) remove(s *segment) error {
	if err := errors.Join(s.f.Close(), l.fs.Remove(s.name)); err != nil {
		return fmt.Errorf("remove log segment: %w", err)
	}
	return nil
}

type replayer struct {
	l        *Log
	from     LSN
	fn       func(LSN, Stamp, []byte) error
	at       LSN // end of the last whole record
	promised LSN // highest durable LSN that any record or header has promised
	open     map[LSN][]byte
	buf      []byte
}

// segment reads the records of s. whole: it ends where next begins, or, being the
// last one, in zeros behind everything that was promised.
func (r *replayer) segment(s *segment, next LSN) (whole bool, err error) {
	r.at = s.first
	page := make([]byte, pageSize)
	if _, err := s.f.ReadAt(page, 0); err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("read %s: %w", s.name, err)
	}
	r.promised = max(r.promised, parsePromise(page))
	in := bufio.NewReaderSize(io.NewSectionReader(s.f, pageSize, int64(s.room-s.first)), 256<<10)
	head := make([]byte, headerSize)
	for next == 0 || r.at < next {
		if _, err := io.ReadFull(in, head); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return next == 0 && r.at >= r.promised, nil
			}
			return false, fmt.Errorf("read %s: %w", s.name, err)
		}
		h, ok := parseHeader(head, r.at)
		if !ok {
			return false, nil
		}
		n := int(recordSize(int(h.length))) - headerSize
		if cap(r.buf) < n {
			r.buf = make([]byte, n)
		}
		body := r.buf[:n]
		if _, err := io.ReadFull(in, body); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return false, nil
			}
			return false, fmt.Errorf("read %s: %w", s.name, err)
		}
		body = body[:h.length]
		if crc32.Checksum(body, castagnoli) != h.crc {
			return false, nil
		}
		r.promised = max(r.promised, h.durable)
		if err := r.record(s, h, body); err != nil {
			return false, err
		}
		r.at += LSN(recordSize(int(h.length)))
	}
	return r.at == next, nil
}

// record delivers a full record, or collects a chunk.
func (r *replayer) record(s *segment, h recordHeader, body []byte) error {
	if h.first < r.from { // flushed before, or its beginning is gone with its segment
		return nil
	}
	switch h.typ {
	case recordFull:
		return r.fn(h.first, h.stamp, body)
	case recordBegin:
		r.open[h.first] = append([]byte{}, body...)
		return nil
	}
	b, ok := r.open[h.first]
	if !ok {
		return &CorruptionError{s.name, s.offset(r.at), "a chunk without its beginning"}
	}
	if h.typ == recordMiddle {
		r.open[h.first] = append(b, body...)
		return nil
	}
	delete(r.open, h.first)
	return r.fn(h.first, h.stamp, append(b, body...))
}

// tornAt decides about the first record that is not whole: if anything behind it
// was appended after it had been durable, it is damage; else it is the torn tail.
func (l *Log) tornAt(i int, at, promised LSN) error {
	s := l.segments[i]
	for j := i; j < len(l.segments); j++ {
		from := l.segments[j].first
		if j == i {
			from = at
		}
		page := make([]byte, pageSize)
		if _, err := l.segments[j].f.ReadAt(page, 0); err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read %s: %w", l.segments[j].name, err)
		}
		promised = max(promised, parsePromise(page))
		if promised > at {
			break
		}
		p, found, err := l.segments[j].findPromise(from, at)
		if err != nil {
			return err
		}
		if found {
			promised = p
			break
		}
	}
	if promised > at {
		return &CorruptionError{s.name, s.offset(at), fmt.Sprintf("a record that was durable is damaged (the log is durable up to LSN %d, this is LSN %d)", promised, at)}
	}
	for len(l.segments)-1 > i {
		if err := l.dropLast(); err != nil {
			return err
		}
	}
	return nil
}

// findPromise looks for a valid record header at or behind from that promises more
// than above.
func (s *segment) findPromise(from, above LSN) (LSN, bool, error) {
	const step = 1 << 20
	buf := make([]byte, step+headerSize)
	for at := from; at < s.room; at += step {
		n, err := s.f.ReadAt(buf, s.offset(at))
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, false, fmt.Errorf("read %s: %w", s.name, err)
		}
		for i := 0; i+headerSize <= n && i < step; i += align {
			if binary.LittleEndian.Uint64(buf[i:]) == 0 {
				continue
			}
			if h, ok := parseHeader(buf[i:i+headerSize], at+LSN(i)); ok && (h.durable > above || above == 0) {
				return h.durable, true, nil
			}
		}
	}
	return 0, false, nil
}

// start cuts everything behind end and makes the log ready for Append.
func (l *Log) start(end, from LSN) error {
	if len(l.segments) == 0 {
		var b [8]byte
		if _, err := rand.Read(b[:]); err != nil {
			return err
		}
		l.id = binary.LittleEndian.Uint64(b[:])
		s, err := l.createSegment(0, l.o.SegmentSize-pageSize)
		if err != nil {
			return fmt.Errorf("begin the log: %w", err)
		}
		l.segments = []*segment{s}
	} else if err := l.cutTail(end); err != nil {
		return err
	}
	if end < from {
		return &CorruptionError{l.segments[0].name, 0, fmt.Sprintf("the log ends at LSN %d, before LSN %d", end, from)}
	}
	l.end, l.written, l.synced = end, end, end
	l.replayed = true
	if l.o.Sync == Interval {
		l.stop, l.done = make(chan struct{}), make(chan struct{})
		go l.every()
	}
	return nil
}

// cutTail ends the last segment at end, durably, before anything is appended: a new
// record must never stand before old bytes. Then it gets its room back.
func (l *Log) cutTail(end LSN) error {
	s := l.segments[len(l.segments)-1]
	if err := s.f.Truncate(s.offset(end)); err != nil {
		return fmt.Errorf("cut the log: %w", err)
	}
	if err := s.f.Sync(); err != nil {
		return fmt.Errorf("cut the log: %w", err)
	}
	s.room = end
	room := l.o.SegmentSize - s.offset(end)
	if room <= 0 {
		return vfs.SyncDir(l.fs, l.dir)
	}
	switch err := s.f.Preallocate(s.offset(end), room); {
	case err == nil:
		s.room = end + LSN(room)
		if err := s.f.Sync(); err != nil {
			return fmt.Errorf("extend the log: %w", err)
		}
	case !vfs.IsNoSpace(err): // no space: reads work, the next Append tries again
		return fmt.Errorf("extend the log: %w", err)
	}
	return vfs.SyncDir(l.fs, l.dir)
}
