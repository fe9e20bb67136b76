package wire

import (
	"context"
	"strings"
	"testing"

	gms "github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

func TestCountParams(t *testing.T) {
	ctx := gms.NewEmptyContext()
	for _, q := range []string{
		"select ? from t where a = ? limit ? offset ?", "select a from t group by a + ? having a > ? order by a + ?",
		"insert into t values (?,?),(?,?)", "insert into t (a,b) values (?,?) on duplicate key update a = ?, b = values(b) + ?",
		"insert into t set a = ?, b = ?", "insert into t select ? from u where a = ?", "replace into t values (?)",
		"update t set a = ?, b = ? where c = ? order by d limit ?", "delete from t where a in (?,?,?) limit ?",
		"update t join u on t.a = u.a + ? set t.b = ? where u.c = ?",
		"with c as (select ? as x), d as (select ? as y) select ?, x from c, d where x = ?",
		"select * from (select ? as a) x join (select ? as b) y on x.a = ? and y.b = ?",
		"select case ? when ? then ? else ? end", "select cast(? as char), convert(? using utf8mb4), ? collate utf8mb4_bin",
		"select ? between ? and ?, ? like ? escape '|', ? is null, ? in (?), not ?, -?, ?+?, ? regexp ?",
		"select (select ? from t where a = ?), exists (select ?)",
		"select ? union all select ? order by ? limit ?", "(select ?) union (select ?)", "values row(?,?)",
		"select date_add(?, interval ? day), extract(day from ?), substring(?, ?, ?), trim(? from ?), group_concat(? order by ? separator ',')",
		"select count(distinct ?), position(? in ?), timestampdiff(day, ?, ?), json_extract(?, ?), if(?,?,?), match(a) against (?) from t",
		"select * from json_table(?, '$[*]' columns (a int path '$')) as jt", "call p(?, ?)", "set @a = ?, @b = ?", "set session sql_mode = ?",
		"select * from t as of ?", "select ? into @a", "create table x as select ? as a", "explain select ?", "delete t from t join u on t.a = ? where u.b = ?", "insert into t values (?) as n on duplicate key update a = n.a + ?", "select a, ? from t window w as (partition by ?)", "select row_number() over (order by ?)", "show columns from t where field = ?", "select lag(a, ?, ?) over () from t",
	} {
		stmt, err := ast.ParseWithOptions(context.Background(), q, ast.ParserOptions{})
		if err != nil {
			t.Errorf("%s: %v", q, err)
			continue
		}
		if got, want := countParams(ctx, stmt, q), strings.Count(q, "?"); got != want {
			t.Errorf("%s: %d, want %d", q, got, want)
		}
	}
}
