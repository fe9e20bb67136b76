// Package tidy holds the rules of the source tree that a compiler does not check:
// sizes, import arrows, names, and documents that name files. Its test applies them
// to the tree, so that plain `go test ./...` keeps them. It is not imported by
// anything.
package tidy

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

const (
	maxFileLines     = 600
	maxFunctionLines = 70
	module           = "ksql"
)

// topLevel are the names that may stand at the top of the tree.
var topLevel = []string{
	".ci", ".git", ".gitignore", ".golangci.yml", "ARCHITECTURE.md", "CHANGELOG.md", "COMPAT.md", "LICENSE", "README.md",
	"bin", "cmd", "config", "examples", "go.mod", "go.sum", "internal", "scripts", "sqlbackend", "tablet", "watermark",
}

// owners say which folder alone may import a library (by prefix).
var owners = map[string]string{
	"github.com/bits-and-blooms/bloom": "tablet/cfile",
	"github.com/google/btree":          "tablet",
	"github.com/spf13/viper":           "config",
	"github.com/dolthub/":              "sqlbackend",
}

// arrows are the packages of the tree that a package may import. A package that is
// not named may import nothing of the tree.
var arrows = map[string][]string{
	"cmd/ksql":            {"config", "sqlbackend", "sqlbackend/driver", "sqlbackend/parser"},
	"examples/quickstart": {"sqlbackend", "sqlbackend/driver"},
	"scripts/bench":       {"internal/vfs", "sqlbackend", "sqlbackend/driver", "sqlbackend/wire", "tablet"},
	"sqlbackend/driver":   {"sqlbackend", "sqlbackend/wire"},
	"sqlbackend": {"sqlbackend/wire", "sqlbackend/dml", "sqlbackend/scan", "sqlbackend/catalog", "sqlbackend/parser",
		"tablet", "internal/vfs"},
	"sqlbackend/wire":    {"sqlbackend/dml", "sqlbackend/scan", "sqlbackend/catalog", "sqlbackend/parser"},
	"sqlbackend/dml":     {"sqlbackend/catalog", "sqlbackend/parser", "tablet", "tablet/rowcodec"},
	"sqlbackend/scan":    {"sqlbackend/catalog", "sqlbackend/parser", "tablet", "tablet/rowcodec"},
	"sqlbackend/catalog": {"sqlbackend/parser", "tablet", "tablet/rowcodec", "internal/vfs", "internal/invariant"},
	"tablet":             {"tablet/rowcodec", "tablet/cfile", "tablet/wal", "watermark", "internal/vfs", "internal/invariant"},
	"tablet/cfile":       {"tablet/rowcodec", "internal/vfs", "internal/invariant"},
	"tablet/wal":         {"internal/vfs", "internal/invariant"},
	"tablet/rowcodec":    {"internal/invariant"},
}

var vagueNames = map[string]bool{"util": true, "utils": true, "common": true, "helper": true, "helpers": true, "misc": true, "types": true}

// Check applies every rule to a tree and returns what breaks one, sorted.
func Check(tree fs.FS) ([]string, error) {
	c := checker{tree: tree, fset: token.NewFileSet(), documented: map[string]bool{}, packages: map[string]string{}}
	top, err := fs.ReadDir(tree, ".")
	if err != nil {
		return nil, err
	}
	allowed := map[string]bool{}
	for _, n := range topLevel {
		allowed[n] = true
	}
	for _, e := range top {
		if !allowed[e.Name()] {
			c.fault("%s: not one of the names at the top of the tree", e.Name())
		}
	}
	err = fs.WalkDir(tree, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (p == ".git" || p == "bin" || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir():
			return nil
		case strings.HasSuffix(p, ".go"):
			return c.file(p)
		case strings.HasSuffix(p, ".md"):
			return c.document(p)
		}
		return nil
	})
	if err == nil {
		err = c.shownCode()
	}
	for dir := range c.packages {
		if !c.documented[dir] {
			c.fault("%s: the package has no doc comment", dir)
		}
	}
	sort.Strings(c.faults)
	return c.faults, err
}

type checker struct {
	tree       fs.FS
	fset       *token.FileSet
	faults     []string
	packages   map[string]string // folder: package name
	documented map[string]bool
	examples   []string // files example_test.go
}

func (c *checker) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Sprintf(format, args...))
}

// file applies the rules for Go files.
func (c *checker) file(p string) error {
	src, err := fs.ReadFile(c.tree, p)
	if err != nil {
		return err
	}
	f, err := parser.ParseFile(c.fset, p, src, parser.ParseComments)
	if err != nil {
		return err
	}
	if todo.Match(src) {
		c.fault("%s: unfinished work without an issue", p)
	}
	if path.Base(p) == "example_test.go" {
		c.examples = append(c.examples, p)
	}
	if strings.HasSuffix(p, "_test.go") {
		return nil
	}
	dir := path.Dir(p)
	c.packages[dir] = f.Name.Name
	c.documented[dir] = c.documented[dir] || f.Doc != nil
	if vagueNames[f.Name.Name] {
		c.fault("%s: package name %s says nothing", p, f.Name.Name)
	}
	if n := strings.Count(string(src), "\n"); n > maxFileLines {
		c.fault("%s: %d lines, at most %d", p, n, maxFileLines)
	}
	c.imports(p, dir, f)
	c.declarations(p, f)
	if dir != "internal/vfs" && !strings.HasPrefix(dir, "cmd/") && !strings.HasPrefix(dir, "scripts/") && !strings.HasPrefix(dir, "examples/") && dir != "config" {
		c.fileCalls(p, f)
	}
	return nil
}

