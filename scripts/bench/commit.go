package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"ksql/internal/vfs"
	"ksql/sqlbackend"
	"ksql/sqlbackend/wire"
)

const (
	commitRounds   = 5
	commitTime     = 700 * time.Millisecond
	commitSessions = 8
	addedLatency   = 2 * time.Millisecond
)

// inserter runs one single-row autocommit insert of a session.
type inserter func(session, n int) error

// measure lets sessions insert for a while and returns commits a second and the
// number of commits.
func measure(sessions, from int, insert inserter) (rate float64, commits int, err error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	start := time.Now()
	for s := range sessions {
		wg.Go(func() {
			n, failed := 0, error(nil)
			for time.Since(start) < commitTime && failed == nil {
				if failed = insert(s, from+n); failed == nil {
					n++
				}
			}
			mu.Lock()
			defer mu.Unlock()
			commits += n
			err = errors.Join(err, failed)
		})
	}
	wg.Wait()
	return float64(commits) / time.Since(start).Seconds(), commits, err
}

const commitTable = "CREATE TABLE bench.t (id BIGINT PRIMARY KEY, v VARCHAR(20))"

func insertText(session, n int) string {
	return fmt.Sprintf("INSERT INTO bench.t VALUES (%d, 'value')", session*100_000_000+n)
}

// openOurs opens a folder with latency added to each sync.
func openOurs(dir string, latency time.Duration) (*sqlbackend.Backend, inserter, error) {
	o := sqlbackend.Options{FS: vfs.Default}
	if latency > 0 {
		o.FS = vfs.WithSyncLatency(vfs.Default, latency)
	}
	b, err := sqlbackend.Open(dir, o)
	if err != nil {
		return nil, nil, err
	}
	var sessions []*wire.Session
	for range commitSessions {
		s, err := b.Connect(context.Background(), wire.ConnInfo{})
		if err != nil {
			return nil, nil, errors.Join(err, b.Close())
		}
		sessions = append(sessions, s)
	}
	exec := func(s *wire.Session, q string) error {
		res, _, err := s.Query(context.Background(), q, false)
		if err != nil {
			return err
		}
		return res.Close()
	}
	for _, q := range []string{"CREATE DATABASE bench", commitTable} {
		if err := exec(sessions[0], q); err != nil {
			return nil, nil, errors.Join(err, b.Close())
		}
	}
	return b, func(s, n int) error { return exec(sessions[s], insertText(s, n)) }, nil
}

// benchCommit is group commit: with 2 ms added to each sync, and, reported only, on
// the real disk beside MariaDB.
func benchCommit() ([]row, error) {
	dir, err := os.MkdirTemp("", "ksql-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	b, insert, err := openOurs(filepath.Join(dir, "latency"), addedLatency)
	if err != nil {
		return nil, err
	}
	var one, eight, share []float64
	for round := range commitRounds {
		r1, _, err := measure(1, (2*round)*1_000_000, insert)
		if err != nil {
			return nil, err
		}
		before := b.Manager().Stats()
		r8, n, err := measure(commitSessions, (2*round+1)*1_000_000, insert)
		if err != nil {
			return nil, err
		}
		one, eight = append(one, r1), append(eight, r8)
		share = append(share, float64(b.Manager().Stats().Syncs-before.Syncs)/float64(n))
	}
	if err := b.Close(); err != nil {
		return nil, err
	}
	rows := []row{
		{"syncs ÷ commits, 8 sessions, +2 ms a sync", fmt.Sprintf("%.3f", median(share)), "1", "", "≤ 0.27", median(share) <= 0.27, true},
		{"commits/s, 8 sessions against one, +2 ms", fmt.Sprintf("%.0f", median(eight)), fmt.Sprintf("%.0f", median(one)),
			fmt.Sprintf("%.2f", median(eight)/median(one)), "≥ 3.8", median(eight)/median(one) >= 3.8, true},
	}
	real, err := benchRealDisk(dir)
	return append(rows, real...), err
}

// benchRealDisk compares with MariaDB at its durable setting, interleaved.
func benchRealDisk(dir string) ([]row, error) {
	b, ours, err := openOurs(filepath.Join(dir, "real"), 0)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	stop, theirs, err := startMariaDB(dir)
	if err != nil {
		return []row{{name: "real disk beside MariaDB", ours: "-", baseline: err.Error()}}, nil
	}
	defer stop()
	var rows []row
	for _, sessions := range []int{1, commitSessions} {
		var mine, other []float64
		for round := range commitRounds {
			from := (round*10 + sessions) * 1_000_000
			r, _, err := measure(sessions, from, ours)
			if err != nil {
				return nil, err
			}
			mine = append(mine, r)
			if r, _, err = measure(sessions, from, theirs); err != nil {
				return nil, err
			}
			other = append(other, r)
		}
		rows = append(rows, row{name: fmt.Sprintf("commits/s on the real disk, %d sessions (MariaDB over its socket)", sessions),
			ours: fmt.Sprintf("%.0f", median(mine)), baseline: fmt.Sprintf("%.0f", median(other)),
			ratio: fmt.Sprintf("%.2f", median(mine)/median(other))})
	}
	return rows, nil
}

// startMariaDB starts a server of its own in dir.
func startMariaDB(dir string) (stop func(), insert inserter, err error) {
	data, socket := filepath.Join(dir, "mariadb"), filepath.Join(dir, "mariadb.sock")
	if out, err := exec.Command("mariadb-install-db", "--no-defaults", "--user=root", "--datadir="+data,
		"--auth-root-authentication-method=normal").CombinedOutput(); err != nil {
		return nil, nil, fmt.Errorf("no MariaDB: %w %.100s", err, out)
	}
	cmd := exec.Command("mariadbd", "--no-defaults", "--user=root", "--datadir="+data, "--socket="+socket,
		"--skip-networking", "--innodb-flush-log-at-trx-commit=1")
	if err := cmd.Start(); err != nil {
		return nil, nil, fmt.Errorf("no MariaDB: %w", err)
	}
	stop = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	}
	db, err := sql.Open("mysql", "root@unix("+socket+")/")
	if err != nil {
		stop()
		return nil, nil, err
	}
	db.SetMaxIdleConns(commitSessions)
	for range 100 {
		if _, err = db.Exec("CREATE DATABASE IF NOT EXISTS bench"); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err == nil {
		_, err = db.Exec(commitTable)
	}
	if err != nil {
		stop()
		return nil, nil, err
	}
	return stop, func(s, n int) error { _, err := db.Exec(insertText(s, n)); return err }, nil
}
