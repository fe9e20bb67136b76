package sqlbackend

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ksql/internal/vfs"
	"ksql/sqlbackend/wire"
)

// An account with nothing but a table's privileges changes no global variable and
// reads no file of the server.
func TestPrivilegesTheEngineForgets(t *testing.T) {
	b := openMem(t, vfs.NewMem())
	root := connect(t, b, "")
	root.must(`CREATE DATABASE d;
CREATE TABLE d.t (id INT PRIMARY KEY, s TEXT);
CREATE USER low@localhost;
GRANT ALL ON d.* TO low@localhost;
CREATE USER admin@localhost;
GRANT SUPER ON *.* TO admin@localhost`)
	as := func(user string) *client {
		s, err := b.Connect(context.Background(), wire.ConnInfo{
			User: user, Host: "localhost", AccountUser: user, AccountHost: "localhost",
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		return &client{t, s}
	}
	const value = "SELECT @@global.wait_timeout"
	before := root.must(value)[0]
	low := as("low")
	for _, q := range []string{
		"SET GLOBAL wait_timeout = 77",
		"SET @@global.wait_timeout = 77",
		"SET PERSIST wait_timeout = 77",
		"SET @@persist.wait_timeout = 77",
		"SET PERSIST_ONLY wait_timeout = 77",
		"SET sql_mode = '', GLOBAL wait_timeout = 77",
		"SET GLOBAL TRANSACTION ISOLATION LEVEL READ COMMITTED",
		"PREPARE s FROM 'SET GLOBAL wait_timeout = 77';\nEXECUTE s",
	} {
		_, err := low.try(q)
		if err == nil || !strings.Contains(err.Error(), "errno 1227") {
			t.Errorf("%s: %v, not 1227", q, err)
		}
	}
	if got := root.must(value)[0]; got != before {
		t.Errorf("wait_timeout is %s, was %s", got, before)
	}
	low.must("SET SESSION wait_timeout = 77")
	low.must("SET @a = 1")
	as("admin").must("SET GLOBAL wait_timeout = " + before)

	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	ask := "SELECT LOAD_FILE('" + filepath.ToSlash(file) + "')"
	for _, q := range []string{ask, "SELECT LOAD_FILE(NULL)", "PREPARE l FROM \"" + ask + "\";\nEXECUTE l"} {
		if got := low.must(q)[0]; got != "NULL" {
			t.Errorf("%s gives %q to an account without FILE", q, got)
		}
	}
	if got := root.must(ask)[0]; got != "secret" {
		t.Errorf("LOAD_FILE gives %q to root", got)
	}
	for _, none := range []string{"NULL", "'/nowhere'", "'/'", "1", "REPEAT('x', 5000)"} {
		if got := root.must("SELECT LOAD_FILE(" + none + ")")[0]; got != "NULL" {
			t.Errorf("LOAD_FILE(%s) is %q", none, got)
		}
	}
}
