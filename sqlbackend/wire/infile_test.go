package wire

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// generated is a reader of n lines "i\tvalue".
type generated struct {
	i, n int
	rest string
	peak *uint64
	at   int // before this line, do is called
	do   func()
}

func (g *generated) Read(b []byte) (int, error) {
	if g.rest == "" {
		if g.i == g.n {
			return 0, io.EOF
		}
		if g.i%1000 == 0 && g.peak != nil {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			*g.peak = max(*g.peak, m.HeapAlloc)
		}
		if g.do != nil && g.i == g.at {
			g.do()
		}
		g.rest = fmt.Sprintf("%d\t%s\n", g.i, strings.Repeat("v", 200))
		g.i++
	}
	n := copy(b, g.rest)
	g.rest = g.rest[n:]
	return n, nil
}

func TestLoadDataLocal(t *testing.T) {
	f := start(t)
	for _, params := range []string{"", "compress=true"} {
		db := f.db(params)
		f.exec(db, "drop table if exists t")
		f.exec(db, "create table t (id int primary key, v varchar(300))")
		mysql.RegisterReaderHandler("gen", func() io.Reader { return &generated{n: 300} })
		res := f.exec(db, "load data local infile 'Reader::gen' into table t")
		if n, _ := res.RowsAffected(); n != 300 {
			t.Errorf("%d rows", n)
		}
		if got := f.rows(db, "select count(*), sum(length(v)) from t"); got != "300,60000" {
			t.Error(got)
		}
		// the statement fails midway: the rest of the file must not be taken for commands
		id, err := strconv.Atoi(f.rows(db, "select connection_id()"))
		if err != nil {
			t.Fatal(err)
		}
		kill := func() {
			if err := f.r.Kill(uint32(id), false); err != nil {
				t.Error(err)
			}
		}
		mysql.RegisterReaderHandler("gen", func() io.Reader { return &generated{i: 300, n: 3000, at: 500, do: kill} })
		_, err = db.Exec("load data local infile 'Reader::gen' into table t")
		if me := sqlError(t, err); me.Number != 1317 {
			t.Error(me)
		}
		_, err = db.Exec("load data local infile 'Reader::gen' into table nosuch")
		if me := sqlError(t, err); me.Number != 1146 {
			t.Error(me)
		}
		if got := f.rows(db, "select count(*) from t"); got != "300" {
			t.Error(got)
		}
	}
}

// TestInfileIsStreamed lets the client send 60 MB of which the statement, which
// is killed, reads little: the rest is passed over in little memory.
func TestInfileIsStreamed(t *testing.T) {
	f := start(t)
	db := f.db("")
	f.exec(db, "create table t (id int primary key, v varchar(300))")
	id, err := strconv.Atoi(f.rows(db, "select connection_id()"))
	if err != nil {
		t.Fatal(err)
	}
	kill := func() {
		if err := f.r.Kill(uint32(id), false); err != nil {
			t.Error(err)
		}
	}
	var peak uint64
	mysql.RegisterReaderHandler("big", func() io.Reader { return &generated{n: 300000, peak: &peak, at: 50, do: kill} })
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	_, err = db.Exec("load data local infile 'Reader::big' into table t")
	if me := sqlError(t, err); me.Number != 1317 {
		t.Fatal(me)
	}
	if grown := int64(peak) - int64(before.HeapAlloc); grown > 40<<20 {
		t.Errorf("60 MB of file took %d MB of memory", grown>>20)
	}
	if got := f.rows(db, "select 42"); got != "42" {
		t.Error(got)
	}
}

func TestLoadDataLocalRefusedByClient(t *testing.T) {
	f := start(t)
	f.exec(f.db(""), "create table t (id int primary key)")
	c := f.login(0) // without CLIENT_LOCAL_FILES
	c.command(comQuery, []byte("load data local infile 'x' into table t")...)
	c.expectError(3948)
	c.command(comPing)
	c.expectOK()
}

func TestMariadbClientLoadData(t *testing.T) {
	f := start(t)
	file := filepath.Join(t.TempDir(), "load.csv")
	if err := os.WriteFile(file, []byte("1,x\n2,y\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := f.client("create table t (a int primary key, b text);\nload data local infile '"+file+"' into table t fields terminated by ',';\nselect * from t;\n",
		"-uroot", "--skip-ssl", "--local-infile=1", "-vv", "d")
	for _, want := range []string{"Query OK, 2 rows affected", "Records: 2  Deleted: 0  Skipped: 0  Warnings: 0", "2\ty"} {
		if !strings.Contains(out, want) {
			t.Errorf("missing %q in\n%s", want, out)
		}
	}
	out = f.client("load data local infile '/nonexistent/file' into table t;\nselect 42;\n", "-uroot", "--skip-ssl", "--local-infile=1", "--force", "d")
	if !strings.Contains(out, "42") {
		t.Error(out)
	}
}
