package dml

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"
	"time"
)

// modelRow is a row of the model: k is unique, NULL as -1.
type modelRow struct{ id, k, n int }

// model is what TestRandomDML expects the table to hold.
type model map[int]modelRow

func (m model) clone() model {
	c := model{}
	for k, v := range m {
		c[k] = v
	}
	return c
}

func (m model) String() string {
	ids := make([]int, 0, len(m))
	for id := range m {
		ids = append(ids, id)
	}
	sort.Ints(ids)
	lines := make([]string, len(ids))
	for i, id := range ids {
		k := "NULL"
		if m[id].k >= 0 {
			k = fmt.Sprint(m[id].k)
		}
		lines[i] = fmt.Sprintf("%d|%s|%d", id, k, m[id].n)
	}
	return strings.Join(lines, "\n")
}

func (m model) byKey(k int) (modelRow, bool) {
	for _, r := range m {
		if k >= 0 && r.k == k {
			return r, true
		}
	}
	return modelRow{}, false
}

// insert applies an insert of one row; update says what happens to a duplicate.
func (m model) insert(r modelRow, mode string) bool {
	old, dup := m[r.id]
	if !dup {
		old, dup = m.byKey(r.k)
	}
	if !dup {
		m[r.id] = r
		return true
	}
	switch mode {
	case "IGNORE":
	case "REPLACE":
		delete(m, r.id)
		if o, ok := m.byKey(r.k); ok {
			delete(m, o.id)
		}
		m[r.id] = r
	case "UPDATE":
		old.n += r.n
		m[old.id] = old
	default:
		return false
	}
	return true
}

// TestRandomDML compares random statements, transactions, flushes and reopens
// with a model, and every index with its table.
func TestRandomDML(t *testing.T) {
	t.Run("batches", func(t *testing.T) { testRandomDML(t) })
	t.Run("editors", func(t *testing.T) {
		disabled.Store(true)
		defer disabled.Store(false)
		testRandomDML(t)
	})
}

func testRandomDML(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed=%d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	h := newHarness(t)
	h.client("root").must("CREATE DATABASE test")
	delete(h.clients, "root")
	c := h.client("main")
	c.must("CREATE TABLE t (id INT PRIMARY KEY, k INT, n INT, UNIQUE KEY uk (k), KEY kn (n), KEY knk (n, k))")
	now := model{}
	committed := now.clone()
	inTx := false
	for step := range 400 {
		switch p := rnd.IntN(100); {
		case p < 4 && !inTx:
			c.must("BEGIN")
			inTx, committed = true, now.clone()
		case p < 8 && inTx:
			c.must("COMMIT")
			inTx = false
		case p < 12 && inTx:
			c.must("ROLLBACK")
			inTx, now = false, committed.clone()
		case p < 14 && !inTx:
			h.reopen()
			c = h.client("main")
		case p < 17:
			if err := h.manager.Flush(context.Background()); err != nil {
				t.Fatalf("step %d: flush: %v", step, err)
			}
		default:
			query, next, fails := randomStatement(rnd, now)
			_, err := c.run(query)
			if (err != nil) != fails {
				t.Fatalf("step %d: %s: %v, model says fails=%v\n%s", step, query, err, fails, now)
			}
			if !fails {
				now = next
			}
		}
		if step%10 == 0 || step == 399 {
			if got := c.text("SELECT * FROM t ORDER BY id"); got != now.String() {
				t.Fatalf("step %d: table\n%s\nmodel\n%s", step, got, now)
			}
			n := rnd.IntN(20)
			want := 0
			for _, r := range now {
				if r.n >= n {
					want++
				}
			}
			if got := c.text(fmt.Sprintf("SELECT COUNT(*) FROM t WHERE n >= %d", n)); got != fmt.Sprint(want) {
				t.Fatalf("step %d: %s rows with n >= %d, model %d", step, got, n, want)
			}
		}
	}
	if inTx {
		c.must("COMMIT")
	}
	if found := h.check(); found != "" {
		t.Fatal(found)
	}
}

// randomStatement returns a statement, the model after it, and whether it fails.
func randomStatement(rnd *rand.Rand, m model) (query string, next model, fails bool) {
	next = m.clone()
	switch rnd.IntN(6) {
	case 0: // DELETE
		n := rnd.IntN(20)
		for id, r := range next {
			if r.n == n {
				delete(next, id)
			}
		}
		return fmt.Sprintf("DELETE FROM t WHERE n = %d", n), next, false
	case 1: // UPDATE of a value
		n, d := rnd.IntN(20), rnd.IntN(5)
		for id, r := range next {
			if r.n >= n {
				r.n = (r.n + d) % 20
				next[id] = r
			}
		}
		return fmt.Sprintf("UPDATE t SET n = (n + %d) %% 20 WHERE n >= %d", d, n), next, false
	case 2: // UPDATE of keys
		id, to, k := rnd.IntN(30), rnd.IntN(30), rnd.IntN(30)
		r, ok := next[id]
		if !ok {
			return fmt.Sprintf("UPDATE t SET id = %d, k = %d WHERE id = %d", to, k, id), next, false
		}
		delete(next, id)
		if _, taken := next[to]; taken {
			fails = true
		}
		if _, taken := next.byKey(k); taken {
			fails = true
		}
		r.id, r.k = to, k
		next[to] = r
		return fmt.Sprintf("UPDATE t SET id = %d, k = %d WHERE id = %d", to, k, id), next, fails
	}
	mode := []string{"", "IGNORE", "REPLACE", "UPDATE"}[rnd.IntN(4)]
	var values []string
	for range 1 + rnd.IntN(6) {
		r := modelRow{id: rnd.IntN(30), k: rnd.IntN(40) - 5, n: rnd.IntN(20)}
		k := fmt.Sprint(r.k)
		if r.k < 0 {
			r.k, k = -1, "NULL"
		}
		values = append(values, fmt.Sprintf("(%d,%s,%d)", r.id, k, r.n))
		fails = !next.insert(r, mode) || fails
	}
	query = "INSERT INTO t VALUES " + strings.Join(values, ",")
	switch mode {
	case "IGNORE":
		query = strings.Replace(query, "INSERT", "INSERT IGNORE", 1)
	case "REPLACE":
		query = strings.Replace(query, "INSERT", "REPLACE", 1)
	case "UPDATE":
		query += " ON DUPLICATE KEY UPDATE n = n + VALUES(n)"
	}
	return query, next, fails
}
