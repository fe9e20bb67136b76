package main

import (
	"context"
	"fmt"
	"strings"

	"ksql/sqlbackend"
)

// shellFunction does a command of the shell itself.
type shellFunction func(s *shell, ctx context.Context, argument string) error

var shellHelp = []struct{ names, meaning string }{
	{`help  \h  ?`, "this list"},
	{`exit  quit  \q`, "leave the shell (^D too)"},
	{`use DB  \u DB`, "change the database"},
	{`source FILE  \. FILE`, "run the statements of a file"},
	{`status  \s`, "show where the folder is open, user and database"},
	{`rehash  \#`, "read table and column names again for completion"},
	{`delimiter X`, "statements end with X from now on"},
	{`… ;  … \g`, "run the statement"},
	{`… \G`, "run it and show each row vertically"},
	{`… \c`, "forget what has been typed"},
	{`^C`, "kill the statement that runs, or forget what has been typed"},
	{`Tab`, "complete keywords, databases, tables and columns"},
}

// shellCommandOf finds the command that a line is, if it is one. Like mysql's client it
// takes them without a delimiter and bears with one.
func shellCommandOf(line, delimiter string) (f shellFunction, argument string, ok bool) {
	text := strings.TrimSpace(line)
	text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(text, delimiter), ";"))
	name, argument, _ := strings.Cut(text, " ")
	argument = strings.TrimSpace(argument)
	if strings.HasPrefix(name, `\`) && len(name) > 2 && strings.ContainsAny(name[1:2], "u.") {
		name, argument = name[:2], strings.TrimSpace(text[2:]) // \ufoo, \./file
	}
	switch strings.ToLower(name) {
	case "help", `\h`, "?", `\?`:
		if argument == "" {
			return (*shell).help, "", true
		}
	case "exit", "quit", `\q`:
		if argument == "" {
			return func(*shell, context.Context, string) error { return errQuit }, "", true
		}
	case "use", `\u`:
		return (*shell).useCommand, strings.Trim(argument, "`"), argument != "" && !strings.ContainsAny(argument, " \t;")
	case "source", `\.`:
		return (*shell).source, argument, argument != ""
	case "status", `\s`:
		return (*shell).status, "", argument == ""
	case "rehash", `\#`:
		return (*shell).rehash, "", argument == ""
	}
	return nil, "", false
}

func (s *shell) help(context.Context, string) error {
	for _, h := range shellHelp {
		if _, err := fmt.Fprintf(s.env.stdout, "  %-22s %s\n", h.names, h.meaning); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(s.env.stdout)
	return err
}

func (s *shell) useCommand(ctx context.Context, name string) error {
	if err := s.use(ctx, name); err != nil {
		s.failed = true
		fmt.Fprintln(s.env.stderr, describeError(err))
		return nil
	}
	s.words.forget()
	if s.person {
		fmt.Fprintln(s.env.stdout, "Database changed")
	}
	return nil
}

func (s *shell) rehash(context.Context, string) error {
	s.words.forget()
	return nil
}

func (s *shell) status(ctx context.Context, _ string) error {
	var user string
	if err := s.exec.conn.QueryRowContext(ctx, "SELECT CURRENT_USER()").Scan(&user); err != nil {
		fmt.Fprintln(s.env.stderr, describeError(err))
		return nil
	}
	via := s.db.via
	if via == "" {
		via = "this process"
	}
	_, err := fmt.Fprintf(s.env.stdout, "ksql %s, MySQL %s\nFolder open in:  %s\nConnection id:   %d\nCurrent user:    %s\nDatabase:        %s\n\n",
		version, sqlbackend.ServerVersion, via, s.id, user, s.database)
	return err
}
