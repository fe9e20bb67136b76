package wire

import (
	"testing"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/memory"
	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"

	"context"

	"ksql/sqlbackend/parser"
)

// withParser puts our own parser into the engine.
func withParser(o *Options, _ *Config) {
	pro := memory.NewDBProvider(memory.NewDatabase("d"))
	var over gms.EngineOverrides
	over.Builder.Parser = parser.New()
	o.Engine = sqle.New(analyzer.NewBuilder(pro).AddOverrides(over).Build(), nil)
	o.NewSession = func(_ context.Context, info ConnInfo) (gms.Session, error) {
		client := gms.Client{User: info.AccountUser, Address: info.AccountHost, Capabilities: info.Capabilities}
		return memory.NewSession(gms.NewBaseSessionWithClientServer("test", client, info.ID), pro), nil
	}
}

func TestOwnParser(t *testing.T) {
	f := start(t, withParser)
	db := f.db("multiStatements=true")
	f.exec(db, "create table t (a int)")
	f.exec(db, "insert into t values (1),(2)")
	f.exec(db, "do 1, 2")
	f.exec(db, "set @a = 1; -- a comment at the end")
	for _, c := range []struct {
		q    string
		args []any
		want string
	}{
		{"select N'abc'", nil, "abc"},
		{"select N'abc', 9--?", []any{1}, "abc,10"},
		{"/*!99999 no such syntax */ select ?", []any{7}, "7"},
		{"select /*!50000 1 + */ ?", []any{7}, "8"},
		{"select '?', ?, \"?\" -- ?", []any{7}, "?,7,?"},
		{"select a from t where a = ?; select 'rest'", nil, ""},
	} {
		if c.want == "" {
			if _, err := db.Prepare(c.q); sqlError(t, err).Number != 1064 {
				t.Error(err)
			}
			continue
		}
		if got := f.rows(db, c.q, c.args...); got != c.want {
			t.Errorf("%s: %s, want %s", c.q, got, c.want)
		}
	}
	for q, want := range map[string]string{
		"selec 1":               "near 'selec 1' at line 1",
		"select 1;\nselec 2":    "near 'selec 2' at line 1",
		"select 1\nfrom t wher": "",
	} {
		_, err := db.Exec(q)
		if want == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		prefix := "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use "
		if me := sqlError(t, err); me.Number != 1064 || me.Message != prefix+want {
			t.Errorf("%q: %v", q, me)
		}
	}
}
