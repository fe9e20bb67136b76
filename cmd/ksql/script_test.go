package main

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"ksql/config"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"ksql": func() { os.Exit(mainWithCode()) }})
}

// The scripts run the program as people do.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"await": await, "flip": flip, "terminate": terminate, "exitcode": exitCodeOf, "listen": listen,
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("TERM", "xterm")
			return nil
		},
	})
}

// await waits until a file exists, for at most 20 s: await FILE.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await FILE")
	}
	for range 2000 {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("%s has not appeared", args[0])
}

// terminate sends SIGTERM to the process that has a folder open: terminate FOLDER.
func terminate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: terminate FOLDER")
	}
	pid, _, err := readOwner(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(syscall.Kill(pid, syscall.SIGTERM))
}

// flip changes the byte in the middle of the largest file with a name: flip PATTERN.
func flip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: flip PATTERN")
	}
	names, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(names) == 0 {
		ts.Fatalf("no file is called %s", args[0])
	}
	var name string
	var b []byte
	for _, n := range names {
		content, err := os.ReadFile(n)
		ts.Check(err)
		if len(content) > len(b) {
			name, b = n, content
		}
	}
	b[len(b)/2] ^= 0xff
	ts.Check(os.WriteFile(name, b, 0o600))
}

// exitcode demands an exit code: exitcode N ksql ….
func exitCodeOf(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exitcode N COMMAND…")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if exit, ok := err.(interface{ ExitCode() int }); ok {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// listen takes a port until the script ends and puts it into $PORT.
func listen(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: listen")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { l.Close() })
	ts.Setenv("PORT", strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
}

// A folder that can't be written is exit code 4 and says so.
func TestReadOnlyFolder(t *testing.T) {
	dir := t.TempDir()
	for d := dir; strings.Contains(d, t.Name()); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o555); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(d, 0o755)
	}
	if os.Geteuid() == 0 { // root may write everywhere: be nobody on this thread
		runtime.LockOSThread() // never unlocked: the thread ends with the test
		if err := syscall.Setfsuid(65534); err != nil {
			t.Fatal(err)
		}
		defer syscall.Setfsuid(0)
	}
	var out, errs bytes.Buffer
	env := &environment{stdin: strings.NewReader(""), stdout: &out, stderr: &errs}
	code := execute(env, []string{"run", "--data", filepath.Join(dir, "db"), "-"})
	if code != exitFolder || !strings.Contains(errs.String(), "permission denied") || !strings.Contains(errs.String(), "must be writable") {
		t.Fatalf("exit code %d, %s", code, errs.String())
	}
}

// Every command explains itself, and every setting is a flag of each.
func TestHelp(t *testing.T) {
	for _, c := range commands() {
		var out, errs bytes.Buffer
		if code := execute(&environment{stdout: &out, stderr: &errs}, []string{c.name, "--help"}); code != 0 {
			t.Errorf("%s --help: %d %s", c.name, code, errs.String())
		}
		for _, k := range config.Keys {
			if !strings.Contains(out.String(), "--"+strings.ReplaceAll(k.Name, "_", "-")+" ") {
				t.Errorf("%s --help does not name %s", c.name, k.Name)
			}
		}
	}
}
