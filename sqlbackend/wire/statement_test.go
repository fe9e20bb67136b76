package wire

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	vast "github.com/dolthub/vitess/go/vt/sqlparser"
)

func TestKill(t *testing.T) {
	f := start(t)
	db := f.db("")
	id := f.rows(db, "select connection_id()")
	for _, kill := range []string{"kill query " + id, "kill connection " + id} {
		done := make(chan error, 1)
		go func() {
			_, err := queryRows(db, "select sleep(20)")
			done <- err
		}()
		waitFor(t, func() bool { return running(f.r) == 1 })
		f.exec(f.db(""), kill)
		if me := sqlError(t, <-done); me.Error() != "Error 1317 (70100): Query execution was interrupted" {
			t.Error(kill, me)
		}
		if strings.HasPrefix(kill, "kill query") {
			if again := f.rows(db, "select connection_id()"); again != id {
				t.Errorf("connection %s became %s", id, again)
			}
		}
	}
	waitFor(t, func() bool { // the pool may still hold the connection that was ended
		now, err := queryRows(db, "select connection_id()")
		return err == nil && now != id
	})
}

func TestKillIdleConnection(t *testing.T) {
	f := start(t)
	c := f.login(0)
	n := f.srv.Connections()
	f.r.procs.mu.Lock()
	var id uint32
	for i := range f.r.procs.procs {
		id = max(id, i)
	}
	f.r.procs.mu.Unlock()
	if err := f.r.Kill(id, true); err != nil {
		t.Fatal(err)
	}
	c.expectClosed()
	waitFor(t, func() bool { return f.srv.Connections() == n-1 })
	if err := f.r.Kill(id, true); err == nil {
		t.Error("killing an unknown id is no error")
	}
}

func TestMaxExecutionTime(t *testing.T) {
	f := start(t)
	db := f.db("")
	f.exec(db, "set max_execution_time = 50")
	for _, args := range [][]any{nil, {20}} {
		q := "select sleep(20)"
		if args != nil {
			q = "select sleep(?)"
		}
		_, err := queryRows(db, q, args...)
		want := "Error 3024 (HY000): Query execution was interrupted, maximum statement execution time exceeded"
		if me := sqlError(t, err); me.Error() != want {
			t.Error(me)
		}
	}
	if got := f.rows(db, "select 42"); got != "42" {
		t.Error(got)
	}
}

func TestProcessList(t *testing.T) {
	f := start(t)
	db := f.db("")
	got := f.rows(db, "select user, db, command, info from information_schema.processlist")
	if !strings.HasPrefix(got, "root,d,Query,select user, db") {
		t.Error(got)
	}
}

var errAgain = errors.New("again")

// faults registers again(n), which fails n times before it gives n, and boom(),
// which panics, and lets again ask for restarts.
type faults struct{ restarts int64 }

func (x *faults) install(o *Options, _ *Config) {
	o.IsRestart = func(err error) bool {
		if errors.Is(err, errAgain) {
			x.restarts++
			return true
		}
		return false
	}
	ctx := gms.NewEmptyContext()
	o.Engine.Analyzer.Catalog.RegisterFunction(ctx, gms.Function1{Name: "again", Fn: func(_ *gms.Context, n gms.Expression) gms.Expression {
		return &faultFunc{x: x, n: n}
	}})
	o.Engine.Analyzer.Catalog.RegisterFunction(ctx, gms.Function0{Name: "boom", Fn: func(*gms.Context) gms.Expression {
		return &faultFunc{x: x}
	}})
}

type faultFunc struct {
	x *faults
	n gms.Expression
}

func (f *faultFunc) Resolved() bool               { return true }
func (f *faultFunc) String() string               { return "fault()" }
func (f *faultFunc) Type(*gms.Context) gms.Type   { return types.Int64 }
func (f *faultFunc) IsNullable(*gms.Context) bool { return false }
func (f *faultFunc) IsNonDeterministic() bool     { return true }

func (f *faultFunc) Children() []gms.Expression {
	if f.n == nil {
		return nil
	}
	return []gms.Expression{f.n}
}

func (f *faultFunc) WithChildren(_ *gms.Context, c ...gms.Expression) (gms.Expression, error) {
	if len(c) == 1 {
		return &faultFunc{x: f.x, n: c[0]}, nil
	}
	return f, nil
}

func (f *faultFunc) Eval(ctx *gms.Context, row gms.Row) (any, error) {
	if f.n == nil {
		panic("boom")
	}
	v, err := f.n.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	if f.x.restarts < toInt(v, 0) {
		return nil, errAgain
	}
	return f.x.restarts, nil
}

