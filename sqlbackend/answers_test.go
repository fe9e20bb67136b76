package sqlbackend

import (
	"strings"
	"testing"

	"ksql/internal/vfs"
)

// LIKE finds every match, also through an index, and heeds escaped wildcards.
func TestLike(t *testing.T) {
	c := connect(t, openMem(t, vfs.NewMem()), "")
	c.must(`CREATE DATABASE d;
USE d;
CREATE TABLE l (id INT PRIMARY KEY, a INT, b VARCHAR(10), d DATE, KEY ab (a, b), KEY b (b), KEY d (d));
INSERT INTO l VALUES (1, 1, 'a_c', '2020-01-01'), (2, 1, 'abc', '2020-02-01'), (3, 1, 'az', '2021-01-01'), (4, 2, 'AZZ', NULL),
  (5, 2, '10%x', NULL), (6, 2, '10x', NULL), (7, 3, 'a日', NULL), (8, 3, 'b', NULL), (9, 3, NULL, NULL)`)
	for _, q := range []struct{ where, ids string }{
		{"b LIKE 'a%'", "1 2 3 4 7"},
		{"a = 1 AND b LIKE 'A%'", "1 2 3"},
		{"a BETWEEN 2 AND 3 AND b LIKE 'az%' OR b LIKE 'B'", "4 8"},
		{`b LIKE 'a\_%'`, "1"},
		{`b LIKE 'a\_c'`, "1"},
		{`b LIKE '10\%%'`, "5"},
		{`b LIKE '10|%%' ESCAPE '|'`, "5"},
		{"b NOT LIKE 'a%'", "5 6 8"},
		{"NOT (b LIKE 'a%')", "5 6 8"},
		{"b COLLATE utf8mb4_bin LIKE 'A%'", "4"},
		{"d LIKE '2020%'", "1 2"},
		{"a LIKE '1%'", "1 2 3"},
		{"id IN (SELECT id FROM l WHERE b LIKE 'az%')", "3 4"},
	} {
		c.want("SELECT id FROM l WHERE "+q.where+" ORDER BY id", strings.Fields(q.ids)...)
		c.want("SELECT COUNT(*) FROM (SELECT id FROM l WHERE "+q.where+") q", string(rune('0'+len(strings.Fields(q.ids)))))
	}
	c.must("DELETE FROM l WHERE b LIKE 'az%';\nUPDATE l SET a = 9 WHERE b LIKE 'a%'")
	c.want("SELECT id FROM l WHERE a = 9 ORDER BY id", "1", "2", "7")
	c.want(`SELECT 'a\_b', 'c\%'`, `a\_b|c\%`)
	c.must("PREPARE p FROM 'SELECT id FROM l WHERE b LIKE ?';\nSET @p = 'B%'")
	c.want("EXECUTE p USING @p", "8")
}

// A DDL statement that fails leaves nothing behind, also after a restart.
func TestFailedAlter(t *testing.T) {
	m := vfs.NewMem()
	b := openMem(t, m)
	c := connect(t, b, "")
	c.must(`CREATE DATABASE d;
USE d;
CREATE TABLE g (id INT PRIMARY KEY, a INT, c INT AS (a + 1) STORED, e INT DEFAULT (a * 2), CHECK (a < 100));
INSERT INTO g (id, a) VALUES (1, 5)`)
	check := func(c *client) {
		t.Helper()
		for _, q := range []string{"CHANGE a id INT", "CHANGE a z INT", "CHANGE a z BIGINT", "RENAME COLUMN a TO z", "RENAME COLUMN a TO c", "DROP COLUMN a"} {
			if _, err := c.try("ALTER TABLE d.g " + q); err == nil {
				t.Errorf("%s: no error", q)
			}
			c.want("SELECT * FROM d.g", "1|5|6|10")
		}
		c.wantError(3766, "ALTER TABLE d.g DROP COLUMN a")
		c.wantError(1060, "ALTER TABLE d.g CHANGE a c INT")
	}
	check(c)
	c.s.Close()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	c = connect(t, openMem(t, m), "")
	check(c)
	c.must("ALTER TABLE d.g DROP COLUMN c, DROP COLUMN e, DROP COLUMN a")
	c.want("SELECT * FROM d.g", "1")
}

// RENAME TABLE heeds the databases that it names.
func TestRenameElsewhere(t *testing.T) {
	c := connect(t, openMem(t, vfs.NewMem()), "")
	c.must(`CREATE DATABASE d;
CREATE DATABASE e;
USE d;
CREATE TABLE x (a INT);
CREATE TABLE e.x (a INT);
INSERT INTO x VALUES (1);
INSERT INTO e.x VALUES (2);
RENAME TABLE e.x TO e.y;
ALTER TABLE e.y RENAME TO e.z`)
	c.want("SELECT * FROM x", "1")
	c.want("SELECT * FROM e.z", "2")
	c.wantError(1235, "RENAME TABLE e.z TO d.z")
	c.wantError(1235, "ALTER TABLE e.z RENAME z")
	c.wantError(1146, "RENAME TABLE e.x TO e.y")
	c.wantError(1049, "RENAME TABLE f.x TO f.y")
	c.must("RENAME TABLE x TO y, d.y TO `z`;\nALTER TABLE z RENAME x")
	c.want("SELECT * FROM x", "1")
	c.want("SELECT * FROM e.z", "2")
}

// Handlers that would not run as written are refused.
func TestHandlers(t *testing.T) {
	c := connect(t, openMem(t, vfs.NewMem()), "")
	c.must("CREATE DATABASE d;\nUSE d;\nCREATE TABLE x (id INT PRIMARY KEY)")
	for _, h := range []string{
		"EXIT HANDLER FOR SQLEXCEPTION ROLLBACK", "EXIT HANDLER FOR SQLEXCEPTION BEGIN END",
		"CONTINUE HANDLER FOR NOT FOUND INSERT INTO x VALUES (1)", "CONTINUE HANDLER FOR SQLSTATE VALUE '23000', NOT FOUND SET @e = 1",
	} {
		c.wantError(1235, "CREATE PROCEDURE p() BEGIN DECLARE e INT DEFAULT 0; DECLARE "+h+"; INSERT INTO x VALUES (1); END")
	}
	c.must(`CREATE PROCEDURE p() BEGIN DECLARE e INT DEFAULT 0; DECLARE CONTINUE HANDLER FOR SQLEXCEPTION SET e = 1; INSERT INTO x VALUES (7); INSERT INTO x VALUES (7); INSERT INTO x VALUES (8 + e); END`)
	c.must("CALL p()")
	c.want("SELECT id FROM x ORDER BY id", "7", "9")
}
