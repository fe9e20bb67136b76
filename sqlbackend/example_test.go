package sqlbackend_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ksql/sqlbackend"
	_ "ksql/sqlbackend/driver" // registers "ksql"
)

// The README's quick start in a Go program.
func Example() {
	dir, err := os.MkdirTemp("", "ksql-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	db, err := sql.Open("ksql", dir+"?parseTime=true&multiStatements=true")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE DATABASE shop; CREATE TABLE shop.stock (item VARCHAR(20) PRIMARY KEY, pieces INT)"); err != nil {
		log.Fatal(err)
	}
	res, err := db.Exec("INSERT INTO shop.stock VALUES (?, ?) ON DUPLICATE KEY UPDATE pieces = pieces + VALUES(pieces)", "tea", 5)
	if err != nil {
		log.Fatal(err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		log.Fatal(err)
	}
	var pieces int
	if err := db.QueryRow("SELECT pieces FROM shop.stock WHERE item = ?", "TEA").Scan(&pieces); err != nil {
		log.Fatal(err)
	}
	fmt.Println(n, pieces)
	// Output: 1 5
}

// A program that uses a folder itself and serves it to MySQL clients.
func Example_serve() {
	dir, err := os.MkdirTemp("", "ksql-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	b, err := sqlbackend.Open(dir, sqlbackend.Options{Socket: filepath.Join(dir, "ksql.sock")})
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	err = b.Serve(ctx, sqlbackend.ServeOptions{Address: "127.0.0.1:0", Ready: func(tcp, socket string) {
		fmt.Println("ready on", filepath.Base(socket))
		stop()
	}})
	if err != nil {
		log.Fatal(err)
	}
	if err := b.Close(); err != nil {
		log.Fatal(err)
	}
	// Output: ready on ksql.sock
}

// TestReadmeCode keeps the README's Go code the code that is compiled here.
func TestReadmeCode(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]bool{}
	for line := range strings.Lines(string(here)) {
		lines[strings.TrimSpace(line)] = true
	}
	_, rest, found := strings.Cut(string(readme), "```go\n")
	block, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatal("the README has no Go code")
	}
	for line := range strings.Lines(block) {
		if s := strings.TrimSpace(line); s != "" && !lines[s] {
			t.Errorf("the README's line %q is not in example_test.go", s)
		}
	}
}
