package sqlbackend

import (
	"testing"

	"ksql/internal/vfs"
)

// What ORMs read of a table is what MySQL shows, before and after a restart.
func TestShowColumns(t *testing.T) {
	m := vfs.NewMem()
	b := openMem(t, m)
	c := connect(t, b, "")
	c.must(`CREATE DATABASE d;
USE d;
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(10) NOT NULL DEFAULT 'x', e ENUM('a','b') UNIQUE,
  ts TIMESTAMP(3) NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3), n INT DEFAULT (1 + 1), g INT AS (id + 1) STORED,
  bin VARBINARY(3), flag TINYINT(1) DEFAULT 1, l VARCHAR(5) COLLATE latin1_swedish_ci, KEY kv (v, n))`)
	check := func(c *client) {
		t.Helper()
		c.want("SHOW FULL COLUMNS FROM d.t",
			"id|int|NULL|NO|PRI|NULL|auto_increment|select,insert,update,references|",
			"v|varchar(10)|utf8mb4_0900_ai_ci|NO|MUL|x||select,insert,update,references|",
			"e|enum('a','b')|utf8mb4_0900_ai_ci|YES|UNI|NULL||select,insert,update,references|",
			"ts|timestamp(3)|NULL|YES||CURRENT_TIMESTAMP(3)|DEFAULT_GENERATED on update CURRENT_TIMESTAMP(3)|select,insert,update,references|",
			"n|int|NULL|YES||(1 + 1)|DEFAULT_GENERATED|select,insert,update,references|",
			"g|int|NULL|YES||NULL|STORED GENERATED|select,insert,update,references|",
			"bin|varbinary(3)|NULL|YES||NULL||select,insert,update,references|",
			"flag|tinyint(1)|NULL|YES||1||select,insert,update,references|",
			"l|varchar(5)|latin1_swedish_ci|YES||NULL||select,insert,update,references|")
		c.want("SELECT EXTRA FROM information_schema.columns WHERE table_name = 't' AND column_name = 'ts'",
			"DEFAULT_GENERATED on update CURRENT_TIMESTAMP(3)")
	}
	check(c)
	c.s.Close()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	c = connect(t, openMem(t, m), "")
	check(c)
	c.want("DESCRIBE d.t v", "v|varchar(10)|NO|MUL|x|")
}

// Every column type of the engine keeps its value through a flush and a restart.
func TestEveryColumnType(t *testing.T) {
	m := vfs.NewMem()
	b := openMem(t, m)
	c := connect(t, b, "")
	c.must(`CREATE DATABASE d;
USE d;
CREATE TABLE ty (a TINYINT, b SMALLINT UNSIGNED, c MEDIUMINT, e INT UNSIGNED, f BIGINT, g BIGINT UNSIGNED, h FLOAT, i DOUBLE,
  j DECIMAL(65,30), k BIT(33), l DATE, m TIME, n DATETIME(6), o TIMESTAMP NULL, p YEAR, q CHAR(5), r VARCHAR(100), s BINARY(4),
  t VARBINARY(9), u TINYBLOB, v BLOB, w MEDIUMBLOB, x LONGBLOB, y TINYTEXT, z TEXT, a1 MEDIUMTEXT, a2 LONGTEXT, a3 ENUM('x','y'),
  a4 SET('p','q'), a5 JSON, a6 POINT, a7 GEOMETRY, a8 LINESTRING, a9 POLYGON, b1 BOOL, b2 VECTOR(3), b3 MULTIPOINT);
INSERT INTO ty VALUES (-1, 2, -3, 4, -5, 18446744073709551615, 1.5, 2.5, '12345678901234567890.123456789', b'101', '2020-01-02',
  '-12:34:56.789', '2020-01-02 03:04:05.678901', '2020-01-02 03:04:05', 1999, 'ab', 'cd', 'ef', 'gh', 'ij', 'kl', 'mn', 'op', 'qr',
  'st', 'uv', 'wx', 'y', 'p,q', '{"a":[1,2]}', POINT(1,2), ST_GeomFromText('POINT(3 4)'), ST_GeomFromText('LINESTRING(0 0,1 1)'),
  ST_GeomFromText('POLYGON((0 0,0 1,1 1,0 0))'), TRUE, STRING_TO_VECTOR('[1,2,3]'), ST_GeomFromText('MULTIPOINT(0 0,1 1)'));
INSERT INTO ty (a) VALUES (NULL);
CREATE TABLE copied AS SELECT NULL n, 1 a, 'x' b, 1.5 c`)
	const query = "SELECT * FROM d.ty ORDER BY a DESC"
	before := c.must(query)
	if len(before) != 2 || before[0][:17] != "-1|2|-3|4|-5|1844" {
		t.Fatalf("%q", before)
	}
	if err := b.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.want(query, before...)
	c.s.Close()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	c = connect(t, openMem(t, m), "")
	c.want(query, before...)
	c.want("SELECT * FROM d.copied", "NULL|1|x|1.5")
	c.wantError(1235, "CREATE TABLE d.x (t TIME(3))")
}
