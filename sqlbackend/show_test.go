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
