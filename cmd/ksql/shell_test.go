package main

import (
	"slices"
	"strings"
	"testing"
)

func TestWordOf(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT 1": "select", "  (( select 1))": "select", "/*!40101 SET a = 1 */": "set", "/*!50003CREATE": "create", "with x as": "with", "1": "", "": "",
	} {
		if got := wordOf(text); got != want {
			t.Errorf("%q begins with %q, want %q", text, got, want)
		}
	}
}

func TestShellCommands(t *testing.T) {
	for line, want := range map[string]string{
		"use shop": "shop", "USE `shop`;": "shop", `\u shop`: "shop", `\ushop`: "shop", "source a b.sql": "a b.sql", `\. /x/y.sql`: "/x/y.sql",
		`\./y.sql`: "/y.sql", "quit": "", "EXIT;": "", `\q`: "", "help": "", "status": "", "use shop //": "shop",
	} {
		delimiter := ";"
		if strings.HasSuffix(line, "//") {
			delimiter = "//"
		}
		if _, argument, ok := shellCommandOf(line, delimiter); !ok || argument != want {
			t.Errorf("%q: %v, argument %q", line, ok, argument)
		}
	}
	for _, line := range []string{"use", "use a; select 1;", "select 1", "help contents", "sourcefile", "status of it", "", ";"} {
		if _, _, ok := shellCommandOf(line, ";"); ok {
			t.Errorf("%q is taken for a command", line)
		}
	}
}

func TestCompletion(t *testing.T) {
	c := &completer{loaded: true, names: []string{"Track", "TrackId", "größe", "shop"}, tables: map[string][]string{"track": {"TrackId", "Name"}}}
	for _, k := range []struct {
		line       string
		head, tail string
		want       []string
	}{
		{"select tr|", "select ", "", []string{"Track", "TrackId", "transaction", "trigger", "true", "truncate"}},
		{"SEL|", "", "", []string{"SELECT"}},
		{"select t.x, Track.|", "select t.x, Track.", "", []string{"TrackId", "Name"}},
		{"select `track`.na| from x", "select `track`.", " from x", []string{"Name"}},
		{"größe, grö|", "größe, ", "", []string{"größe"}},
		{"select |", "select ", "", nil},
		{"use sh|", "use ", "", []string{"shop", "show"}},
	} {
		before, after, _ := strings.Cut(k.line, "|")
		head, found, tail := c.complete(before+after, len([]rune(before)))
		if head != k.head || tail != k.tail || !slices.Equal(found, k.want) {
			t.Errorf("%s: head %q, tail %q, %q", k.line, head, tail, found)
		}
	}
}

func TestHistoryLines(t *testing.T) {
	for want, lines := range map[string][]string{
		"select 1 from t;": {"select 1", "from t;"}, "select 'a\nb';": {"select 'a", "b';"}, "x -- y": {"x -- y"},
	} {
		if got := joinLines(lines); got != want {
			t.Errorf("%q joined is %q", lines, got)
		}
	}
	if !secretStatement.MatchString("alter user x identified by 'p'") || secretStatement.MatchString("select 1") {
		t.Error("secrets are not recognised")
	}
	if f := historyFile([]string{"HOME=/h", "KSQL_HISTFILE=/x"}); f != "/x" {
		t.Error(f)
	}
	if f := historyFile([]string{"HOME=/h"}); f != "/h/.ksql_history" {
		t.Error(f)
	}
}

func TestOwner(t *testing.T) {
	pid, socket, err := parseOwner("pid=12 socket=/a b/ksql.sock\n")
	if err != nil || pid != 12 || socket != "/a b/ksql.sock" {
		t.Fatal(pid, socket, err)
	}
	if pid, socket, err = parseOwner("pid=12 socket="); err != nil || pid != 12 || socket != "" {
		t.Fatal(pid, socket, err)
	}
	for _, text := range []string{"", "12", "pid=x socket=y", "socket=y"} {
		if _, _, err := parseOwner(text); err == nil {
			t.Errorf("%q is taken for an owner", text)
		}
	}
}
