package parser

import (
	"strings"
	"unicode/utf8"
)

// tokenKind says what a token is.
type tokenKind uint8

const (
	tokenWord     tokenKind = iota + 1 // identifier, keyword or number
	tokenQuoted                        // `identifier` (or "identifier" under ANSI_QUOTES)
	tokenString                        // 'text' or "text"
	tokenVariable                      // @name, @@name, or the host part of an account
	tokenPunct                         // one byte of punctuation
)

// token is a piece of a statement: text[from:to].
type token struct {
	kind     tokenKind
	from, to int
}

// mode holds the settings that change how text is read.
type mode struct {
	ansiQuotes         bool // ANSI_QUOTES: "x" is an identifier
	noBackslashEscapes bool // NO_BACKSLASH_ESCAPES: \ is an ordinary character in strings
}

// serverVersion is the version that version comments are compared with.
const serverVersion = 80406

// ownGate is the version number of comments that only this server executes.
const ownGate = 999990

// lexer cuts text into tokens. Blanks and comments give none. While it reads it
// notes in edits what the engine's lexer would misread.
type lexer struct {
	text  string
	pos   int
	mode  mode
	edits edits
	// gates counts executed version comments whose end has not been met.
	gates int
	// adjacent is the end of the last token: "a@b" is one account, "a @b" not.
	adjacent     int
	adjacentKind tokenKind
	// open is true when the text ended inside of a string, name or comment;
	// openAt is where that began.
	open   bool
	openAt int
}

// next returns the next token, or false at the end of the text.
func (l *lexer) next() (token, bool) {
	for l.pos < len(l.text) {
		c := l.text[l.pos]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			l.pos++
		case c == '\f' || c == '\v':
			l.edits.blank(l.pos, l.pos+1) // blanks for MySQL, not for the engine
			l.pos++
		case c == '#':
			l.skipLine()
		case c == '-' && l.at(1) == '-':
			if l.pos+2 >= len(l.text) || l.text[l.pos+2] <= ' ' {
				l.skipLine()
				continue
			}
			l.edits.insert(l.pos+1, " ") // 1--1 is 1 - -1
			return l.take(tokenPunct, l.pos+1), true
		case c == '/' && l.at(1) == '/':
			l.edits.insert(l.pos+1, " ") // the engine takes // for a comment
			return l.take(tokenPunct, l.pos+1), true
		case c == '/' && l.at(1) == '*':
			if !l.comment() {
				return token{}, false
			}
		case c == '*' && l.gates > 0 && l.at(1) == '/':
			l.gates--
			l.edits.blank(l.pos, l.pos+2)
			l.pos += 2
		case c == '\'' || c == '"' || c == '`':
			l.separate()
			return l.quoted(l.pos), true
		case c == '@':
			return l.variable(), true
		case c == '\\' && l.at(1) == 'N' && !isWordByte(l.at(2)):
			l.edits.replace(l.pos, l.pos+2, "NULL")
			return l.take(tokenWord, l.pos+2), true
		case isWordByte(c):
			if t, ok := l.word(); ok {
				return t, true
			}
		default:
			return l.take(tokenPunct, l.pos+1), true
		}
	}
	if l.gates > 0 && !l.open {
		l.open, l.openAt = true, len(l.text)
	}
	return token{}, false
}

// separate puts a blank between a keyword and a string that follows it at once:
// the engine's grammar panics over SELECT”. Prefixes of literals stay.
func (l *lexer) separate() {
	if l.adjacent != l.pos || l.adjacentKind != tokenWord || l.pos == 0 {
		return
	}
	from := l.pos
	for from > 0 && isWordByte(l.text[from-1]) {
		from--
	}
	switch w := l.text[from:l.pos]; {
	case w[0] == '_':
	case len(w) == 1 && strings.ContainsRune("xXbB", rune(w[0])):
	default:
		l.edits.insert(l.pos, " ")
	}
}

// at returns the byte n places ahead, 0 behind the end.
func (l *lexer) at(n int) byte {
	if l.pos+n < len(l.text) {
		return l.text[l.pos+n]
	}
	return 0
}

func (l *lexer) take(kind tokenKind, to int) token {
	t := token{kind: kind, from: l.pos, to: to}
	l.pos = to
	l.adjacent, l.adjacentKind = to, kind
	return t
}

func (l *lexer) skipLine() {
	if i := strings.IndexByte(l.text[l.pos:], '\n'); i >= 0 {
		l.pos += i + 1
		return
	}
	l.pos = len(l.text)
}

