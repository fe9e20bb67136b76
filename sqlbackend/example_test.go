package sqlbackend_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"path/filepath"

	_ "github.com/go-sql-driver/mysql"

	"ksql/sqlbackend"
	_ "ksql/sqlbackend/driver" // registers "ksql"
)

// The driver: a database in a folder, opened in this process.
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
	_, err = db.Exec(`CREATE DATABASE shop;
		CREATE TABLE shop.stock (item VARCHAR(40) PRIMARY KEY, pieces INT NOT NULL)`)
	if err != nil {
		log.Fatal(err)
	}
	res, err := db.Exec(`INSERT INTO shop.stock VALUES (?, ?), (?, ?)
		ON DUPLICATE KEY UPDATE pieces = pieces + VALUES(pieces)`, "tea", 3, "Tea", 4)
	if err != nil {
		log.Fatal(err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		log.Fatal(err)
	}
	var pieces int
	if err := db.QueryRow("SELECT pieces FROM shop.stock WHERE item = 'TEA'").Scan(&pieces); err != nil {
		log.Fatal(err)
	}
	fmt.Println(n, "affected,", pieces, "pieces")
	// Output: 3 affected, 7 pieces
}

// A program opens a folder and lets MySQL clients use it, here one of its own.
func ExampleBackend_Serve() {
	dir, err := os.MkdirTemp("", "ksql-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	b, err := sqlbackend.Open(dir, sqlbackend.Options{Socket: filepath.Join(dir, "ksql.sock")})
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()
	ctx, stop := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- b.Serve(ctx, sqlbackend.ServeOptions{
			Address: "127.0.0.1:0", // a free port
			Ready:   func(tcp, _ string) { ready <- tcp },
		})
	}()
	db, err := sql.Open("mysql", "root@tcp("+<-ready+")/")
	if err != nil {
		log.Fatal(err)
	}
	var sum string
	if err := db.QueryRow("SELECT SUM(n) FROM (SELECT 0.1 AS n UNION ALL SELECT 0.2) t").Scan(&sum); err != nil {
		log.Fatal(err)
	}
	fmt.Println(sum)
	if err := db.Close(); err != nil {
		log.Fatal(err)
	}
	stop() // running statements finish, then Serve returns
	fmt.Println(<-ended)
	// Output:
	// 0.3
	// <nil>
}
