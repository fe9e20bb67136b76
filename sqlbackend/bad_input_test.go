package sqlbackend

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"ksql/internal/vfs"
	"ksql/tablet"
)

// Every kind of bad statement gets MySQL's number and changes nothing.
func TestBadStatementsChangeNothing(t *testing.T) {
	b := openMem(t, vfs.NewMem())
	c := connect(t, b, "")
	c.must(`CREATE DATABASE d;
USE d;
CREATE TABLE p (id INT PRIMARY KEY);
CREATE TABLE t (id INT PRIMARY KEY, u INT UNIQUE, s VARCHAR(3) NOT NULL, n TINYINT, d DATE, e ENUM('a','b'), p INT,
  CONSTRAINT fk FOREIGN KEY (p) REFERENCES p (id), CONSTRAINT pos CHECK (n >= 0));
INSERT INTO p VALUES (1), (2);
INSERT INTO t VALUES (1, 10, 'abc', 1, '2020-01-01', 'a', 1), (2, 20, 'def', 2, '2020-01-02', 'b', NULL)`)
	state := func() string { return strings.Join(c.must("SELECT * FROM t ORDER BY id"), "\n") }
	before := state()
	for _, q := range []struct {
		number int
		text   string
	}{
		{1064, "SELEC 1"},
		{1064, "INSERT INTO t VALUES (3, 30, 'x', 1, NULL, NULL, NULL"},
		{1146, "SELECT * FROM nosuch"},
		{1146, "INSERT INTO nosuch VALUES (1)"},
		{1049, "USE nosuch"},
		{1054, "SELECT nosuch FROM t"},
		{1054, "UPDATE t SET nosuch = 1"},
		{1062, "INSERT INTO t VALUES (3, 30, 'x', 1, NULL, NULL, NULL), (1, 11, 'x', 1, NULL, NULL, NULL)"},
		{1062, "INSERT INTO t VALUES (3, 10, 'x', 1, NULL, NULL, NULL)"},
		{1062, "UPDATE t SET id = 2 WHERE id = 1"},
		{1062, "UPDATE t SET u = 20 WHERE id = 1"},
		{1366, "INSERT INTO t VALUES (3, 'abc', 'x', 1, NULL, NULL, NULL)"},
		{1292, "INSERT INTO t VALUES (3, 30, 'x', 1, 'no date', NULL, NULL)"},
		{1406, "INSERT INTO t VALUES (3, 30, 'abcd', 1, NULL, NULL, NULL)"},
		{1406, "UPDATE t SET s = 'abcd' WHERE id = 2"},
		{1264, "INSERT INTO t VALUES (3, 30, 'x', 1000, NULL, NULL, NULL)"},
		{1265, "INSERT INTO t VALUES (3, 30, 'x', 1, NULL, 'c', NULL)"},
		{1048, "INSERT INTO t VALUES (3, 30, NULL, 1, NULL, NULL, NULL)"},
		{1048, "UPDATE t SET s = NULL WHERE id = 2"},
		{1364, "INSERT INTO t (id) VALUES (3)"},
		{1136, "INSERT INTO t VALUES (3)"},
		{1452, "INSERT INTO t VALUES (3, 30, 'x', 1, NULL, NULL, 9)"},
		{1452, "UPDATE t SET p = 9 WHERE id = 1"},
		{1451, "DELETE FROM p WHERE id = 1"},
		{3819, "INSERT INTO t VALUES (3, 30, 'x', -1, NULL, NULL, NULL)"},
		{1050, "CREATE TABLE t (a INT)"},
		{1068, "CREATE TABLE two (a INT PRIMARY KEY, b INT PRIMARY KEY)"},
		{1068, "CREATE TABLE two (a INT PRIMARY KEY, b INT, PRIMARY KEY (b))"},
		{1051, "DROP TABLE nosuch"},
		{1007, "CREATE DATABASE d"},
		{1008, "DROP DATABASE nosuch"},
		{1060, "ALTER TABLE t ADD COLUMN s INT"},
		{1091, "ALTER TABLE t DROP COLUMN nosuch"},
		{1305, "ROLLBACK TO SAVEPOINT nosuch"},
		{1305, "SELECT nosuch(1)"},
		{1235, "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE"},
	} {
		c.wantError(q.number, q.text)
		if now := state(); now != before {
			t.Fatalf("%s changed the table:\n%s", q.text, now)
		}
	}
	if err := b.Check(context.Background(), func(err error) { t.Error(err) }); err != nil {
		t.Fatal(err)
	}
}

// filled makes a closed folder with flushed rows and rows that are in the log only.
func filled(t *testing.T) (*vfs.MemFS, string) {
	m := vfs.NewMem()
	b := openMem(t, m)
	c := connect(t, b, "")
	c.must(crashSchema)
	for i := range 300 {
		c.must(fmt.Sprintf("INSERT INTO a VALUES (%d, 'value %d', %d)", i, i, i))
	}
	if err := b.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		c.must(fmt.Sprintf("UPDATE a SET n = n + 1 WHERE id = %d;\nINSERT INTO b (a, t) VALUES (%d, 'x')", i, i))
	}
	state, err := dump(c)
	if err != nil {
		t.Fatal(err)
	}
	return m.CrashClone(vfs.CrashConfig{UnsyncedPercent: 100}), state
}

