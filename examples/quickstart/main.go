// Command quickstart shows the main job of ksql inside a Go program: it creates a
// shop, fills it, upserts, asks, closes the folder, opens it again and finds
// everything there.
package main

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	_ "ksql/sqlbackend/driver" // registers "ksql"
)

//go:embed schema.sql
var schema string

func main() {
	dir, err := os.MkdirTemp("", "ksql-quickstart-")
	if err == nil {
		err = errors.Join(run(context.Background(), filepath.Join(dir, "shop")), os.RemoveAll(dir))
	}
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, dir string) error {
	if err := firstLife(ctx, dir); err != nil {
		return err
	}
	return secondLife(ctx, dir)
}

// open opens the folder; the last Close of a process releases it.
func open(dir string) (*sql.DB, error) {
	return sql.Open("ksql", dir+"?multiStatements=true&parseTime=true")
}

func firstLife(ctx context.Context, dir string) (err error) {
	db, err := open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return err
	}
	fmt.Println("created shop.stock and shop.sale in a new folder")

	// One transaction over two tables: all of it or nothing.
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after Commit
	for i, item := range []string{"tea", "coffee", "cocoa"} {
		if _, err := tx.ExecContext(ctx, "INSERT INTO shop.stock (item, pieces, price) VALUES (?, ?, ?)", item, 10*(i+1), "3.50"); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO shop.sale (item, pieces) VALUES (?, ?)", item, i+1); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	fmt.Println("filled both tables in one transaction; Commit returned, so it is on disk")

	res, err := db.ExecContext(ctx, `INSERT INTO shop.stock (item, pieces, price) VALUES ('tea', 5, 3.50), ('mate', 7, 4.20)
		ON DUPLICATE KEY UPDATE pieces = pieces + VALUES(pieces)`)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	fmt.Printf("upserted tea (there already, counts 2) and mate (new, counts 1): %d affected\n", n)

	_, err = db.ExecContext(ctx, "INSERT INTO shop.stock (item, pieces, price) VALUES ('TEA', 1, 1)")
	fmt.Println("a second tea in other letters is refused:", err)
	return show(ctx, db)
}

func secondLife(ctx context.Context, dir string) (err error) {
	db, err := open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	fmt.Println("\nclosed the folder and opened it again:")
	return show(ctx, db)
}

// show asks for the stock and what it is worth.
func show(ctx context.Context, db *sql.DB) error {
	rows, err := db.QueryContext(ctx, `SELECT s.item, s.pieces, s.pieces * s.price, COALESCE(SUM(v.pieces), 0)
		FROM shop.stock s LEFT JOIN shop.sale v ON v.item = s.item GROUP BY s.item, s.pieces, s.price ORDER BY s.item`)
	if err != nil {
		return err
	}
	defer rows.Close() // Err below tells what went wrong
	for rows.Next() {
		var item, worth string // DECIMAL comes as exact text
		var pieces, sold int
		if err := rows.Scan(&item, &pieces, &worth, &sold); err != nil {
			return err
		}
		fmt.Printf("  %-7s %3d pieces, worth %7s, %d sold\n", item, pieces, worth, sold)
	}
	return rows.Err()
}
