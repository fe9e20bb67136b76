package main

import (
	"bufio"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"ksql/sqlbackend"
	_ "ksql/sqlbackend/driver"
)

const (
	startRounds = 5
	binary      = "bin/ksql"
)

// server is a running bin/ksql serve.
type server struct {
	cmd  *exec.Cmd
	db   *sql.DB
	took time.Duration // from the start of the process to the first answer
}

func startServer(dir, query string) (*server, error) {
	begun := time.Now()
	cmd := exec.Command(binary, "serve", "--data", dir, "--port", "0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return nil, fmt.Errorf("%s did not start: %w", binary, err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	db, err := sql.Open("mysql", "root@unix("+filepath.Join(dir, "ksql.sock")+")/")
	if err != nil {
		return nil, err
	}
	var n int64
	if err := db.QueryRow(query).Scan(&n); err != nil {
		return nil, err
	}
	return &server{cmd, db, time.Since(begun)}, nil
}

// stop ends the server; a killed one reports that as its error.
func (s *server) stop(sig syscall.Signal) error {
	s.db.Close()
	if err := s.cmd.Process.Signal(sig); err != nil {
		return err
	}
	if err := s.cmd.Wait(); err != nil && sig != syscall.SIGKILL {
		return err
	}
	return nil
}

// rss is the resident memory in MB.
func (s *server) rss() (float64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "VmRSS:" {
			kb, err := strconv.ParseFloat(f[1], 64)
			return kb / 1024, err
		}
	}
	return 0, fmt.Errorf("no VmRSS")
}

// fill makes a folder of about 100 MB.
func fill(dir string) error {
	b, err := sqlbackend.Open(dir, sqlbackend.Options{Sync: sqlbackend.SyncOff})
	if err != nil {
		return err
	}
	if err := b.Close(); err != nil {
		return err
	}
	db, err := sql.Open("ksql", dir)
	if err != nil {
		return err
	}
	for _, q := range []string{"CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, a INT, b VARCHAR(100), KEY ka (a))"} {
		if _, err := db.Exec(q); err != nil {
			return err
		}
	}
	x := uint64(1)
	for id := 0; id < 1_100_000; {
		var q strings.Builder
		q.WriteString("INSERT INTO d.t VALUES ")
		for i := range 1000 {
			if i > 0 {
				q.WriteByte(',')
			}
			var text string
			for range 5 { // digits that don't compress away
				x ^= x << 13
				x ^= x >> 7
				x ^= x << 17
				text += strconv.FormatUint(x, 36)
			}
			fmt.Fprintf(&q, "(%d,%d,'%s')", id, x%1_000_000, text)
			id++
		}
		if _, err := db.Exec(q.String()); err != nil {
			return err
		}
	}
	return db.Close()
}

func folderSize(dir string) (float64, error) {
	var n int64
	err := filepath.Walk(dir, func(_ string, i os.FileInfo, err error) error {
		if err == nil && !i.IsDir() {
			n += i.Size()
		}
		return err
	})
	return float64(n) / (1 << 20), err
}

// benchStart is the time to the first answer, idle memory and the binary's size.
func benchStart() ([]row, error) {
	dir, err := os.MkdirTemp("", "ksql-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var empty, idle []float64
	for i := range startRounds {
		s, err := startServer(filepath.Join(dir, fmt.Sprint("empty", i)), "SELECT 1")
		if err != nil {
			return nil, err
		}
		empty = append(empty, float64(s.took.Microseconds())/1000)
		time.Sleep(500 * time.Millisecond)
		m, err := s.rss()
		if err != nil {
			return nil, err
		}
		idle = append(idle, m)
		if err := s.stop(syscall.SIGTERM); err != nil {
			return nil, err
		}
	}
	full := filepath.Join(dir, "full")
	if err := fill(full); err != nil {
		return nil, err
	}
	size, err := folderSize(full)
	if err != nil {
		return nil, err
	}
	clean, killed, err := restarts(full)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(binary)
	if err != nil {
		return nil, err
	}
	mb := float64(info.Size()) / (1 << 20)
	ms := func(name string, v []float64, limit float64) row {
		return row{name: name, ours: fmt.Sprintf("%.0f ms", median(v)), target: fmt.Sprintf("< %.0f ms", limit), ok: median(v) < limit, judged: true}
	}
	return []row{
		ms("empty folder to first answer", empty, 80),
		ms(fmt.Sprintf("%.0f MB folder after clean shutdown", size), clean, 150),
		ms(fmt.Sprintf("%.0f MB folder after kill -9", size), killed, 2000),
		{name: "idle resident memory", ours: fmt.Sprintf("%.0f MB", median(idle)), target: "< 70 MB", ok: median(idle) < 70, judged: true},
		{name: "stripped binary", ours: fmt.Sprintf("%.0f MB", mb), target: "< 75 MB", ok: mb < 75, judged: true},
	}, nil
}

// restarts alternates clean stops and kills; before each kill 60 000 rows are changed,
// which only the log holds.
func restarts(dir string) (clean, killed []float64, err error) {
	const query = "SELECT COUNT(*) FROM d.t WHERE id < 100"
	for range startRounds {
		s, err := startServer(dir, query)
		if err != nil {
			return nil, nil, err
		}
		clean = append(clean, float64(s.took.Microseconds())/1000)
		if _, err := s.db.Exec("UPDATE d.t SET a = a + 1 WHERE id < 60000"); err != nil {
			return nil, nil, err
		}
		if err := s.stop(syscall.SIGKILL); err != nil {
			return nil, nil, err
		}
		if s, err = startServer(dir, query); err != nil {
			return nil, nil, err
		}
		killed = append(killed, float64(s.took.Microseconds())/1000)
		if err := s.stop(syscall.SIGTERM); err != nil {
			return nil, nil, err
		}
	}
	return clean, killed, nil
}
