package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/peterh/liner"
)

// lineReader gives the lines that a person or a file has.
type lineReader interface {
	// Line returns the next line without its end; io.EOF at the end, errAborted
	// after ^C.
	Line(prompt string) (string, error)
	// Remember puts a line into the history.
	Remember(line string)
	Close() error
}

var errAborted = errors.New("^C")

func newLineReader(env *environment, words *completer) lineReader {
	if !env.terminal.in {
		return &fileLines{r: bufio.NewReader(env.stdin)}
	}
	t := &terminalLines{state: liner.NewLiner(), file: historyFile(env.environ)}
	t.state.SetCtrlCAborts(true)
	t.state.SetMultiLineMode(true)
	t.state.SetTabCompletionStyle(liner.TabPrints)
	t.state.SetWordCompleter(words.complete)
	t.load(env.stderr)
	return t
}

// fileLines reads lines that nobody types: no prompt, no history.
type fileLines struct{ r *bufio.Reader }

func (f *fileLines) Line(string) (string, error) {
	line, err := f.r.ReadString('\n')
	if errors.Is(err, io.EOF) && line != "" {
		err = nil
	}
	return strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"), err
}

func (f *fileLines) Remember(string) {}

func (f *fileLines) Close() error { return nil }

// terminalLines reads lines with editing, history and completion.
type terminalLines struct {
	state *liner.State
	file  string // of the history; "" if there is none
}

// historyFile is KSQL_HISTFILE, or ~/.ksql_history.
func historyFile(environ []string) string {
	home := ""
	for _, pair := range environ {
		switch name, value, _ := strings.Cut(pair, "="); name {
		case "KSQL_HISTFILE":
			return value
		case "HOME":
			home = value
		}
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".ksql_history")
}

func (t *terminalLines) load(warnings io.Writer) {
	f, err := os.Open(t.file)
	if err != nil {
		return // the first time there is none
	}
	defer f.Close() // it has only been read
	if _, err := t.state.ReadHistory(f); err != nil {
		fmt.Fprintf(warnings, "history %s: %v\n", t.file, err)
	}
}

func (t *terminalLines) Line(prompt string) (string, error) {
	line, err := t.state.Prompt(prompt)
	if errors.Is(err, liner.ErrPromptAborted) {
		return "", errAborted
	}
	return line, err
}

// secretStatement matches what must not be kept: statements that set passwords.
var secretStatement = regexp.MustCompile(`(?i)\b(identified|password)\b`)

func (t *terminalLines) Remember(text string) {
	if secretStatement.MatchString(text) {
		return
	}
	for _, line := range strings.Split(text, "\n") {
		if strings.TrimSpace(line) != "" {
			t.state.AppendHistory(line)
		}
	}
}

// Close restores the terminal and writes the history, readable for its owner only.
func (t *terminalLines) Close() error {
	err := t.state.Close()
	if t.file == "" {
		return err
	}
	f, ferr := os.OpenFile(t.file, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if ferr != nil {
		return errors.Join(err, fmt.Errorf("history: %w", ferr))
	}
	_, ferr = t.state.WriteHistory(f)
	return errors.Join(err, ferr, f.Close())
}
