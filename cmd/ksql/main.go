// Command ksql serves, fills, asks and checks a database in a folder.
//
// Each subcommand is one file: serve, run, shell, verify, config, version. This
// package is the edge of the process: flags, signals, exit codes, terminals. Exit
// codes are 0 (done), 1 (the work failed: a statement, damage), 2 (wrong usage or
// settings), 3 (the folder is in use), 4 (the folder is missing or can't be written),
// 5 (the address can't be listened on).
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"ksql/config"
)

// version is set by scripts/build.sh.
var version = "unversioned"

// environment is what a command sees of the process around it.
type environment struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	environ        []string
	// terminal tells whether people look at stdin, stdout and stderr.
	terminal struct{ in, out, err bool }
}

// command is one subcommand.
type command struct {
	name, arguments, summary string
	// flags adds flags of its own to those of the settings; may be nil.
	flags func(*pflag.FlagSet)
	run   func(env *environment, cfg *config.Config, fs *pflag.FlagSet) error
}

func commands() []command {
	return []command{serveCommand, runCommand, shellCommand, verifyCommand, configCommand, versionCommand}
}

func main() { os.Exit(mainWithCode()) }

// mainWithCode runs the program and returns its exit code; tests call it too.
func mainWithCode() int {
	env := &environment{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ()}
	env.terminal.in = term.IsTerminal(int(os.Stdin.Fd()))
	env.terminal.out = term.IsTerminal(int(os.Stdout.Fd()))
	env.terminal.err = term.IsTerminal(int(os.Stderr.Fd()))
	return execute(env, os.Args[1:])
}

// execute finds and runs a subcommand.
func execute(env *environment, args []string) int {
	if len(args) == 0 || args[0] == "help" || args[0] == "--help" || args[0] == "-h" {
		usage(env.stdout)
		if len(args) == 0 {
			return exitUsage
		}
		return 0
	}
	if args[0] == "--version" {
		args[0] = versionCommand.name
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return runOne(env, c, args[1:])
		}
	}
	fmt.Fprintf(env.stderr, "ksql: there is no command %q; `ksql help` lists them\n", args[0])
	return exitUsage
}

func runOne(env *environment, c command, args []string) int {
	fs := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	fs.SetOutput(env.stderr)
	fs.SortFlags = false
	if c.flags != nil {
		c.flags(fs)
	}
	config.AddFlags(fs)
	fs.Usage = func() {
		fmt.Fprintf(env.stdout, "usage: %s\n\n%s\n\nFlags:\n%s", strings.TrimSpace("ksql "+c.name+" [flags] "+c.arguments), c.summary, fs.FlagUsages())
	}
	err := fs.Parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(env.stderr, "ksql %s: %v; `ksql %s --help` lists the flags\n", c.name, err, c.name)
		return exitUsage
	}
	cfg, err := config.Load(fs, env.environ)
	if err != nil {
		fmt.Fprintf(env.stderr, "ksql %s: %v\n", c.name, err)
		return exitUsage
	}
	if err = c.run(env, cfg, fs); err == nil {
		return 0
	}
	if !errors.Is(err, errReported) {
		fmt.Fprintf(env.stderr, "ksql %s: %s\n", c.name, explain(err))
	}
	return exitCode(err)
}

func usage(w io.Writer) {
	fmt.Fprint(w, "ksql is an embedded, durable, MySQL-compatible database in one folder.\n\nusage: ksql COMMAND [flags]\n\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-26s %s\n", strings.TrimSpace(c.name+" "+c.arguments), c.summary)
	}
	fmt.Fprint(w, "\n`ksql COMMAND --help` lists the flags. Every setting can also be given in a file\n(--config) and as KSQL_* in the environment; `ksql config` shows what is in force.\n")
}
