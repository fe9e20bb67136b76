package tablet

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// LockMode of a row lock.
type LockMode uint8

const (
	LockShared LockMode = iota
	LockExclusive
)

const lockShards = 64

// lockManager grants row locks. A lock is the mixture of tablet id and 64-bit key
// hash: two keys that collide share a lock, which costs a wait and never a wrong
// answer. An uncontended lock is one map slot of 16 bytes plus 8 bytes in its
// transaction's list; only a lock that is shared or waited for gets a lockQueue.
type lockManager struct {
	shards [lockShards]lockShard
	held   atomic.Int64
	waits  atomic.Uint64
	expiry atomic.Uint64 // waits that timed out
}

type lockShard struct {
	mu     sync.Mutex
	single map[uint64]lockHolder // one holder, nobody waits
	queues map[uint64]*lockQueue
}

// lockHolder is a transaction id and, in the lowest bit, whether it is exclusive.
type lockHolder uint64

func makeHolder(tx uint64, mode LockMode) lockHolder {
	return lockHolder(tx<<1 | uint64(mode))
}

func (h lockHolder) tx() uint64     { return uint64(h) >> 1 }
func (h lockHolder) mode() LockMode { return LockMode(h & 1) }

type lockQueue struct {
	holders []lockHolder
	waiters []*lockWaiter // first in, first out; upgrades go before others
}

type lockWaiter struct {
	want    lockHolder
	upgrade bool
	granted chan struct{}
}

// lockID mixes tablet and key hash (the finalizer of splitmix64).
func lockID(t TabletID, hash uint64) uint64 {
	x := hash ^ uint64(t)*0x9E3779B97F4A7C15
	x ^= x >> 30
	x *= 0xBF58476D1CE4E5B9
	x ^= x >> 27
	x *= 0x94D049BB133111EB
	return x ^ x>>31
}

func (m *lockManager) shardOf(id uint64) *lockShard { return &m.shards[id>>58] }

// acquire locks every id for tx, in one sorted order so that two batches can't
// block each other, and returns those that tx did not hold before, also when it
// fails half-way. ids is sorted in place.
func (m *lockManager) acquire(ctx context.Context, tx uint64, ids []uint64, mode LockMode, wait time.Duration, held []uint64) ([]uint64, error) {
	if !slices.IsSorted(ids) {
		slices.Sort(ids)
	}
	var deadline time.Time
	for i, id := range ids {
		if i > 0 && ids[i-1] == id {
			continue
		}
		sh := m.shardOf(id)
		sh.mu.Lock()
		fresh, waiter := sh.tryLock(id, makeHolder(tx, mode), wait != 0)
		sh.mu.Unlock()
		if fresh {
			m.held.Add(1)
			held = append(held, id)
		}
		if fresh || waiter == nil {
			continue
		}
		if wait == 0 {
			return held, ErrLockNowait
		}
		m.waits.Add(1)
		if deadline.IsZero() {
			deadline = time.Now().Add(wait)
		}
		if err := m.await(ctx, sh, id, waiter, deadline); err != nil {
			return held, err
		}
		if !waiter.upgrade {
			m.held.Add(1)
			held = append(held, id)
		}
	}
	return held, nil
}