var todo = regexp.MustCompile(`\bTO` + `DO\b(?:[^#\n]*\n|$)`)

func (c *checker) imports(p, dir string, f *ast.File) {
	for _, s := range f.Imports {
		name, err := strconv.Unquote(s.Path.Value)
		if err != nil {
			c.fault("%s: import %s", p, s.Path.Value)
			continue
		}
		for lib, owner := range owners {
			if strings.HasPrefix(name, lib) && dir != owner && !(owner == "sqlbackend" && strings.HasPrefix(dir, "sqlbackend/")) {
				c.fault("%s: imports %s, which only %s may", p, name, owner)
			}
		}
		ours, ok := strings.CutPrefix(name, module+"/")
		if !ok {
			continue
		}
		found := false
		for _, a := range arrows[dir] {
			found = found || a == ours
		}
		if !found {
			c.fault("%s: %s must not import %s", p, dir, ours)
		}
	}
}

func (c *checker) declarations(p string, f *ast.File) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			from, to := c.fset.Position(d.Pos()).Line, c.fset.Position(d.End()).Line
			if to-from+1 > maxFunctionLines {
				c.fault("%s: function %s has %d lines, at most %d", p, d.Name.Name, to-from+1, maxFunctionLines)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				v, ok := s.(*ast.ValueSpec)
				if !ok || d.Tok != token.VAR {
					continue
				}
				for _, n := range v.Names {
					if strings.HasPrefix(n.Name, "Err") && v.Doc == nil && d.Doc == nil && v.Comment == nil {
						c.fault("%s: %s has no comment", p, n.Name)
					}
				}
			}
		}
	}
}

// fileCalls finds calls of package os that touch files, whatever it is called there.
func (c *checker) fileCalls(p string, f *ast.File) {
	name := ""
	for _, s := range f.Imports {
		if s.Path.Value == `"os"` {
			if name = "os"; s.Name != nil {
				name = s.Name.Name
			}
		}
	}
	if name == "." {
		c.fault("%s: package os is imported with a dot", p)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := s.X.(*ast.Ident); ok && x.Name == name && fileFunctions[s.Sel.Name] {
			c.fault("%s: os.%s outside internal/vfs", p, s.Sel.Name)
		}
		return true
	})
}

var fileFunctions = map[string]bool{
	"Open": true, "OpenFile": true, "Create": true, "CreateTemp": true, "Rename": true, "Remove": true, "RemoveAll": true,
	"ReadFile": true, "WriteFile": true, "ReadDir": true, "Mkdir": true, "MkdirAll": true, "MkdirTemp": true, "Truncate": true,
	"Stat": true, "Lstat": true, "Link": true, "Symlink": true,
}

// named finds `path/file.ext` in a document.
var named = regexp.MustCompile("`((?:[A-Za-z0-9_.-]+/)+[A-Za-z0-9_.-]+\\.(?:go|md|sh|sql|yml)|[A-Z]+\\.md)`")

// document demands that the files that a document names exist, relative to the top
// of the tree or to the document.
func (c *checker) document(p string) error {
	src, err := fs.ReadFile(c.tree, p)
	if err != nil {
		return err
	}
	for _, m := range named.FindAllStringSubmatch(string(src), -1) {
		if _, err := fs.Stat(c.tree, path.Clean(m[1])); err == nil {
			continue
		}
		if _, err := fs.Stat(c.tree, path.Join(path.Dir(p), m[1])); err != nil {
			c.fault("%s: names %s, which does not exist", p, m[1])
		}
	}
	return nil
}

// goBlock finds the Go code in a document.
var goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

// shownCode demands that the Go code of the README is code of an example, which is
// compiled and run: every line of it stands in an example_test.go file.
func (c *checker) shownCode() error {
	readme, err := fs.ReadFile(c.tree, "README.md")
	if err != nil {
		return nil // a tree without one is none of ours
	}
	lines := map[string]bool{}
	for _, p := range c.examples {
		src, err := fs.ReadFile(c.tree, p)
		if err != nil {
			return err
		}
		for _, line := range strings.Split(string(src), "\n") {
			lines[strings.TrimSpace(line)] = true
		}
	}
	for _, m := range goBlock.FindAllStringSubmatch(string(readme), -1) {
		for _, line := range strings.Split(m[1], "\n") {
			if line = strings.TrimSpace(line); line != "" && !lines[line] {
				c.fault("README.md: no example has the line %s", line)
			}
		}
	}
	return nil
}
