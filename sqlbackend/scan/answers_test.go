package scan_test

import (
	"bufio"
	"os"
	"strings"
	"testing"
)

const answerTables = `
create table t (k bigint primary key, g int, i int, b bigint, d decimal(10,2), f double, s varchar(20), e varchar(10), dt datetime);
insert into t values (1,1,1,10,1.10,1.5,'a','x','2020-01-01'), (2,1,2,20,2.20,2.5,'A','y','2020-01-02'), (3,2,3,30,3.30,3.5,'b','x','2020-01-02'),
 (4,2,3,30,1.005,3.25,'B','','2020-01-05'), (5,2,null,null,null,null,null,null,null), (6,3,7,-5,-1.25,0.125,'á','z','2020-02-01'),
 (7,3,7,8,99999999.99,1e10,'c','y','2020-02-03'), (8,3,8,9,0.01,0.1,'C','q','2020-02-03');`

// TestAnswers runs the queries of testdata/answers.sql.
func TestAnswers(t *testing.T) {
	e := newEngine(t)
	e.exec(t, answerTables)
	f, err := os.Open("testdata/answers.sql")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	query, want, n := "", []string(nil), 0
	check := func() {
		if query == "" {
			return
		}
		n++
		got := e.query(strings.TrimSuffix(query, ";"))
		if w := strings.Join(want, "|"); got != w && !strings.HasPrefix(w, "ERROR") || strings.HasPrefix(w, "ERROR") && !strings.HasPrefix(got, w) {
			t.Errorf("%s\n got %s\nwant %s", query, got, w)
		}
		query, want = "", nil
	}
	for sc := bufio.NewScanner(f); sc.Scan(); {
		line := sc.Text()
		switch {
		case strings.HasPrefix(line, "-- > "):
			want = append(want, strings.TrimPrefix(line, "-- > "))
		case line == "-- >":
			want = append(want, "")
		case strings.HasPrefix(line, "--"), line == "":
		default:
			check()
			query = line
		}
	}
	check()
	if n < 100 {
		t.Fatalf("only %d queries were read", n)
	}
}

func TestWindowErrors(t *testing.T) {
	e := newEngine(t)
	e.exec(t, answerTables)
	for _, c := range []struct{ query, want string }{
		{"select sum(k) over (order by k rows -1 preceding) from t", "ERROR"},
		{"select sum(k) over (order by k, g range 1 preceding) from t", "ERROR Window '<unnamed window>' with RANGE N PRECEDING/FOLLOWING frame requires exactly one ORDER BY expression, of numeric or temporal type"},
		{"select ntile(0) over (order by k) from t", "ERROR Incorrect arguments to ntile"},
		{"select nth_value(k, 0) over (order by k) from t", "ERROR Incorrect arguments to nth_value"},
		{"select lag(k, -1) over (order by k) from t", "ERROR Incorrect arguments to lag"},
		{"select lag(k, 1, 2, 3) over (order by k) from t", "ERROR"},
		{"select sum(distinct k) over () from t", "ERROR This version of MySQL doesn't yet support '<window function>(DISTINCT ..)'"},
	} {
		if got := e.query(c.query); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s", c.query, got, c.want)
		}
	}
}

// Parameters, views, routines and table copies see the same aggregates.
func TestAggregatesEverywhere(t *testing.T) {
	e := newEngine(t)
	e.exec(t, answerTables)
	e.check(t, "select k from t where s in (?, ?) order by k", "1|2|3|4|6", "A", "b")
	e.check(t, "select g, sum(d) from t where k > ? group by g having sum(d) > ? order by 1", "1,2.20|2,4.31|3,99999998.75", "1", "1.5")
	e.check(t, "select k, sum(i) over (order by k rows ? preceding) from t where k < 4", "1,1|2,3|3,5", "1")
	e.exec(t, "create view v as select g, sum(d) sd, avg(d) ad, count(distinct s) n from t group by g")
	e.check(t, "select * from v order by g", "1,3.30,1.650000,1|2,4.31,2.155000,1|3,99999998.75,33333332.916667,2")
	e.exec(t, "create table c as select g, sum(d) sd, avg(i) ai, sum(f) sf from t group by g")
	got := e.query("show create table c")
	for _, w := range []string{"`sd` decimal(32,2)", "`ai` decimal(14,4)", "`sf` double"} {
		if !strings.Contains(got, w) {
			t.Errorf("%q is missing in %s", w, got)
		}
	}
	e.exec(t, "create procedure p() begin select sum(d), group_concat(distinct s order by s) from t where k < 4; end")
	e.check(t, "call p()", "6.60,a,b")
	e.check(t, "with c as (select g, sum(d) x from t group by g) select sum(x), avg(x) from c", "100000006.36,33333335.453333")
	e.check(t, "select (select sum(d) from t u where u.g = t.g) from t where k in (1, 8) order by k", "3.30|99999998.75")
	e.check(t, "select 1 from t group by s, g order by s, g limit 2", "1|1")
}

func TestGroupConcatIsCut(t *testing.T) {
	e := newEngine(t)
	e.exec(t, "create table w (a varchar(100)); insert into w values ('ää'), ('öö'), ('üü')")
	e.exec(t, "set group_concat_max_len = 8")
	e.check(t, "select group_concat(a order by a separator '') from w", "ääöö")
	e.exec(t, "set group_concat_max_len = 7")
	e.check(t, "select group_concat(a order by a separator '') from w", "ääö")
	e.check(t, "show warnings", "Warning,1260,Row 2 was cut by GROUP_CONCAT()")
}

// One million-row frame must not cost a million rows for each row.
func TestWindowsAreNotQuadratic(t *testing.T) {
	e := newEngine(t)
	e.exec(t, "create table n (a int, b decimal(10,2)); insert into n values (1, 0.01)")
	for range 15 {
		e.exec(t, "insert into n select a, b from n")
	}
	e.check(t, "select max(x), max(y), max(z) from (select sum(b) over (order by a rows between 5000 preceding and current row) x, "+
		"count(*) over (order by a rows between 5000 preceding and current row) y, sum(b) over (order by a) z from n) q", "50.01,5001,327.68")
}