func TestRestart(t *testing.T) {
	var x faults
	f := start(t, x.install)
	db := f.db("multiStatements=true")
	f.exec(db, "create table t (a int)")
	f.exec(db, "insert into t values (again(3))")
	if got := f.rows(db, "select a from t"); got != "3" || x.restarts != 3 {
		t.Errorf("%s after %d restarts", got, x.restarts)
	}
	f.exec(db, "insert into t values (again(?))", 5)
	if got := f.rows(db, "select a from t order by a"); got != "3|5" {
		t.Error(got)
	}
	if got := f.rows(db, "select a, again(9) from t order by a for update"); got != "3,9|5,9" {
		t.Error(got)
	}
	_, err := db.Exec("insert into t values (again(1000))")
	if me := sqlError(t, err); me.Number != 1213 || x.restarts != 9+maxRestarts {
		t.Error(me, x.restarts)
	}
	f.exec(db, "create procedure p() begin insert into t values (1); insert into t values (again(112)); end")
	f.exec(db, "call p()")
	if got := f.rows(db, "select count(*), sum(a = 1) from t"); got != "4,1" { // the first INSERT ran once
		t.Error(got)
	}
}

// watchedSession sees the life cycle of a session's statements.
type watchedSession struct {
	*gms.BaseSession
	restarts, began, ended, closed int
	announced                      []string
}

func (s *watchedSession) RestartStatement(*gms.Context) error { s.restarts++; return nil }
func (s *watchedSession) CommandBegin() error                 { s.began++; return nil }
func (s *watchedSession) CommandEnd()                         { s.ended++ }
func (s *watchedSession) SessionEnd()                         { s.closed++ }

func (s *watchedSession) AnnounceStatement(_ *gms.Context, stmt vast.Statement) error {
	text := vast.String(stmt)
	s.announced = append(s.announced, text)
	if strings.Contains(text, "refused") {
		return errors.New("no such statement here")
	}
	return nil
}

func TestSessionLifecycle(t *testing.T) {
	var x faults
	var s *watchedSession
	r, _ := newRunner(t, x.install, func(o *Options, _ *Config) {
		o.NewSession = func(_ context.Context, info ConnInfo) (gms.Session, error) {
			s = &watchedSession{BaseSession: gms.NewBaseSessionWithClientServer("", gms.Client{}, info.ID)}
			return s, nil
		}
	})
	sess := r.Connect("x", nil)
	ctx := context.Background()
	if err := sess.Login(ctx, ConnInfo{}); err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{"select again(2) from dual for update", "select 1", "set @a = 'refused'", "select boom()", "selec"} {
		res, _, err := sess.Query(ctx, q, false)
		if err == nil {
			err = res.Close()
		}
		t.Log(q, err)
	}
	if s.restarts != 2 || s.began != 5 || s.ended != 5 || len(s.announced) != 4 {
		t.Errorf("%+v", s)
	}
	sess.Close()
	sess.Close()
	if s.closed != 1 || r.Connections() != 0 {
		t.Errorf("%+v, %d connections", s, r.Connections())
	}
}

func TestPanicCostsOneStatement(t *testing.T) {
	var x faults
	f := start(t, x.install, func(o *Options, _ *Config) { o.Logf = nil })
	db := f.db("")
	id := f.rows(db, "select connection_id()")
	f.exec(db, "create table t (a int)")
	f.exec(db, "insert into t values (1)")
	for _, q := range []string{"select boom()", "insert into t values (boom())", "select a from t where boom() = 1", "set @a = boom()"} {
		_, err := queryRows(db, q)
		if me := sqlError(t, err); me.Number != 1105 || me.Message != "internal error: boom" {
			t.Error(q, me)
		}
	}
	if got := f.rows(db, "select connection_id()"); got != id {
		t.Errorf("connection %s became %s", id, got)
	}
}

