package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	gms "github.com/dolthub/go-mysql-server/sql"
	vitess "github.com/dolthub/vitess/go/mysql"
	goerrors "gopkg.in/src-d/go-errors.v1"
)

// errorCases: a statement (? is 1), number, SQLSTATE and text.
var errorCases = []struct {
	q     string
	num   uint16
	state string
	msg   string
}{
	{"select nosuch from t where a = ?", 1054, "42S22", "Unknown column 'nosuch' in 'field list'"},
	{"select 1 from t where nosuch = ?", 1054, "42S22", "Unknown column 'nosuch' in 'where clause'"},
	{"select a from t where a = ? order by nosuch", 1054, "42S22", "Unknown column 'nosuch' in 'order clause'"},
	{"select t.a from t join u on t.a = u.nosuch where t.a = ?", 1054, "42S22", "Unknown column 'u.nosuch' in 'on clause'"},
	{"update t set nosuch = ?", 1054, "42S22", "Unknown column 'nosuch' in 'field list'"},
	{"select b from t, u where u.a = ?", 1052, "23000", "Column 'b' in field list is ambiguous"},
	{"select * from nosuch where a = ?", 1146, "42S02", "Table 'd.nosuch' doesn't exist"},
	{"select * from nodb.x where a = ?", 1049, "42000", "Unknown database 'nodb'"},
	{"insert into t values (?, 'x', 1)", 1062, "23000", "Duplicate entry '1' for key 't.PRIMARY'"},
	{"insert into u values (?, 7, 2)", 1062, "23000", "Duplicate entry '7' for key 'u.ub'"},
	{"insert into t values (2, null, ?)", 1048, "23000", "Column 'b' cannot be null"},
	{"insert into t (a, c) values (2, ?)", 1364, "HY000", "Field 'b' doesn't have a default value"},
	{"insert into t (a, b) values (2, 'x', ?)", 1136, "21S01", "Column count doesn't match value count at row 1"},
	{"insert into t (a, a) values (2, ?)", 1110, "42000", "Column 'a' specified twice"},
	{"insert into t values (?, 'xxxxxxxxxxx', 2)", 1406, "22001", "Data too long for column 'b' at row 1"},
	{"insert into t values (?, 'x', 300)", 1264, "22003", "Out of range value for column 'c' at row 1"},
	{"insert into t values (?, 'x', 'abc')", 1366, "HY000", "Incorrect integer value: 'abc' for column 'c' at row 1"},
	{"insert into u values (9, ?, 'abc')", 1366, "HY000", "Incorrect integer value: 'abc' for column 'c' at row 1"},
	{"insert into e values (?, 'z', null)", 1265, "01000", "Data truncated for column 'e' at row 1"},
	{"insert into e values (?, 'a', '2026-02-31')", 1292, "22007", "Incorrect datetime value: '2026-02-31' for column 'd' at row 1"},
	{"insert into k values (?, 5)", 1452, "23000", "Cannot add or update a child row: a foreign key constraint fails (`d`.`k`, CONSTRAINT `fk` FOREIGN KEY (`p`) REFERENCES `u` (`a`))"},
	{"delete from u where a = 3 + 0 * ?", 1451, "23000", "Cannot delete or update a parent row: a foreign key constraint fails (`d`.`k`, CONSTRAINT `fk` FOREIGN KEY (`p`) REFERENCES `u` (`a`))"},
	{"insert into ch values (-?)", 3819, "HY000", "Check constraint 'pos' is violated."},
	{"insert into g (a, b) values (?, 1)", 3105, "HY000", "The value specified for generated column 'b' in table 'g' is not allowed."},
	{"select nofunc(?)", 1305, "42000", "FUNCTION d.nofunc does not exist"},
	{"select upper(?, 2)", 1582, "42000", "Incorrect parameter count in the call to native function 'upper'"},
	{"select b, count(*) from t where c = ?", 1140, "42000", "In aggregated query without GROUP BY, expression #1 of SELECT list contains nonaggregated column 't.b'; this is incompatible with sql_mode=only_full_group_by"},
	{"select (select a from u) from t where a = ?", 1242, "21000", "Subquery returns more than 1 row"},
	{"select 1 = (select 1, ?)", 1241, "21000", "Operand should contain 1 column(s)"},
	{"select 1 union select 2, ?", 1222, "21000", "The used SELECT statements have a different number of columns"},
	{"select * from t a, u a where ? = 1", 1066, "42000", "Not unique table/alias: 'a'"},
	{"selec ?", 1064, "42000", "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near 'selec %s' at line 1"},
	{"select 1\nfrom t\nwher a = ?", 1064, "42000", "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near 'a = %s' at line 3"},
}

