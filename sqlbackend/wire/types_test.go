package wire

import (
	"database/sql"
	"fmt"
	"math"
	"testing"
	"time"
)

// typeCases: a column type, a literal, and what both protocols must print.
var typeCases = []struct{ typ, literal, want string }{
	{"tinyint", "-128", "-128"},
	{"tinyint unsigned", "255", "255"},
	{"tinyint(1)", "true", "1"},
	{"smallint", "-32768", "-32768"},
	{"smallint unsigned", "65535", "65535"},
	{"mediumint", "-8388608", "-8388608"},
	{"mediumint unsigned", "16777215", "16777215"},
	{"int", "-2147483648", "-2147483648"},
	{"int unsigned", "4294967295", "4294967295"},
	{"bigint", "-9223372036854775808", "-9223372036854775808"},
	{"bigint unsigned", "18446744073709551615", "18446744073709551615"},
	{"float", "1.5", "1.5"},
	{"double", "1e10", "1e+10"},
	{"double", "0.1", "0.1"},
	{"decimal(10,2)", "-1234.5", "-1234.50"},
	{"decimal(65,30)", "12345678901234567890123456789012345.123456789012345678901234567891", "12345678901234567890123456789012345.123456789012345678901234567891"},
	{"decimal(5,0)", "7", "7"},
	{"year", "2026", "2026"},
	{"date", "'2026-02-28'", "2026-02-28"},
	{"date", "'1000-01-01'", "1000-01-01"},
	{"datetime", "'2026-02-28 01:02:03'", "2026-02-28 01:02:03"},
	{"datetime", "'2026-02-28 00:00:00'", "2026-02-28 00:00:00"},
	{"datetime(3)", "'2026-02-28 01:02:03.456'", "2026-02-28 01:02:03.456"},
	{"datetime(6)", "'2026-02-28 01:02:03.456789'", "2026-02-28 01:02:03.456789"},
	{"timestamp", "'2026-02-28 01:02:03'", "2026-02-28 01:02:03"},
	{"timestamp(6)", "'2026-02-28 01:02:03.000001'", "2026-02-28 01:02:03.000001"},
	{"time", "'12:34:56'", "12:34:56"},
	{"time", "'-838:59:59'", "-838:59:59"},
	{"time", "'00:00:00'", "00:00:00"},
	{"char(5)", "'ab'", "ab"},
	{"varchar(20)", "'grüß 😀'", "grüß 😀"},
	{"varchar(20)", "''", ""},
	{"tinytext", "'t'", "t"},
	{"text", "'text'", "text"},
	{"mediumtext", "'m'", "m"},
	{"longtext", "'l'", "l"},
	{"binary(3)", "'a'", "a\x00\x00"},
	{"varbinary(10)", "x'00ff80'", "\x00\xff\x80"},
	{"blob", "x'00ff80'", "\x00\xff\x80"},
	{"enum('a','b')", "'b'", "b"},
	{"set('x','y','z')", "'x,z'", "x,z"},
	{"json", `'{"a": [1, null, "x"]}'`, `{"a": [1, null, "x"]}`},
	{"bit(8)", "b'101'", "\x05"},
	{"bit(12)", "b'100000000001'", "\x08\x01"},
	{"point", "point(1,2)", "\x00\x00\x00\x00\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\x00\x00\x40"},
}

func TestTypesInBothProtocols(t *testing.T) {
	f := start(t)
	for _, params := range []string{"", "compress=true"} {
		db := f.db(params)
		for _, c := range typeCases {
			f.exec(db, "drop table if exists t")
			f.exec(db, "create table t (id int primary key, v "+c.typ+")")
			f.exec(db, "insert into t values (1, "+c.literal+"), (2, NULL)")
			for _, q := range []struct {
				how  string
				args []any
			}{{"text", nil}, {"binary", []any{1}}} {
				query := "select v, null, v from t where id = 1"
				if q.args != nil {
					query = "select v, null, v from t where id = ?"
				}
				want := fmt.Sprintf("%s,NULL,%s", c.want, c.want)
				if got := f.rows(db, query, q.args...); got != want {
					t.Errorf("%s %s in %s: %q, want %q", c.typ, c.literal, q.how, got, want)
				}
			}
			if got := f.rows(db, "select v from t where id = ?", 2); got != "NULL" {
				t.Errorf("%s NULL: %s", c.typ, got)
			}
		}
	}
}

func TestZeroDates(t *testing.T) {
	f := start(t)
	db := f.db("sql_mode=''")
	f.exec(db, "create table t (id int primary key, d date, dt datetime(6))")
	f.exec(db, "insert into t values (1, '0000-00-00', '0000-00-00 00:00:00')")
	want := "0000-00-00,0000-00-00 00:00:00.000000"
	if got := f.rows(db, "select d, dt from t"); got != want {
		t.Error(got)
	}
	if got := f.rows(db, "select d, dt from t where id = ?", 1); got != want {
		t.Error(got)
	}
}

