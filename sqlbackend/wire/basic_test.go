package wire

import (
	"strings"
	"testing"
)

func TestTextAndPrepared(t *testing.T) {
	f := start(t)
	db := f.db("")
	f.exec(db, "create table t (id int primary key auto_increment, v varchar(20))")
	res := f.exec(db, "insert into t (v) values ('a'),('b')")
	if n, _ := res.RowsAffected(); n != 2 {
		t.Errorf("affected %d", n)
	}
	if id, _ := res.LastInsertId(); id != 1 {
		t.Errorf("insert id %d", id)
	}
	if got := f.rows(db, "select * from t order by id"); got != "1,a|2,b" {
		t.Error(got)
	}
	if got := f.rows(db, "select v from t where id = ?", 2); got != "b" {
		t.Error(got)
	}
	f.exec(db, "update t set v = ? where id = ?", "c", 1)
	if got := f.rows(db, "select v from t where id = ?", 1); got != "c" {
		t.Error(got)
	}
}

func TestMariadbClient(t *testing.T) {
	f := start(t)
	out := f.client("create table t (a int primary key, b text); insert into t values (1,'x'),(2,NULL); select * from t; select nosuch; show warnings; status;", "-uroot", "--skip-ssl", "--force", "-t", "-vv", "d")
	for _, want := range []string{"Query OK, 2 rows affected", "Records: 2  Duplicates: 0  Warnings: 0", "| 2 | NULL |", "ERROR 1054 (42S22)", "Unknown column 'nosuch' in 'field list'", "8.4.6-ksql"} {
		if !strings.Contains(out, want) {
			t.Errorf("missing %q", want)
		}
	}
}
