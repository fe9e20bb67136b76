package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// sharedInput finds a file of the shared real-input group. The group runs where the
// folder is present, is reported as skipped elsewhere, and must run in CI.
func sharedInput(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("KSQL_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	p, err := filepath.Abs(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(p); err != nil {
		missing(t, "the shared real input", err)
	}
	return p
}

// missing skips the test, but not in CI.
func missing(t *testing.T, what string, err error) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s must be present in CI: %v", what, err)
	}
	t.Skipf("%s is not here: %v", what, err)
}

// answers are the lines of tables that the queries of a case file must give.
func answers(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, line := range strings.Split(string(b), "\n") {
		if row, ok := strings.CutPrefix(line, "-- > "); ok {
			want = append(want, row)
		}
	}
	if len(want) == 0 {
		t.Fatal("no answer was read")
	}
	return trimLines(strings.Join(want, "\n"))
}

func trimLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t\r")
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// sameTables compares the whole output of a client, line by line.
func sameTables(t *testing.T, who, got, want string) {
	t.Helper()
	g, w := strings.Split(trimLines(got), "\n"), strings.Split(want, "\n")
	for i := range w {
		if i >= len(g) || g[i] != w[i] {
			t.Fatalf("%s, line %d of the answers:\n got %q\nwant %q", who, i+1, append(g, "nothing")[min(i, len(g))], w[i])
		}
	}
	if len(g) > len(w) {
		t.Fatalf("%s gives more than the answers: %q", who, g[len(w)])
	}
}

// mariadb runs the stock client on the folder's socket with a file as its input.
func mariadb(dir, file string, args ...string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close() // it has only been read
	cmd := exec.Command("mariadb", append([]string{"--no-defaults", "--user=root", "--socket=" + filepath.Join(dir, "ksql.sock"),
		"--default-character-set=utf8mb4"}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = f, &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("mariadb: %w: %s", err, errs.String())
	}
	return out.String(), nil
}

// Chinook loads whole by `ksql run`; its queries give their answers, in another
// start too.
func TestSharedChinookRun(t *testing.T) {
	data, cases := sharedInput(t, "data/chinook.sql"), sharedInput(t, "cases/chinook-queries.sql")
	dir := filepath.Join(t.TempDir(), "db")
	if out, err := runSelf(t, "run", "--data", dir, data); err != nil || out != "" {
		t.Fatalf("load: %v\n%s", err, out)
	}
	out, err := runSelf(t, "run", "--data", dir, "-D", "Chinook", cases)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	sameTables(t, "ksql run", out, answers(t, cases))
}

// Chinook loads whole through the mariadb client; its queries give their answers
// there, after a restart, after a flush, and after a kill -9 in mid-load followed by
// a fresh load.
func TestSharedChinookServe(t *testing.T) {
	data, cases := sharedInput(t, "data/chinook.sql"), sharedInput(t, "cases/chinook-queries.sql")
	if _, err := exec.LookPath("mariadb"); err != nil {
		missing(t, "the mariadb client", err)
	}
	dir, want := filepath.Join(t.TempDir(), "db"), answers(t, cases)
	ask := func(when string) {
		t.Helper()
		out, err := mariadb(dir, cases, "--table", "Chinook")
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		sameTables(t, when, out, want)
	}
	server, db := startServer(t, dir)
	begin := time.Now()
	if _, err := mariadb(dir, data); err != nil {
		t.Fatal(err)
	}
	took := time.Since(begin)
	ask("after the load")
	if _, err := db.Exec("FLUSH TABLES"); err != nil {
		t.Fatal(err)
	}
	ask("after a flush")
	db.Close()
	if err := server.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := server.Wait(); err != nil {
		t.Fatal(err)
	}
	server, db = startServer(t, dir)
	ask("after a restart")

	loaded := make(chan error, 1)
	go func() {
		_, err := mariadb(dir, data)
		loaded <- err
	}()
	time.Sleep(took / 2)
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := <-loaded; err == nil {
		t.Fatal("the load was over before the kill")
	}
	_ = server.Wait() // it was killed: that is its error
	db.Close()
	server, db = startServer(t, dir)
	if _, err := mariadb(dir, data); err != nil {
		t.Fatal(err)
	}
	ask("after a kill -9 in mid-load and a fresh load")
	db.Close()
	if err := server.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := server.Wait(); err != nil {
		t.Fatal(err)
	}
	if out, err := runSelf(t, "verify", "--data", dir); err != nil {
		t.Fatalf("verify: %v\n%s", err, out)
	}
}