// ddlErrorCases can't be prepared with parameters.
var ddlErrorCases = []struct {
	q     string
	num   uint16
	state string
	msg   string
}{
	{"create table t (a int)", 1050, "42S01", "Table 't' already exists"},
	{"drop table nosuch", 1051, "42S02", "Unknown table 'd.nosuch'"},
	{"create database d", 1007, "HY000", "Can't create database 'd'; database exists"},
	{"drop database nodb", 1008, "HY000", "Can't drop database 'nodb'; database doesn't exist"},
	{"use nodb", 1049, "42000", "Unknown database 'nodb'"},
	{"alter table t drop column nosuch", 1091, "42000", "Can't DROP 'nosuch'; check that column/key exists"},
	{"alter table t add column b int", 1060, "42S21", "Duplicate column name 'b'"},
	{"create table x (a int, a int)", 1060, "42S21", "Duplicate column name 'a'"},
	{"create table x (a int, key k (nosuch))", 1072, "42000", "Key column 'nosuch' doesn't exist in table"},
	{"create table x (a int auto_increment, b int auto_increment, primary key (a))", 1075, "42000", "Incorrect table definition; there can be only one auto column and it must be defined as a key"},
	{"call noproc()", 1305, "42000", "PROCEDURE d.noproc does not exist"},
	{"set nosuchvar = 1", 1193, "HY000", "Unknown system variable 'nosuchvar'"},
	{"set session version = 'x'", 1238, "HY000", "Variable 'version' is a read only variable"},
	{"execute nosuch", 1243, "HY000", "Unknown prepared statement handler (nosuch) given to EXECUTE"},
	{"deallocate prepare nosuch", 1243, "HY000", "Unknown prepared statement handler (nosuch) given to DEALLOCATE PREPARE"},
	{"kill query 4000000", 1094, "HY000", "Unknown thread id: 4000000"},
	{"select _utf8mb4'a' collate latin1_swedish_ci", 1253, "42000", "COLLATION 'latin1_swedish_ci' is not valid for CHARACTER SET 'utf8mb4'"},
	{"", 1065, "42000", "Query was empty"},
	{" ; ", 1065, "42000", "Query was empty"},
}

func errorFixture(t *testing.T) *fixture {
	f := start(t)
	db := f.db("")
	for _, q := range []string{
		"create table t (a int primary key, b varchar(10) not null, c tinyint)",
		"create table u (a int primary key, b int, c int, unique key ub (b), unique key uc (c))",
		"create table e (a int primary key, e enum('a','b'), d datetime)",
		"create table k (a int primary key, p int, constraint fk foreign key (p) references u (a))",
		"create table ch (a int, constraint pos check (a > 0))",
		"create table g (a int primary key, b int generated always as (a + 1) stored)",
		"insert into t values (1, 'x', 1)",
		"insert into u values (3, 7, 1), (4, 8, 9)",
		"insert into k values (1, 3)",
	} {
		f.exec(db, q)
	}
	return f
}

func TestErrorIdentity(t *testing.T) {
	f := errorFixture(t)
	text, multi := f.db(""), f.db("multiStatements=true")
	for _, c := range errorCases {
		literal := strings.Replace(c.q, "?", "1", 1)
		for how, run := range map[string]func() error{
			"text":     func() error { _, err := text.Exec(literal); return err },
			"prepared": func() error { _, err := text.Exec(c.q, 1); return err },
			"multi": func() error {
				_, err := multi.Exec("set @a = 1; " + literal + "; set @b = 2")
				return err
			},
		} {
			err := run()
			if err == nil {
				t.Errorf("%s, %s: no error", c.q, how)
				continue
			}
			want := c.msg
			if strings.Contains(want, "%s") {
				arg := map[string]string{"text": "1", "prepared": "?", "multi": "1; set @b = 2"}[how]
				want = fmt.Sprintf(want, arg)
			}
			checkError(t, c.q+", "+how, err, c.num, c.state, want)
		}
	}
	for _, c := range ddlErrorCases {
		_, err := text.Exec(c.q)
		if err == nil {
			t.Errorf("%s: no error", c.q)
			continue
		}
		checkError(t, c.q, err, c.num, c.state, c.msg)
	}
}

func checkError(t *testing.T, what string, err error, num uint16, state, msg string) {
	t.Helper()
	me := sqlError(t, err)
	if me.Number != num || string(me.SQLState[:]) != state || me.Message != msg {
		t.Errorf("%s:\n got %d (%s) %s\nwant %d (%s) %s", what, me.Number, me.SQLState, me.Message, num, state, msg)
	}
}

