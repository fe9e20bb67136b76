package wire

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/dolthub/vitess/go/vt/vterrors"
)

// parse takes the first statement off text. body is its text as the engine
// must see it, rest what follows (only with multi). A nil statement without an
// error is a comment: it succeeds and does nothing, as in MySQL.
func (s *Session) parse(ctx *sql.Context, text string, multi bool) (stmt ast.Statement, body, rest string, err error) {
	for {
		stmt, body, rest, err = s.r.parser.Parse(ctx, text, true)
		if !errors.Is(err, ast.ErrEmpty) {
			break
		}
		next := trimSeparators(rest)
		if next == "" || len(next) >= len(text) {
			if strings.Trim(text, " \t\r\n\f\v;") == "" {
				return nil, "", "", newError(erEmptyQuery, "Query was empty")
			}
			return nil, "", "", nil
		}
		text = next
	}
	if err != nil {
		return nil, "", "", syntaxError(text, err)
	}
	rest = trimSeparators(rest)
	if rest != "" && !multi && s.onlyComments(ctx, rest) {
		rest = ""
	}
	if rest != "" && !multi {
		return nil, "", "", nearError(rest, 1+strings.Count(text[:max(0, len(text)-len(rest))], "\n"))
	}
	if body == "" {
		body = text
	}
	return stmt, body, rest, nil
}

// onlyComments says whether text has no statement.
func (s *Session) onlyComments(ctx *sql.Context, text string) bool {
	_, _, rest, err := s.r.parser.Parse(ctx, text, true)
	return errors.Is(err, ast.ErrEmpty) && trimSeparators(rest) == ""
}

// trimSeparators drops blanks and semicolons before the next statement and
// blanks after it.
func trimSeparators(s string) string {
	return strings.TrimLeft(strings.TrimSpace(s), "; \t\r\n\f\v")
}

// syntaxError gives a parser's error the form of MySQL's 1064: the rest of the
// statement from the offending token on, and its line.
func syntaxError(text string, err error) error {
	var se *mysql.SQLError
	if errors.As(err, &se) {
		return se
	}
	pos, ok := vterrors.AsSyntaxError(err)
	if !ok {
		return newError(erParse, "You have an error in your SQL syntax; %s", err.Error())
	}
	in := pos.Statement
	if in == "" {
		in = text
	}
	at := tokenStart(in, pos)
	return nearError(in[at:], 1+strings.Count(in[:at], "\n"))
}

// tokenStart finds where the token begins that the parser stopped behind: its
// position is that of the byte after it.
func tokenStart(in string, se vterrors.SyntaxError) int {
	end := min(max(se.Position-1, 0), len(in))
	_, near, ok := strings.Cut(se.Message, " near '")
	near = strings.TrimSuffix(near, "'")
	if !ok || near == "" {
		return end
	}
	from := max(0, end-len(near)-2)
	if i := strings.LastIndex(strings.ToLower(in[from:end]), strings.ToLower(near)); i >= 0 {
		at := from + i
		if at > 0 && (in[at-1] == '\'' || in[at-1] == '"' || in[at-1] == '`') {
			at--
		}
		return at
	}
	return end
}

// nearLimit is how much of a statement MySQL quotes in error 1064.
const nearLimit = 80

func nearError(near string, line int) error {
	if len(near) > nearLimit {
		cut := nearLimit
		for cut > 0 && !utf8.RuneStart(near[cut]) {
			cut--
		}
		near = near[:cut]
	}
	return newError(erParse, "You have an error in your SQL syntax; check the manual that corresponds to your "+
		"MySQL server version for the right syntax to use near '%s' at line %d", near, line)
}

// decodeText converts a statement from character_set_client to UTF-8, which is
// what the engine reads.
func decodeText(ctx *sql.Context, text string) (string, error) {
	enc, err := clientEncoder(ctx)
	if err != nil || enc == nil {
		return text, err
	}
	out, ok := enc.Decode([]byte(text))
	if !ok {
		return "", newError(erInvalidCharString, "Invalid %s character string", clientCharset(ctx))
	}
	return string(out), nil
}

func clientCharset(ctx *sql.Context) string {
	v, err := ctx.GetSessionVariable(ctx, "character_set_client")
	if err != nil {
		return ""
	}
	name, _ := v.(string) // NULL: no conversion
	return name
}

// clientEncoder returns the encoder of character_set_client, nil for those
// that need no conversion.
func clientEncoder(ctx *sql.Context) (interface{ Decode([]byte) ([]byte, bool) }, error) {
	switch name := clientCharset(ctx); name {
	case "", "utf8mb4", "utf8mb3", "utf8", "binary", "ascii":
		return nil, nil
	default:
		cs, err := sql.ParseCharacterSet(name)
		if err != nil {
			return nil, err
		}
		return cs.Encoder(), nil
	}
}
