package parser

import (
	"errors"
	"strings"
	"testing"

	"github.com/dolthub/vitess/go/mysql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// rewritten returns the text that the engine's grammar gets for a statement, with
// runs of blanks folded, or "ERROR number".
func rewritten(t *testing.T, text string) string {
	t.Helper()
	s := cut(text, mode{}, ';')
	out, _, eds, res, err := s.rewrite(account{user: "u", host: "h", connection: 7})
	var se *mysql.SQLError
	switch {
	case errors.As(err, &se):
		return "ERROR " + se.Message
	case err != nil:
		return "ERROR " + err.Error()
	}
	if len(res) == 0 {
		checkEdits(t, s.text, out, eds)
	}
	again := cut(out, mode{}, ';')
	if twice, _, _, _, err := again.rewrite(account{user: "u", host: "h", connection: 7}); err != nil || strings.TrimSpace(twice) != strings.TrimSpace(out) {
		t.Errorf("%q: rewriting twice gives %q, %v", text, twice, err)
	}
	return strings.Join(strings.Fields(out), " ")
}

// checkEdits asserts that text outside of edits is the same and maps back.
func checkEdits(t *testing.T, text, out string, eds edits) {
	t.Helper()
	if len(eds) == 0 && text != out {
		t.Fatalf("%q became %q without an edit", text, out)
	}
	at, end := 0, 0
	for _, e := range append(eds, edit{from: len(text), to: len(text), at: len(out)}) {
		if e.from < at || e.to < e.from || text[at:e.from] != out[end:e.at] {
			t.Fatalf("%q → %q: text before %+v differs", text, out, e)
		}
		for k := at; k < e.from; k++ {
			if got := eds.original(end+k-at, false); got != k {
				t.Fatalf("%q → %q: position %d maps to %d, want %d", text, out, end+k-at, got, k)
			}
		}
		at, end = e.to, e.at+len(e.repl)
	}
}

func TestRewriteLexical(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"select 1", "select 1"},
		{"select N'a''b', n'c', xn'd', N 'e', N.x", "select 'a''b', 'c', xn 'd', N 'e', N.x"},
		{"select 1--1, 5--a, 1 -- 2", "select 1- -1, 5- -a, 1"},
		{"select'a',x'41',_utf8mb4'b',b'1' from`t`", "select 'a',x'41',_utf8mb4'b',b'1' from `t`"},
		{"select 8//2", "select 8/ /2"},
		{`select 'a\_b\%', 'c\\_', '\n'`, `select 'a\\_b\\%', 'c\\_', '\n'`},
		{"select a$b, `c$d`, '$', @x", "select `a$b`, `c$d`, '$', @x"},
		{"select é, t.ñandú from ü", "select `é`, t.`ñandú` from `ü`"},
		{"select \\N, '\\N'", "select NULL, '\\N'"},
		{"select\f1\v", "select 1"},
		{"select @'a b', @\"c\", @`d`, 'u'@'h', u@h, `u`@`%`", "select @`a b`, @`c`, @`d`, 'u'@'h', u@h, `u`@`%`"},
		{"/*!40101 select 1 */", "select 1"},
		{"/*! select 1 */, 2", "select 1 , 2"},
		{"select 1 /*!80406 + 1 */ /*!080406 + 2 */ /*!80407 + 4 */ /*!090000 + 8 */ /*!99999 + 16 */ /*!999990 + 32 */ /*M!50000 + 64 */ /*M! + 128 */", "select 1 + 1 + 2 + 32"},
		{"select 1 /*!99999 a /* b */ c */ + 2 /* x */", "select 1 + 2"},
		{"select '/*!99999 ' /*!99999 ' */, \"--x\", `--x`", "select '/*!99999 ' , \"--x\", `--x`"},
		{"select /*+ NO_INDEX(t) */ 1 /* c */", "select /*+ NO_INDEX(t) */ 1"},
		{"select 1 # c\n+ 1 -- d\n+ 1", "select 1 # c + 1 -- d + 1"},
		{"select '\\'--1', 'it''s --1'", "select '\\'--1', 'it''s --1'"},
	} {
		if got := rewritten(t, c.in); got != c.want {
			t.Errorf("%q\n got %q\nwant %q", c.in, got, c.want)
		}
	}
}

