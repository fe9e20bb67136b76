package wal

import "errors"

// Release removes the segments that hold nothing at or behind before. The segment
// that is written to stays.
func (l *Log) Release(before LSN) error {
	for {
		l.mu.Lock()
		if len(l.segments) < 2 || l.segments[1].first > before || l.leading || l.segments[1].first > l.written {
			l.mu.Unlock()
			return nil
		}
		s := l.segments[0]
		l.segments = append([]*segment{}, l.segments[1:]...) // a leader may hold the old slice
		l.mu.Unlock()
		if err := l.remove(s); err != nil {
			return err
		}
	}
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
	l.mu.Unlock()
	if l.stop != nil {
		close(l.stop)
		<-l.done
	}
	var err error
	if l.replayed && l.Poisoned() == nil {
		err = l.SyncNow()
	}
	for _, s := range l.segments {
		err = errors.Join(err, s.f.Close())
	}
	return err
}
