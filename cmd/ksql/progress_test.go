package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
)

func TestProgress(t *testing.T) {
	var out bytes.Buffer
	env := &environment{stderr: &out}
	p := newProgress(env, "a.sql", strings.NewReader(strings.Repeat("x", 100)), 200)
	if n, err := io.Copy(io.Discard, p); n != 100 || err != nil {
		t.Fatal(n, err)
	}
	p.start = p.start.Add(-10 * time.Second) // as if it had run for a while
	p.shown = p.start
	p.statement()
	if out.Len() > 0 {
		t.Fatalf("shown although nobody looks: %q", out.String())
	}
	env.terminal.err = true
	p.statement()
	if !strings.Contains(out.String(), "a.sql: 50 %, 2 statements, 10s left") {
		t.Fatalf("shown: %q", out.String())
	}
	p.statement() // too soon for another line
	before := out.Len()
	p.statement()
	if out.Len() != before {
		t.Fatal("the line changes with every statement")
	}
	p.done()
	if !strings.Contains(out.String(), "\ra.sql: 4 statements in 10") && !strings.HasSuffix(out.String(), "in 10s\n") {
		t.Fatalf("end: %q", out.String())
	}
	p.done()
	if strings.Count(out.String(), "\n") != 1 {
		t.Fatal("the end is told twice")
	}
}
