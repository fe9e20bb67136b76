package main

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// startServer runs this test binary as `ksql serve` and returns once it is ready.
func startServer(t *testing.T, dir string) (*exec.Cmd, *sql.DB) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "ksql")
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(link, "serve", "--data", dir, "--port", "0")
	cmd.Args[0] = "ksql" // testscript.Main runs the command of that name
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if !bufio.NewScanner(out).Scan() {
		t.Fatalf("the server did not start: %v\n%s", cmd.Wait(), log.String())
	}
	db, err := sql.Open("mysql", "root@unix("+filepath.Join(dir, "ksql.sock")+")/")
	if err != nil {
		t.Fatal(err)
	}
	return cmd, db
}

// killWriter is one client: it commits pairs of rows in two tables and remembers
// what was acknowledged and what was in flight.
type killWriter struct {
	id    int
	acked []int64
}

func (w *killWriter) run(db *sql.DB, from int64) {
	ctx := context.Background()
	c, err := db.Conn(ctx)
	if err != nil {
		return
	}
	defer c.Close()
	for n := from; ; n++ {
		key := int64(w.id)*1_000_000 + n
		for _, q := range []string{
			"BEGIN",
			fmt.Sprintf("INSERT INTO k.a (id, v) VALUES (%d, '%d')", key, key),
			fmt.Sprintf("INSERT INTO k.b (a, t) VALUES (%d, REPEAT('x', %d))", key, n%500),
			fmt.Sprintf("UPDATE k.a SET n = n + 1 WHERE id = %d", key),
			"COMMIT",
		} {
			if _, err := c.ExecContext(ctx, q); err != nil {
				return // killed
			}
		}
		w.acked = append(w.acked, key)
	}
}

// TestServeKill kills a server twenty times under eight writing clients: what was
// acknowledged is there, what was not is whole or absent, verify finds nothing, and
// generated ids are not issued again.
func TestServeKill(t *testing.T) {
	_ = mysql.SetLogger(&mysql.NopLogger{}) // killed connections are no news
	seed := time.Now().UnixNano()
	t.Logf("seed=%d", seed)
	r := rand.New(rand.NewSource(seed))
	dir := filepath.Join(t.TempDir(), "db")
	writers := make([]*killWriter, 8)
	for i := range writers {
		writers[i] = &killWriter{id: i + 1}
	}
	lastID := int64(0)
	for round := range 20 {
		cmd, db := startServer(t, dir)
		if round == 0 {
			for _, q := range []string{"CREATE DATABASE k", "CREATE TABLE k.a (id BIGINT PRIMARY KEY, v VARCHAR(30) UNIQUE, n INT DEFAULT 0)",
				"CREATE TABLE k.b (id BIGINT AUTO_INCREMENT PRIMARY KEY, a BIGINT, t TEXT, KEY ka (a))"} {
				if _, err := db.Exec(q); err != nil {
					t.Fatal(err)
				}
			}
		}
		lastID = checkKilled(t, db, writers, lastID)
		var wg sync.WaitGroup
		for _, w := range writers {
			wg.Go(func() { w.run(db, int64(round)*10_000) })
		}
		time.Sleep(time.Duration(20+r.Intn(150)) * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		_ = cmd.Wait() // it was killed: that is its error
		db.Close()
	}
	cmd, db := startServer(t, dir)
	checkKilled(t, db, writers, lastID)
	db.Close()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("after SIGINT: %v", err)
	}
	if out, err := runSelf(t, "verify", "--data", dir); err != nil {
		t.Fatalf("verify: %v\n%s", err, out)
	}
	total := 0
	for _, w := range writers {
		total += len(w.acked)
	}
	if total < 200 {
		t.Fatalf("only %d commits in all", total)
	}
	t.Logf("%d acknowledged commits", total)
}

func runSelf(t *testing.T, args ...string) (string, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "ksql")
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(link, args...).CombinedOutput()
	return string(out), err
}

// checkKilled compares the tables with what the clients know and returns the largest
// generated id.
func checkKilled(t *testing.T, db *sql.DB, writers []*killWriter, before int64) int64 {
	t.Helper()
	have := map[int64]bool{}
	rows, err := db.Query("SELECT a.id, a.v, a.n, (SELECT COUNT(*) FROM k.b WHERE b.a = a.id) FROM k.a")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var v string
		var n, parts int
		if err := rows.Scan(&id, &v, &n, &parts); err != nil {
			t.Fatal(err)
		}
		if v != strconv.FormatInt(id, 10) || n != 1 || parts != 1 {
			t.Fatalf("a part of transaction %d only: v=%s n=%d b=%d", id, v, n, parts)
		}
		have[id] = true
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for _, w := range writers {
		for _, id := range w.acked {
			if !have[id] {
				t.Fatalf("transaction %d was acknowledged and is lost", id)
			}
		}
	}
	var orphans int
	var last sql.NullInt64
	if err := db.QueryRow("SELECT COUNT(*), MAX(b.id) FROM k.b").Scan(&orphans, &last); err != nil {
		t.Fatal(err)
	}
	if orphans != len(have) {
		t.Fatalf("%d rows in b, %d in a", orphans, len(have))
	}
	if last.Int64 < before {
		t.Fatalf("the largest id went from %d back to %d", before, last.Int64)
	}
	return last.Int64
}