// TestEveryKindIsMapped reads the engine's list of error kinds: one that is new
// must be given a number, or 1105 on purpose.
func TestEveryKindIsMapped(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/dolthub/go-mysql-server").Output()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(string(bytes.TrimSpace(out)), "sql", "errors.go")
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	mapped := map[string]bool{}
	for _, table := range [][]kindRule{schemaKinds, dataKinds, programKinds} {
		for _, r := range table {
			if mapped[r.name] {
				t.Errorf("%s is mapped twice", r.name)
			}
			mapped[r.name] = true
			if r.num < 1000 || r.state != "" && len(r.state) != 5 {
				t.Errorf("%s: %d %q", r.name, r.num, r.state)
			}
		}
	}
	found := 0
	ast.Inspect(tree, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		call, ok := spec.Values[0].(*ast.CallExpr)
		if !ok {
			return true
		}
		if name := callName(call); name != "NewKind" && name != "newMySQLKind" {
			return true
		}
		found++
		if !mapped[spec.Names[0].Name] {
			t.Errorf("%s has no number", spec.Names[0].Name)
		}
		return true
	})
	if found < 200 {
		t.Errorf("only %d kinds found in %s", found, file)
	}
}

func callName(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.SelectorExpr:
		return f.Sel.Name
	case *ast.Ident:
		return f.Name
	}
	return ""
}

// TestKindTexts formats every rule with made-up arguments: no placeholder may
// be left, and nothing may panic without a statement at hand.
func TestKindTexts(t *testing.T) {
	for _, table := range [][]kindRule{schemaKinds, dataKinds, programKinds} {
		for _, r := range table {
			var args []any
			for i, v := range verb.FindAllString(r.kind.Message, -1) {
				if v == "%d" {
					args = append(args, 7)
				} else {
					args = append(args, fmt.Sprintf("arg%d", i+1))
				}
			}
			se := MapErr(r.kind.New(args...)).(*vitess.SQLError)
			if strings.Contains(se.Message, "%") && r.name != "plan.ErrNotView" {
				t.Errorf("%s: %s", r.name, se.Message)
			}
			if se.Num != r.num && r.name != "ErrPrivilegeCheckFailed" { // that one depends on the statement
				t.Errorf("%s: %d, want %d", r.name, se.Num, r.num)
			}
		}
	}
}

func TestMapErr(t *testing.T) {
	deadline, cancel := context.WithTimeout(context.Background(), 0)
	defer cancel()
	<-deadline.Done()
	own := vitess.NewSQLError(3572, "HY000", "own")
	for _, c := range []struct {
		err   error
		num   int
		state string
		msg   string
	}{
		{own, 3572, "HY000", "own"},
		{fmt.Errorf("scan t: %w", own), 3572, "HY000", "own"},
		{context.Canceled, 1317, "70100", "Query execution was interrupted"},
		{deadline.Err(), 3024, "HY000", "Query execution was interrupted, maximum statement execution time exceeded"},
		{ErrQueryKilled, 1317, "70100", "Query execution was interrupted"},
		{fmt.Errorf("next: %w", ErrStatementTimeout), 3024, "HY000", "Query execution was interrupted, maximum statement execution time exceeded"},
		{errors.New("what is this"), 1105, "HY000", "what is this"},
		{gms.ErrIncompatibleDefaultType.Wrap(gms.ErrValueOutOfRange.New(1, "x")), 1067, "42000", "incompatible type for default value: 1 out of range for x"},
		{gms.NewWrappedInsertError(nil, gms.NewUniqueKeyErr("'1-a' for key 't.PRIMARY'", true, nil)), 1062, "23000", "Duplicate entry '1-a' for key 't.PRIMARY'"},
		{gms.NewWrappedInsertError(nil, gms.NewUniqueKeyErr("[1,a]", true, nil)), 1062, "23000", "Duplicate entry '1-a' for key 'PRIMARY'"},
		{gms.ErrTableNotFound.New("tt, maybe you mean t?"), 1146, "42S02", "Table 'tt' doesn't exist"},
		{goerrors.NewKind("foreign %s").Wrap(gms.ErrDatabaseNotFound.New("x"), "y"), 1049, "42000", "Unknown database 'x'"},
	} {
		got := MapErr(c.err).(*vitess.SQLError)
		if got.Num != c.num || got.State != c.state || got.Message != c.msg {
			t.Errorf("%v: %d (%s) %s", c.err, got.Num, got.State, got.Message)
		}
	}
	if MapErr(nil) != nil {
		t.Error("nil is an error")
	}
}
