package catalog

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"
)

// TestHotRow: updates of one row from many sessions lose nothing and fail never.
func TestHotRow(t *testing.T) {
	h := newHarness(t)
	root := h.client("root")
	root.must("CREATE DATABASE test")
	root.must("CREATE TABLE test.c (id INT PRIMARY KEY, n INT, k INT, KEY kk (k))")
	root.must("INSERT INTO test.c VALUES (1, 0, 5), (2, 0, 5)")
	for _, where := range []string{"id = 1", "k = 5", "n >= 0"} {
		root.must("UPDATE test.c SET n = 0")
		const sessions, updates = 8, 40
		clients := make([]*client, sessions)
		for i := range clients {
			clients[i] = h.client(fmt.Sprint(i))
		}
		var wg sync.WaitGroup
		for _, c := range clients {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for range updates {
					if _, err := c.run("UPDATE test.c SET n = n + 1 WHERE " + where); err != nil {
						t.Errorf("update where %s: %v", where, err)
						return
					}
				}
			}()
		}
		wg.Wait()
		if got := root.text("SELECT n FROM test.c WHERE id = 1"); got != fmt.Sprint(sessions*updates) {
			t.Errorf("where %s: n = %s, want %d", where, got, sessions*updates)
		}
	}
	if found := h.check(); found != "" {
		t.Error(found)
	}
}

// TestRepeatableRead: a transaction's reads agree with each other beside writers
// that move amounts between rows.
func TestRepeatableRead(t *testing.T) {
	h := newHarness(t)
	root := h.client("root")
	root.must("CREATE DATABASE test")
	root.must("CREATE TABLE test.a (id INT PRIMARY KEY, v INT, KEY kv (v))")
	for i := range 10 {
		root.must(fmt.Sprintf("INSERT INTO test.a VALUES (%d, 100)", i))
	}
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for w := range 2 {
		c := h.client(fmt.Sprint("writer", w))
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := 0; ctx.Err() == nil; i++ {
				from, to := i%10, (i*7+3)%10
				if from == to {
					continue
				}
				// Rows are always locked in order of id, so nobody waits in a circle.
				first, second := fmt.Sprintf("v = v - 1 WHERE id = %d", from), fmt.Sprintf("v = v + 1 WHERE id = %d", to)
				if from > to {
					first, second = second, first
				}
				for _, q := range []string{"BEGIN", "UPDATE test.a SET " + first, "UPDATE test.a SET " + second, "COMMIT"} {
					if _, err := c.run(q); err != nil {
						t.Errorf("%s: %v", q, err)
						return
					}
				}
			}
		}()
	}
	reader := h.client("reader")
	deadline := time.Now().Add(time.Second)
	for n := 0; n < 60 && time.Now().Before(deadline); n++ {
		reader.must("BEGIN")
		first := reader.text("SELECT id, v FROM test.a ORDER BY id")
		sum := reader.text("SELECT SUM(v) FROM test.a WHERE v > -1000000")
		again := reader.text("SELECT id, v FROM test.a ORDER BY id")
		reader.must("COMMIT")
		if first != again {
			t.Fatalf("not repeatable:\n%s\n%s", first, again)
		}
		if sum != "1000" {
			t.Fatalf("sum = %s", sum)
		}
	}
	stop()
	wg.Wait()
	if found := h.check(); found != "" {
		t.Error(found)
	}
}

// TestKilledStatement: a statement whose context ends keeps nothing.
func TestKilledStatement(t *testing.T) {
	h := newHarness(t)
	c := h.client("root")
	c.must("CREATE DATABASE test")
	c.must("CREATE TABLE test.t (id INT PRIMARY KEY, n INT)")
	c.must("INSERT INTO test.t VALUES (1,1),(2,2),(3,3)")
	c.must("BEGIN")
	c.must("UPDATE test.t SET n = 20 WHERE id = 2")
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.runContext(ctx, "UPDATE test.t SET n = n + SLEEP(0.04) + 100"); err == nil {
		t.Fatal("killed statement succeeded")
	}
	if got := c.text("SELECT n FROM test.t"); got != "1\n20\n3" {
		t.Errorf("after kill: %q", got)
	}
	c.must("COMMIT")
	if got := c.text("SELECT n FROM test.t"); got != "1\n20\n3" {
		t.Errorf("after commit: %q", got)
	}
}

// TestConcurrentDDL: definitions change beside writers; each statement sees one
// definition from its start to its end.
func TestConcurrentDDL(t *testing.T) {
	h := newHarness(t)
	root := h.client("root")
	root.must("CREATE DATABASE test")
	root.must("CREATE TABLE test.both (id INT AUTO_INCREMENT PRIMARY KEY, v INT)")
	ctx, stop := context.WithCancel(context.Background())
	var writers, changers sync.WaitGroup
	inserted := make([]int, 3)
	for w := range inserted {
		c := h.client(fmt.Sprint("writer", w))
		writers.Add(1)
		go func() {
			defer writers.Done()
			for ctx.Err() == nil {
				if _, err := c.run("INSERT INTO test.both (v) VALUES (1)"); err != nil {
					t.Errorf("insert: %v", err)
					return
				}
				inserted[w]++
				if _, err := c.run("UPDATE test.both SET v = v + 1 WHERE id = 1"); err != nil {
					t.Errorf("update: %v", err)
					return
				}
			}
		}()
	}
	for w := range 2 {
		c := h.client(fmt.Sprint("changer", w))
		changers.Add(1)
		go func() {
			defer changers.Done()
			for i := range 8 {
				for _, q := range []string{
					fmt.Sprintf("ALTER TABLE test.both ADD COLUMN c%d_%d INT DEFAULT %d", w, i, i),
					fmt.Sprintf("CREATE TABLE test.own%d (a INT PRIMARY KEY)", w),
					fmt.Sprintf("INSERT INTO test.own%d VALUES (%d)", w, i),
					fmt.Sprintf("DROP TABLE test.own%d", w),
					fmt.Sprintf("ALTER TABLE test.both ADD KEY k%d_%d (v)", w, i),
				} {
					if _, err := c.run(q); err != nil {
						t.Errorf("%s: %v", q, err)
						return
					}
				}
			}
		}()
	}
	changers.Wait()
	stop()
	writers.Wait()
	want := 0
	for _, n := range inserted {
		want += n
	}
	if got := root.text("SELECT COUNT(*) FROM test.both"); got != fmt.Sprint(want) {
		t.Errorf("%s rows, inserted %d", got, want)
	}
	if found := h.check(); found != "" {
		t.Error(found)
	}
}
