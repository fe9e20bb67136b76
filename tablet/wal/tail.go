package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"ksql/internal/vfs"
)

// tornAt decides about the first record that is not whole, in segment i: if anything
// behind it was appended after it had been durable, it is damage; else it is the torn
// tail, and the segments behind it go.
func (l *Log) tornAt(i int, at, promised LSN) error {
	s := l.segments[i]
	for j := i; j < len(l.segments) && promised <= at; j++ {
		p, err := l.promiseIn(l.segments[j], max(at, l.segments[j].first), at)
		if err != nil {
			return err
		}
		promised = max(promised, p)
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

// promiseIn looks in the header of s, and from LSN from on for a valid record header,
// for a promise above at. It returns the first one, or 0.
func (l *Log) promiseIn(s *segment, from, at LSN) (LSN, error) {
	page, _, err := s.headerPage()
	if err != nil {
		return 0, err
	}
	if p := parsePromise(page); p > at {
		return p, nil
	}
	if from >= s.room {
		return 0, nil
	}
	step := int(min(1<<20, s.room-from))
	buf := make([]byte, step+headerSize) // a header may begin at the end of a step
	for base := from; base < s.room; base += LSN(step) {
		n, err := s.f.ReadAt(buf, s.offset(base))
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, fmt.Errorf("read %s: %w", s.name, err)
		}
		for i := 0; i+headerSize <= n && i < step; i += align {
			if binary.LittleEndian.Uint64(buf[i:]) == 0 { // most of a tail is zeros
				continue
			}
			if h, ok := parseHeader(buf[i:i+headerSize], base+LSN(i), l.id); ok && h.durable > at {
				return h.durable, nil
			}
		}
	}
	return 0, nil
}

// cutTail ends the last segment at end, durably, before anything is appended: a new
// record must never stand before old bytes. Then it gets its room back.
func (l *Log) cutTail(end LSN) error {
	s := l.segments[len(l.segments)-1]
	if err := s.f.Truncate(s.offset(end)); err != nil {
		return fmt.Errorf("cut the log: %w", err)
	}
	s.room = end
	if room := l.o.SegmentSize - s.offset(end); room > 0 {
		err := s.f.Preallocate(s.offset(end), room)
		switch {
		case err == nil:
			s.room = end + LSN(room)
		case !vfs.IsNoSpace(err): // no space: reads work, the next Append tries again
			return fmt.Errorf("extend the log: %w", err)
		}
	}
	if err := s.f.Sync(); err != nil {
		return fmt.Errorf("cut the log: %w", err)
	}
	return vfs.SyncDir(l.fs, l.dir)
}
