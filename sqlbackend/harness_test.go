package sqlbackend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/dolthub/vitess/go/mysql"

	"ksql/internal/vfs"
	"ksql/sqlbackend/wire"
)

// client is a session with a small surface, so that tests read like SQL.
type client struct {
	t testing.TB
	s *wire.Session
}

// openMem opens a backend on a memory file system.
func openMem(t testing.TB, fsys vfs.FS) *Backend {
	t.Helper()
	b, err := Open("data", Options{FS: fsys, MemoryLimit: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() }) // a test that cares closes it itself
	return b
}

func connect(t testing.TB, b *Backend, db string) *client {
	t.Helper()
	s, err := b.Connect(context.Background(), wire.ConnInfo{Database: db})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return &client{t, s}
}

// try runs statements separated by ";\n" and returns the rows of the last one, one
// string each, columns separated by "|".
func (c *client) try(script string) ([]string, error) {
	var rows []string
	for _, q := range strings.Split(script, ";\n") {
		if strings.TrimSpace(q) == "" {
			continue
		}
		var err error
		if rows, err = c.one(q); err != nil {
			return nil, fmt.Errorf("%s: %w", q, err)
		}
	}
	return rows, nil
}

func (c *client) one(q string) ([]string, error) {
	res, _, err := c.s.Query(context.Background(), q, false)
	if err != nil {
		return nil, err
	}
	defer res.Close()
	var rows []string
	for res.HasRows() {
		row, err := res.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		cells := make([]string, len(row))
		for i, v := range row {
			if cells[i] = "NULL"; v != nil {
				sv, err := res.Schema[i].Type.SQL(res.Context(), nil, v)
				if err != nil {
					return nil, err
				}
				cells[i] = sv.ToString()
			}
		}
		rows = append(rows, strings.Join(cells, "|"))
	}
	if !res.HasRows() {
		rows = []string{fmt.Sprintf("affected %d", res.Affected)}
	}
	return rows, res.Close()
}

func (c *client) must(script string) []string {
	c.t.Helper()
	rows, err := c.try(script)
	if err != nil {
		c.t.Fatal(err)
	}
	return rows
}

// want runs a query and compares its rows.
func (c *client) want(query string, rows ...string) {
	c.t.Helper()
	if got := c.must(query); strings.Join(got, "\n") != strings.Join(rows, "\n") {
		c.t.Fatalf("%s\n got %q\nwant %q", query, got, rows)
	}
}

// wantError demands a MySQL error number.
func (c *client) wantError(number int, query string) {
	c.t.Helper()
	_, err := c.try(query)
	var se *mysql.SQLError
	if !errors.As(err, &se) || se.Num != number {
		c.t.Fatalf("%s: error %v, want %d", query, err, number)
	}
}

func seeded(t testing.TB) *rand.Rand {
	t.Helper()
	seed := time.Now().UnixNano()
	t.Logf("seed=%d", seed)
	return rand.New(rand.NewSource(seed))
}
