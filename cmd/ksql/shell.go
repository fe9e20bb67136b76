package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"ksql/config"
	"ksql/sqlbackend"
	"ksql/sqlbackend/parser"
)

var shellCommand = command{
	name:    "shell",
	summary: "ask questions in SQL, with history and completion",
	flags: func(fs *pflag.FlagSet) {
		fs.BoolP("batch", "B", false, "write results tab separated instead of as tables")
		fs.BoolP("force", "f", false, "go on after an error when the input is not a terminal")
		fs.StringP("database", "D", "", "database to use")
	},
	run: runShell,
}

// shell is one interactive session.
type shell struct {
	env      *environment
	db       *database
	exec     *executor
	id       uint64 // of the connection, for KILL QUERY
	in       lineReader
	splitter *parser.Splitter
	words    *completer
	typed    []string // lines of the statement so far
	database string
	force    bool
	person   bool // a person is typing
	failed   bool
}

// errQuit ends the shell.
var errQuit = errors.New("quit")

func runShell(env *environment, cfg *config.Config, fs *pflag.FlagSet) (err error) {
	if fs.NArg() > 0 {
		return failure(exitUsage, "unexpected argument %q; `ksql run` runs files", fs.Arg(0))
	}
	ctx := context.Background()
	db, err := openDatabase(ctx, cfg, logTo(env, cfg))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	s := &shell{env: env, db: db, splitter: parser.NewSplitter(nil), person: env.terminal.in}
	s.exec = &executor{out: env.stdout, style: outputStyle{footer: s.person, hexBytes: s.person}}
	name := ""
	if s.exec.style.batch, err = fs.GetBool("batch"); err != nil {
		return err
	}
	if s.force, err = fs.GetBool("force"); err != nil {
		return err
	}
	if name, err = fs.GetString("database"); err != nil {
		return err
	}
	if s.exec.conn, err = db.Conn(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.exec.conn.Close()) }()
	if err := s.exec.conn.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&s.id); err != nil {
		return err
	}
	if name != "" {
		if err := s.use(ctx, name); err != nil {
			return errors.New(describeError(err))
		}
	}
	s.words = &completer{conn: s.exec.conn}
	s.in = newLineReader(env, s.words)
	defer func() { err = errors.Join(err, s.in.Close()) }()
	if s.person {
		s.greet()
	}
	return s.loop(ctx)
}

func (s *shell) greet() {
	where := "opened in this process"
	if s.db.via != "" {
		where = "open in " + s.db.via
	}
	fmt.Fprintf(s.env.stdout, "ksql %s, MySQL %s. The folder is %s.\nType help; or \\h for help, \\q to leave.\n\n", version, sqlbackend.ServerVersion, where)
}

// loop reads lines until the end, \q, or an error that ends a script.
func (s *shell) loop(ctx context.Context) error {
	for {
		line, err := s.in.Line(s.prompt())
		switch {
		case errors.Is(err, errAborted): // ^C at the prompt forgets the statement
			s.forget()
			continue
		case errors.Is(err, io.EOF):
			return s.end(ctx)
		case err != nil:
			return err
		}
		err = s.line(ctx, line)
		switch {
		case errors.Is(err, errQuit):
			s.bye()
			return nil
		case err != nil:
			return err
		case s.failed && !s.person && !s.force:
			return errReported
		}
	}
}

// end runs what stands behind the last delimiter, as mysql does when input ends.
func (s *shell) end(ctx context.Context) error {
	if s.person {
		fmt.Fprintln(s.env.stdout)
		s.bye()
		return nil
	}
	if text := strings.TrimSpace(strings.Join(s.typed, "\n")); s.splitter.Pending() == ";" && text != "" {
		s.statement(ctx, parser.Statement{Text: text})
	}
	if s.failed {
		return errReported
	}
	return nil
}

func (s *shell) bye() {
	if s.person {
		fmt.Fprintln(s.env.stdout, "Bye")
	}
}

func (s *shell) forget() {
	s.splitter.Reset()
	s.typed = nil
}

// prompt is "ksql [db]> ", or shows what an unfinished statement waits for.
func (s *shell) prompt() string {
	switch p := s.splitter.Pending(); p {
	case "":
		if s.database == "" {
			return "ksql> "
		}
		return "ksql [" + s.database + "]> "
	case ";":
		return "   -> "
	default:
		return fmt.Sprintf("   %2s> ", p)
	}
}

