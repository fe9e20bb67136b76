package wal

import "time"

// Sync waits until everything below upTo is as durable as the sync mode asks for.
// After a failed write or sync it, and everything after it, returns ErrPoisoned.
func (l *Log) Sync(upTo LSN) error { return l.advance(upTo, l.o.Sync == Full) }

// SyncNow makes everything that was appended durable in every sync mode.
func (l *Log) SyncNow() error { return l.advance(l.End(), true) }

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
func (l *Log) Synced() LSN { return l.synced.load() }

// End is the LSN of the next record.
func (l *Log) End() LSN { return l.end.load() }

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