func TestStatusFlags(t *testing.T) {
	r, _ := newRunner(t)
	s := r.Connect("x", nil)
	defer s.Close()
	ctx := context.Background()
	if err := s.Login(ctx, ConnInfo{User: "root", Database: "d"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		q    string
		want uint16
	}{
		{"select 1", statusAutocommit},
		{"begin", statusAutocommit | statusInTrans},
		{"select 1", statusAutocommit | statusInTrans},
		{"select nosuch", statusAutocommit | statusInTrans},
		{"commit", statusAutocommit},
		{"begin", statusAutocommit | statusInTrans},
		{"create table t (a int)", statusAutocommit},
		{"begin", statusAutocommit | statusInTrans},
		{"create table t (a int)", statusAutocommit}, // fails, but has committed
		{"set autocommit = 0", statusInTrans},        // the engine opens a transaction for every statement
		{"set autocommit = 1", statusAutocommit},
		{"start transaction read only", statusAutocommit | statusInTrans | statusInTransReadOnly},
		{"rollback", statusAutocommit},
	} {
		res, _, err := s.Query(ctx, c.q, false)
		if err == nil {
			for err == nil {
				_, err = res.Next()
			}
			if err != io.EOF {
				t.Fatal(err)
			}
		}
		if got := s.Status(); got != c.want {
			t.Errorf("%s: %04x, want %04x", c.q, got, c.want)
		}
	}
	s.Close()
	if _, _, err := s.Query(ctx, "select 1", false); err == nil {
		t.Error("a closed session runs statements")
	}
}

func TestWarnings(t *testing.T) {
	f := start(t)
	db := f.db("")
	f.exec(db, "create table t (a tinyint)")
	f.exec(db, "insert ignore into t values (1000), ('x')")
	if got := f.rows(db, "show warnings"); strings.Count(got, "|") != 1 {
		t.Error(got)
	}
	if _, err := db.Exec("insert into nosuch values (1)"); err == nil {
		t.Fatal("no error")
	}
	if got := f.rows(db, "show warnings"); got != "Error,1146,Table 'd.nosuch' doesn't exist" {
		t.Error(got)
	}
	f.exec(db, "set @a = 1")
	f.exec(db, "insert into t values (1)")
	if got := f.rows(db, "show warnings"); got != "" {
		t.Error(got)
	}
}

func TestInfoStrings(t *testing.T) {
	f := start(t)
	out := f.client(`create table t (a int primary key, b int);
insert into t values (1,1);
insert into t values (2,2),(3,3);
insert ignore into t values (3,3),(4,4);
replace into t values (4,5),(5,5);
insert into t select a+10, b from t;
update t set b = 9 where a < 3;
update t set b = 9 where a < 3;
alter table t add column c int;
create index i on t (b);
prepare p from 'select 1';
`, "-uroot", "--skip-ssl", "-vv", "d")
	var got []string
	for _, line := range strings.Split(out, "\n") {
		if strings.HasPrefix(line, "Query OK") || strings.HasPrefix(line, "Records") || strings.HasPrefix(line, "Rows") || strings.HasPrefix(line, "Statement") {
			got = append(got, line)
		}
	}
	want := []string{
		"Query OK, 0 rows affected",
		"Query OK, 1 row affected",
		"Query OK, 2 rows affected", "Records: 2  Duplicates: 0  Warnings: 0",
		"Query OK, 1 row affected, 1 warning", "Records: 2  Duplicates: 1  Warnings: 1",
		"Query OK, 3 rows affected", "Records: 2  Duplicates: 1  Warnings: 0",
		"Query OK, 5 rows affected", "Records: 5  Duplicates: 0  Warnings: 0",
		"Query OK, 2 rows affected", "Rows matched: 2  Changed: 2  Warnings: 0",
		"Query OK, 0 rows affected", "Rows matched: 2  Changed: 0  Warnings: 0",
		"Query OK, 0 rows affected", "Records: 0  Duplicates: 0  Warnings: 0",
		"Query OK, 0 rows affected", "Records: 0  Duplicates: 0  Warnings: 0",
		"Query OK, 0 rows affected", "Statement prepared",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"), out)
	}
}

func TestFoundRowsFlag(t *testing.T) {
	f := start(t)
	f.exec(f.db(""), "create table t (a int primary key, b int)")
	f.exec(f.db(""), "insert into t values (1,1),(2,2)")
	for params, want := range map[string]int64{"": 0, "clientFoundRows=true": 2} {
		n, err := f.exec(f.db(params), "update t set b = a").RowsAffected()
		if err != nil || n != want {
			t.Errorf("%s: %d, %v", params, n, err)
		}
	}
}

func TestClientCharacterSet(t *testing.T) {
	f := start(t)
	db, utf8 := f.db("charset=latin1"), f.db("")
	f.exec(db, "create table t (a varchar(10) character set utf8mb4)")
	f.exec(db, "insert into t values ('\xe9')")
	f.exec(db, "insert into t values (?)", "\xe9")
	if got := f.rows(utf8, "select a, hex(a) from t"); got != "é,C3A9|é,C3A9" {
		t.Errorf("%q", got)
	}
	if got := f.rows(db, "select a from t"); got != "\xe9|\xe9" {
		t.Errorf("%q", got)
	}
}

func TestContextCancelled(t *testing.T) {
	f := start(t)
	db := f.db("")
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := db.QueryContext(ctx, "select sleep(20)"); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	waitFor(t, func() bool { return running(f.r) == 0 })
}
