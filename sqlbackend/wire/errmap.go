package wire

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
	goerrors "gopkg.in/src-d/go-errors.v1"
)

// kindRule maps one error kind of the engine. text is MySQL's message: %1, %2 …
// are the arguments of the kind, other %words are worked out from the
// statement (placeholder.go). An empty text keeps the engine's words.
type kindRule struct {
	name  string
	kind  *goerrors.Kind
	num   int
	state string
	text  string
}

// errorScope is what is known about the failed statement; the zero value is
// allowed and gives shorter messages.
type errorScope struct {
	ctx  *sql.Context
	r    *Runner
	stmt ast.Statement
}

// MapErr gives any error of the engine or of the packages below it the number,
// SQLSTATE and text that MySQL 8.4 would answer with. *mysql.SQLError passes
// unchanged; what is not known becomes 1105. nil gives nil.
func MapErr(err error) error {
	if err == nil {
		return nil
	}
	return mapError(err, errorScope{})
}

func mapError(err error, scope errorScope) *mysql.SQLError {
	var se *mysql.SQLError
	if errors.As(err, &se) && se.Num != erUnknown {
		if se.State == "" {
			return mysql.NewSQLError(se.Num, states[se.Num], "%s", se.Message)
		}
		return se
	}
	if m := mapCause(err); m != nil {
		return m
	}
	if m := mapKind(err, scope); m != nil {
		return m
	}
	text := err.Error()
	if se != nil {
		text = se.Message
	}
	return mapText(text)
}

// mapCause knows the reasons for which statements end from outside.
func mapCause(err error) *mysql.SQLError {
	switch {
	case errors.Is(err, ErrStatementTimeout), errors.Is(err, context.DeadlineExceeded):
		return newError(erQueryTimeout, "Query execution was interrupted, maximum statement execution time exceeded")
	case errors.Is(err, ErrQueryKilled), errors.Is(err, context.Canceled), errors.Is(err, ErrClientGone):
		return newError(erQueryInterrupted, "Query execution was interrupted")
	case errors.Is(err, ErrSessionClosed):
		return newError(erServerShutdown, "Server shutdown in progress")
	}
	return nil
}

// mapKind looks for the outermost known kind in err and what it wraps; kinds
// that only say "internal" yield to a better one inside.
func mapKind(err error, scope errorScope) *mysql.SQLError {
	var internal *mysql.SQLError
	for e := err; e != nil; e = innerError(e) {
		ge, ok := e.(*goerrors.Error)
		if !ok {
			continue
		}
		rule := findRule(ge)
		if rule == nil {
			continue
		}
		m := mysql.NewSQLError(rule.num, rule.state, "%s", rule.message(ge, err, scope))
		adjust(rule, m, scope)
		if rule.num != erUnknown {
			return m
		}
		if internal == nil {
			internal = m
		}
	}
	return internal
}

// innerError unwraps one level of any of the ways the engine wraps errors.
func innerError(err error) error {
	switch e := err.(type) {
	case sql.WrappedInsertError:
		return e.Cause
	case sql.WrappedTypeConversionError:
		return e.Err
	case interface{ Cause() error }:
		return e.Cause()
	case interface{ Unwrap() error }:
		return e.Unwrap()
	}
	return nil
}

// findRule returns the rule for e's own kind.
func findRule(e *goerrors.Error) *kindRule {
	for _, table := range [][]kindRule{schemaKinds, dataKinds, programKinds} {
		for i := range table {
			k := table[i].kind
			if k.Is(e) && (e.Cause() == nil || !k.Is(e.Cause())) {
				return &table[i]
			}
		}
	}
	return nil
}

// message fills the rule's text.
func (rule *kindRule) message(e *goerrors.Error, outer error, scope errorScope) string {
	text := e.Error()
	if rule.text == "" {
		return text
	}
	own := text
	if c := e.Cause(); c != nil {
		own = strings.TrimSuffix(own, ": "+c.Error())
	}
	f := &filler{rule: rule, args: kindArgs(rule.kind, own), err: e, outer: outer, scope: scope}
	return f.fill(rule.text)
}

var kindPatterns sync.Map // *goerrors.Kind → *regexp.Regexp

var verb = regexp.MustCompile(`%[#+]?[a-zA-Z]`)

// kindArgs recovers the arguments of a kind from its formatted text: kinds
// keep only the text.
func kindArgs(k *goerrors.Kind, text string) []string {
	var re *regexp.Regexp
	if v, ok := kindPatterns.Load(k); ok {
		re = v.(*regexp.Regexp)
	} else {
		var b strings.Builder
		b.WriteString(`(?s)\A`)
		at := 0
		for _, m := range verb.FindAllStringIndex(k.Message, -1) {
			b.WriteString(regexp.QuoteMeta(k.Message[at:m[0]]))
			b.WriteString(`(.*)`)
			at = m[1]
		}
		b.WriteString(regexp.QuoteMeta(k.Message[at:]))
		b.WriteString(`\z`)
		re = regexp.MustCompile(b.String())
		kindPatterns.Store(k, re)
	}
	m := re.FindStringSubmatch(text)
	if m == nil {
		return []string{text}
	}
	for i := range m {
		m[i] = cleanArg(m[i])
	}
	return m[1:]
}

