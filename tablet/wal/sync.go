package wal

import (
	"fmt"
	"time"
)

// Sync waits until everything below upTo is as durable as the sync mode asks for.
// After a failed write or sync it, and everything after it, returns ErrPoisoned.
func (l *Log) Sync(upTo LSN) error { return l.advance(upTo, l.o.Sync == Full) }

// SyncNow makes everything that was appended durable in every sync mode.
func (l *Log) SyncNow() error { return l.advance(l.End(), true) }

// advance waits until everything below upTo is written, and synced if asked for.
// Leader and follower: who finds no leader leads, takes everything that has
// collected, and wakes the others.
func (l *Log) advance(upTo LSN, sync bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		reached := l.written
		if sync {
			reached = l.synced
		}
		if reached >= upTo {
			return nil
		}
		if l.err != nil {
			return l.err
		}
		if !l.leading {
			l.lead(sync)
			continue
		}
		l.moved.Wait()
	}
}

// lead writes and syncs what is pending, without the lock.
func (l *Log) lead(sync bool) {
	l.leading = true
	group, end, records := l.pending, l.end, l.records
	segments := l.segments
	l.pending, l.bytes, l.records = nil, 0, 0
	l.unsynced += records
	l.mu.Unlock()

	start := time.Now()
	err := writeGroup(group)
	if err == nil && sync {
		err = syncSegments(segments)
	}

	l.mu.Lock()
	l.leading = false
	defer l.moved.Broadcast()
	if err != nil {
		l.err = fmt.Errorf("%w: %w", ErrPoisoned, err)
		return
	}
	for _, c := range group {
		if cap(c.buf) > cap(l.spare) && cap(c.buf) <= maxPending {
			l.spare = c.buf[:0]
		}
	}
	l.written = end
	if sync {
		l.synced = end
		l.stats.Syncs++
		l.stats.MaxGroup = max(l.stats.MaxGroup, int64(l.unsynced))
		if l.o.OnSync != nil {
			l.o.OnSync(l.unsynced, time.Since(start))
		}
		l.unsynced = 0
		l.notePromise(segments[len(segments)-1], end)
	}
}

func writeGroup(group []chunk) error {
	for _, c := range group {
		if _, err := c.seg.f.WriteAt(c.buf, c.seg.offset(c.at)); err != nil {
			return fmt.Errorf("write %s: %w", c.seg.name, err)
		}
		c.seg.dirty = true
	}
	return nil
}

// syncSegments syncs in order, so that a later record is never durable when an
// earlier one of another segment is not.
func syncSegments(segments []*segment) error {
	for _, s := range segments {
		if !s.dirty {
			continue
		}
		if err := s.f.Sync(); err != nil {
			return fmt.Errorf("sync %s: %w", s.name, err)
		}
		s.dirty = false
	}
	return nil
}

// notePromise writes the durable LSN behind the segment's header. It is a hint for
// the next start and is not synced; a failed write poisons all the same, for the
// file is not what it should be.
func (l *Log) notePromise(s *segment, durable LSN) {
	if _, err := s.f.WriteAt(promise(durable), promiseOffset); err != nil {
		l.err = fmt.Errorf("%w: write %s: %w", ErrPoisoned, s.name, err)
	}
}

// every is the goroutine of SyncMode Interval. Its error poisons the log.
func (l *Log) every() {
	defer close(l.done)
	t := time.NewTicker(l.o.Interval)
	defer t.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-t.C:
			_ = l.SyncNow()
		}
	}
}

// Synced is the LSN below which everything is durable.
func (l *Log) Synced() LSN {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.synced
}

// End is the LSN of the next record.
func (l *Log) End() LSN {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.end
}

// Poisoned returns the error that poisoned the log, nil if none did.
func (l *Log) Poisoned() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Stats counts since Open.
func (l *Log) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.stats
	s.Segments = len(l.segments)
	return s
}