// A damaged file is an error that names it, at open, at verify or at the query;
// what is answered is right.
func TestDamagedFiles(t *testing.T) {
	r := seeded(t)
	m, state := filled(t)
	kinds := map[string]int{}
	for _, name := range m.Files() {
		info, err := m.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "LOCK") || info.Size == 0 {
			continue
		}
		for range 12 {
			at := r.Int63n(info.Size)
			if strings.HasSuffix(name, ".log") {
				at = r.Int63n(min(info.Size, 40000))
			}
			clone := m.CrashClone(vfs.CrashConfig{})
			if err := clone.Corrupt(name, at, byte(1<<r.Intn(8))); err != nil {
				t.Fatal(err)
			}
			kind, err := survey(t, clone, state)
			if err != nil {
				t.Fatalf("%s, byte %d flipped: %v", name, at, err)
			}
			kinds[kind]++
		}
		clone := m.CrashClone(vfs.CrashConfig{})
		f, err := clone.OpenReadWrite(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(f.Truncate(info.Size/2), f.Sync(), f.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := survey(t, clone, state); err != nil {
			t.Fatalf("%s truncated: %v", name, err)
		}
	}
	t.Logf("%v", kinds)
	if kinds["reported"] == 0 {
		t.Fatal("no damage was reported")
	}
}

// survey opens a damaged folder: everything that is answered must be the truth.
func survey(t *testing.T, m *vfs.MemFS, state string) (kind string, err error) {
	b, err := Open("data", Options{FS: m, MemoryLimit: 64 << 20})
	var damage *tablet.CorruptionError
	if err != nil {
		if !errors.As(err, &damage) || damage.File == "" {
			return "", fmt.Errorf("open does not name the damaged file: %w", err)
		}
		return "reported", nil
	}
	defer b.Close()
	faults := 0
	if err := b.Check(context.Background(), func(error) { faults++ }); err != nil {
		return "", err
	}
	got, err := dump(connect(t, b, ""))
	switch {
	case err != nil && faults == 0:
		return "", fmt.Errorf("a query fails (%w), verify finds nothing", err)
	case err == nil && got != state:
		return "", fmt.Errorf("wrong rows and no error:\n%s", got)
	case faults > 0:
		return "reported", nil
	}
	return "harmless", nil
}

// A full disk fails the statement, loses nothing, and clears by itself.
func TestDiskFull(t *testing.T) {
	m := vfs.NewMem()
	b := openMem(t, m)
	c := connect(t, b, "")
	c.must(crashSchema)
	c.must("INSERT INTO a VALUES (0, 'first', 0)")
	m.SetSpace(0)
	done, failed := 1, 0
	for i := 1; i < 400 && failed < 5; i++ {
		_, err := c.try(fmt.Sprintf("INSERT INTO a SELECT %d, 'v%d', 0;\nINSERT INTO b (a, t) VALUES (%d, REPEAT('x', 60000))", i, i, i))
		if err == nil {
			done++
			continue
		}
		failed++
		if _, err := c.try(fmt.Sprintf("DELETE FROM a WHERE id = %d", i)); err == nil {
			t.Log("a small commit finds room")
		}
		c.must(fmt.Sprintf("SELECT * FROM a WHERE id = %d", i))
		done = len(c.must("SELECT id FROM a"))
		c.want("SELECT COUNT(*) FROM a", fmt.Sprint(done))
		if err := b.Flush(context.Background()); err == nil {
			t.Fatal("a flush succeeds without space")
		}
		c.want("SELECT COUNT(*) FROM a", fmt.Sprint(done))
	}
	if failed == 0 {
		t.Fatal("no statement met the full disk")
	}
	m.SetSpace(-1)
	c.must("INSERT INTO a VALUES (-1, 'after', 0)")
	if err := b.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	c.want("SELECT COUNT(*) FROM a", fmt.Sprint(done+1))
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b = openMem(t, m)
	connect(t, b, "d").want("SELECT COUNT(*) FROM a", fmt.Sprint(done+1))
	if err := b.Check(context.Background(), func(err error) { t.Error(err) }); err != nil {
		t.Fatal(err)
	}
}

func TestFolderInUse(t *testing.T) {
	dir := t.TempDir()
	b, err := Open(dir, Options{Socket: "/run/x.sock"})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	_, err = Open(dir, Options{})
	if !errors.Is(err, ErrFolderInUse) || !strings.Contains(err.Error(), "socket=/run/x.sock") || !strings.Contains(err.Error(), "pid=") {
		t.Fatalf("second open: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b, err = Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(b.Close(), b.Close()); err != nil {
		t.Fatal(err)
	}
}

// A new folder and one that is opened again: in both root has no password.
func TestServeRefusesOpenRoot(t *testing.T) {
	m := vfs.NewMem()
	for range 2 {
		b := openMem(t, m)
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
		err := b.Serve(ctx, ServeOptions{Address: "0.0.0.0:0"})
		stop()
		if !errors.Is(err, ErrRootWithoutPassword) || !strings.Contains(err.Error(), "ALTER USER") {
			t.Fatalf("serve: %v", err)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
