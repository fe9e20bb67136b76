package driver

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shopspring/decimal"
)

func TestScans(t *testing.T) {
	db := open(t, "")
	exec(t, db, `create table t (id int primary key auto_increment, i bigint, u bigint unsigned, f float, d double,
		de decimal(10,2), da date, dt datetime(6), ti time, y year, v varchar(20), b varbinary(9), tx text, bl blob,
		e enum('a','b'), s set('x','y'), j json, bi bit(9), bo bool)`)
	res := exec(t, db, `insert into t values (null, -5, 18446744073709551615, 1.5, 0.1, -3.50, '2026-02-28',
		'2026-02-28 01:02:03.456', '-12:34:56', 2026, 'grün', x'00ff', 'text', x'01', 'b', 'x,y', '{"a": 1}', b'100000001', true)`)
	if id, err := res.LastInsertId(); id != 1 || err != nil {
		t.Error(id, err)
	}
	want := []any{int64(1), int64(-5), uint64(math.MaxUint64), float32(1.5), 0.1, "-3.50", "2026-02-28",
		"2026-02-28 01:02:03.456000", "-12:34:56", int64(2026), "grün", []byte{0, 255}, "text", []byte{1},
		"b", "x,y", []byte(`{"a": 1}`), []byte{1, 1}, int64(1)}
	for _, args := range [][]any{nil, {1}} {
		q := "select * from t where id = 1"
		if args != nil {
			q = "select * from t where id = ?"
		}
		got := scanRow(t, db, q, args...)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got  %#v\nwant %#v", got, want)
		}
	}
	var nulls sql.NullString
	if err := db.QueryRow("select null").Scan(&nulls); err != nil || nulls.Valid {
		t.Error(nulls, err)
	}
}

