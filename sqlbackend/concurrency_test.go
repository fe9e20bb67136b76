package sqlbackend

import (
	"fmt"
	"sync"
	"testing"

	"ksql/internal/vfs"
)

// Eight sessions add to one row; nothing is lost and nothing fails.
func TestConcurrentIncrements(t *testing.T) {
	for name, where := range map[string]string{"full key": "id = 1", "scan": "v = 'x'", "unique key": "u = 7"} {
		t.Run(name, func(t *testing.T) {
			b := openMem(t, vfs.NewMem())
			c := connect(t, b, "")
			c.must("CREATE DATABASE d;\nUSE d;\nCREATE TABLE c (id INT PRIMARY KEY, n INT, v VARCHAR(9), u INT UNIQUE);\nINSERT INTO c VALUES (1, 0, 'x', 7)")
			sessions, each := 8, 500
			if name == "scan" {
				each = 60
			}
			var wg sync.WaitGroup
			for range sessions {
				s := connect(t, b, "d")
				wg.Go(func() {
					for range each {
						if _, err := s.try("UPDATE c SET n = n + 1 WHERE " + where); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			c.want("SELECT n FROM c", fmt.Sprint(sessions*each))
		})
	}
}

// A REPEATABLE READ transaction reads one state beside writers and flushes; READ
// COMMITTED reads the newest.
func TestRepeatableReadBesideWriters(t *testing.T) {
	b := openMem(t, vfs.NewMem())
	c := connect(t, b, "")
	c.must("CREATE DATABASE d;\nUSE d;\nCREATE TABLE t (id INT PRIMARY KEY, n INT, KEY k (n))")
	for i := range 50 {
		c.must(fmt.Sprintf("INSERT INTO t VALUES (%d, 0)", i))
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for w := range 3 {
		s := connect(t, b, "d")
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := s.try(fmt.Sprintf("UPDATE t SET n = n + 1 WHERE id = %d", (i*7+w)%50)); err != nil {
					t.Error(err)
					return
				}
				if i%40 == 39 && w == 0 {
					if err := b.Flush(t.Context()); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	r := connect(t, b, "d")
	moved := false
	for range 10 {
		r.must("BEGIN")
		first := r.must("SELECT SUM(n), COUNT(*) FROM t")[0]
		byIndex := r.must("SELECT SUM(n), COUNT(*) FROM t WHERE n >= 0")[0]
		for range 10 {
			r.want("SELECT SUM(n), COUNT(*) FROM t", first)
			r.want("SELECT SUM(n), COUNT(*) FROM t FORCE INDEX (k) WHERE n >= 0", byIndex)
		}
		if first != byIndex {
			t.Fatalf("the index shows %s, the table %s", byIndex, first)
		}
		r.must("COMMIT")
		moved = moved || r.must("SELECT SUM(n), COUNT(*) FROM t")[0] != first
	}
	if !moved {
		t.Fatal("the writers changed nothing, so nothing was tested")
	}
	r.must("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;\nBEGIN")
	first, differs := r.must("SELECT SUM(n) FROM t")[0], false
	for range 1000 {
		if differs = r.must("SELECT SUM(n) FROM t")[0] != first; differs {
			break
		}
	}
	r.must("COMMIT")
	if !differs {
		t.Fatal("READ COMMITTED does not see commits")
	}
	close(stop)
	wg.Wait()
}