var suggestion = regexp.MustCompile(`,? maybe you mean .*\?\z`)

// cleanArg undoes %q and drops the engine's "maybe you mean …?".
func cleanArg(s string) string {
	s = suggestion.ReplaceAllString(s, "")
	if len(s) >= 2 && s[0] == '"' {
		if u, err := strconv.Unquote(s); err == nil {
			return u
		}
	}
	return s
}

var (
	temporalValue = regexp.MustCompile(`^Incorrect (?:date|datetime|time) value`)
	quotedName    = regexp.MustCompile(`'([^']*)'`)
)

// unknownTable and setVariable say about the name in message what MySQL says
// of it in DROP TABLE and SET.
func unknownTable(message string) string { return "Unknown table " + quotedName.FindString(message) }

func setVariable(message string) string {
	return "Unknown system variable " + quotedName.FindString(message)
}

// adjust changes the number where MySQL's depends on the statement.
func adjust(rule *kindRule, m *mysql.SQLError, scope errorScope) {
	switch rule.name {
	case "ErrDatabaseNotFound":
		if d, ok := scope.stmt.(*ast.DBDDL); ok && d.Action == ast.DropStr {
			*m = *mysql.NewSQLError(1008, "", "Can't drop database '%s'; database doesn't exist", d.DBName)
		}
	case "ErrTableNotFound":
		if d, ok := scope.stmt.(*ast.DDL); ok && d.Action == ast.DropStr {
			*m = *newError(erBadTable, "%s", unknownTable(m.Message))
		}
	case "ErrColumnNotFound":
		if _, ok := scope.stmt.(*ast.Set); ok {
			*m = *mysql.NewSQLError(1193, "", "%s", setVariable(m.Message))
		}
	case "ErrInvalidValue":
		if temporalValue.MatchString(m.Message) {
			m.Num, m.State = erTruncatedWrongValue, states[erTruncatedWrongValue]
		}
	case "ErrTableColumnNotFound":
		if drop := droppedColumn(scope.stmt); drop != "" {
			*m = *newError(erCantDropFieldOrKey, "Can't DROP '%s'; check that column/key exists", drop)
		}
	case "ErrValueOutOfRange":
		if isRangeOfExpression(scope.stmt) {
			m.Num = 1690
		}
	case "ErrPrivilegeCheckFailed":
		if !strings.Contains(m.Message, "command denied") {
			m.Num = erSpecificAccess
		}
	}
}

// textRules map errors that the engine makes without a kind.
var textRules = []struct {
	re    *regexp.Regexp
	num   int
	state string
	text  string // with $1 …; "" keeps the words
}{
	{regexp.MustCompile(`^invalid arguments\. expected: \d+, found: \d+`), 1210, "", "Incorrect arguments to EXECUTE"},
	{regexp.MustCompile(`^TIME length not yet supported$`), 1235, "42000", "This version of MySQL doesn't yet support 'TIME with a number of fractional digits'"},
	{regexp.MustCompile(`^local_infile needs to be set`), 3948, "", "Loading local data is disabled; this must be enabled on both the client and server sides"},
	{regexp.MustCompile(`the given regular expression is invalid`), 3685, "", "Illegal argument to a regular expression."},
	{regexp.MustCompile(`^Index out of bounds for regular expression search`), 3686, "", "Index out of bounds in regular expression search."},
	{regexp.MustCompile(`(?s)^(?:unknown error: Code: INVALID_ARGUMENT\n)?syntax error(.*)$`), 1064, "42000", "You have an error in your SQL syntax; syntax error$1"},
	{regexp.MustCompile(`^([A-Z]+(?: UNSIGNED)?) value is out of range in (.*)$`), 1690, "22003", "$1 value is out of range in $2"},
	{regexp.MustCompile(`^(?:.*: )?context canceled$`), 1317, "70100", "Query execution was interrupted"},
	{regexp.MustCompile(`^table has no auto_increment column|^this table has no AUTO_INCREMENT columns`), 1075, "42000", ""},
	{regexp.MustCompile(`is not a valid character set for|is not a valid collation for`), 1253, "42000", ""},
}

func mapText(text string) *mysql.SQLError {
	for _, r := range textRules {
		m := r.re.FindStringSubmatchIndex(text)
		if m == nil {
			continue
		}
		msg := text
		if r.text != "" {
			msg = string(r.re.ExpandString(nil, r.text, text, m))
		}
		return mysql.NewSQLError(r.num, r.state, "%s", msg)
	}
	return newError(erUnknown, "%s", text)
}