func (m *lockManager) await(ctx context.Context, sh *lockShard, id uint64, w *lockWaiter, deadline time.Time) error {
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	var err error
	select {
	case <-w.granted:
		return nil
	case <-timer.C:
		err = ErrLockWaitTimeout
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	select {
	case <-w.granted: // granted while we were giving up: keep it
		return nil
	default:
	}
	if err == ErrLockWaitTimeout {
		m.expiry.Add(1)
	}
	q := sh.queues[id]
	q.waiters = slices.DeleteFunc(q.waiters, func(o *lockWaiter) bool { return o == w })
	sh.settle(id, q)
	return err
}

// noWaiter tells a caller that does not want to wait that the lock is taken.
var noWaiter = &lockWaiter{}

// tryLock grants the lock (fresh = tx did not hold it before), or returns a waiter.
// fresh false and no waiter: tx holds enough already.
func (sh *lockShard) tryLock(id uint64, want lockHolder, enqueue bool) (fresh bool, w *lockWaiter) {
	q := sh.queues[id]
	if q == nil {
		h, taken := sh.single[id]
		switch {
		case !taken:
			if sh.single == nil {
				sh.single = make(map[uint64]lockHolder)
			}
			sh.single[id] = want
			return true, nil
		case h.tx() == want.tx():
			sh.single[id] = h | want
			return false, nil
		}
		q = &lockQueue{holders: []lockHolder{h}}
		if h.mode() == LockShared && want.mode() == LockShared {
			q.holders = append(q.holders, want)
			sh.promote(id, q)
			return true, nil
		}
		if !enqueue {
			return false, noWaiter
		}
		sh.promote(id, q)
	}
	own := slices.IndexFunc(q.holders, func(h lockHolder) bool { return h.tx() == want.tx() })
	if own >= 0 && q.holders[own].mode() >= want.mode() {
		return false, nil
	}
	if own >= 0 && len(q.holders) == 1 { // upgrade, nobody else holds it
		q.holders[own] = want
		return false, nil
	}
	if own < 0 && len(q.waiters) == 0 && q.admits(want) {
		q.holders = append(q.holders, want)
		return true, nil
	}
	if !enqueue {
		return false, noWaiter
	}
	w = &lockWaiter{want: want, upgrade: own >= 0, granted: make(chan struct{})}
	at := len(q.waiters)
	if w.upgrade { // it can't be granted after an exclusive waiter that waits for it
		at = 0
		for at < len(q.waiters) && q.waiters[at].upgrade {
			at++
		}
	}
	q.waiters = slices.Insert(q.waiters, at, w)
	return false, w
}

func (q *lockQueue) admits(want lockHolder) bool {
	if len(q.holders) == 0 {
		return true
	}
	return want.mode() == LockShared && q.holders[0].mode() == LockShared
}

func (sh *lockShard) promote(id uint64, q *lockQueue) {
	if sh.queues == nil {
		sh.queues = make(map[uint64]*lockQueue)
	}
	delete(sh.single, id)
	sh.queues[id] = q
}

// settle grants what can be granted and gives the queue up when it is not needed.
func (sh *lockShard) settle(id uint64, q *lockQueue) {
	for len(q.waiters) > 0 {
		w := q.waiters[0]
		if w.upgrade {
			own := slices.IndexFunc(q.holders, func(h lockHolder) bool { return h.tx() == w.want.tx() })
			if len(q.holders) != 1 || own != 0 {
				break
			}
			q.holders[0] = w.want
		} else {
			if !q.admits(w.want) {
				break
			}
			q.holders = append(q.holders, w.want)
		}
		q.waiters = slices.Delete(q.waiters, 0, 1)
		close(w.granted)
	}
	if len(q.waiters) == 0 && len(q.holders) <= 1 {
		delete(sh.queues, id)
		if len(q.holders) == 1 {
			sh.single[id] = q.holders[0]
		}
	}
}

// release gives locks of tx back.
func (m *lockManager) release(tx uint64, ids []uint64) {
	for _, id := range ids {
		sh := m.shardOf(id)
		sh.mu.Lock()
		if q := sh.queues[id]; q != nil {
			q.holders = slices.DeleteFunc(q.holders, func(h lockHolder) bool { return h.tx() == tx })
			sh.settle(id, q)
		} else {
			delete(sh.single, id)
		}
		sh.mu.Unlock()
	}
	m.held.Add(-int64(len(ids)))
}

// holds tells whether tx holds a lock at least in this mode.
func (m *lockManager) holds(tx, id uint64, mode LockMode) bool {
	sh := m.shardOf(id)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if h, ok := sh.single[id]; ok {
		return h.tx() == tx && h.mode() >= mode
	}
	q := sh.queues[id]
	return q != nil && slices.ContainsFunc(q.holders, func(h lockHolder) bool {
		return h.tx() == tx && h.mode() >= mode
	})
}
