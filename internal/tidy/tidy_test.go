package tidy

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// TestTree keeps the rules in this tree.
func TestTree(t *testing.T) {
	faults, err := Check(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range faults {
		t.Error(f)
	}
}

// TestPlantedFaults demands that each rule finds what breaks it.
func TestPlantedFaults(t *testing.T) {
	long := "package tablet\n\nfunc f() {\n" + strings.Repeat("\tprintln()\n", 70) + "}\n"
	cases := map[string]struct{ file, src, fault string }{
		"size":        {"tablet/a.go", "// Package tablet is.\npackage tablet\n" + strings.Repeat("\n", 600), "lines, at most 600"},
		"function":    {"tablet/a.go", long, "function f has 72 lines"},
		"doc":         {"tablet/a.go", "package tablet\n", "no doc comment"},
		"upward":      {"tablet/wal/a.go", "// Package wal is.\npackage wal\n\nimport _ \"ksql/tablet\"\n", "tablet/wal must not import tablet"},
		"sideways":    {"sqlbackend/dml/a.go", "// Package dml is.\npackage dml\n\nimport _ \"ksql/sqlbackend/scan\"\n", "must not import sqlbackend/scan"},
		"unknown":     {"internal/new/a.go", "// Package new is.\npackage new\n\nimport _ \"ksql/tablet\"\n", "must not import tablet"},
		"bloom":       {"tablet/a.go", "// Package tablet is.\npackage tablet\n\nimport _ \"github.com/bits-and-blooms/bloom/v3\"\n", "which only tablet/cfile may"},
		"btree":       {"tablet/wal/a.go", "// Package wal is.\npackage wal\n\nimport _ \"github.com/google/btree\"\n", "which only tablet may"},
		"viper":       {"cmd/ksql/a.go", "// Package main is.\npackage main\n\nimport _ \"github.com/spf13/viper\"\n", "which only config may"},
		"engine":      {"tablet/a.go", "// Package tablet is.\npackage tablet\n\nimport _ \"github.com/dolthub/go-mysql-server/sql\"\n", "which only sqlbackend may"},
		"vague":       {"internal/util/a.go", "// Package util is.\npackage util\n", "says nothing"},
		"error":       {"tablet/a.go", "// Package tablet is.\npackage tablet\n\nvar ErrX = error(nil)\n", "ErrX has no comment"},
		"todo":        {"tablet/a_test.go", "package tablet\n\n// " + "TO" + "DO: later\n", "unfinished work"},
		"os":          {"tablet/a.go", "// Package tablet is.\npackage tablet\n\nimport \"os\"\n\nvar _ = os.Rename\n", "os.Rename outside internal/vfs"},
		"os renamed":  {"tablet/a.go", "// Package tablet is.\npackage tablet\n\nimport system \"os\"\n\nvar _ = system.Rename\n", "os.Rename outside internal/vfs"},
		"os dotted":   {"tablet/a.go", "// Package tablet is.\npackage tablet\n\nimport . \"os\"\n\nvar _ = Rename\n", "imported with a dot"},
		"shown code":  {"README.md", "x\n```go\nksql.Gone()\n```\n", "no example has the line ksql.Gone()"},
		"document":    {"README.md", "see `tablet/gone.go`\n", "tablet/gone.go, which does not exist"},
		"top":         {"extra/a.txt", "x", "not one of the names"},
		"clean":       {"tablet/a.go", "// Package tablet is.\npackage tablet\n\nimport _ \"ksql/tablet/wal\"\n", ""},
		"todo issue":  {"tablet/a_test.go", "package tablet\n\n// " + "TO" + "DO(#12): later\n", ""},
		"owner":       {"tablet/cfile/a.go", "// Package cfile is.\npackage cfile\n\nimport _ \"github.com/bits-and-blooms/bloom/v3\"\n", ""},
		"engine ours": {"sqlbackend/scan/a.go", "// Package scan is.\npackage scan\n\nimport _ \"github.com/dolthub/go-mysql-server/sql\"\n", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			faults, err := Check(fstest.MapFS{c.file: {Data: []byte(c.src)}})
			if err != nil {
				t.Fatal(err)
			}
			if c.fault == "" && len(faults) > 0 || c.fault != "" && !strings.Contains(strings.Join(faults, "\n"), c.fault) {
				t.Fatalf("want %q, got %q", c.fault, faults)
			}
		})
	}
}