func TestRewriteLocks(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"select 1 from t for update", "select 1 from t for update"},
		{"select 1 from t for update of t skip locked", "select 1 from t for update of t skip locked"},
		{"select 1 from t lock in share mode", "select 1 from t lock in share mode"},
		{"select 1 from t for share", "select 1 from t LOCK IN SHARE MODE"},
		{"select 1 from t for share nowait", "select 1 from t FOR UPDATE OF `ksql-lock:s:nowait`"},
		{"select 1 from t, u for share of t skip locked for update of `u` nowait", "select 1 from t, u FOR UPDATE OF `ksql-lock:s:skip:t`, `ksql-lock:x:nowait:u`"},
		{"select 1 from t where a in (select b from u for share) for update", "select 1 from t where a in (select b from u LOCK IN SHARE MODE) for update"},
		{"select 1 from t force index for order by (a) ignore key for join (b)", "select 1 from t force index (a) ignore INDEX (b)"},
	} {
		if got := rewritten(t, c.in); got != c.want {
			t.Errorf("%q\n got %q\nwant %q", c.in, got, c.want)
		}
	}
}

func TestRewriteExpressions(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"select a is unknown, b is not unknown, unknown from t", "select a is NULL, b is not NULL, unknown from t"},
		{"select row(1,2) = row(3,4)", "select (1,2) = (3,4)"},
		{"values row(1,2), row(3,4)", "values row(1,2), row(3,4)"},
		{"insert into t values row(1,2), row(row(1,2) = (1,2),4)", "insert into t values row(1,2), row( (1,2) = (1,2),4)"},
		{"select interval(a, 1, 2), now() + interval 1 day_hour, now() - interval (a+1) day", "select ksql_interval(a, 1, 2), now() + interval 1 `DAY_HOUR`, now() - interval (a+1) day"},
		{"select date_add(d, interval '1:2' minute_second), extract(day_hour from d)", "select date_add(d, interval '1:2' `MINUTE_SECOND`), extract(day_hour from d)"},
		{"select timestampadd(sql_tsi_day, 1, d), timestampdiff(SQL_TSI_WEEK, a, b)", "select timestampadd(DAY, 1, d), timestampdiff(WEEK, a, b)"},
		{"select 1 member of ('[1]')", "select 1 REGEXP ksql_member_of ('[1]')"},
		{"select trim(leading from a), trim(both 'x' from a)", "select trim(leading ' ' from a), trim(both 'x' from a)"},
		{"select lag(a) respect nulls over (order by b)", "select lag(a) over (order by b)"},
		{"select lag(a) ignore nulls over (order by b)", "ERROR This version of MySQL doesn't yet support 'IGNORE NULLS'"},
		{"select {d '2020-01-01'}, {ts '2020-01-01 00:00:00'}, {fn now()} from {oj a left join b on a.x = b.x}", "select DATE '2020-01-01' , TIMESTAMP '2020-01-01 00:00:00' , now() from a left join b on a.x = b.x"},
		{"select @a := @a + 1 as n, @b:=2 x, (@c := case when 1 then 2 else 3 end) from t", "select ksql_assign('a', @a + 1) as n, ksql_assign('b', 2) x, (ksql_assign('c', case when 1 then 2 else 3 end)) from t"},
		{"set @a := 1, @b = (select @c := 2)", "set @a := 1, @b = (select ksql_assign('c', 2))"},
		{"select a from t group by a with rollup", "ERROR This version of MySQL doesn't yet support 'WITH ROLLUP'"},
		{"select 1 as now, t.next, now() from t", "select 1 as `now`, t.`next`, now() from t"},
		{"select x = any (select 1), x <> all (select 2), x != all (select 3), x = some (select 4)", "select x IN (select 1), x NOT IN (select 2), x NOT IN (select 3), x IN (select 4)"},
		{"select x > all (select 1), x <= some(select 2 union select 3), x = all (select 4) union all (select 5)",
			"select x > ksql_all( (select 1)), x <= ksql_any((select 2 union select 3)), x = ksql_all( (select 4)) union all (select 5)"},
		{"select sql_no_cache distinct high_priority a from t", "select distinct a from t"},
		{"select distinctrow a from t use key (b), u use index ()", "select DISTINCT a from t use INDEX (b), u"},
		{"select sum(a) over (order by b range between 1.5 preceding and .5 following), sum(a) over (order by b rows ? preceding) from t",
			"select sum(a) over (order by b range between INTERVAL 1.5 mICROSECOND preceding and INTERVAL .5 mICROSECOND following), sum(a) over (order by b rows INTERVAL ? mICROSECOND preceding) from t"},
		{"select a from t partition (p0)", "ERROR This version of MySQL doesn't yet support 'PARTITION (…)'"},
		{"select sum(a) over (partition by (b)) from t", "select sum(a) over (partition by (b)) from t"},
	} {
		if got := rewritten(t, c.in); got != c.want {
			t.Errorf("%q\n got %q\nwant %q", c.in, got, c.want)
		}
	}
}

