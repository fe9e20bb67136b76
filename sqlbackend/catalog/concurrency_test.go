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
