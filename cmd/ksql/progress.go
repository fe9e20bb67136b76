package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// progress shows how far a script is, on a terminal only. It is the reader that the
// script is read through.
type progress struct {
	env        *environment
	name       string
	r          io.Reader
	size       int64 // 0: unknown
	read       int64
	statements int
	start      time.Time
	shown      time.Time
	width      int // of the line that stands on the terminal
}

// progressDelay keeps short scripts quiet; progressEvery is how often the line changes.
const (
	progressDelay = time.Second
	progressEvery = 200 * time.Millisecond
)

func newProgress(env *environment, name string, r io.Reader, size int64) *progress {
	now := time.Now()
	return &progress{env: env, name: name, r: r, size: size, start: now, shown: now}
}

// Read implements io.Reader.
func (p *progress) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.read += int64(n)
	return n, err
}

// statement counts one more and shows the line if it is time.
func (p *progress) statement() {
	p.statements++
	now := time.Now()
	if !p.env.terminal.err || now.Sub(p.start) < progressDelay || now.Sub(p.shown) < progressEvery {
		return
	}
	p.shown = now
	p.show(now.Sub(p.start))
}

func (p *progress) show(since time.Duration) {
	line := fmt.Sprintf("%s: %d statements, %.1f MB", p.name, p.statements, float64(p.read)/1e6)
	if p.size > 0 {
		share := float64(p.read) / float64(p.size)
		left := time.Duration(float64(since) * (1 - share) / share).Round(time.Second)
		line = fmt.Sprintf("%s: %.0f %%, %d statements, %s left", p.name, 100*share, p.statements, left)
	}
	fmt.Fprintf(p.env.stderr, "\r%s%s", line, strings.Repeat(" ", max(0, p.width-len(line))))
	p.width = len(line)
}

// clear takes the line off the terminal.
func (p *progress) clear() {
	if p.width > 0 {
		fmt.Fprintf(p.env.stderr, "\r%s\r", strings.Repeat(" ", p.width))
		p.width = 0
	}
}

// done ends the line with what was done.
func (p *progress) done() {
	if p.width == 0 {
		return
	}
	p.clear()
	fmt.Fprintf(p.env.stderr, "%s: %d statements in %s\n", p.name, p.statements, time.Since(p.start).Round(10*time.Millisecond))
}
