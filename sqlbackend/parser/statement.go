package parser

import "strings"

// statement is the first statement of a text, cut off and scanned.
type statement struct {
	// text is the statement as it was written, without blanks and separators
	// around it. It is "" if there is none.
	text string
	// rest is what follows the separator.
	rest string
	// restAt is where rest begins in the text that was cut.
	restAt int
	// begin is where the statement's part of the text begins, blanks and
	// comments included; at is where text begins.
	begin, at int
	mode      mode
	edits     edits
	// words are the first words of the statement in lower case, up to the first
	// token of another kind.
	words [4]string
	// triggers are the kinds of rules that have something to look at.
	triggers trigger
	// program is true for statements that hold other statements: their end is
	// found by the grammar, so text holds everything up to the end.
	program bool
	// line is how many lines precede text since the last separator.
	line int
	// open is true when the text ends inside of a string or comment, which
	// began at openAt of text.
	open   bool
	openAt int
}

// trigger is a set of rules.
type trigger uint32

const (
	triggerStatement  trigger = 1 << iota // the first word has statement rules
	triggerLock                           // FOR
	triggerDefiner                        // DEFINER
	triggerExpression                     // operators and constructors the grammar lacks
	triggerModifier                       // LOW_PRIORITY and the like
	triggerHint                           // USE, FORCE, IGNORE KEY
	triggerName                           // names that the grammar takes for keywords
	triggerAssign                         // :=
	triggerRefuse                         // WITH ROLLUP, PARTITION (…)
)

// triggerWords are the words (lower case) that make the rules look closer.
var triggerWords = map[string]trigger{
	"for": triggerLock, "definer": triggerDefiner,

	"unknown": triggerExpression, "row": triggerExpression, "interval": triggerExpression,
	"member": triggerExpression, "respect": triggerExpression, "nulls": triggerExpression,
	"leading": triggerExpression, "trailing": triggerExpression, "both": triggerExpression,
	"preceding": triggerExpression, "following": triggerExpression,
	"any": triggerExpression, "some": triggerExpression, "all": triggerExpression,
	"timestampadd": triggerExpression, "timestampdiff": triggerExpression,

	"low_priority": triggerModifier, "high_priority": triggerModifier, "delayed": triggerModifier,
	"quick": triggerModifier, "concurrent": triggerModifier, "distinctrow": triggerModifier,
	"sql_buffer_result": triggerModifier, "sql_small_result": triggerModifier,
	"sql_big_result": triggerModifier, "sql_no_cache": triggerModifier,

	"key": triggerHint, "index": triggerHint,

	"now": triggerName, "escape": triggerName, "next": triggerName, "off": triggerName, "returning": triggerName,
	"substr": triggerName, "std": triggerName, "stddev": triggerName, "variance": triggerName, "group_concat": triggerName,
	"bit_and": triggerName, "bit_or": triggerName, "bit_xor": triggerName, "json_arrayagg": triggerName,
	"json_objectagg": triggerName, "stddev_pop": triggerName, "stddev_samp": triggerName, "var_pop": triggerName,
	"var_samp": triggerName, "vector": triggerName, "format": triggerName, "comment": triggerName,
	"account": triggerName, "first": triggerName, "password": triggerName, "view": triggerName, "filter": triggerName,
	"full": triggerName, "none": triggerName, "process": triggerName, "event": triggerName, "file": triggerName,

	"rollup": triggerRefuse, "partition": triggerRefuse, "outfile": triggerRefuse, "dumpfile": triggerRefuse,
}

// longestTrigger bounds the words that can be in triggerWords.
const longestTrigger = len("sql_buffer_result")

// wordTrigger looks a word up without allocating.
func wordTrigger(w string) trigger {
	if len(w) > longestTrigger {
		return 0
	}
	var buf [longestTrigger]byte
	for i := 0; i < len(w); i++ {
		c := w[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		buf[i] = c
	}
	return triggerWords[string(buf[:len(w)])]
}

// cut takes the first statement off a text. Leading blanks, comments and
// separators are dropped.
func cut(text string, m mode, delimiter byte) statement {
	l := lexer{text: text, mode: m}
	s := statement{mode: m}
	start, end, n := -1, -1, 0
	headed := false // the first words have been read
	for {
		t, ok := l.next()
		if !ok {
			break
		}
		c := text[t.from]
		if t.kind == tokenPunct && c == delimiter && !s.program {
			if start < 0 {
				l.edits = l.edits[:0]
				s.begin = l.pos
				continue // an empty statement
			}
			s.finish(text, start, end, l.pos, &l)
			return s
		}
		if start < 0 {
			start = t.from
		}
		end = t.to
		switch t.kind {
		case tokenWord:
			s.triggers |= wordTrigger(text[t.from:t.to])
			if !headed && n < len(s.words) {
				s.words[n] = strings.ToLower(text[t.from:t.to])
				if n++; n == 2 {
					s.program = startsProgram(text[t.from:], s.words)
				}
				break
			}
			headed = true
		case tokenPunct:
			if c == '{' {
				s.triggers |= triggerExpression
			} else if c == ':' {
				s.triggers |= triggerAssign
			}
			headed = true
		default:
			headed = true
		}
	}
	s.finish(text, start, end, len(text), &l)
	return s
}

// finish sets the statement's text: from the first token's first byte, or the
// version comment around it, to the end of the last one.
func (s *statement) finish(text string, start, end, restAt int, l *lexer) {
	s.restAt, s.rest = restAt, text[restAt:]
	if start < 0 {
		return
	}
	for _, e := range l.edits {
		start = min(start, e.from)
		if e.from >= end && e.to <= restAt && s.closesGate(text, e) {
			end = e.to
		}
	}
	if l.open {
		end = len(text)
	}
	s.text, s.at = text[start:end], start
	s.line = strings.Count(strings.TrimLeft(text[s.begin:start], " \t\r\n"), "\n")
	s.edits = l.edits
	kept := s.edits[:0]
	for _, e := range s.edits {
		if e.from >= start && e.to <= end {
			e.from -= start
			e.to -= start
			kept = append(kept, e)
		}
	}
	s.edits = kept
	s.open, s.openAt = l.open, max(0, l.openAt-start)
	if statementRules[s.words[0]] != nil {
		s.triggers |= triggerStatement
	}
}

// closesGate says whether an edit blanks the end of an executed comment.
func (s *statement) closesGate(text string, e edit) bool {
	return e.to-e.from == 2 && text[e.from:e.to] == "*/"
}

// startsProgram says whether a statement's first words (two are known) begin a
// stored program; rest begins with the second word.
func startsProgram(rest string, words [4]string) bool {
	switch words[0] {
	case "create", "alter":
	default:
		return false
	}
	switch words[1] {
	case "procedure", "trigger", "event", "function":
		return true
	case "definer", "or", "aggregate":
	default:
		return false
	}
	// CREATE [OR REPLACE] DEFINER = account … : look for the kind of object.
	l := lexer{text: rest}
	for i := 0; i < 16; i++ {
		t, ok := l.next()
		if !ok {
			return false
		}
		if t.kind != tokenWord {
			continue
		}
		switch strings.ToLower(rest[t.from:t.to]) {
		case "procedure", "trigger", "event", "function":
			return true
		case "view", "table":
			return false
		}
	}
	return false
}
