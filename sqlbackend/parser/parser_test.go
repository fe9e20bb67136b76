package parser

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/dolthub/vitess/go/mysql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// parseMulti cuts a text into statements: "text→rest".
func parseAll(t *testing.T, text string) []string {
	t.Helper()
	p := New()
	var out []string
	for strings.TrimSpace(text) != "" {
		_, body, rest, err := p.ParseWithOptions(context.Background(), text, ';', true, ast.ParserOptions{})
		if err != nil && !errors.Is(err, ast.ErrEmpty) {
			return append(out, "ERROR "+err.Error())
		}
		if err == nil {
			out = append(out, body)
		}
		if len(rest) >= len(text) {
			t.Fatalf("no progress at %q", text)
		}
		text = rest
	}
	return out
}

func TestMultiStatements(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"select 1; select 2", []string{"select 1", "select 2"}},
		{" ;; -- x\n select N'a' ; /*!99999 x */; select 1--1 -- end", []string{"select N'a'", "select 1--1"}},
		{"/*!40101 SET @a=1 */;\n\nselect 2;", []string{"/*!40101 SET @a=1 */", "select 2"}},
		{"/* a */ -- b", nil},
		{"select 1 /*!50000 + 1 */; select 2", []string{"select 1 /*!50000 + 1 */", "select 2"}},
		{"create procedure p() begin select N'a;b'; select 2; end; select 3--3; select 4",
			[]string{"create procedure p() begin select N'a;b'; select 2; end", "select 3--3", "select 4"}},
		{"create trigger t before insert on x for each row set new.a = N'y'; select 2", []string{"create trigger t before insert on x for each row set new.a = N'y'", "select 2"}},
		{"/*!50003 CREATE*/ /*!50017 DEFINER=`a`@`b`*/ /*!50003 TRIGGER t BEFORE INSERT ON x FOR EACH ROW BEGIN SET NEW.a = 1; END */; select 2",
			[]string{"/*!50003 CREATE*/ /*!50017 DEFINER=`a`@`b`*/ /*!50003 TRIGGER t BEFORE INSERT ON x FOR EACH ROW BEGIN SET NEW.a = 1; END */", "select 2"}},
		{"create view v as select N'x'; create table t (a int, watermark for a as a) partition by key (a); select 1 from t for share",
			[]string{"create view v as select N'x'", "create table t (a int, watermark for a as a) partition by key (a)", "select 1 from t for share"}},
		{"create event e on schedule every 1 day do begin do 1; end; select 1", []string{"create event e on schedule every 1 day do begin do 1; end", "select 1"}},
	} {
		if got := parseAll(t, c.text); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", c.want) {
			t.Errorf("%q\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

func TestOneWithOptions(t *testing.T) {
	p := New()
	for _, c := range []struct{ text, rest string }{
		{"select N'1'; select 2", " select 2"},
		{"select 1", ""},
		{"create procedure p() begin select N'a'; end; select 2", " select 2"},
	} {
		_, n, err := p.ParseOneWithOptions(context.Background(), c.text, ast.ParserOptions{})
		if err != nil || c.text[n:] != c.rest {
			t.Errorf("%q: next at %d (%q), %v", c.text, n, c.text[min(n, len(c.text)):], err)
		}
	}
}

// Positions in trees refer to the text that is returned with them.
func TestSubStatementPositions(t *testing.T) {
	p := New()
	for _, c := range []struct{ text, body string }{
		{"create view v as select N'x', 1--1 from t for share", "select N'x', 1--1 from t for share"},
		{"create definer=current_user view v as select N'x'", "select N'x'"},
		{"/*!50001 CREATE ALGORITHM=UNDEFINED */ /*!50013 DEFINER=`r`@`l` */ /*!50001 VIEW `v` AS select 1 AS `a` */", "select 1 AS `a`"},
		{"create trigger t before insert on u for each row begin do 1; set new.a = N'x'; end", "begin do 1; set new.a = N'x'; end"},
		{"create procedure p() select 1--1", "select 1--1"},
	} {
		stmt, body, _, err := p.ParseWithOptions(context.Background(), c.text, ';', false, ast.ParserOptions{})
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		d := stmt.(*ast.DDL)
		if got := strings.TrimSpace(body[d.SubStatementPositionStart:d.SubStatementPositionEnd]); got != c.body {
			t.Errorf("%s: body %q, want %q", c.text, got, c.body)
		}
		stmt, _, err = p.ParseOneWithOptions(context.Background(), c.text, ast.ParserOptions{})
		if err != nil {
			t.Fatal(err)
		}
		d = stmt.(*ast.DDL)
		if got := strings.TrimSpace(c.text[d.SubStatementPositionStart:d.SubStatementPositionEnd]); got != c.body {
			t.Errorf("%s: prepared body %q, want %q", c.text, got, c.body)
		}
	}
}

func TestHeaders(t *testing.T) {
	p := New()
	for _, c := range []struct{ text, want string }{
		{"select 1--1, N'a', 'd', -1, 1 /*!50000 + 1 */, sum(a) , b is unknown from t", "1--1|a|d|-1|1          + 1|sum(a)|b is unknown"},
		{"select 1 ,  2  , 'x' , now( )\n", "1|2|x|now( )"},
		{"select a$b + 1, `x` + 1", "a$b + 1|`x` + 1"},
		{"select trim(leading from a), @a := 1, x > all (select 1), {fn now()}", "trim(leading from a)|@a := 1|x > all (select 1)|now()"},
		{"select count(*) over (order by a)", "count(*) over (order by a)"},
	} {
		stmt, err := p.ParseSimple(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		var got []string
		for _, e := range stmt.(*ast.Select).SelectExprs {
			got = append(got, e.(*ast.AliasedExpr).InputExpression)
		}
		if g := strings.Join(got, "|"); g != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.text, g, c.want)
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	p := New()
	for _, c := range []struct {
		text, near string
		line       int
	}{
		{"selec 1", "selec 1", 1},
		{"select 1 from", "", 1},
		{"select 1\nfrom t\nwhre a = 1 limit", "a = 1 limit", 3},
		{"select N'x', 1--1 frm t where", "t where", 1},
		{"\n\nselect 1 +\n* from", "* from", 2},
		{"/* a\n b */ select 1 +", "", 2},
		{"select 'abc", "'abc", 1},
		{"select 1 /* abc", "/* abc", 1},
		{"select 1 from t where a = `x", "`x", 1},
		{"insert into t values (1,,2)", ",2)", 1},
		{"create table t (a int,)", ")", 1},
		{"select ... from t", "... from t", 1},
		{"delete form t", "t", 1},
		{"/*!50000 select 1", "", 1},
		{"select 1; select 2", "select 2", 1},
		{"select * from t where a = 'ü' and", "", 1},
		{"select * from t limit 'ä', -", "'ä', -", 1},
		{"update t set", "", 1},
		{"start transaction read", "read", 1},
	} {
		_, _, _, err := p.ParseWithOptions(context.Background(), c.text, ';', false, ast.ParserOptions{})
		var se *mysql.SQLError
		if !errors.As(err, &se) || se.Num != 1064 || se.State != "42000" {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		_, got, _ := strings.Cut(se.Message, "right syntax to use ")
		if want := fmt.Sprintf("near '%s' at line %d", c.near, c.line); got != want {
			t.Errorf("%q\n got %s\nwant %s", c.text, got, want)
		}
	}
}

func TestNearIsShort(t *testing.T) {
	_, err := New().ParseSimple("selec " + strings.Repeat("ä", 100))
	var se *mysql.SQLError
	if !errors.As(err, &se) || !strings.HasSuffix(se.Message, "near 'selec "+strings.Repeat("ä", 37)+"' at line 1") {
		t.Fatal(err)
	}
}

func TestEmpty(t *testing.T) {
	for _, q := range []string{"", " ", ";", "-- x", "/* x */ ;", "/*!99999 select 1 */", "# x\n;;"} {
		if _, err := New().ParseSimple(q); !errors.Is(err, ast.ErrEmpty) {
			t.Errorf("%q: %v", q, err)
		}
	}
}

func TestSQLModes(t *testing.T) {
	p := New()
	stmt, _, _, err := p.ParseWithOptions(context.Background(), `select "a--1", 'b'`, ';', false, ast.ParserOptions{AnsiQuotes: true})
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := stmt.(*ast.Select).SelectExprs[0].(*ast.AliasedExpr).Expr.(*ast.ColName); !ok || c.Name.String() != "a--1" {
		t.Error("ANSI_QUOTES is not heeded")
	}
	s := cut(`select 'a\', "b\"`, mode{noBackslashEscapes: true}, ';')
	if out := s.edits.apply(s.text); out != `select 'a\\', "b\\"` {
		t.Error("NO_BACKSLASH_ESCAPES:", out)
	}
}

func TestHook(t *testing.T) {
	refuse := errors.New("refused")
	p := New(func(_ context.Context, stmt ast.Statement) error {
		if _, ok := stmt.(*ast.Select); ok {
			return refuse
		}
		return nil
	})
	if _, err := p.ParseSimple("select 1"); !errors.Is(err, refuse) {
		t.Error(err)
	}
	if _, err := p.ParseSimple("insert into t values (1)"); err != nil {
		t.Error(err)
	}
}

func TestConsistentSnapshot(t *testing.T) {
	for q, want := range map[string]bool{
		"START TRANSACTION WITH CONSISTENT SNAPSHOT": true, "start /* x */ transaction read only, with consistent snapshot": true,
		"start transaction": false, "begin": false, "select 'start transaction with consistent snapshot'": false, "": false,
	} {
		if got := ConsistentSnapshot(q); got != want {
			t.Errorf("%q: %v", q, got)
		}
	}
}
