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

// duplicate is '1-a' for key 't.PRIMARY'. Our own tables say it like that; the
// engine's give [1,a] and leave the key to be found.
func (f *filler) duplicate() string {
	text := ""
	if c := f.err.Cause(); c != nil {
		text = c.Error()
	}
	if strings.HasPrefix(text, "'") && strings.Contains(text, "' for key '") {
		return text
	}
	text = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	key := "PRIMARY"
	if f.rule.name == "ErrUniqueKeyViolation" {
		key = f.uniqueKey(text)
	}
	if t := f.scope.target().name; t != "" {
		key = t + "." + key
	}
	return fmt.Sprintf("'%s' for key '%s'", strings.ReplaceAll(text, ",", "-"), key)
}

// uniqueKey finds which unique index a duplicate belongs to: the one whose
// columns of the existing row print as the engine's key text.
func (f *filler) uniqueKey(text string) string {
	var ue sql.UniqueKeyError
	table := f.scope.targetTable()
	if table == nil || !asUniqueKeyError(f.err, &ue) {
		return "UNIQUE"
	}
	for _, idx := range uniqueIndexes(f.scope.ctx, table) {
		if text == indexText(f.scope.ctx, table, idx, ue.Existing) {
			return idx.ID()
		}
	}
	return "UNIQUE"
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