// line takes one line: a command of the shell, or SQL.
func (s *shell) line(ctx context.Context, line string) error {
	if s.splitter.Pending() == "" {
		if c, argument, ok := shellCommandOf(line, s.splitter.Delimiter()); ok {
			s.in.Remember(line)
			return c(s, ctx, argument)
		}
	}
	s.typed = append(s.typed, line)
	statements, err := s.splitter.Add(line)
	if err != nil {
		return err
	}
	for _, st := range statements {
		s.statement(ctx, st)
		if s.failed && !s.person && !s.force {
			break
		}
	}
	if s.splitter.Pending() == "" {
		s.in.Remember(joinLines(s.typed))
		s.typed = nil
	} else if len(statements) > 0 {
		s.typed = []string{line}
	}
	return nil
}

// joinLines puts a statement on one line for the history, unless that would change it.
func joinLines(lines []string) string {
	text := strings.Join(lines, " ")
	if len(lines) > 1 && strings.ContainsAny(text, "#-'\"`") {
		return strings.Join(lines, "\n")
	}
	return strings.TrimSpace(text)
}

// statement runs one statement and tells its error. ^C kills the statement, not the
// shell.
func (s *shell) statement(ctx context.Context, st parser.Statement) {
	done := make(chan struct{})
	watcher := make(chan struct{})
	if s.person {
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
		defer signal.Stop(signals)
		go func() {
			defer close(watcher)
			s.killOnSignal(ctx, signals, done)
		}()
	} else {
		close(watcher)
	}
	err := s.exec.run(ctx, st)
	close(done)
	<-watcher
	if err == nil {
		err = s.after(ctx, st)
	}
	if err != nil {
		s.failed = true
		fmt.Fprintln(s.env.stderr, describeError(err))
		if s.person {
			fmt.Fprintln(s.env.stderr)
		}
	}
}

// killOnSignal sends KILL QUERY over another connection, as the mysql client does.
func (s *shell) killOnSignal(ctx context.Context, signals <-chan os.Signal, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-signals:
			if _, err := s.db.ExecContext(ctx, fmt.Sprintf("KILL QUERY %d", s.id)); err != nil {
				fmt.Fprintf(s.env.stderr, "^C: the statement could not be killed: %s\n", describeError(err))
				continue
			}
			fmt.Fprintln(s.env.stderr, "^C -- query aborted")
		}
	}
}

// after keeps the prompt and the completion up to date.
func (s *shell) after(ctx context.Context, st parser.Statement) error {
	switch wordOf(st.Text) {
	case "use":
		s.words.forget()
		return s.currentDatabase(ctx)
	case "create", "drop", "alter", "rename":
		s.words.forget()
		return s.currentDatabase(ctx) // DROP DATABASE may have taken it away
	}
	return nil
}

func (s *shell) currentDatabase(ctx context.Context) error {
	var name sql.NullString
	err := s.exec.conn.QueryRowContext(ctx, "SELECT DATABASE()").Scan(&name)
	s.database = name.String
	return err
}

func (s *shell) use(ctx context.Context, name string) error {
	if _, err := s.exec.conn.ExecContext(ctx, "USE "+quoteName(name)); err != nil {
		return err
	}
	return s.currentDatabase(ctx)
}

func quoteName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// source runs the lines of a file as if they were typed.
func (s *shell) source(ctx context.Context, name string) error {
	f, err := os.Open(name)
	if err != nil {
		s.failed = true
		fmt.Fprintf(s.env.stderr, "ERROR: %v\n", err)
		return nil
	}
	defer f.Close() // it has only been read
	splitter := parser.NewSplitter(bufio.NewReader(f))
	for {
		st, err := splitter.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			s.failed = true
			fmt.Fprintf(s.env.stderr, "ERROR: %s: %v\n", name, err)
			return nil
		}
		before := s.failed
		s.failed = false
		s.statement(ctx, st)
		if s.failed {
			fmt.Fprintf(s.env.stderr, "  (%s, line %d)\n", name, st.Line)
		}
		s.failed = s.failed || before
	}
}
