package parser

import (
	"context"
	"errors"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/dolthub/vitess/go/vt/vterrors"
)

// Parser reads MySQL statements. It is safe for concurrent use, and the zero
// value is ready. It is to be installed as the engine's parser
// (sql.EngineOverrides.Builder.Parser), so that statements, views, triggers,
// procedures, events and prepared statements all come through it.
type Parser struct {
	sql.MysqlParser
	hooks []Hook
}

// Hook looks at, and may change, the tree of a statement after the parser's own
// hooks. An error refuses the statement.
type Hook func(ctx context.Context, stmt ast.Statement) error

var _ sql.Parser = (*Parser)(nil)

// New returns a parser that runs hooks, in their order, on every tree.
func New(hooks ...Hook) *Parser { return &Parser{hooks: hooks} }

// ParseSimple parses one statement under default settings.
// It returns sqlparser.ErrEmpty if there is none.
func (p *Parser) ParseSimple(query string) (ast.Statement, error) {
	stmt, _, _, err := p.ParseWithOptions(context.Background(), query, ';', false, ast.ParserOptions{})
	return stmt, err
}

// Parse parses the first statement of query under the session's sql_mode. It
// returns the statement's text, to which positions in the tree refer, and with
// multi what follows it. Syntax errors are *mysql.SQLError 1064 with the place
// in the client's text, syntax that is known but not supported gives 1235.
// A text of blanks, comments and separators gives sqlparser.ErrEmpty, with what
// follows the first separator as the remainder.
func (p *Parser) Parse(ctx *sql.Context, query string, multi bool) (ast.Statement, string, string, error) {
	return p.ParseWithOptions(ctx, query, ';', multi, sql.LoadSqlMode(ctx).ParserOptions())
}

// ParseWithOptions is Parse with explicit settings and delimiter (one byte).
func (p *Parser) ParseWithOptions(ctx context.Context, query string, delimiter rune, multi bool, o ast.ParserOptions) (ast.Statement, string, string, error) {
	s := cut(query, modeOf(ctx, o), byte(delimiter))
	if s.text == "" {
		return nil, "", s.rest, ast.ErrEmpty
	}
	stmt, text, end, _, err := p.parse(ctx, &s, o)
	if err != nil {
		return nil, text, "", err
	}
	rest := s.rest
	if s.program && end < len(s.text) {
		rest = query[s.at+end:]
	}
	if multi {
		return stmt, text, rest, nil
	}
	if strings.TrimLeft(rest, " \t\r\n\f\v;") != "" {
		if next := cut(rest, s.mode, byte(delimiter)); next.text != "" {
			return nil, text, "", errSyntax(query, len(query)-len(rest)+next.at, 0)
		}
	}
	return stmt, text, "", nil
}

// ParseOneWithOptions parses the first statement of query and returns where the
// next one begins. Positions in the tree refer to query.
func (p *Parser) ParseOneWithOptions(ctx context.Context, query string, o ast.ParserOptions) (ast.Statement, int, error) {
	s := cut(query, modeOf(ctx, o), ';')
	if s.text == "" {
		return nil, s.restAt, ast.ErrEmpty
	}
	stmt, _, end, res, err := p.parse(ctx, &s, o)
	if err != nil {
		return nil, 0, err
	}
	next, start := s.restAt, s.at
	if s.program && end < len(s.text) {
		next = start + end
	}
	if d, ok := stmt.(*ast.DDL); ok && d.SubStatementPositionEnd > 0 {
		d.SubStatementPositionStart = start + res.original(d.SubStatementPositionStart, false)
		d.SubStatementPositionEnd = start + res.original(d.SubStatementPositionEnd, true)
	}
	return stmt, next, nil
}

// parse runs the three steps on one statement. It returns the tree, the text
// that positions in the tree refer to, the edits that lead from s.text to that
// text, and, for stored programs, where s.text goes on behind the statement.
func (p *Parser) parse(ctx context.Context, s *statement, o ast.ParserOptions) (stmt ast.Statement, text string, end int, res edits, err error) {
	if s.open {
		return nil, s.text, 0, nil, errSyntax(s.text, s.openAt, s.line)
	}
	out, text, eds, res, err := s.rewrite(accountOf(ctx))
	if err != nil {
		var at syntaxErrorAt
		if errors.As(err, &at) {
			err = errSyntax(s.text, at.at, s.line)
		}
		return nil, s.text, 0, nil, err
	}
	stmt, n, err := grammar(ctx, out, s.program, o)
	end = len(text)
	if s.program && err == nil && n > 0 && n < len(out) {
		end = eds.original(n, true)
		text = strings.TrimRight(text[:end], " \t\r\n;")
	}
	if err != nil {
		if errors.Is(err, ast.ErrEmpty) || isMySQLError(err) {
			return nil, s.text, 0, nil, err
		}
		return nil, s.text, 0, nil, s.grammarError(ctx, err, out, eds, res, o)
	}
	if d, ok := stmt.(*ast.DDL); ok && d.SubStatementPositionEnd > d.SubStatementPositionStart {
		restorePositions(d, out, eds)
	}
	if d, ok := stmt.(*ast.DDL); ok && d.ViewSpec != nil && d.SubStatementPositionEnd > d.SubStatementPositionStart {
		// The engine needs no positions then, so views can be prepared too.
		d.SubStatementStr = text[d.SubStatementPositionStart:d.SubStatementPositionEnd]
	}
	if err := p.post(ctx, stmt, source{text: text, out: out, edits: eds}); err != nil {
		return nil, text, 0, nil, err
	}
	return stmt, text, res.original(end, true), res, nil
}

