package parser

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// DefaultMaxStatement is how many bytes a statement of a script may have.
const DefaultMaxStatement = 1 << 30

// Statement is one statement of a script.
type Statement struct {
	// Text is the statement without its delimiter and without blanks and
	// comments in front of it. Version comments belong to it.
	Text string
	// Line is the line, counted from 1, in which Text begins.
	Line int
	// Vertical is true if the statement ended with \G.
	Vertical bool
}

// StatementTooLongError says that a statement exceeds the limit.
type StatementTooLongError struct {
	Line  int // where the statement begins
	Limit int // bytes
}

// Error implements error.
func (e *StatementTooLongError) Error() string {
	return fmt.Sprintf("the statement that begins in line %d is longer than %d bytes", e.Line, e.Limit)
}

// Splitter cuts a script into statements as the mysql client does: it knows
// strings, quoted names, comments, DELIMITER lines, \g, \G and \c. Memory use is
// bounded by the longest statement.
//
// Statements come from a reader (Next) or line by line from a person (Add).
type Splitter struct {
	r         *bufio.Reader
	max       int
	delimiter []byte

	buf   []byte // the statement so far, and what was read behind it
	pos   int    // how much of buf has been scanned
	start int    // where the statement begins in buf; -1: not yet
	line  int    // the line of pos, from 1
	first int    // the line of start
	open  byte   // quote or comment that pos is in: ' " ` * (comment), - (line comment), 0
	fresh bool   // pos is at the beginning of a line, blanks aside
	done  bool   // the reader has ended
	err   error
}

// NewSplitter returns a splitter that reads a script from r. r may be nil if
// only Add is used.
func NewSplitter(r io.Reader) *Splitter {
	s := &Splitter{max: DefaultMaxStatement, delimiter: []byte(";"), start: -1, line: 1, fresh: true}
	if r != nil {
		s.r = bufio.NewReaderSize(r, 64<<10)
		if bom, err := s.r.Peek(3); err == nil && string(bom) == "\xef\xbb\xbf" {
			_, _ = s.r.Discard(3) // can't fail: it has just been peeked
		}
	}
	return s
}

// SetMaxStatement changes the limit of a statement's size in bytes.
func (s *Splitter) SetMaxStatement(n int) { s.max = n }

// Delimiter returns what ends statements at present.
func (s *Splitter) Delimiter() string { return string(s.delimiter) }

// Next returns the next statement. The last one needs no delimiter. The error
// is io.EOF at the end, a *StatementTooLongError, or the reader's.
func (s *Splitter) Next() (Statement, error) {
	for {
		if st, ok := s.scan(); ok {
			return st, nil
		}
		if s.err != nil {
			return Statement{}, s.err
		}
		if s.done {
			return s.last()
		}
		s.read()
	}
}

// Add scans one more line (without its line end) and returns the statements
// that it completes.
func (s *Splitter) Add(line string) ([]Statement, error) {
	s.buf = append(append(s.buf, line...), '\n')
	var out []Statement
	for {
		st, ok := s.scan()
		if !ok {
			return out, s.err
		}
		out = append(out, st)
	}
}

// Pending says what the text added so far waits for: "" for nothing, ";" for
// the delimiter, or the quote or comment that is open (', ", `, /*).
func (s *Splitter) Pending() string {
	switch s.open {
	case 0, '-':
		if s.start < 0 {
			return ""
		}
		return ";"
	case '*':
		return "/*"
	}
	return string(rune(s.open))
}

// Reset forgets a statement that has been begun.
func (s *Splitter) Reset() {
	s.drop(len(s.buf))
	s.open = 0
}

// read appends a piece of the script: at most one line.
func (s *Splitter) read() {
	if s.start < 0 {
		s.drop(s.pos)
	} else if len(s.buf)-s.start > s.max {
		s.err = &StatementTooLongError{Line: s.first, Limit: s.max}
		return
	}
	piece, err := s.r.ReadSlice('\n')
	s.buf = append(s.buf, piece...)
	switch {
	case errors.Is(err, io.EOF):
		s.done = true
	case err != nil && !errors.Is(err, bufio.ErrBufferFull):
		s.err = err
	}
}

// drop forgets the first n bytes of buf, which have been scanned.
func (s *Splitter) drop(n int) {
	if n > 0 {
		s.buf = s.buf[:copy(s.buf, s.buf[n:])]
	}
	if cap(s.buf) > 1<<20 && len(s.buf) < cap(s.buf)/8 {
		s.buf = append([]byte(nil), s.buf...) // give the memory of a long statement back
	}
	s.pos = max(0, s.pos-n)
	s.start = -1
}

