package wal

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Replay delivers every whole commit whose first record is at or behind from, in
// order, cuts the torn tail, and makes the log ready for Append. lsn is the commit's
// first LSN; payload is valid during the call only. It is called once after Open.
// Damage before the last durable record is a *CorruptionError; an error of fn ends
// the replay and is returned as it is.
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
	for first := range r.open { // nobody is left who could end them
		l.abandoned = append(l.abandoned, first)
	}
	slices.Sort(l.abandoned)
	return l.start(r.at, from)
}

// openSegments finds the segments, checks their headers and drops those before from.
func (l *Log) openSegments(from LSN) error {
	names, err := l.fs.List(l.dir)
	if err != nil {
		return fmt.Errorf("list log segments: %w", err)
	}
	for _, n := range names {
		if base, ok := strings.CutSuffix(n, tempSuffix); ok {
			if _, ok := parseSegmentName(base); ok { // was being made when the machine stopped
				if err := l.fs.Remove(l.dir + "/" + n); err != nil {
					return fmt.Errorf("remove half-made log segment: %w", err)
				}
			}
			continue
		}
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
			return fmt.Errorf("size of %s: %w", s.name, err)
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

// checkHeaders reads the header pages.
func (l *Log) checkHeaders() error {
	for i, s := range l.segments {
		page, n, err := s.headerPage()
		if err != nil {
			return err
		}
		id, reason := parseSegmentHeader(page, s.first)
		switch {
		case reason != "":
		case i > 0 && id != l.id:
			reason = "segment of another log"
		case n < pageSize:
			reason = "the segment is cut within its header"
		}
		if reason != "" {
			return &CorruptionError{s.name, 0, reason}
		}
		l.id = id
	}
	return nil
}

// headerPage reads the header; n bytes of it are in the file, the rest is zero.
func (s *segment) headerPage() (page []byte, n int, err error) {
	page = make([]byte, pageSize)
	n, err = s.f.ReadAt(page, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, 0, fmt.Errorf("read %s: %w", s.name, err)
	}
	return page, n, nil
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

type replayer struct {
	l        *Log
	from     LSN
	fn       func(LSN, Stamp, []byte) error
	at       LSN // end of the last whole record
	promised LSN // highest durable LSN that any record or header has promised
	open     map[LSN][]byte
	in       *bufio.Reader
	buf      []byte
}

// segment reads the records of s. whole: it ends where next begins, or, being the
// last one, with its file, behind everything that was promised.
func (r *replayer) segment(s *segment, next LSN) (whole bool, err error) {
	r.at = s.first
	page, _, err := s.headerPage()
	if err != nil {
		return false, err
	}
	r.promised = max(r.promised, parsePromise(page))
	file := io.NewSectionReader(s.f, pageSize, int64(s.room-s.first))
	if r.in == nil {
		r.in = bufio.NewReaderSize(file, 256<<10)
	}
	r.in.Reset(file)
	var head [headerSize]byte
	for next == 0 || r.at < next {
		if ended, err := readFull(r.in, head[:], s); ended || err != nil {
			return next == 0 && r.at >= r.promised, err
		}
		h, ok := parseHeader(head[:], r.at, r.l.id)
		if !ok {
			return false, nil
		}
		n := int(recordSize(int(h.length))) - headerSize
		if cap(r.buf) < n {
			r.buf = make([]byte, max(n, 64<<10))
		}
		body := r.buf[:n]
		if ended, err := readFull(r.in, body, s); ended || err != nil {
			return false, err
		}
		payload, ok := h.payload(body)
		if !ok {
			return false, nil
		}
		r.promised = max(r.promised, h.durable)
		if err := r.record(s, h, payload); err != nil {
			return false, err
		}
		r.at += LSN(headerSize + n)
	}
	return r.at == next, nil
}

// readFull fills b; ended: the file has less.
func readFull(in io.Reader, b []byte, s *segment) (ended bool, err error) {
	_, err = io.ReadFull(in, b)
	switch {
	case err == nil:
		return false, nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return true, nil
	}
	return false, fmt.Errorf("read %s: %w", s.name, err)
}

// record delivers a full record, or collects a chunk.
func (r *replayer) record(s *segment, h recordHeader, payload []byte) error {
	if h.first < r.from { // flushed before, or its beginning is gone with its segment
		return nil
	}
	switch h.typ {
	case recordFull:
		return r.fn(h.first, h.stamp, payload)
	case recordBegin:
		r.open[h.first] = append([]byte{}, payload...)
		return nil
	case recordAbandon:
		delete(r.open, h.first)
		return nil
	}
	b, ok := r.open[h.first]
	if !ok {
		return &CorruptionError{s.name, s.offset(r.at), "a chunk without its beginning"}
	}
	if h.typ == recordMiddle {
		r.open[h.first] = append(b, payload...)
		return nil
	}
	delete(r.open, h.first)
	return r.fn(h.first, h.stamp, append(b, payload...))
}

// start cuts everything behind end and makes the log ready for Append.
func (l *Log) start(end, from LSN) error {
	if len(l.segments) == 0 {
		if err := l.chooseID(); err != nil {
			return fmt.Errorf("begin the log: %w", err)
		}
		s, err := l.createSegment(0, l.o.SegmentSize-pageSize)
		if err != nil {
			return fmt.Errorf("begin the log: %w", err)
		}
		l.segments = []*segment{s}
	} else {
		if end < from { // before anything is cut: somebody may still want to look
			s := l.segments[len(l.segments)-1]
			return &CorruptionError{s.name, s.offset(end), fmt.Sprintf("the log ends at LSN %d, before LSN %d", end, from)}
		}
		if err := l.cutTail(end); err != nil {
			return err
		}
	}
	l.end.store(end)
	l.written.store(end)
	l.synced.store(end)
	l.replayed = true
	if l.o.Sync == Interval {
		l.stop, l.done = make(chan struct{}), make(chan struct{})
		go l.every()
	}
	return nil
}

func (l *Log) chooseID() error {
	if l.id = l.o.id; l.id != 0 {
		return nil
	}
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return err
	}
	l.id = binary.LittleEndian.Uint64(b[:])
	return nil
}
