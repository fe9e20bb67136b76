package parser

import (
	"sort"
	"strings"
)

// edit replaces text[from:to] of the original by repl.
type edit struct {
	from, to int
	repl     string
	// at is where repl stands in the rewritten text; set by apply.
	at int
}

// edits are the changes that lead from the original text to the rewritten one.
type edits []edit

func (e *edits) replace(from, to int, repl string) {
	*e = append(*e, edit{from: from, to: to, repl: repl})
}

func (e *edits) insert(at int, repl string) { e.replace(at, at, repl) }

// blank replaces text by as many spaces.
func (e *edits) blank(from, to int) { e.replace(from, to, spaces(to-from)) }

const someSpaces = "                                                                "

func spaces(n int) string {
	if n <= len(someSpaces) {
		return someSpaces[:n]
	}
	return strings.Repeat(" ", n)
}

// apply returns the rewritten text. Edits are sorted; those inside of a larger
// one are dropped.
func (e *edits) apply(text string) string {
	list := *e
	if len(list) == 0 {
		return text
	}
	sort.SliceStable(list, func(i, j int) bool {
		if list[i].from != list[j].from {
			return list[i].from < list[j].from
		}
		if a, b := list[i].to == list[i].from, list[j].to == list[j].from; a || b {
			return a && !b // insertions come before what begins at their place
		}
		return list[i].to > list[j].to
	})
	var b strings.Builder
	size := len(text)
	for _, x := range list {
		size += len(x.repl)
	}
	b.Grow(size)
	at, kept := 0, list[:0]
	for _, x := range list {
		if x.from < at {
			continue // swallowed by the edit before
		}
		b.WriteString(text[at:x.from])
		x.at = b.Len()
		b.WriteString(x.repl)
		at = x.to
		kept = append(kept, x)
	}
	b.WriteString(text[at:])
	*e = kept
	return b.String()
}

// original maps a position of the rewritten text to the original. Positions
// inside of a replacement map to the replaced text's start or, if end is set,
// to its end.
func (e edits) original(pos int, end bool) int {
	i := sort.Search(len(e), func(i int) bool { return e[i].at >= pos })
	if i < len(e) && e[i].at == pos && e[i].repl != "" && !end {
		return e[i].from
	}
	if i == 0 {
		return pos
	}
	x := e[i-1]
	switch past := pos - (x.at + len(x.repl)); {
	case past >= 0:
		return x.to + past
	case len(x.repl) == x.to-x.from:
		return x.from + (pos - x.at)
	case end:
		return x.to
	default:
		return x.from
	}
}
