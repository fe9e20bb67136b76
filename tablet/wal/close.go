package wal

import (
	"errors"
	"fmt"
	"slices"
)

// Release removes the segments that hold nothing at or behind before, which must be
// durable elsewhere. The segment that is written to stays. The removals are not
// synced: a segment that a crash brings back is dropped by the next Replay.
func (l *Log) Release(before LSN) error {
	for {
		s := l.takeReleased(before)
		if s == nil {
			return nil
		}
		if err := l.remove(s); err != nil {
			return err
		}
	}
}

// takeReleased takes the oldest segment off the list if it may go. All of it is
// synced then, so no leader knows it any more.
func (l *Log) takeReleased(before LSN) *segment {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.segments) < 2 || l.segments[1].first > min(before, l.synced.load()) {
		return nil
	}
	s := l.segments[0]
	l.segments = l.segments[1:]
	return s
}

// Close writes and syncs what is pending and closes the files. A second Close does
// nothing.
func (l *Log) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	for l.rolling {
		l.moved.Wait()
	}
	usable := l.replayed && l.err == nil
	l.mu.Unlock()
	if l.stop != nil {
		close(l.stop)
		<-l.done
	}
	var err error
	if usable {
		if err = l.SyncNow(); err == nil {
			err = l.syncPromise()
		}
	}
	for _, s := range l.segments {
		err = errors.Join(err, s.f.Close())
	}
	return err
}

// syncPromise makes the last promise durable: after a clean end even a lost machine
// can't make damage of the last records look like a torn tail.
func (l *Log) syncPromise() error {
	if !slices.Contains(l.segments, l.noted) { // nothing was synced, or it is released
		return nil
	}
	if err := l.noted.f.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", l.noted.name, err)
	}
	return nil
}