func TestParameterTypes(t *testing.T) {
	f := start(t)
	db := f.db("parseTime=true")
	when := time.Date(2026, 2, 28, 1, 2, 3, 456789000, time.UTC)
	f.exec(db, "create table t (id int primary key auto_increment, i bigint, u bigint unsigned, d double, s varchar(40), b varbinary(40), dt datetime(6), bo bool)")
	f.exec(db, "insert into t (i,u,d,s,b,dt,bo) values (?,?,?,?,?,?,?)",
		int64(math.MinInt64), uint64(math.MaxUint64), 1.5e300, "a'b\\c\"😀", []byte{0, 0xff, 0xfe, 'x'}, when, true)
	f.exec(db, "insert into t (i,u,d,s,b,dt,bo) values (?,?,?,?,?,?,?)", nil, nil, nil, nil, nil, nil, nil)
	var (
		i  sql.NullInt64
		u  *uint64
		d  sql.NullFloat64
		s  sql.NullString
		b  []byte
		dt sql.NullTime
		bo sql.NullBool
	)
	for id, null := range []bool{false, true} {
		err := db.QueryRow("select i,u,d,s,b,dt,bo from t where id = ?", id+1).Scan(&i, &u, &d, &s, &b, &dt, &bo)
		if err != nil {
			t.Fatal(err)
		}
		if null {
			if i.Valid || u != nil || d.Valid || s.Valid || b != nil || dt.Valid || bo.Valid {
				t.Error("want NULLs", i, u, d, s, b, dt, bo)
			}
			continue
		}
		if i.Int64 != math.MinInt64 || *u != math.MaxUint64 || d.Float64 != 1.5e300 || s.String != "a'b\\c\"😀" ||
			string(b) != "\x00\xff\xfex" || !dt.Time.Equal(when) || !bo.Bool {
			t.Error(i, *u, d, s, b, dt, bo)
		}
	}
}

// TestRawParameters sends types that go-sql-driver never does.
func TestRawParameters(t *testing.T) {
	f := start(t)
	for _, p := range []struct {
		name     string
		kind     byte
		unsigned byte
		data     string
		query    string
		want     string
	}{
		{"tiny", typeTiny, 0, "\xff", "select cast(? as char)", "-1"},
		{"unsigned tiny", typeTiny, 0x80, "\xff", "select cast(? as char)", "255"},
		{"short", typeShort, 0, "\x00\x80", "select cast(? as char)", "-32768"},
		{"year", typeYear, 0, "\xea\x07", "select cast(? as char)", "2026"},
		{"long", typeLong, 0x80, "\xff\xff\xff\xff", "select cast(? as char)", "4294967295"},
		{"float", typeFloat, 0, "\x00\x00\xc0\x3f", "select cast(? as char)", "1.5"},
		{"date", typeDate, 0, "\x04\xea\x07\x02\x1c", "select cast(? as char)", "2026-02-28"},
		{"zero date", typeDate, 0, "\x00", "select cast(? as char)", "0000-00-00"},
		{"datetime", typeDatetime, 0, "\x0b\xea\x07\x02\x1c\x01\x02\x03\x20\xa1\x07\x00", "select cast(? as char)", "2026-02-28 01:02:03.500000"},
		{"time", typeTime, 0, "\x08\x01\x01\x00\x00\x00\x02\x03\x04", "select cast(? as char)", "-26:03:04"},
		{"time with fraction", typeTime, 0, "\x0c\x00\x00\x00\x00\x00\x02\x03\x04\x01\x00\x00\x00", "select cast(? as char)", "02:03:04.000001"},
		{"zero time", typeTime, 0, "\x00", "select cast(? as char)", "00:00:00"},
		{"decimal", typeNewDecimal, 0, "\x0512.50", "select cast(? as char)", "12.50"},
		{"blob of bytes", typeBlob, 0, "\x03\x00\xff\xfe", "select hex(?)", "00FFFE"},
		{"blob of text", typeLongBlob, 0, "\x02ab", "select concat(?, 'c')", "abc"},
		{"json", typeJSON, 0, "\x02{}", "select ?", "{}"},
		{"null type", typeNull, 0, "", "select isnull(?)", "1"},
	} {
		t.Run(p.name, func(t *testing.T) {
			c := f.login(0)
			id := c.prepare(p.query)
			body := append(executeBody(id, 0), 0, 1, p.kind, p.unsigned)
			c.command(comStmtExecute, append(body, p.data...)...)
			c.read()
			def := c.read()
			c.read()
			row := c.read()
			got := string(row[2:])
			if len(got) > 0 {
				got = got[1:]
			}
			if p.want == "1" { // a number
				got = fmt.Sprint(row[2])
			}
			if got != p.want {
				t.Errorf("%q, want %q (%q)", row, p.want, def)
			}
		})
	}
}