func TestRewriteCreate(t *testing.T) {
	wm := Clauses{Watermark: "WATERMARK FOR ts AS ts - INTERVAL (2+3) SECOND WITH TTL", Partition: "PARTITION BY KEY (d) PARTITIONS 256"}
	for _, c := range []struct{ in, want string }{
		{"create table s (d int, ts datetime, WATERMARK FOR ts AS ts - INTERVAL (2+3) SECOND WITH TTL) engine=x PARTITION BY KEY (d) PARTITIONS 256",
			"create table s (d int, ts datetime ) SECONDARY_ENGINE_ATTRIBUTE='" + wm.encode() + "' engine=x"},
		{"create table s (d int, ts datetime /*!999990 , WATERMARK FOR ts AS ts - INTERVAL (2+3) SECOND WITH TTL */) /*!999990 PARTITION BY KEY (d) PARTITIONS 256 */",
			"create table s (d int, ts datetime ) SECONDARY_ENGINE_ATTRIBUTE='" + wm.encode() + "'"},
		{"create table s (WATERMARK FOR ts AS ts, ts datetime)", "create table s ( ts datetime) SECONDARY_ENGINE_ATTRIBUTE='" + Clauses{Watermark: "WATERMARK FOR ts AS ts"}.encode() + "'"},
		{"create table s (a int) WATERMARK FOR ts AS ts PARTITION BY HASH(a) as select 1", "create table s (a int) SECONDARY_ENGINE_ATTRIBUTE='" +
			Clauses{Watermark: "WATERMARK FOR ts AS ts", Partition: "PARTITION BY HASH(a)"}.encode() + "' as select 1"},
		{"create table s (a int, watermark int)", "create table s (a int, watermark int)"},
		{"create table s (a int, WATERMARK FOR a AS /* x */ a)", "ERROR This version of MySQL doesn't yet support 'comment in a WATERMARK or PARTITION BY clause'"},
		{"create table a (like b)", "create table a like b"},
		{"create table a (b int references c (d) on delete set null on update cascade not null, e int)", "create table a (b int not null, e int)"},
		{"create table a (b year(4), c char(3) byte, d int visible, e varchar(3) ascii, f int default 1 comment 'x')", "create table a (b year , c BINARY(3) , d int , e varchar(3) CHARACTER SET latin1, f int default 1 comment 'x')"},
		{"create table a (b int, primary key using btree (b), unique key k (b) using hash, foreign key (b) references c (d) match full on delete cascade)",
			"create table a (b int, primary key (b), unique key k (b) , foreign key (b) references c (d) on delete cascade)"},
		{"create table a (b int invisible)", "ERROR This version of MySQL doesn't yet support 'INVISIBLE column'"},
		{"create table a (b blob(10), c blob(300), d blob(70000))", "create table a (b tinyblob, c blob, d mediumblob)"},
		{"create unique index i using btree on t (a) algorithm=inplace lock = none", "create unique index i on t (a)"},
		{"create definer=current_user() view v as select 1", "create definer=`u`@`h` view v as select 1"},
		{"create definer = CURRENT_USER trigger x before insert on t for each row do 1", "create definer = `u`@`h` trigger x before insert on t for each row SET @`ksql nothing` = ( 1)"},
		{"create function f() returns int return 1", "ERROR This version of MySQL doesn't yet support 'CREATE FUNCTION'"},
		{"create procedure p() begin do sleep(1), 2; if a then do 3; end if; while x do set y = 1; end while; end",
			"create procedure p() begin SET @`ksql nothing` = ( sleep(1)), @`ksql nothing` = ( 2); if a then SET @`ksql nothing` = ( 3); end if; while x do set y = 1; end while; end"},
	} {
		if got := rewritten(t, c.in); got != c.want {
			t.Errorf("%q\n got %q\nwant %q", c.in, got, c.want)
		}
	}
}

