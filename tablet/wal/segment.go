package wal

import (
	"errors"
	"fmt"

	"ksql/internal/vfs"
)

// segment is one file; offsets in it follow from the LSN.
type segment struct {
	name  string
	first LSN
	room  LSN // end of its preallocated space
	f     vfs.File
	dirty bool // written since its last sync; only the leader looks
}

func (s *segment) offset(at LSN) int64 { return pageSize + int64(at-s.first) }

// reserve returns the segment that has room for size bytes at l.end, and makes one if
// need be. Lack of space shows here. The caller holds mu, which is released while a
// segment is made: other Appends wait (the file's name is the LSN), syncs go on.
func (l *Log) reserve(size int64) (*segment, error) {
	for {
		if err := l.usable(); err != nil {
			return nil, err
		}
		if l.rolling {
			l.moved.Wait()
			continue
		}
		last := l.segments[len(l.segments)-1]
		if int64(last.room)-int64(l.end.load()) >= size {
			return last, nil
		}
		if err := l.roll(last, size); err != nil {
			return nil, err
		}
	}
}

// roll makes room for at least size bytes at l.end. The caller holds mu.
func (l *Log) roll(last *segment, size int64) error {
	at := l.end.load()
	room := max(l.o.SegmentSize-pageSize, size)
	l.rolling = true
	l.mu.Unlock()
	var s *segment
	var err error
	if last.first == at { // empty, so that a new file would have its name
		err = last.f.Preallocate(pageSize, room)
	} else {
		s, err = l.createSegment(at, room)
	}
	l.mu.Lock()
	l.rolling = false
	l.moved.Broadcast()
	switch {
	case err == nil && s == nil:
		last.room = at + LSN(room)
	case err == nil:
		l.segments = append(l.segments, s)
	default:
		if errors.Is(err, ErrPoisoned) {
			l.poison(err)
		}
		return fmt.Errorf("extend the log: %w", err)
	}
	return nil
}

// createSegment makes a durable empty segment. It gets its name when it is whole: a
// segment without a header, whatever a crash does, is damage. A failed sync is never
// tried again: its error wraps ErrPoisoned.
func (l *Log) createSegment(first LSN, room int64) (*segment, error) {
	name := l.dir + "/" + segmentName(first)
	f, err := l.fs.Create(name + tempSuffix)
	if err != nil {
		return nil, err
	}
	if err = errors.Join(l.fillSegment(f, first, room), f.Close()); err == nil {
		err = l.fs.Rename(name+tempSuffix, name)
	}
	if err != nil {
		return nil, errors.Join(err, l.fs.Remove(name+tempSuffix))
	}
	// From here on a crash may bring the segment back under its name, so that nothing
	// may follow in the one before.
	if f, err = l.fs.OpenReadWrite(name); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPoisoned, err)
	}
	if err = vfs.SyncDir(l.fs, l.dir); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPoisoned, errors.Join(err, f.Close()))
	}
	return &segment{name: name, first: first, room: first + LSN(room), f: f}, nil
}

func (l *Log) fillSegment(f vfs.File, first LSN, room int64) error {
	if err := f.Preallocate(0, pageSize+room); err != nil {
		return err
	}
	if _, err := f.WriteAt(segmentHeader(first, l.id), 0); err != nil {
		if vfs.IsNoSpace(err) {
			return err
		}
		return fmt.Errorf("%w: %w", ErrPoisoned, err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("%w: %w", ErrPoisoned, err)
	}
	return nil
}

// writeGroup puts a group on the files, one write a segment.
func (l *Log) writeGroup(group []chunk) error {
	for i := range group {
		c := &group[i]
		if _, err := c.seg.f.WriteAt(c.buf, c.seg.offset(c.at)); err != nil {
			return fmt.Errorf("write %s: %w", c.seg.name, err)
		}
		if !c.seg.dirty {
			c.seg.dirty = true
			l.dirty = append(l.dirty, c.seg)
		}
	}
	return nil
}

// syncDirty syncs in order, so that a later record is never durable when an earlier
// one of another segment is not.
func (l *Log) syncDirty() error {
	for _, s := range l.dirty {
		if err := s.f.Sync(); err != nil {
			return fmt.Errorf("sync %s: %w", s.name, err)
		}
		s.dirty = false
		l.noted = s
	}
	l.dirty = l.dirty[:0]
	return nil
}

// notePromise writes the durable LSN behind the header of the segment that was synced
// last. It is a hint for the next start and is not synced; a failed write poisons all
// the same, for the file is not what it should be.
func (l *Log) notePromise(durable LSN) error {
	if l.noted == nil {
		return nil
	}
	promise(&l.promise, durable)
	if _, err := l.noted.f.WriteAt(l.promise[:], promiseOffset); err != nil {
		return fmt.Errorf("write %s: %w", l.noted.name, err)
	}
	return nil
}

// remove closes and deletes a segment file.
func (l *Log) remove(s *segment) error {
	if err := errors.Join(s.f.Close(), l.fs.Remove(s.name)); err != nil {
		return fmt.Errorf("remove log segment: %w", err)
	}
	return nil
}
