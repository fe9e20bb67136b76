package dml

import (
	"fmt"
	"sync"
	"testing"
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
		const sessions, updates = 8, 25
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
