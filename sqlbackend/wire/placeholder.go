package wire

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
	goerrors "gopkg.in/src-d/go-errors.v1"
)

// filler works out the placeholders of one message.
type filler struct {
	rule  *kindRule
	args  []string
	err   *goerrors.Error // of the rule's kind
	outer error           // as it left the engine
	scope errorScope
}

var placeholder = regexp.MustCompile(`%(U?[1-9]|[a-z]+)`)

// placeholders by name; each must cope with an empty scope.
var placeholders map[string]func(*filler) string

func init() { // not a composite literal: some of them fill texts themselves
	placeholders = map[string]func(*filler) string{
		"clause":   func(f *filler) string { return columnClause(f.scope.stmt, f.lastArg()) },
		"user":     (*filler).user,
		"db":       func(f *filler) string { return f.scope.database() },
		"dup":      (*filler).duplicate,
		"table":    func(f *filler) string { return f.scope.target().name },
		"key":      (*filler).uniqueKey,
		"fk":       (*filler).foreignKey,
		"kind":     func(f *filler) string { return valueKind(f.arg(2)) },
		"column":   (*filler).forColumn,
		"range":    (*filler).outOfRange,
		"temporal": (*filler).temporalKind,
		"long":     (*filler).longColumn,
		"ps":       (*filler).preparedVerb,
		"load":     (*filler).loadFile,
		"command":  func(f *filler) string { return commandName(f.scope.stmt) },
		"denied":   (*filler).denied,
	}
}

func (f *filler) arg(n int) string {
	if n > len(f.args) {
		return ""
	}
	return f.args[n-1]
}

func (f *filler) lastArg() string { return f.arg(len(f.args)) }

func (f *filler) fill(text string) string {
	out := placeholder.ReplaceAllStringFunc(text, func(p string) string {
		name := p[1:]
		if n, err := strconv.Atoi(name); err == nil {
			return f.qualify(n, f.arg(n))
		}
		if strings.HasPrefix(name, "U") {
			n, err := strconv.Atoi(name[1:])
			if err != nil {
				return p
			}
			return strings.ToUpper(f.arg(n))
		}
		if w, ok := placeholders[name]; ok {
			return w(f)
		}
		return p
	})
	return strings.ReplaceAll(strings.ReplaceAll(out, " .", " "), "'.", "'")
}

// qualify puts the database before table names that MySQL shows with it.
func (f *filler) qualify(n int, arg string) string {
	switch f.rule.name {
	case "ErrTableNotFound", "ErrUnknownTable":
		if db := f.scope.database(); n == 1 && db != "" && !strings.Contains(arg, ".") {
			if t := f.scope.target(); t.db != "" && strings.EqualFold(t.name, arg) {
				db = t.db
			}
			return db + "." + arg
		}
	}
	return arg
}

func (s errorScope) database() string {
	if s.ctx == nil || s.ctx.Session == nil {
		return ""
	}
	return s.ctx.GetCurrentDatabase()
}

func (f *filler) user() string {
	if f.scope.ctx == nil || f.scope.ctx.Session == nil {
		return "''@''"
	}
	c := f.scope.ctx.Client()
	return fmt.Sprintf("'%s'@'%s'", c.User, c.Address)
}

// duplicateEntry is implemented by errors that know both halves of MySQL's
// message: the values joined by '-', and table.key.
type duplicateEntry interface {
	DuplicateEntry() (entry, key string)
}

func (f *filler) knownDuplicate() (entry, key string, ok bool) {
	for e := error(f.err); e != nil; e = innerError(e) {
		if d, is := e.(duplicateEntry); is {
			entry, key = d.DuplicateEntry()
			return entry, key, true
		}
	}
	return "", "", false
}

// duplicate is the key's values as MySQL joins them.
func (f *filler) duplicate() string {
	if entry, _, ok := f.knownDuplicate(); ok {
		return entry
	}
	return strings.ReplaceAll(f.duplicateText(), ",", "-")
}

// duplicateText is the engine's "[1,2]" without the brackets.
func (f *filler) duplicateText() string {
	c := f.err.Cause()
	if c == nil {
		return ""
	}
	return strings.TrimSuffix(strings.TrimPrefix(c.Error(), "["), "]")
}

// uniqueKey finds which unique index the engine's duplicate belongs to: the
// one whose columns of the existing row print as the engine's key text.
func (f *filler) uniqueKey() string {
	if _, key, ok := f.knownDuplicate(); ok {
		return key
	}
	var ue sql.UniqueKeyError
	table := f.scope.targetTable()
	if table == nil || !asUniqueKeyError(f.err, &ue) {
		return f.scope.target().name
	}
	for _, idx := range uniqueIndexes(f.scope.ctx, table) {
		if f.duplicateText() == indexText(f.scope.ctx, table, idx, ue.Existing) {
			return table.Name() + "." + idx.ID()
		}
	}
	return table.Name()
}

func asUniqueKeyError(err error, out *sql.UniqueKeyError) bool {
	for e := err; e != nil; e = innerError(e) {
		if ue, ok := e.(sql.UniqueKeyError); ok {
			*out = ue
			return true
		}
	}
	return false
}

// outOfRange: 1264 names a column; without one the value was an expression's.
func (f *filler) outOfRange() string {
	if isRangeOfExpression(f.scope.stmt) {
		return fmt.Sprintf("%s value is out of range in '%s'", strings.ToUpper(f.arg(1)), f.arg(2))
	}
	return "Out of range value" + f.forColumn()
}

// isRangeOfExpression: outside of writes there is no column to blame.
func isRangeOfExpression(stmt ast.Statement) bool {
	switch stmt.(type) {
	case *ast.Select, *ast.SetOp, *ast.Set, *ast.Call:
		return true
	}
	return false
}

func (f *filler) temporalKind() string {
	if len(f.arg(1)) == len("2006-01-02") {
		if c := f.column(); c != nil && c.Type.Type().String() == "DATE" {
			return "date"
		}
	}
	return "datetime"
}

// longColumn: the engine fills in the column's name on INSERT and UPDATE, and
// its type elsewhere.
func (f *filler) longColumn() string {
	if c := f.column(); c != nil {
		return c.Name
	}
	return f.lastArg()
}

func (f *filler) preparedVerb() string {
	if _, ok := f.scope.stmt.(*ast.Deallocate); ok {
		return "DEALLOCATE PREPARE"
	}
	return "EXECUTE"
}

func (f *filler) loadFile() string {
	if strings.Contains(f.arg(1), "secure") {
		return "The MySQL server is running with the --secure-file-priv option so it cannot execute this statement"
	}
	return f.err.Error()
}

// denied is 1142 where a table can be named, else 1227 (adjust sees which).
func (f *filler) denied() string {
	cmd := commandName(f.scope.stmt)
	t := f.scope.target()
	if cmd != "" && t.name != "" {
		return fmt.Sprintf("%s command denied to user %s for table '%s'", cmd, f.arg(1), t.name)
	}
	return "Access denied; you need (at least one of) the required privilege(s) for this operation"
}