// comment skips a comment, or only the opening of one whose content is
// executed. It is false if the comment has no end.
func (l *lexer) comment() bool {
	start := l.pos
	maria := l.at(2) == 'M' && l.at(3) == '!'
	if l.at(2) != '!' && !maria {
		end := commentEnd(l.text, start+2, false)
		if end < 0 {
			return l.unclosed(start)
		}
		l.pos = end
		return true
	}
	version, body := gateVersion(l.text, start+3)
	if !maria && (version <= serverVersion || version == ownGate) {
		l.edits.blank(start, body)
		l.gates++
		l.pos = body
		return true
	}
	end := commentEnd(l.text, start+2, true)
	if end < 0 {
		return l.unclosed(start)
	}
	l.edits.blank(start, end)
	l.pos = end
	return true
}

func (l *lexer) unclosed(start int) bool {
	l.open, l.openAt = true, start
	l.pos = len(l.text)
	return false
}

// gateVersion reads the version number of /*!NNNNN or /*!NNNNNN, 0 if there are
// fewer than five digits, and returns where the content begins.
func gateVersion(text string, at int) (version, body int) {
	n := 0
	for n < 6 && at+n < len(text) && text[at+n] >= '0' && text[at+n] <= '9' {
		version = version*10 + int(text[at+n]-'0')
		n++
	}
	if n < 5 {
		return 0, at
	}
	return version, at + n
}

// commentEnd returns the place behind the */ that ends a comment, -1 if there
// is none. Skipped version comments may hold one level of inner comments.
func commentEnd(text string, at int, nested bool) int {
	for at < len(text) {
		i := strings.IndexAny(text[at:], "*/")
		if i < 0 {
			return -1
		}
		at += i
		switch {
		case text[at] == '*' && at+1 < len(text) && text[at+1] == '/':
			return at + 2
		case nested && text[at] == '/' && at+1 < len(text) && text[at+1] == '*':
			if at = commentEnd(text, at+2, false); at < 0 {
				return -1
			}
		default:
			at++
		}
	}
	return -1
}

// quoted reads a string or quoted name that begins at l.pos; the token begins
// at from.
func (l *lexer) quoted(from int) token {
	q := l.text[l.pos]
	kind := tokenString
	if q == '`' || q == '"' && l.mode.ansiQuotes {
		kind = tokenQuoted
	}
	escapes := kind == tokenString
	start := l.pos
	i := l.pos + 1
	for i < len(l.text) {
		switch c := l.text[i]; {
		case c == '\\' && escapes && l.mode.noBackslashEscapes:
			l.edits.insert(i, `\`)
			i++
		case c == '\\' && escapes:
			if i+1 < len(l.text) && (l.text[i+1] == '%' || l.text[i+1] == '_') {
				l.edits.insert(i, `\`) // the engine's lexer drops the backslash that LIKE needs
			}
			i += 2
		case c != q:
			i++
		case i+1 < len(l.text) && l.text[i+1] == q:
			i += 2
		default:
			l.pos = from
			return l.take(kind, i+1)
		}
	}
	l.open, l.openAt = true, start
	l.pos = from
	return l.take(kind, len(l.text))
}

// word reads an identifier, keyword or number. It is false for the N of a
// national string, which is dropped.
func (l *lexer) word() (token, bool) {
	start, i, odd := l.pos, l.pos, false
	for i < len(l.text) && isWordByte(l.text[i]) {
		odd = odd || l.text[i] == '$' || l.text[i] >= utf8.RuneSelf
		i++
	}
	if i == start+1 && i < len(l.text) && l.text[i] == '\'' && (l.text[start] == 'N' || l.text[start] == 'n') {
		l.edits.blank(start, i)
		l.pos = i
		return token{}, false
	}
	if odd { // legal for MySQL, not for the engine
		l.edits.replace(start, i, "`"+l.text[start:i]+"`")
	}
	return l.take(tokenWord, i), true
}

// variable reads @name, @'name', @@scope.name, and the host part of an account.
func (l *lexer) variable() token {
	start := l.pos
	account := start > 0 && start == l.adjacent && l.adjacentKind != tokenPunct && l.adjacentKind != tokenVariable
	l.pos++
	switch c := l.at(0); {
	case c == '\'' || c == '"' || c == '`':
		quote := l.pos
		t := l.quoted(start)
		t.kind, l.adjacentKind = tokenVariable, tokenVariable
		if c != '`' && !account && !l.open {
			l.edits.replace(quote, quote+1, "`")
			l.edits.replace(t.to-1, t.to, "`")
		}
		return t
	case c == '@':
		l.pos++
	}
	i := l.pos
	for i < len(l.text) && (isWordByte(l.text[i]) || l.text[i] == '.') {
		i++
	}
	if i < len(l.text) && l.text[i] == '`' && l.text[start+1] == '@' { // @@global.`name`
		l.pos = i
		t := l.quoted(start)
		t.kind, l.adjacentKind = tokenVariable, tokenVariable
		return t
	}
	l.pos = start
	return l.take(tokenVariable, i)
}

// isWordByte says whether a byte may stand in an unquoted identifier.
func isWordByte(c byte) bool {
	return c == '_' || c == '$' || c >= utf8.RuneSelf || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