// last returns what stands behind the last delimiter.
func (s *Splitter) last() (Statement, error) {
	if s.start < 0 {
		s.drop(len(s.buf))
		return Statement{}, io.EOF
	}
	st := Statement{Text: string(bytes.TrimSpace(s.buf[s.start:])), Line: s.first}
	s.drop(len(s.buf))
	if st.Text == "" {
		return Statement{}, io.EOF
	}
	return st, nil
}

// take ends the statement at pos, whose terminator has n bytes.
func (s *Splitter) take(n int, vertical bool) (Statement, bool) {
	var st Statement
	if s.start >= 0 {
		st = Statement{Text: string(bytes.TrimSpace(s.buf[s.start:s.pos])), Line: s.first, Vertical: vertical}
	}
	s.pos += n
	s.drop(s.pos)
	s.fresh = false
	return st, st.Text != ""
}

// scan goes on until a statement is complete or more text is needed.
func (s *Splitter) scan() (Statement, bool) {
	for s.pos < len(s.buf) && s.err == nil {
		if s.open != 0 {
			if !s.scanOpen() {
				return Statement{}, false
			}
			continue
		}
		if s.waits() {
			return Statement{}, false
		}
		c := s.buf[s.pos]
		if s.fresh && s.start < 0 && s.delimiterLine() {
			continue
		}
		if bytes.HasPrefix(s.buf[s.pos:], s.delimiter) {
			if st, ok := s.take(len(s.delimiter), false); ok {
				return st, true
			}
			continue
		}
		if c == '\\' && s.pos+1 < len(s.buf) {
			switch s.buf[s.pos+1] {
			case 'g', 'G':
				if st, ok := s.take(2, s.buf[s.pos+1] == 'G'); ok {
					return st, true
				}
				continue
			case 'c':
				s.pos += 2
				s.drop(s.pos)
				continue
			}
		}
		s.step(c)
	}
	return Statement{}, false
}

// waits says whether the bytes that can decide what stands at pos have not all
// been read.
func (s *Splitter) waits() bool {
	if s.done || bytes.IndexByte(s.buf[s.pos:], '\n') >= 0 {
		return false
	}
	return len(s.buf)-s.pos < max(len(s.delimiter), 16)
}

// step scans one byte outside of strings and comments.
func (s *Splitter) step(c byte) {
	at := func(n int) byte {
		if s.pos+n < len(s.buf) {
			return s.buf[s.pos+n]
		}
		return '\n'
	}
	switch {
	case c == '\n':
		s.line++
		s.fresh = true
		s.pos++
	case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
		s.pos++
	case c == '#', c == '-' && at(1) == '-' && at(2) <= ' ':
		s.open = '-'
		s.pos++
	case c == '/' && at(1) == '*' && at(2) != '!':
		s.open = '*'
		s.pos += 2
	default:
		if s.start < 0 {
			s.start, s.first = s.pos, s.line
		}
		s.fresh = false
		if c == '\'' || c == '"' || c == '`' {
			s.open = c
		}
		s.pos++
	}
}

// scanOpen goes to the end of the open string or comment. It is false if more
// text is needed.
func (s *Splitter) scanOpen() bool {
	for s.pos < len(s.buf) {
		c := s.buf[s.pos]
		switch {
		case c == '\n':
			s.line++
			if s.open == '-' {
				s.open, s.fresh = 0, true
				s.pos++
				return true
			}
		case s.open == '-':
		case s.open == '*':
			if c == '*' {
				if s.pos+1 >= len(s.buf) && !s.done {
					return false
				}
				if s.pos+1 < len(s.buf) && s.buf[s.pos+1] == '/' {
					s.open = 0
					s.pos += 2
					return true
				}
			}
		case c == '\\' && s.open != '`':
			if s.pos+1 >= len(s.buf) && !s.done {
				return false
			}
			if s.pos+1 < len(s.buf) && s.buf[s.pos+1] == '\n' {
				s.line++
			}
			s.pos++
		case c == s.open: // a doubled quote opens again at once
			s.open = 0
			s.pos++
			return true
		}
		s.pos++
	}
	s.pos = min(s.pos, len(s.buf))
	return false
}

// delimiterLine handles DELIMITER x at pos. It is false if there is none.
func (s *Splitter) delimiterLine() bool {
	const word = "delimiter"
	rest := s.buf[s.pos:]
	if len(rest) <= len(word) || !bytes.EqualFold(rest[:len(word)], []byte(word)) || rest[len(word)] != ' ' && rest[len(word)] != '\t' {
		return false
	}
	end := bytes.IndexByte(rest, '\n')
	if end < 0 {
		if !s.done {
			return false
		}
		end = len(rest)
	}
	if f := bytes.Fields(rest[len(word):end]); len(f) > 0 {
		s.delimiter = append([]byte(nil), f[0]...)
	}
	s.pos += end
	s.drop(s.pos)
	return true
}
