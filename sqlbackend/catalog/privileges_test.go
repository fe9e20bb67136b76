package catalog

import (
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
)

// TestPersistedVariables: SET PERSIST outlives the folder's closing, by type.
func TestPersistedVariables(t *testing.T) {
	h := newHarness(t)
	c := h.client("root")
	c.must("SET PERSIST max_connections = 77")
	c.must("SET PERSIST sql_mode = 'ANSI_QUOTES'")
	c.must("SET PERSIST long_query_time = 2.5")
	c.must("SET PERSIST wait_timeout = 100")
	defer func() {
		if err := sql.SystemVariables.AssignValues(map[string]any{
			"max_connections": int64(151), "sql_mode": sql.DefaultSqlMode, "long_query_time": float64(10), "wait_timeout": int64(28800),
		}); err != nil {
			t.Error(err)
		}
	}()
	if err := c.session.RemovePersistedGlobal("wait_timeout"); err != nil {
		t.Fatal(err)
	}
	if err := sql.SystemVariables.AssignValues(map[string]any{"max_connections": int64(5), "sql_mode": "", "long_query_time": float64(1)}); err != nil {
		t.Fatal(err)
	}
	h.reopen()
	h.provider.ApplyPersistedVariables(sql.NewEmptyContext(), func(name string, err error) { t.Errorf("%s: %v", name, err) })
	for name, want := range map[string]string{"max_connections": "77", "sql_mode": "ANSI_QUOTES", "long_query_time": "2.5"} {
		if got := h.client("root").text("SELECT @@global." + name); got != want {
			t.Errorf("%s = %s, want %s", name, got, want)
		}
	}
	if v, err := h.client("root").session.GetPersistedValue("max_connections"); err != nil || v != int64(77) {
		t.Errorf("persisted value %v (%T), %v", v, v, err)
	}
	if _, err := h.client("root").session.GetPersistedValue("wait_timeout"); err == nil {
		t.Error("removed variable is still persisted")
	}
}

// TestStatusVariables: the storage engine's counters show in SHOW STATUS.
func TestStatusVariables(t *testing.T) {
	h := newHarness(t)
	c := h.client("root")
	c.must("CREATE DATABASE test")
	c.must("CREATE TABLE test.t (a INT PRIMARY KEY)")
	c.must("INSERT INTO test.t VALUES (1),(2)")
	rows := c.must("SHOW STATUS LIKE 'ksql_%'").rows
	values := map[string]string{}
	for _, r := range rows {
		values[strings.ToLower(r[0])] = r[1]
	}
	for _, name := range []string{"ksql_batches", "ksql_commits", "ksql_rows_inserted", "ksql_bloom_checks", "ksql_key_seeks", "ksql_syncs"} {
		if _, ok := values[name]; !ok {
			t.Errorf("%s is missing", name)
		}
	}
	if values["ksql_batches"] == "0" || values["ksql_commits"] == "0" {
		t.Errorf("nothing was counted: %v", values)
	}
}
