package parser

import (
	"context"
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/dolthub/vitess/go/vt/vterrors"
)

// maxProbe bounds the statements that are parsed a second time to find out
// whether an error is at their end.
const maxProbe = 1 << 20

// grammarError turns an error of the engine's grammar into error 1064. out is
// the text that was parsed.
func (s *statement) grammarError(ctx context.Context, err error, out string, eds, res edits, o ast.ParserOptions) error {
	end, ok := errorEnd(err, out)
	if !ok {
		return errSyntax(s.text, len(s.text), s.line)
	}
	if end >= len(out) && len(out) < maxProbe {
		// The last token and the missing one behind it give the same position.
		// A byte that is no token tells them apart.
		if _, _, perr := grammar(ctx, out+" \x01", true, o); perr != nil {
			if e, ok := errorEnd(perr, out); ok && e > len(out) {
				return errSyntax(s.text, len(s.text), s.line)
			}
		}
	}
	at := tokenAt(out, end, s.mode)
	return errSyntax(s.text, res.original(eds.original(at, false), false), s.line)
}

// errorEnd returns the end of the token at which the grammar stopped.
func errorEnd(err error, out string) (int, bool) {
	se, ok := vterrors.AsSyntaxError(err)
	if !ok {
		return len(out), false
	}
	return max(0, se.Position-1), true
}

// tokenAt returns where the token begins that ends at, or holds, position end.
func tokenAt(out string, end int, m mode) int {
	l := lexer{text: out, mode: m}
	at := len(out)
	for {
		t, ok := l.next()
		if !ok {
			break
		}
		if t.to >= end {
			at = t.from
			break
		}
	}
	if strings.TrimSpace(out[min(at, len(out)):]) == "" {
		return len(out)
	}
	return at
}
