package parser

import (
	"errors"
	"fmt"
	"io"
	"math/rand"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func splitAll(t *testing.T, r io.Reader) []string {
	t.Helper()
	s := NewSplitter(r)
	var out []string
	for {
		st, err := s.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		tail := ""
		if st.Vertical {
			tail = `\G`
		}
		out = append(out, fmt.Sprintf("%d:%s%s", st.Line, st.Text, tail))
	}
}

func TestSplitter(t *testing.T) {
	for _, c := range []struct {
		script string
		want   []string
	}{
		{"", nil},
		{" ;;\n ; -- x\n", nil},
		{"select 1", []string{"1:select 1"}},
		{"select 1;select 2 ;\n\nselect 3", []string{"1:select 1", "1:select 2", "3:select 3"}},
		{"-- a; b\n# c;\n/* d; \n e */ select\n 1;", []string{"4:select\n 1"}},
		{"select 'a;b', \"c;''\", `d;``e`, 'f\\';g', 'h''; i'; x", []string{"1:select 'a;b', \"c;''\", `d;``e`, 'f\\';g', 'h''; i'", "1:x"}},
		{"select 1 -- c;\n, 2;", []string{"1:select 1 -- c;\n, 2"}},
		{"select 1--1; select 2", []string{"1:select 1--1", "1:select 2"}},
		{"/*!40101 SET a=1 */;\n/*M!999999\\- sandbox */\nb;", []string{"1:/*!40101 SET a=1 */", "3:b"}},
		{"DELIMITER //\ncreate procedure p() begin select 1; end//\ndelimiter ;\nselect 2;", []string{"2:create procedure p() begin select 1; end", "4:select 2"}},
		{"delimiter $$\nx;y$$\nDELIMITER ;;\nz;;", []string{"2:x;y", "4:z"}},
		{"select 1\ndelimiter x;", []string{"1:select 1\ndelimiter x"}},
		{"select 1\\G select 2\\g\nselect \\N;", []string{"1:select 1\\G", "1:select 2", "2:select \\N"}},
		{"select 1\\c select 2;", []string{"1:select 2"}},
		{"select 'open\n; x", []string{"1:select 'open\n; x"}},
		{"\xef\xbb\xbfselect 1;", []string{"1:select 1"}},
		{"a;\r\nb;\r\n", []string{"1:a", "2:b"}},
		{"insert into t values ('x\\\n;y');\nz", []string{"1:insert into t values ('x\\\n;y')", "3:z"}},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.script), iotest.OneByteReader(strings.NewReader(c.script))} {
			if got := splitAll(t, r); strings.Join(got, "|") != strings.Join(c.want, "|") {
				t.Errorf("%q:\n got %q\nwant %q", c.script, got, c.want)
			}
		}
	}
}

// Pieces that can't be told apart when cut in two by the read buffer.
func TestSplitterPieces(t *testing.T) {
	seed := time.Now().UnixNano()
	rng := rand.New(rand.NewSource(seed))
	parts := []string{"select 1", "'a;b'", "\"x\\\"y\"", "`q;`", "/* c; */", "-- d;\n", "# e\n", " ", "\n", ";", "--1", "/*!50000 z */", "''", "\\G", "delimiter", "*/"}
	for range 300 {
		var b strings.Builder
		for range rng.Intn(40) {
			b.WriteString(parts[rng.Intn(len(parts))])
		}
		script := b.String()
		whole := splitAll(t, strings.NewReader(script))
		one := splitAll(t, iotest.OneByteReader(strings.NewReader(script)))
		if strings.Join(whole, "|") != strings.Join(one, "|") {
			t.Fatalf("seed=%d %q:\n%q\n%q", seed, script, whole, one)
		}
	}
}

func TestSplitterLimit(t *testing.T) {
	s := NewSplitter(strings.NewReader("select 1;\nselect '" + strings.Repeat("x", 300<<10) + "';"))
	s.SetMaxStatement(100 << 10)
	if _, err := s.Next(); err != nil {
		t.Fatal(err)
	}
	_, err := s.Next()
	var long *StatementTooLongError
	if !errors.As(err, &long) || long.Line != 2 {
		t.Fatalf("got %v", err)
	}
}

func TestSplitterAdd(t *testing.T) {
	s := NewSplitter(nil)
	for _, c := range []struct{ line, done, pending string }{
		{"select 1; select", "select 1", ";"},
		{"'x", "", "'"},
		{"y'; /* c", "select\n'x\ny'", "/*"},
		{"*/", "", ""},
		{"delimiter //", "", ""},
		{"a; `b", "", "`"},
		{"` // c \\G", "a; `b\n`|c", ""},
	} {
		got, err := s.Add(c.line)
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, st := range got {
			texts = append(texts, st.Text)
		}
		if strings.Join(texts, "|") != c.done || s.Pending() != c.pending {
			t.Errorf("%q: got %q, pending %q", c.line, texts, s.Pending())
		}
	}
	if _, err := s.Add("half"); err != nil || s.Pending() != ";" {
		t.Fatal("pending", s.Pending(), err)
	}
	if s.Reset(); s.Pending() != "" {
		t.Fatal("reset")
	}
}
