package catalog

import (
	"context"
	"strings"
	"sync"
	"time"
)

// metadataLocks are the table locks between statements that use a table and
// statements that change its definition. A transaction holds its table locks
// to its end; DDL statements hold theirs until their definitions are published.
type metadataLocks struct {
	mu    sync.Mutex
	locks map[string]*metadataLock
}

// metadataLock is one name's state; it exists only while somebody holds or
// waits for it.
type metadataLock struct {
	shared    map[*Session]struct{}
	exclusive *Session
	pending   int           // exclusive requests that wait; they hold back new shared ones
	changed   chan struct{} // closed and replaced whenever a holder or waiter leaves
	refs      int           // holders and waiters
}

// ddlLockName is the lock that makes DDL statements run one at a time.
const ddlLockName = "\x00ddl"

func newMetadataLocks() *metadataLocks {
	return &metadataLocks{locks: map[string]*metadataLock{}}
}

// tableLockName is the lock name of a table.
func tableLockName(database, table string) string {
	return strings.ToLower(database) + "\x00" + strings.ToLower(table)
}

func (m *metadataLocks) get(name string) *metadataLock {
	l := m.locks[name]
	if l == nil {
		l = &metadataLock{shared: map[*Session]struct{}{}, changed: make(chan struct{})}
		m.locks[name] = l
	}
	return l
}

// lockShared takes name for reading its definition. It waits at most wait
// (error 1205) while another session has it, or waits for it, exclusively.
func (m *metadataLocks) lockShared(ctx context.Context, s *Session, name string, wait time.Duration) error {
	return m.lock(ctx, name, wait, false, func(l *metadataLock) bool {
		_, own := l.shared[s]
		if l.exclusive == s || own {
			return true
		}
		if l.exclusive != nil || l.pending > 0 {
			return false
		}
		l.shared[s] = struct{}{}
		l.refs++
		return true
	})
}

// lockExclusive takes name for changing its definition: no other session holds
// it in any way. The session's own shared lock does not stand in its way.
func (m *metadataLocks) lockExclusive(ctx context.Context, s *Session, name string, wait time.Duration) error {
	return m.lock(ctx, name, wait, true, func(l *metadataLock) bool {
		if l.exclusive == s {
			return true
		}
		if l.exclusive != nil {
			return false
		}
		_, own := l.shared[s]
		if len(l.shared) > 1 || len(l.shared) == 1 && !own {
			return false
		}
		l.exclusive = s
		l.refs++
		return true
	})
}

// lock repeats try, under the mutex, until it succeeds, time runs out or ctx ends.
func (m *metadataLocks) lock(ctx context.Context, name string, wait time.Duration, exclusive bool, try func(*metadataLock) bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.get(name)
	if try(l) {
		return nil
	}
	l.refs++
	if exclusive {
		l.pending++
	}
	defer func() {
		if exclusive {
			l.pending--
		}
		m.leave(name, l)
	}()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		changed := l.changed
		m.mu.Unlock()
		var err error
		select {
		case <-changed:
		case <-timer.C:
			err = errLockWaitTimeout()
		case <-ctx.Done():
			err = contextError(ctx)
		}
		m.mu.Lock()
		if err != nil || try(l) {
			return err
		}
	}
}

// leave drops one reference and wakes the waiters; the mutex is held.
func (m *metadataLocks) leave(name string, l *metadataLock) {
	l.refs--
	if l.refs == 0 {
		delete(m.locks, name)
		return
	}
	close(l.changed)
	l.changed = make(chan struct{})
}

// unlock gives up whatever the session holds of name.
func (m *metadataLocks) unlock(s *Session, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.locks[name]
	if l == nil {
		return
	}
	if l.exclusive == s {
		l.exclusive = nil
		m.leave(name, l)
	}
	if _, ok := l.shared[s]; ok {
		delete(l.shared, s)
		m.leave(name, l)
	}
}
