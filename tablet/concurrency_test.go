package tablet

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ksql/internal/vfs"
)

// TestConcurrentIncrements: eight writers n = n+1 under row locks beside snapshot
// readers, flushes and a memory limit that makes maintenance flush too; nothing is
// lost, no snapshot moves, and nothing runs on after Close.
func TestConcurrentIncrements(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, mode := range []SyncMode{SyncFull, SyncInterval, SyncOff} {
		incrementAll(t, mode)
	}
}

const (
	incWriters = 8
	incEach    = 120
	incKeys    = 5
)

func incrementAll(t *testing.T, mode SyncMode) {
	fs := vfs.NewMem()
	m, err := Open("data", Options{FS: fs, Sync: mode, SyncInterval: time.Millisecond, SegmentSize: 64 << 10, LogBytes: 16 << 10})
	if err != nil {
		t.Fatal(err)
	}
	id := createTest(t, m)
	start := map[int64]*kv{}
	for k := range int64(incKeys) {
		start[k] = &kv{0, ""}
	}
	write(t, m, id, start)
	var stop atomic.Bool
	var writers, others sync.WaitGroup
	for w := range incWriters {
		writers.Go(func() {
			for i := range incEach {
				if err := increment(t, m, id, int64((w+i)%incKeys)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 2 {
		others.Go(func() { watchSums(t, m, id, &stop) })
	}
	others.Go(func() {
		for !stop.Load() {
			if err := m.Flush(bg); err != nil {
				t.Error(err)
				return
			}
			time.Sleep(2 * time.Millisecond)
		}
	})
	writers.Wait()
	stop.Store(true)
	others.Wait()
	for _, when := range []string{"open", "reopened"} {
		if n := sum(readAll(t, m, id)); n != incWriters*incEach {
			t.Errorf("%s: the sum is %d, want %d", when, n, incWriters*incEach)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		if when == "open" {
			m = openTest(t, fs)
			checkClean(t, m)
		}
	}
}

// increment adds one to a row, through whichever of the ways a client may take, and
// sometimes deletes the row first, so that it moves from store to store.
func increment(t *testing.T, m *Manager, id TabletID, k int64) error {
	tx := m.Begin(TxOptions{})
	defer tx.Rollback()
	tx.StartStatement(RepeatableRead)
	key := keyOf(k)
	if err := tx.LockKeys(bg, id, [][]byte{key}, LockExclusive, time.Minute); err != nil {
		return err
	}
	row, found, err := tx.Get(bg, id, key, ReadNewest)
	if err != nil {
		return err
	}
	if !found { // it lives elsewhere just now
		tx.Rollback()
		runtime.Gosched()
		return increment(t, m, id, k)
	}
	_, v := kvOf(row.Value)
	v.a++
	if v.a%7 == 0 {
		if err := tx.Write(id, RowOp{Type: OpDelete, Key: key, Ref: row.Ref}); err != nil {
			return err
		}
		if v.a%2 == 0 {
			if err := tx.Write(id, RowOp{Type: OpInsert, Key: key, Row: rowOf(t, k, v)}); err != nil {
				return err
			}
			_, err = tx.Commit(bg)
			return err
		}
		if _, err := put(t, tx, id, k+100, &v); err != nil { // it lives elsewhere for a while
			return err
		}
		if _, err := tx.Commit(bg); err != nil {
			return err
		}
		return moveBack(t, m, id, k)
	}
	if err := tx.Write(id, RowOp{Type: OpUpdate, Key: key, Row: rowOf(t, k, v), Ref: row.Ref}); err != nil {
		return err
	}
	_, err = tx.Commit(bg)
	return err
}

func moveBack(t *testing.T, m *Manager, id TabletID, k int64) error {
	tx := m.Begin(TxOptions{})
	defer tx.Rollback()
	tx.StartStatement(RepeatableRead)
	if err := tx.LockKeys(bg, id, keysOf([]int64{k, k + 100}), LockExclusive, time.Minute); err != nil {
		return err
	}
	row, found, err := tx.Get(bg, id, keyOf(k+100), ReadNewest)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("row %d is not where it was put", k+100)
	}
	_, v := kvOf(row.Value)
	if _, err := put(t, tx, id, k, &v); err != nil {
		return err
	}
	if _, err := put(t, tx, id, k+100, nil); err != nil {
		return err
	}
	_, err = tx.Commit(bg)
	return err
}

func sum(rows map[int64]kv) (n int64) {
	for _, v := range rows {
		n += v.a
	}
	return n
}

// watchSums reads snapshots: each has every row once, the same twice over, and no
// sum goes back.
func watchSums(t *testing.T, m *Manager, id TabletID, stop *atomic.Bool) {
	last := int64(0)
	for !stop.Load() {
		tx := m.Begin(TxOptions{})
		tx.PinSnapshot()
		var first int64
		for again := range 3 {
			tx.StartStatement(RepeatableRead)
			_, rows, err := contents(tx, ScanSpec{Tablet: id, Reverse: again == 1})
			if err != nil || len(rows) != incKeys {
				t.Errorf("a snapshot shows %v, %v", rows, err)
			}
			if again == 0 {
				first = sum(rows)
			} else if sum(rows) != first {
				t.Errorf("a snapshot moved from %d to %d", first, sum(rows))
			}
			runtime.Gosched()
		}
		if first < last {
			t.Errorf("the sum went back from %d to %d", last, first)
		}
		last = first
		tx.Rollback()
		if t.Failed() {
			return
		}
	}
}

// TestCloseBesideTransactions: Close waits for running commits; what comes later is
// told so, and never shown an empty tablet.
func TestCloseBesideTransactions(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	fs := vfs.NewMem()
	m := openTest(t, fs)
	id := createTest(t, m)
	write(t, m, id, map[int64]*kv{1: {1, "one"}})
	reader := m.Begin(TxOptions{})
	reader.StartStatement(RepeatableRead)
	if _, found, err := reader.Get(bg, id, keyOf(1), ReadSnapshot); err != nil || !found {
		t.Fatal(found, err)
	}
	running, err := reader.Scan(bg, ScanSpec{Tablet: id})
	if err != nil {
		t.Fatal(err)
	}
	writer := m.Begin(TxOptions{})
	if _, err := put(t, writer, id, 2, &kv{2, ""}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	acked := make([]int64, 4)
	for w := range acked {
		wg.Go(func() {
			for i := int64(0); ; i++ {
				err := tryWrite(t, m, id, map[int64]*kv{int64(w)*1000 + 10 + i: {1, ""}})
				if errors.Is(err, ErrClosed) || errors.Is(err, ErrTabletNotFound) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				acked[w]++
			}
		})
	}
	time.Sleep(5 * time.Millisecond)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	if !running.Next(bg) || running.Next(bg) {
		t.Errorf("a scan that was running does not end well: %v", running.Err())
	}
	if err := running.Close(); err != nil {
		t.Error(err)
	}
	if _, found, err := reader.Get(bg, id, keyOf(1), ReadSnapshot); !errors.Is(err, ErrClosed) {
		t.Errorf("a read after Close: found %v, %v", found, err)
	}
	if _, err := reader.Scan(bg, ScanSpec{Tablet: id}); !errors.Is(err, ErrClosed) {
		t.Errorf("a scan after Close: %v", err)
	}
	if err := reader.Probe(bg, id, [][]byte{keyOf(9)}, make([]Probe, 1)); !errors.Is(err, ErrClosed) {
		t.Errorf("a probe after Close: %v", err)
	}
	if _, found := m.Tablet(id); found {
		t.Error("a tablet after Close")
	}
	if _, err := writer.Commit(bg); !errors.Is(err, ErrClosed) {
		t.Errorf("a commit after Close: %v", err)
	}
	reader.Rollback()
	if err := m.Flush(bg); !errors.Is(err, ErrClosed) {
		t.Errorf("a flush after Close: %v", err)
	}
	if err := m.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
	want := int64(1)
	for _, n := range acked {
		want += n
	}
	m = openTest(t, fs)
	if got := int64(len(readAll(t, m, id))); got != want {
		t.Errorf("%d rows, %d were acknowledged", got, want)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}

// locker is one transaction of the lock tests.
type locker struct {
	m    *lockManager
	tx   uint64
	held []uint64
}

func (l *locker) lock(ctx context.Context, mode LockMode, wait time.Duration, ids ...uint64) error {
	var err error
	l.held, err = l.m.acquire(ctx, l.tx, slices.Clone(ids), mode, wait, l.held)
	return err
}

func (l *locker) release() { l.m.release(l.tx, l.held); l.held = nil }

func lockers(n int) (*lockManager, []*locker) {
	m := new(lockManager)
	var ls []*locker
	for i := range n {
		ls = append(ls, &locker{m: m, tx: uint64(i + 1)})
	}
	return m, ls
}

// waiting spins until n requests wait for a lock.
func waiting(t *testing.T, m *lockManager, id uint64, n int) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Microsecond) {
		sh := m.shardOf(id)
		sh.mu.Lock()
		q := sh.queues[id]
		got := 0
		if q != nil {
			got = len(q.waiters)
		}
		sh.mu.Unlock()
		if got == n {
			return
		}
	}
	t.Fatalf("never %d waiters", n)
}

func empty(t *testing.T, m *lockManager) {
	t.Helper()
	if n := m.held.Load(); n != 0 {
		t.Errorf("%d locks are held", n)
	}
	for i := range m.shards {
		if len(m.shards[i].single) != 0 || len(m.shards[i].queues) != 0 {
			t.Errorf("shard %d is not empty", i)
		}
	}
}

func TestLockModes(t *testing.T) {
	m, l := lockers(3)
	const id = 42
	must := func(what string, err, want error) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}
	must("shared", l[0].lock(bg, LockShared, 0, id), nil)
	must("shared beside shared", l[1].lock(bg, LockShared, 0, id), nil)
	must("exclusive beside shared", l[2].lock(bg, LockExclusive, 0, id), ErrLockNowait)
	must("upgrade beside shared", l[0].lock(bg, LockExclusive, 0, id), ErrLockNowait)
	must("upgrade times out", l[0].lock(bg, LockExclusive, time.Millisecond, id), ErrLockWaitTimeout)
	if !m.holds(1, id, LockShared) || m.holds(1, id, LockExclusive) {
		t.Error("a failed upgrade changes what is held")
	}
	l[1].release()
	must("upgrade alone", l[0].lock(bg, LockExclusive, 0, id, id), nil)
	must("shared of an exclusive owner", l[0].lock(bg, LockShared, 0, id), nil)
	if !m.holds(1, id, LockExclusive) {
		t.Error("a weaker request takes the exclusive lock away")
	}
	must("shared beside exclusive", l[1].lock(bg, LockShared, 0, id), ErrLockNowait)
	ctx, cancel := context.WithCancelCause(bg)
	reason := errors.New("killed")
	time.AfterFunc(time.Millisecond, func() { cancel(reason) })
	must("cancelled", l[1].lock(ctx, LockShared, time.Minute, id), reason)
	must("some of many", l[1].lock(bg, LockExclusive, 0, 1, 2, id, 99), ErrLockNowait)
	if len(l[1].held) != 2 || m.held.Load() != 3 {
		t.Errorf("%d locks are held after a batch that failed half-way, %d in all", len(l[1].held), m.held.Load())
	}
	l[0].release()
	l[1].release()
	empty(t, m)
}

// TestLockQueueIsFair: first come, first served; an upgrade goes first, and readers
// do not starve a writer.
func TestLockQueueIsFair(t *testing.T) {
	m, l := lockers(6)
	const id = 7
	if err := l[0].lock(bg, LockShared, 0, id); err != nil {
		t.Fatal(err)
	}
	if err := l[1].lock(bg, LockShared, 0, id); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var order []uint64
	var wg sync.WaitGroup
	ask := func(who *locker, mode LockMode, waiters int) {
		wg.Go(func() {
			if err := who.lock(bg, mode, time.Minute, id); err != nil {
				t.Error(err)
			}
			mu.Lock()
			order = append(order, who.tx)
			mu.Unlock()
			who.release()
		})
		waiting(t, m, id, waiters)
	}
	ask(l[2], LockExclusive, 1)
	ask(l[3], LockShared, 2) // behind the writer, although readers hold the lock
	ask(l[4], LockExclusive, 3)
	ask(l[0], LockExclusive, 4) // the upgrade
	if err := l[5].lock(bg, LockShared, 0, id); !errors.Is(err, ErrLockNowait) {
		t.Errorf("a reader jumps the queue: %v", err)
	}
	l[1].release()
	wg.Wait()
	if fmt.Sprint(order) != "[1 3 4 5]" {
		t.Errorf("granted in the order %v", order)
	}
	empty(t, m)
}

// TestLockGivenUpWaiterLetsOthersPass: a writer that gives up does not keep the
// readers behind it waiting.
func TestLockGivenUpWaiterLetsOthersPass(t *testing.T) {
	m, l := lockers(3)
	const id = 9
	if err := l[0].lock(bg, LockShared, 0, id); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(bg)
	done := make(chan error, 2)
	go func() { done <- l[1].lock(ctx, LockExclusive, time.Minute, id) }()
	waiting(t, m, id, 1)
	passed := make(chan error, 1)
	go func() { passed <- l[2].lock(bg, LockShared, time.Minute, id) }()
	waiting(t, m, id, 2)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := <-passed; err != nil {
		t.Error(err)
	}
	for _, x := range l {
		x.release()
	}
	empty(t, m)
}

// TestLocksUnderLoad: an exclusive lock is exclusive; nothing is left behind.
func TestLocksUnderLoad(t *testing.T) {
	m, l := lockers(8)
	var owners [4]atomic.Int64 // -1 = exclusive, n = shared by n
	var wg sync.WaitGroup
	for i, who := range l {
		wg.Go(func() {
			for n := range 400 {
				id := uint64((i + n) % 4)
				mode := LockMode(n % 2)
				wait := time.Duration(n%3) * 100 * time.Microsecond
				if err := who.lock(bg, mode, wait, id); err != nil {
					continue
				}
				if mode == LockExclusive {
					if !owners[id].CompareAndSwap(0, -1) {
						t.Error("an exclusive lock is shared")
					}
					runtime.Gosched()
					owners[id].Store(0)
				} else {
					if owners[id].Add(1) < 1 {
						t.Error("a shared lock beside an exclusive one")
					}
					runtime.Gosched()
					owners[id].Add(-1)
				}
				who.release()
			}
		})
	}
	wg.Wait()
	empty(t, m)
}

// Sizes are read by planners while flushes replace REDO files (the race detector looks).
func TestSizesBesideFlushes(t *testing.T) {
	m := openTest(t, vfs.NewMem())
	id := createTest(t, m)
	write(t, m, id, map[int64]*kv{1: {1, "one"}, 2: {2, "two"}})
	if err := m.Flush(bg); err != nil {
		t.Fatal(err)
	}
	tab, _ := m.Tablet(id)
	before := tab.DataBytes()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 2000 {
			if tab.DataBytes() <= 0 {
				t.Error("a tablet with rows has no bytes")
				return
			}
		}
	}()
	for i := range int64(20) {
		write(t, m, id, map[int64]*kv{1: {i, "changed"}})
		if err := m.Flush(bg); err != nil {
			t.Fatal(err)
		}
	}
	<-done
	if tab.DataBytes() <= before {
		t.Errorf("%d bytes with a REDO file, %d without", tab.DataBytes(), before)
	}
}
