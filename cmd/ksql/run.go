package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"

	"ksql/config"
	"ksql/sqlbackend/parser"
)

var runCommand = command{
	name:      "run",
	arguments: "FILE…|-",
	summary:   "run SQL scripts (- is standard input)",
	flags: func(fs *pflag.FlagSet) {
		fs.BoolP("force", "f", false, "go on after an error; the exit code is 1 all the same")
		fs.BoolP("batch", "B", false, "write results tab separated instead of as tables")
		fs.StringP("database", "D", "", "database to use")
	},
	run: runScripts,
}

// script is one run over several files on one connection.
type script struct {
	env    *environment
	exec   *executor
	force  bool
	failed int
}

func runScripts(env *environment, cfg *config.Config, fs *pflag.FlagSet) (err error) {
	if fs.NArg() == 0 {
		return failure(exitUsage, "which FILE? - is standard input")
	}
	for _, name := range fs.Args() { // before the folder is touched
		if _, err := os.Stat(name); name != "-" && err != nil {
			return failure(exitUsage, "%w", err)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	db, err := openDatabase(ctx, cfg, logTo(env, cfg))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	out := bufio.NewWriterSize(env.stdout, 64<<10)
	defer func() { err = errors.Join(err, out.Flush()) }()
	s := &script{env: env, exec: &executor{out: out, style: outputStyle{hexBytes: env.terminal.out}}}
	name := ""
	for _, f := range []struct {
		flag string
		into *bool
	}{{"force", &s.force}, {"batch", &s.exec.style.batch}} {
		if *f.into, err = fs.GetBool(f.flag); err != nil {
			return err
		}
	}
	if name, err = fs.GetString("database"); err != nil {
		return err
	}
	if s.exec.conn, err = db.Conn(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.exec.conn.Close()) }()
	if name != "" {
		if _, err := s.exec.conn.ExecContext(ctx, "USE "+quoteName(name)); err != nil {
			return errors.New(describeError(err))
		}
	}
	for _, name := range fs.Args() {
		if err := s.file(ctx, name); err != nil {
			return err
		}
	}
	if s.failed > 0 {
		return failure(exitFailed, "%d statement%s failed", s.failed, plural(s.failed))
	}
	return nil
}

// file runs one file.
func (s *script) file(ctx context.Context, name string) error {
	var r io.Reader = s.env.stdin
	var size int64
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return failure(exitUsage, "%w", err)
		}
		defer f.Close() // it has only been read
		info, err := f.Stat()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		r, size = f, info.Size()
	} else {
		name = "standard input"
	}
	p := newProgress(s.env, name, r, size)
	defer p.done()
	splitter := parser.NewSplitter(p)
	for {
		st, err := splitter.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return failure(exitFailed, "%s: %w", name, err)
		}
		p.statement()
		if err := s.statement(ctx, name, st, p); err != nil {
			return err
		}
	}
}

// statement runs one statement; with force an error of the database is only counted.
func (s *script) statement(ctx context.Context, name string, st parser.Statement, p *progress) error {
	err := s.exec.run(ctx, st)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return failure(exitFailed, "%s:%d: interrupted", name, st.Line)
	}
	p.clear()
	if f, ok := s.exec.out.(*bufio.Writer); ok { // errors stand behind the results before them
		if err := f.Flush(); err != nil {
			return err
		}
	}
	fmt.Fprintf(s.env.stderr, "%s:%d: %s\n", name, st.Line, describeError(err))
	s.failed++
	if s.force && !connectionLost(ctx, s.exec) {
		return nil
	}
	return errReported
}

// connectionLost tells whether the connection is of no use any more.
func connectionLost(ctx context.Context, e *executor) bool { return e.conn.PingContext(ctx) != nil }
