package parser

import (
	"errors"
	"sort"
	"strings"
	"testing"

	"github.com/dolthub/vitess/go/mysql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// locked lists table[marker] of every reference with AS OF.
func locked(t *testing.T, text string) string {
	t.Helper()
	stmt, err := New().ParseSimple(text)
	var se *mysql.SQLError
	if errors.As(err, &se) {
		return "ERROR " + se.Message
	}
	if err != nil {
		t.Fatal(text, err)
	}
	var out []string
	visitAll(stmt, func(n ast.SQLNode) {
		a, ok := n.(*ast.AliasedTableExpr)
		if !ok || a.AsOf == nil {
			return
		}
		name := a.As.String()
		if name == "" {
			name = ast.String(a.Expr)
		}
		v, ok := a.AsOf.Time.(*ast.SQLVal)
		if !ok {
			out = append(out, name+"[injected]")
			return
		}
		out = append(out, name+"["+strings.TrimPrefix(string(v.Val), LockMarker)+"]")
	})
	sort.Strings(out)
	return strings.Join(out, " ")
}

func TestLocksReachTheirTables(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"select * from t", ""},
		{"select * from t for update", "t[x:wait]"},
		{"select * from t lock in share mode", "t[s:wait]"},
		{"select * from t for share", "t[s:wait]"},
		{"select * from t for share nowait", "t[s:nowait]"},
		{"select * from d.t x, u for update of X skip locked", "x[x:skip]"},
		{"select * from t join (u join v on 1) on 1 for update", "t[x:wait] u[x:wait] v[x:wait]"},
		{"select * from t, u for update of t for share of u nowait", "t[x:wait] u[s:nowait]"},
		{"select * from t where a in (select b from u for update)", "u[x:wait]"},
		{"select * from t where a in (select b from u) for update", "t[x:wait]"},
		{"select * from (select * from t) x for update", ""},
		{"select * from (select * from t for share) x", "t[s:wait]"},
		{"with c as (select * from t for update) select * from c, u for share", "t[x:wait] u[s:wait]"},
		{"with c as (select * from c) select * from (select * from c for update) x", ""},
		{"select * from (with c as (select 1) select * from c for update) x, c for update", "c[x:wait]"},
		{"(select * from t for update) union all (select * from u)", "t[x:wait]"},
		{"select * from t union select * from u for update", "u[x:wait]"},
		{"select * from information_schema.tables for update", ""},
		{"select 1 from dual for update", ""},
		{"insert into u select * from t for update", "t[x:wait]"},
		{"create procedure p() begin if (select 1 from t for update) then select * from u for share; end if; while a do select * from v for update; end while; end", "t[x:wait] u[s:wait] v[x:wait]"},
		{"create trigger x before insert on t for each row begin select a from u for update into @a; end", "u[x:wait]"},
		{"explain select * from t for update", "t[x:wait]"},
		{"select * from t for update of u", "ERROR Unresolved table name `u` in locking clause."},
		{"select * from t for update of t for share of t", "ERROR Table `t` appears in multiple locking clauses."},
		{"select * from t as of 'epoch:1' for update", "ERROR Cannot execute statement in a READ ONLY transaction."},
		{"select * from t as of 'epoch:1'", "t[epoch:1]"},
		{"select * from t as of ?, u as of @x, v as of now()", "t[injected] u[injected] v[injected]"},
		{"select * from t as of e", "ERROR Incorrect arguments to AS OF"},
	} {
		if got := locked(t, c.text); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

// calls lists the functions of a statement.
func calls(t *testing.T, text string) string {
	t.Helper()
	stmt, err := New().ParseSimple(text)
	var se *mysql.SQLError
	if errors.As(err, &se) {
		return "ERROR " + se.Message
	}
	if err != nil {
		t.Fatal(text, err)
	}
	var out []string
	visitAll(stmt, func(n ast.SQLNode) {
		f, ok := n.(*ast.FuncExpr)
		if !ok {
			return
		}
		s := f.Name.Lowered()
		if s == WindowFunction {
			s = string(f.Exprs[0].(*ast.AliasedExpr).Expr.(*ast.SQLVal).Val) + "/" + strings.TrimSpace(strings.ReplaceAll(ast.String((*ast.Over)(f.Over)), "over ", ""))
		}
		out = append(out, s)
	})
	return strings.Join(out, " ")
}

func TestFunctionsAreRenamed(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"select sum(a), AVG(b), min(c), d.f(e) from t", "ksql_sum ksql_avg min f"},
		{"select a from t having sum(a) > 1 order by avg(a)", "ksql_sum ksql_avg"},
		{"select 1 union select 2 order by sum(a)", "ksql_sum"},
		{"create view v as select sum(a) from t", "ksql_sum"},
		{"create procedure p() begin declare x int default 1; return (select sum(a) from t); end", "ksql_sum"},
		{"select a regexp b, a not rlike c, a member of (d), a > all (select sum(x) from u)", "regexp_like regexp_like ksql_member_of ksql_quantified ksql_sum"},
		{"insert into t values ((select sum(a) from u)) on duplicate key update b = (select avg(c) from u)", "ksql_sum ksql_avg"},
		{"select count(distinct a) over () from t", "ERROR This version of MySQL doesn't yet support '<window function>(DISTINCT ..)'"},
		{"select sum(a) over w from t window v as (order by a)", "ERROR Window name 'w' is not defined."},
		{"select sum(a) over w from t", "ERROR Window name 'w' is not defined."},
		{"select sum(a) over w from t window w as (v), v as (w)", "ERROR There is a circularity in the window dependency graph."},
		{"select sum(a) over (w partition by b) from t window w as (order by a)", "ERROR A window which depends on another cannot define partitioning."},
		{"select sum(a) over (w order by b) from t window w as (order by a)", "ERROR Window '<unnamed window>' cannot inherit 'w' since both contain an ORDER BY clause."},
		{"select sum(a) over (w order by b) from t window w as (rows 1 preceding)", "ERROR Window 'w' has a frame definition, so cannot be referenced by another window."},
		{"select sum(a) over w from t window w as (order by a), W as (order by b)", "ERROR Window 'W' is defined twice."},
	} {
		if got := calls(t, c.text); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

func TestNamedWindowsAreWrittenOut(t *testing.T) {
	got := calls(t, "select sum(a) over w, count(*) over (w order by b), rank() over (v rows 1 preceding) from t window w as (partition by c), v as (w order by d)")
	want := "sum/(partition by c) count/(partition by c order by b asc) rank/(partition by c order by d asc ROWS 1 preceding)"
	if strings.ToLower(got) != strings.ToLower(want) {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}
