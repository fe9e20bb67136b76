package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"
)

// program is what scripts/build.sh makes.
const program = "bin/ksql"

// server is a running database server that is reached through a unix socket.
type server struct {
	cmd    *exec.Cmd
	socket string
	errors bytes.Buffer
	exited chan error
}

// startKsql starts bin/ksql on a folder and returns when it has answered a query, with
// the time from the start of the process to the answer.
func startKsql(ctx context.Context, dir string) (*server, time.Duration, error) {
	s := &server{socket: filepath.Join(dir, "ksql.sock")}
	if err := os.Remove(s.socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, 0, err
	}
	return s.start(ctx, exec.Command(program, "serve", "--data", dir, "--port", "0", "--log-level", "error"))
}

func (s *server) start(ctx context.Context, cmd *exec.Cmd) (*server, time.Duration, error) {
	s.cmd, s.exited = cmd, make(chan error, 1)
	cmd.Stderr = &s.errors
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, 0, err
	}
	go func() { s.exited <- cmd.Wait() }() // read by stop
	for time.Since(begin) < time.Minute {
		if _, err := os.Stat(s.socket); err == nil {
			if err := s.ask(ctx); err == nil {
				return s, time.Since(begin), nil
			}
		}
		select {
		case err := <-s.exited:
			return nil, 0, fmt.Errorf("%s ended: %w: %s", cmd.Path, err, s.errors.String())
		case <-time.After(time.Millisecond):
		}
	}
	return nil, 0, errors.Join(fmt.Errorf("%s does not answer: %s", cmd.Path, s.errors.String()), s.stop(syscall.SIGKILL))
}

func (s *server) open(db string) (*sql.DB, error) {
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr, c.DBName = "root", "unix", s.socket, db
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

func (s *server) ask(ctx context.Context) error {
	db, err := s.open("")
	if err != nil {
		return err
	}
	var one int
	return errors.Join(db.QueryRowContext(ctx, "SELECT 1").Scan(&one), db.Close())
}

// rss is the resident memory in MB.
func (s *server) rss() (float64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, ok := strings.Cut(string(b), "VmRSS:")
	if !ok {
		return 0, errors.New("no VmRSS")
	}
	kb, err := strconv.Atoi(strings.Fields(rest)[0])
	return float64(kb) * 1024 / 1e6, err
}

// stop sends a signal and waits. A process that was killed is no error.
func (s *server) stop(signal syscall.Signal) error {
	if err := s.cmd.Process.Signal(signal); err != nil {
		return err
	}
	err := <-s.exited
	var exit *exec.ExitError
	if signal == syscall.SIGKILL && errors.As(err, &exit) {
		return nil
	}
	return err
}

// startMariaDB starts mariadbd on a fresh folder of its own.
func startMariaDB(ctx context.Context, dir string) (*server, error) {
	data := filepath.Join(dir, "mariadb")
	var asRoot []string
	if os.Geteuid() == 0 {
		asRoot = []string{"--user=root"} // mariadbd refuses to run as root unless told so
	}
	out, err := exec.Command("mariadb-install-db", append([]string{"--no-defaults", "--auth-root-authentication-method=normal",
		"--skip-test-db", "--datadir=" + data}, asRoot...)...).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("mariadb-install-db: %w: %s", err, out)
	}
	s := &server{socket: filepath.Join(dir, "m.sock")}
	s, _, err = s.start(ctx, exec.Command("mariadbd", append([]string{"--no-defaults", "--datadir=" + data, "--socket=" + s.socket,
		"--pid-file=" + filepath.Join(dir, "m.pid"), "--skip-networking", "--skip-log-bin", "--innodb-flush-log-at-trx-commit=1"}, asRoot...)...))
	return s, err
}
