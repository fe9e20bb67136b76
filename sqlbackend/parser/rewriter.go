package parser

import (
	"strings"
)

// account names the user that DEFINER=CURRENT_USER stands for.
type account struct {
	user, host string
	// connection is the id of the client's connection.
	connection uint32
}

// rewriter applies the rules to one statement.
type rewriter struct {
	text  string
	toks  []token
	edits edits
	// resolved are the edits that belong to the statement's meaning, not to the
	// grammar: they are kept in texts that are stored.
	resolved edits
	who      account
	program  bool
	err      error
}

// statementRule looks at a statement that begins at token i.
type statementRule func(r *rewriter, i int)

// rewrite applies the rules to a statement. It returns the text for the
// engine's grammar and the edits that lead to it from the second text, which is
// the statement with what it says about the current user resolved.
func (s *statement) rewrite(who account) (out, resolved string, eds, res edits, err error) {
	if s.triggers == 0 {
		eds = s.edits
		return eds.apply(s.text), s.text, eds, nil, nil
	}
	r := &rewriter{text: s.text, who: who, program: s.program}
	l := lexer{text: s.text, mode: s.mode}
	for {
		t, ok := l.next()
		if !ok {
			break
		}
		r.toks = append(r.toks, t)
	}
	r.run(s.triggers)
	if r.err != nil {
		return "", "", nil, nil, r.err
	}
	if len(r.resolved) > 0 {
		res = r.resolved
		resolved = res.apply(s.text)
		again := statement{text: resolved, mode: s.mode, words: s.words, triggers: s.triggers, program: s.program}
		l := lexer{text: resolved, mode: s.mode}
		for {
			if _, ok := l.next(); !ok {
				break
			}
		}
		again.edits = l.edits
		out, _, eds, _, err = again.rewrite(who)
		return out, resolved, eds, res, err
	}
	eds = append(s.edits, r.edits...)
	return eds.apply(s.text), s.text, eds, nil, nil
}

// run lets the rules look at every token.
func (r *rewriter) run(tr trigger) {
	for i := 0; i < len(r.toks) && r.err == nil; i++ {
		if r.toks[i].kind == tokenPunct {
			r.punct(i)
			continue
		}
		if r.toks[i].kind != tokenWord {
			continue
		}
		w := r.lower(i)
		if i == 0 || r.program && r.beginsStatement(i) {
			if rule := statementRules[w]; rule != nil {
				if rule(r, i); r.err != nil {
					return
				}
			}
		}
		if tr&^triggerStatement == 0 && !r.program {
			return
		}
		if rule := wordRules[w]; rule != nil {
			rule(r, i)
		}
	}
}

// beginsStatement says whether a statement inside of a stored program begins at
// token i.
func (r *rewriter) beginsStatement(i int) bool {
	if r.isPunct(i-1, ';') || r.isPunct(i-1, ':') {
		return true
	}
	switch r.lower(i - 1) {
	case "begin", "then", "else", "do", "loop", "repeat":
		return true
	case "row":
		return r.is(i-3, "for", "each", "row")
	}
	return false
}

// lower returns the word at token i in lower case, "" for other tokens.
func (r *rewriter) lower(i int) string {
	if i < 0 || i >= len(r.toks) || r.toks[i].kind != tokenWord {
		return ""
	}
	return strings.ToLower(r.raw(i))
}

// raw returns the text of token i.
func (r *rewriter) raw(i int) string { return r.text[r.toks[i].from:r.toks[i].to] }

// is says whether the tokens from i on are these words.
func (r *rewriter) is(i int, words ...string) bool {
	for k, w := range words {
		j := i + k
		if j < 0 || j >= len(r.toks) || r.toks[j].kind != tokenWord || !strings.EqualFold(r.raw(j), w) {
			return false
		}
	}
	return true
}

// oneOf returns the word at token i if it is one of these, else "".
func (r *rewriter) oneOf(i int, words ...string) string {
	got := r.lower(i)
	for _, w := range words {
		if got == w {
			return w
		}
	}
	return ""
}

func (r *rewriter) isPunct(i int, c byte) bool {
	return i >= 0 && i < len(r.toks) && r.toks[i].kind == tokenPunct && r.text[r.toks[i].from] == c
}

// ends says whether the statement ends before token i.
func (r *rewriter) ends(i int) bool { return i >= len(r.toks) || r.isPunct(i, ';') }

// isName says whether token i can be an identifier.
func (r *rewriter) isName(i int) bool {
	return i >= 0 && i < len(r.toks) && (r.toks[i].kind == tokenWord || r.toks[i].kind == tokenQuoted)
}

// closing returns the token that closes the parenthesis at token i, or the
// number of tokens.
func (r *rewriter) closing(i int) int {
	depth := 0
	for j := i; j < len(r.toks); j++ {
		switch {
		case r.isPunct(j, '('):
			depth++
		case r.isPunct(j, ')'):
			if depth--; depth == 0 {
				return j
			}
		}
	}
	return len(r.toks)
}

// end returns the first token behind the statement that holds token i.
func (r *rewriter) end(i int) int {
	for i < len(r.toks) && !r.isPunct(i, ';') {
		i++
	}
	return i
}

// source returns the text of the tokens from up to but without to.
func (r *rewriter) source(from, to int) string {
	if from >= to {
		return ""
	}
	return r.text[r.toks[from].from:r.toks[to-1].to]
}

// blank drops the tokens from up to but without to.
func (r *rewriter) blank(from, to int) {
	if from < to {
		r.edits.blank(r.toks[from].from, r.toks[to-1].to)
	}
}

// replace exchanges the tokens from up to but without to.
func (r *rewriter) replace(from, to int, repl string) {
	r.edits.replace(r.toks[from].from, r.toks[to-1].to, repl)
}

// before inserts text in front of token i, or at the end.
func (r *rewriter) before(i int, s string) {
	if i >= len(r.toks) {
		r.edits.insert(len(r.text), s)
		return
	}
	r.edits.insert(r.toks[i].from, s)
}

// after inserts text behind token i.
func (r *rewriter) after(i int, s string) { r.edits.insert(r.toks[i].to, s) }

// all replaces the whole statement that begins at token i.
func (r *rewriter) all(i int, repl string) { r.replace(i, r.end(i), repl) }

// refuse ends the rewriting with error 1235.
func (r *rewriter) refuse(what string) {
	if r.err == nil {
		r.err = errNotSupported(what)
	}
}

// bad ends the rewriting with error 1064 at token i.
func (r *rewriter) bad(i int) {
	if r.err == nil {
		at := len(r.text)
		if i < len(r.toks) {
			at = r.toks[i].from
		}
		r.err = syntaxErrorAt{at}
	}
}

// syntaxErrorAt is a syntax error at a position of the statement's text.
type syntaxErrorAt struct{ at int }

func (e syntaxErrorAt) Error() string { return "syntax error" }

// quoteName writes an identifier in backticks.
func quoteName(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }

// quoteString writes a string literal. Backslashes are doubled: the engine's
// lexer always takes them for escapes.
func quoteString(s string) string {
	s = strings.ReplaceAll(s, `\`, `\\`)
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}