func scanRow(t testing.TB, db *sql.DB, q string, args ...any) []any {
	t.Helper()
	rows, err := db.Query(q, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	cols, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	if !rows.Next() {
		t.Fatalf("%s: no row, %v", q, rows.Err())
	}
	out, ptrs := make([]any, len(cols)), make([]any, len(cols))
	for i := range out {
		ptrs[i] = &out[i]
	}
	if err := rows.Scan(ptrs...); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestParseTimeAndLoc(t *testing.T) {
	db := open(t, "parseTime=true&loc=America%2FNew_York&")
	loc, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	exec(t, db, "set sql_mode = ''")
	exec(t, db, "create table t (id int primary key, da date, dt datetime(6), ts timestamp)")
	when := time.Date(2026, 7, 1, 12, 30, 0, 250000000, time.UTC)
	exec(t, db, "insert into t values (1, ?, ?, ?)", when, when, when)
	exec(t, db, "insert into t values (2, '0000-00-00', '0000-00-00 00:00:00', null)")
	var da, dt time.Time
	var ts sql.NullTime
	if err := db.QueryRow("select da, dt, ts from t where id = 1").Scan(&da, &dt, &ts); err != nil {
		t.Fatal(err)
	}
	if !dt.Equal(when) || dt.Location().String() != loc.String() || !da.Equal(time.Date(2026, 7, 1, 0, 0, 0, 0, loc)) {
		t.Error(da, dt, ts)
	}
	if got := one[string](t, db, "select cast(dt as char) from t where id = 1"); !strings.HasPrefix(got, "2026-07-01 08:30:00.25") {
		t.Error(got)
	}
	if err := db.QueryRow("select da, dt, ts from t where id = 2").Scan(&da, &dt, &ts); err != nil {
		t.Fatal(err)
	}
	if !da.IsZero() || !dt.IsZero() || ts.Valid {
		t.Error(da, dt, ts)
	}
}

type valuer struct{ v any }

func (v valuer) Value() (driver.Value, error) { return v.v, nil }

func TestArguments(t *testing.T) {
	db := open(t, "")
	str, n := "pointed", uint8(7)
	for _, c := range []struct {
		arg  any
		want string
	}{
		{nil, "NULL"}, {1, "1"}, {int8(-1), "-1"}, {uint64(math.MaxUint64), "18446744073709551615"}, {float32(0.5), "0.5"},
		{1.25, "1.25"}, {true, "1"}, {"a'b\\", "a'b\\"}, {[]byte("bytes"), "bytes"}, {[]byte(nil), "NULL"},
		{decimal.RequireFromString("12345678901234567890.123"), "12345678901234567890.123"}, {json.RawMessage(`{"a":1}`), `{"a":1}`},
		{&str, "pointed"}, {(*string)(nil), "NULL"}, {&n, "7"}, {valuer{"v"}, "v"}, {valuer{nil}, "NULL"}, {(*valuer)(nil), "NULL"},
		{valuer{uint64(math.MaxUint64)}, "18446744073709551615"},
		{time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), "2026-01-02 03:04:05"}, {time.Time{}, "0000-00-00"},
		{time.Second, "1000000000"}, {decimal.NullDecimal{}, "NULL"},
	} {
		got := one[sql.NullString](t, db, "select concat(?)", c.arg)
		s := got.String
		if !got.Valid {
			s = "NULL"
		}
		if s != c.want {
			t.Errorf("%T %v: %s, want %s", c.arg, c.arg, s, c.want)
		}
	}
	for name, args := range map[string][]any{
		"too few": {1}, "too many": {1, 2, 3}, "named": {sql.Named("a", 1), 2}, "odd type": {struct{}{}, 1},
	} {
		if _, err := db.Query("select ?, ?", args...); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestErrors(t *testing.T) {
	db := open(t, "multiStatements=true")
	exec(t, db, "create table t (a int primary key)")
	exec(t, db, "insert into t values (1)")
	for _, c := range []struct {
		q    string
		args []any
		want string
	}{
		{"selec", nil, "Error 1064 (42000): You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near 'selec' at line 1"},
		{"select nosuch from t", nil, "Error 1054 (42S22): Unknown column 'nosuch' in 'field list'"},
		{"insert into t values (?)", []any{1}, "Error 1062 (23000): Duplicate entry '1' for key 't.PRIMARY'"},
		{"select * from nosuch", nil, "Error 1146 (42S02): Table 'd.nosuch' doesn't exist"},
		{"set @a = 1; select * from nosuch", nil, "Error 1146 (42S02): Table 'd.nosuch' doesn't exist"},
	} {
		_, err := db.Exec(c.q, c.args...)
		if me := mysqlError(t, err); me.Error() != c.want {
			t.Errorf("%s: %v", c.q, me)
		}
		if rows, err := db.Query(c.q, c.args...); err == nil {
			rows.Close()
			t.Errorf("%s: no error from Query", c.q)
		}
	}
	if _, err := db.Prepare("select * from nosuch where a = ?"); mysqlError(t, err).Number != 1146 {
		t.Error(err)
	}
	_, err := open(t, "").Query("select 1; select 2")
	if mysqlError(t, err).Number != 1064 {
		t.Error(err)
	}
}

func TestMultipleResultSets(t *testing.T) {
	db := open(t, "multiStatements=true")
	rows, err := db.Query("set @a = 5; select 1 union all select 2; create table x (a int); select @a, 'x'; set @b = 1")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var got []string
	for {
		cols, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			vals, ptrs := make([]string, len(cols)), make([]any, len(cols))
			for i := range vals {
				ptrs[i] = &vals[i]
			}
			if err := rows.Scan(ptrs...); err != nil {
				t.Fatal(err)
			}
			got = append(got, strings.Join(vals, ","))
		}
		if !rows.NextResultSet() {
			break
		}
	}
	if s := strings.Join(got, "|"); s != "1|2|5,x" || rows.Err() != nil {
		t.Error(s, rows.Err())
	}
	if n := one[int](t, db, "select count(*) from x"); n != 0 {
		t.Error(n)
	}
	rows, err = db.Query("select 1; select * from nosuch")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
	}
	if rows.NextResultSet() || mysqlError(t, rows.Err()).Number != 1146 {
		t.Error(rows.Err())
	}
	rows.Close()
	// rows that are closed early do not run the rest
	rows, err = db.Query("select 1; create table never (a int)")
	if err != nil {
		t.Fatal(err)
	}
	rows.Close()
	if _, err := db.Exec("select * from never"); err == nil {
		t.Error("the rest ran")
	}
	rows, err = db.Query("set @x = 1")
	if err != nil {
		t.Fatal(err)
	}
	if rows.Next() || rows.Err() != nil {
		t.Error(rows.Err())
	}
	rows.Close()
	res := exec(t, db, "insert into x values (1); insert into x values (2),(3)")
	if n, _ := res.RowsAffected(); n != 2 {
		t.Error(n)
	}
}

func TestCancellation(t *testing.T) {
	db := open(t, "")
	for _, args := range [][]any{nil, {20}} {
		q := "select sleep(20)"
		if args != nil {
			q = "select sleep(?)"
		}
		ctx, cancel := context.WithTimeout(context.Background(), 40*time.Millisecond)
		_, err := db.QueryContext(ctx, q, args...)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		ctx, cancel = context.WithCancel(context.Background())
		time.AfterFunc(20*time.Millisecond, cancel)
		if _, err = db.ExecContext(ctx, q, args...); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	exec(t, db, "create table t (a int)")
	for i := 0; i < 200; i++ {
		exec(t, db, "insert into t values (?)", i)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	rows, err := db.QueryContext(ctx, "select a from t")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for rows.Next() {
		if n++; n == 3 {
			cancel()
		}
	}
	if !errors.Is(rows.Err(), context.Canceled) || n == 200 {
		t.Error(n, rows.Err())
	}
	if got := one[int](t, db, "select 42"); got != 42 {
		t.Error(got)
	}
}

func TestKilledConnectionIsReplaced(t *testing.T) {
	db := open(t, "")
	db.SetMaxOpenConns(2)
	ctx := context.Background()
	a, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	id := one[int](t, a, "select connection_id()")
	exec(t, db, fmt.Sprintf("kill connection %d", id))
	if _, err := a.ExecContext(ctx, "set @a = 1"); !errors.Is(err, driver.ErrBadConn) {
		t.Error(err)
	}
	a.Close()
	if now := one[int](t, db, "select connection_id()"); now == id {
		t.Error("the killed connection is used again")
	}
}

func TestTransactions(t *testing.T) {
	db := open(t, "")
	ctx := context.Background()
	for _, c := range []struct {
		o    sql.TxOptions
		want string
	}{
		{sql.TxOptions{}, "REPEATABLE-READ"},
		{sql.TxOptions{Isolation: sql.LevelReadCommitted}, "READ-COMMITTED"},
		{sql.TxOptions{Isolation: sql.LevelSerializable, ReadOnly: true}, "SERIALIZABLE"},
	} {
		conn, err := db.Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		tx, err := conn.BeginTx(ctx, &c.o)
		if err != nil {
			t.Fatal(err)
		}
		if got := one[string](t, tx, "select @@transaction_isolation"); got != c.want {
			t.Errorf("%+v: %s", c.o, got)
		}
		if err := conn.Raw(func(c any) error {
			if !c.(*driverConn).sess.InTransaction() {
				t.Error("not in a transaction")
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if got := one[string](t, conn, "select @@transaction_isolation"); got != "REPEATABLE-READ" {
			t.Errorf("after the transaction: %s", got)
		}
		conn.Close()
	}
	if _, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelLinearizable}); err == nil {
		t.Error("linearizable is accepted")
	}
	db = open(t, "isolation=read-committed")
	if got := one[string](t, db, "select @@transaction_isolation"); got != "READ-COMMITTED" {
		t.Error(got)
	}
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
}

type driverConn = conn

func TestSessionsAreReset(t *testing.T) {
	db := open(t, "isolation=read-committed")
	db.SetMaxOpenConns(1)
	ctx := context.Background()
	id := one[int](t, db, "select connection_id()")
	for _, c := range []struct{ dirt, probe, want string }{
		{"set @a = 1", "select ifnull(@a, 'clean')", "clean"},
		{"set sql_mode = ''", "select @@sql_mode != ''", "1"},
		{"use information_schema", "select database()", "d"},
		{"set autocommit = 0", "select @@autocommit", "1"},
		{"begin", "select 'begun'", "begun"},
		{"set session transaction isolation level serializable", "select @@transaction_isolation", "READ-COMMITTED"},
		{"select get_lock('l', 1)", "select is_free_lock('l')", "1"},
	} {
		conn, err := db.Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		exec(t, conn, c.dirt)
		conn.Close()
		if got := one[string](t, db, c.probe); got != c.want {
			t.Errorf("after %s: %s", c.dirt, got)
		}
		if err := withConn(db, func(c *driverConn) {
			if c.sess.InTransaction() {
				t.Error("still in a transaction")
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	if now := one[int](t, db, "select connection_id()"); now != id {
		t.Errorf("connection %d became %d", id, now)
	}
}

func withConn(db *sql.DB, f func(*driverConn)) error {
	c, err := db.Conn(context.Background())
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Raw(func(x any) error { f(x.(*driverConn)); return nil })
}

func TestFolderIsShared(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	before := opened.n
	a, b := openDSN(t, dir+"?db=d"), openDSN(t, dir+"?db=d&parseTime=true")
	exec(t, a, "create table t (a int)")
	exec(t, b, "insert into t values (1)")
	if got := one[int](t, a, "select a from t"); got != 1 {
		t.Error(got)
	}
	if opened.n != before+1 {
		t.Errorf("opened %d times", opened.n-before)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if got := one[int](t, b, "select a from t"); got != 1 {
		t.Error(got)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if len(opened.m) != 0 {
		t.Errorf("still open: %v", opened.m)
	}
	if _, err := b.Exec("set @a = 1"); err == nil {
		t.Error("a closed handle works")
	}
	c := openDSN(t, dir+"?db=d") // opens it again
	if _, err := c.Exec("select * from t"); err == nil {
		t.Error("memory tables survived")
	}
}

func TestCloseWithWorkInProgress(t *testing.T) {
	db := open(t, "")
	exec(t, db, "create table t (a int)")
	exec(t, db, "insert into t values (1), (2)")
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if len(opened.m) != 1 {
		t.Fatalf("%d folders are open beneath a transaction", len(opened.m))
	}
	if got := one[int](t, tx, "select count(*) from t"); got != 2 {
		t.Error(got)
	}
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
	if len(opened.m) != 0 || len(folders) != 0 {
		t.Errorf("still open: %v", opened.m)
	}
}

func TestFolderOpenedConcurrently(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	before := opened.n
	var wg sync.WaitGroup
	for i := 0; i < 8; i++ {
		db := openDSN(t, dir+"?db=d")
		wg.Go(func() {
			if err := db.Ping(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if opened.n != before+1 {
		t.Errorf("opened %d times", opened.n-before)
	}
}

func TestFolderErrors(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "broken")
	for i := 0; i < 2; i++ {
		if err := openDSN(t, dir).Ping(); err == nil || err.Error() != "this folder can't be opened" {
			t.Error(err)
		}
	}
	dir = filepath.Join(t.TempDir(), "data")
	ro := openDSN(t, dir+"?readonly=true")
	if err := ro.Ping(); err != nil {
		t.Fatal(err)
	}
	if err := openDSN(t, dir).Ping(); err == nil || !strings.Contains(err.Error(), "readonly=true") {
		t.Error(err)
	}
	if err := openDSN(t, dir+"?readonly=true&db=d").Ping(); err != nil {
		t.Error(err)
	}
	if err := openDSN(t, filepath.Join(t.TempDir(), "data")+"?db=nodb").Ping(); mysqlError(t, err).Number != 1049 {
		t.Error(err)
	}
	if len(folders) > 2 {
		t.Errorf("%v", folders)
	}
}

func TestLegacyOpen(t *testing.T) {
	c, err := (&Driver{}).Open(filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	if len(opened.m) != 1 {
		t.Error(opened.m)
	}
	for i := 0; i < 2; i++ {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(opened.m) != 0 {
		t.Error(opened.m)
	}
}

func TestClientFoundRows(t *testing.T) {
	for params, want := range map[string]int64{"": 0, "clientFoundRows=true": 2} {
		db := open(t, params)
		exec(t, db, "create table t (a int)")
		exec(t, db, "insert into t values (1),(1)")
		if n, err := exec(t, db, "update t set a = 1").RowsAffected(); n != want || err != nil {
			t.Errorf("%s: %d, %v", params, n, err)
		}
	}
}

func TestColumnTypes(t *testing.T) {
	db := open(t, "parseTime=true")
	exec(t, db, "create table t (id int unsigned not null, b bigint unsigned, v varchar(10), d decimal(8,3), bl blob, j json, x text, dt datetime(3), e enum('a'), f float)")
	rows, err := db.Query("select * from t")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range types {
		s := c.Name() + " " + c.DatabaseTypeName() + " " + c.ScanType().String()
		if n, ok := c.Length(); ok {
			s += fmt.Sprintf(" %d", n)
		}
		if p, sc, ok := c.DecimalSize(); ok {
			s += fmt.Sprintf(" (%d,%d)", p, sc)
		}
		if null, ok := c.Nullable(); ok && !null {
			s += " not null"
		}
		got = append(got, s)
	}
	want := []string{
		"id UNSIGNED INT int64 not null", "b UNSIGNED BIGINT sql.Null[uint64]", "v VARCHAR sql.NullString 10",
		"d DECIMAL sql.NullString (8,3)", "bl BLOB []uint8 65535", "j JSON []uint8", "x TEXT sql.NullString 65535",
		"dt DATETIME sql.NullTime (3,3)", "e ENUM sql.NullString 1", "f FLOAT sql.NullFloat64 (9223372036854775807,9223372036854775807)",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestStatementsOfManyGoroutines(t *testing.T) {
	db := open(t, "")
	exec(t, db, "create table t (a int)")
	st, err := db.Prepare("select ? + 1")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	var wg sync.WaitGroup
	for g := 0; g < 8; g++ {
		wg.Go(func() {
			for i := 0; i < 30; i++ {
				var n int
				if err := st.QueryRow(i).Scan(&n); err != nil || n != i+1 {
					t.Error(n, err)
				}
				if err := db.QueryRow("select ? * 2", i).Scan(&n); err != nil || n != 2*i {
					t.Error(n, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestParseCacheIsBounded(t *testing.T) {
	db := open(t, "")
	db.SetMaxOpenConns(1)
	for i := 0; i < 3*parseCacheSize; i++ {
		if n := one[int](t, db, fmt.Sprintf("select ? + %d", i), 1); n != i+1 {
			t.Fatal(n)
		}
	}
	if err := withConn(db, func(c *driverConn) {
		if n := len(c.parsed.m); n == 0 || n > parseCacheSize {
			t.Errorf("%d statements are kept", n)
		}
	}); err != nil {
		t.Fatal(err)
	}
}
