package dml

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestScripts runs testdata/sql: `sql [session=name]` runs statements up to a
// semicolon at the end of a line, `reopen` closes and opens the folder,
// `check` compares indexes with tables.
func TestScripts(t *testing.T) { runScripts(t, "testdata/sql", true) }

// TestCatalogScripts runs the catalog's scripts through the batch nodes: all
// results are those of the row-at-a-time editors.
func TestCatalogScripts(t *testing.T) { runScripts(t, "../catalog/testdata/sql", false) }

func runScripts(t *testing.T, dir string, info bool) {
	datadriven.Walk(t, dir, func(t *testing.T, path string) {
		h := newHarness(t)
		h.client("root").must("CREATE DATABASE test")
		delete(h.clients, "root")
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			h.t = t
			switch d.Cmd {
			case "reopen":
				h.reopen()
				return ""
			case "check":
				return h.check()
			case "sql":
				name := "main"
				d.MaybeScanArgs(t, "session", &name)
				return runScript(h.client(name), d.Input, info)
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

// runScript runs the statements of text and returns their outcomes.
func runScript(c *client, text string, info bool) string {
	var out strings.Builder
	for _, query := range strings.Split(text+"\n", ";\n") {
		if query = strings.TrimSpace(query); query == "" {
			continue
		}
		res, err := c.run(query)
		if err != nil {
			out.WriteString(errorText(err))
			continue
		}
		out.WriteString(res.format(info))
	}
	return out.String()
}