// grammar calls the engine's grammar. With first it takes only the first statement
// and says where the next begins.
func grammar(ctx context.Context, text string, first bool, o ast.ParserOptions) (stmt ast.Statement, next int, err error) {
	defer func() {
		if p := recover(); p != nil { // it indexes texts by positions that it guesses
			stmt, err = nil, vterrors.SyntaxError{Message: "syntax error", Position: len(text) + 1, Statement: text}
		}
	}()
	if first {
		return ast.ParseOneWithOptions(ctx, text, o)
	}
	stmt, err = ast.ParseWithOptions(ctx, text, o)
	return stmt, 0, err
}

// post runs the hooks.
func (p *Parser) post(ctx context.Context, stmt ast.Statement, src source) error {
	switch s := stmt.(type) {
	case *ast.DDL:
		renameTables(s)
	case *ast.AlterTable:
		for _, d := range s.Statements {
			renameTables(d)
		}
	}
	if err := walk(ctx, stmt, src); err != nil {
		return err
	}
	for _, h := range p.hooks {
		if err := h(ctx, stmt); err != nil {
			return err
		}
	}
	return nil
}

// modeOf combines the options with what only the session knows.
func modeOf(ctx context.Context, o ast.ParserOptions) mode {
	m := mode{ansiQuotes: o.AnsiQuotes}
	if c, ok := ctx.(*sql.Context); ok && c != nil && c.Session != nil {
		if v, err := c.GetSessionVariable(c, sql.SqlModeSessionVar); err == nil {
			modes, _ := v.(string)
			m.noBackslashEscapes = strings.Contains(strings.ToUpper(modes), sql.NoBackslashEscapes)
		}
	}
	return m
}

// accountOf returns the session's user, root for statements without a session.
func accountOf(ctx context.Context) account {
	if c, ok := ctx.(*sql.Context); ok && c != nil && c.Session != nil {
		cl := c.Session.Client()
		return account{user: cl.User, host: cl.Address, connection: c.Session.ID()}
	}
	return account{user: "root", host: "localhost"}
}

// restorePositions makes the positions of a body refer to the text that the client
// wrote.
func restorePositions(d *ast.DDL, out string, eds edits) {
	start, end := d.SubStatementPositionStart, min(d.SubStatementPositionEnd, len(out))
	body := out[start:end]
	end = start + len(strings.TrimRight(body, blanks)) // without what was a comment's end
	start += len(body) - len(strings.TrimLeft(body, blanks))
	d.SubStatementPositionStart = eds.original(start, false)
	d.SubStatementPositionEnd = eds.original(max(start, end), true)
}

const blanks = " \t\r\n\f\v"

// source is a statement's text as the client wrote it and as the grammar read it.
type source struct {
	text, out string
	edits     edits
}

// header writes the name of a result column: the text of its expression. The
// engine's begins with the comma before it if there is a blank between them.
func (s *source) header(a *ast.AliasedExpr) {
	if a.InputExpression == "" || !a.As.IsEmpty() || a.EndParsePos <= a.StartParsePos || a.EndParsePos > len(s.out) {
		return
	}
	start := a.StartParsePos
	read := s.out[start:a.EndParsePos]
	written := strings.TrimLeft(read, blanks+",")
	start += len(read) - len(written)
	written = strings.TrimRight(written, blanks)
	if written == "" {
		return
	}
	if v, ok := a.Expr.(*ast.SQLVal); ok && v.Type == ast.StrVal {
		a.InputExpression = string(v.Val)
		return
	}
	from, to := s.edits.original(start, false), s.edits.original(start+len(written), true)
	if from < to && to <= len(s.text) && !strings.Contains(s.text[from:to], "/*!") {
		written = s.text[from:to]
	}
	a.InputExpression = written
}