func TestRewriteStatements(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"alter table t add column (a int, b int), algorithm=instant, lock=none", "alter table t add column a int, ADD b int"},
		{"alter table t order by a", "alter table t ENGINE=InnoDB"},
		{"alter table t add a int, order by a", "alter table t add a int"},
		{"alter table t drop partition p0", "ERROR This version of MySQL doesn't yet support 'ALTER TABLE … DROP PARTITION'"},
		{"alter view v as select 1", "CREATE OR REPLACE view v as select 1"},
		{"alter user user() identified by 'x'", "alter user 'u'@'h' identified by 'x'"},
		{"drop tables a, b cascade", "drop TABLE a, b"},
		{"drop function if exists f", nothing},
		{"drop function f", "ERROR FUNCTION f does not exist"},
		{"rename tables a to b", "rename TABLE a to b"},
		{"start transaction with consistent snapshot, read only", "START TRANSACTION READ ONLY"},
		{"start transaction with consistent snapshot", "start transaction with consistent snapshot"},
		{"commit and chain", "ERROR This version of MySQL doesn't yet support 'COMMIT AND CHAIN'"},
		{"commit and no chain no release", "commit and no chain no release"},
		{"set local transaction isolation level read committed", "set SESSION transaction isolation level read committed"},
		{"set names latin1 collate latin1_bin", "set names latin1 , collation_connection = 'latin1_bin'"},
		{"set names default", "set names utf8mb4"},
		{"set password = 'x'", "ALTER USER 'u'@'h' IDENTIFIED BY 'x'"},
		{"set password for 'a'@'b' = 'x'", "ALTER USER 'a'@'b' IDENTIFIED BY 'x'"},
		{"do sleep(0)", "SET @`ksql nothing` = ( sleep(0))"},
		{"lock table t write, u low_priority write", "lock TABLES t write, u write"},
		{"unlock table", "unlock TABLES"},
		{"kill query connection_id()", "kill query 7"},
		{"flush local tables", "flush tables"},
		{"analyze local table t", "analyze table t"},
		{"insert low_priority into t values (1)", "insert into t values (1)"},
		{"insert into t set a = 1, b = f(2, 3) as new on duplicate key update a = new.a", "insert into t (a, b) VALUES (1, f(2, 3)) as new on duplicate key update a = new.a"},
		{"insert into t set a = 1", "insert into t set a = 1"},
		{"delete low_priority quick from t where a", "delete from t where a"},
		{"delete from t as x where x.a", "delete x from t as x where x.a"},
		{"delete from d.t x where x.a", "delete x from d.t x where x.a"},
		{"delete from t x limit 1", "ERROR This version of MySQL doesn't yet support 'DELETE with a table alias and ORDER BY or LIMIT'"},
		{"delete from t where a limit 1", "delete from t where a limit 1"},
		{"load data concurrent local infile 'x' into table t", "load data local infile 'x' into table t"},
		{"show schemas like 'a'", "show DATABASES like 'a'"},
		{"show full fields in t in d", "show full fields FROM t FROM d"},
		{"show full triggers", "show triggers"},
		{"show local variables", "show SESSION variables"},
		{"desc t a", "SHOW COLUMNS FROM t LIKE 'a'"},
		{"describe d.t 'a%'", "SHOW COLUMNS FROM d.t LIKE 'a%'"},
		{"explain select 1", "explain select 1"},
		{"explain format=json select 1", "ERROR This version of MySQL doesn't yet support 'EXPLAIN FORMAT=JSON'"},
		{"xa start 'x'", "ERROR This version of MySQL doesn't yet support 'XA'"},
	} {
		if got := rewritten(t, c.in); got != c.want {
			t.Errorf("%q\n got %q\nwant %q", c.in, got, c.want)
		}
	}
}

// Every statement that a rule writes must be one that the grammar reads.
func TestRewrittenStatementsParse(t *testing.T) {
	p := New()
	for _, q := range []string{
		"optimize table a, `b c`.`d'e`", "check table a, b.c extended", "repair table a", "show profiles", "show open tables",
		"do 1, 2", "create table a (b int, watermark for b as b) partition by key (b)", "select @a := 1 from t",
		"select 1 from t, u for share of t for update of u nowait", "drop function if exists f",
		"insert into t set a = 1 as n(b) on duplicate key update a = b", "show count(*) warnings",
		"select x = any (select 1)", "desc t a", "set names utf8mb4 collate utf8mb4_bin",
		"alter table t add column (a int, b int)", "start transaction read only, with consistent snapshot",
		"select date_add(d, interval 1 year_month), a member of ('[]') from t",
		"create table t (a int, key ((a+1)))",
	} {
		_, err := p.ParseSimple(q)
		var se *mysql.SQLError
		if errors.As(err, &se) && se.Num == erNotSupportedYet {
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", q, err)
		}
	}
}

func TestClausesRoundTrip(t *testing.T) {
	p := New()
	stmt, err := p.ParseSimple("create table s (d int, ts datetime, WATERMARK FOR ts AS 'it''s') PARTITION BY KEY (d)")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range stmt.(*ast.DDL).TableSpec.TableOpts {
		if strings.EqualFold(o.Name, ClausesOption) {
			c, ok := DecodeClauses(o.Value)
			if !ok || c.Watermark != "WATERMARK FOR ts AS 'it''s'" || c.Partition != "PARTITION BY KEY (d)" {
				t.Fatalf("got %+v", c)
			}
			return
		}
	}
	t.Fatal("the option is missing")
}
