package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"
)

// widestColumn is where MySQL's client stops padding (MAX_COLUMN_LENGTH).
const widestColumn = 1024

// writeTable writes a result as the mysql client does with --table. Like there, the
// width of a column is counted in bytes of its longest value, padding in screen cells.
func writeTable(w io.Writer, set *resultSet) error {
	widths := make([]int, len(set.columns))
	for i, c := range set.columns {
		widths[i] = len(c.name)
		for _, row := range set.rows {
			widths[i] = max(widths[i], len(row[i]))
		}
		if c.nullable {
			widths[i] = max(widths[i], len("NULL"))
		}
	}
	var b bytes.Buffer
	line := func() {
		for _, width := range widths {
			b.WriteByte('+')
			b.WriteString(strings.Repeat("-", min(width, widestColumn)+2))
		}
		b.WriteString("+\n")
	}
	line()
	for i, c := range set.columns {
		b.WriteString("| ")
		pad(&b, []byte(c.name), min(widths[i], widestColumn), false)
		b.WriteByte(' ')
	}
	b.WriteString("|\n")
	line()
	for _, row := range set.rows {
		for i, c := range set.columns {
			text := row[i]
			if text == nil {
				text = cell("NULL")
			}
			b.WriteString("| ")
			pad(&b, text, min(widths[i], widestColumn), c.numeric && widths[i] <= widestColumn)
			b.WriteByte(' ')
		}
		b.WriteString("|\n")
		if b.Len() > 64<<10 {
			if _, err := b.WriteTo(w); err != nil {
				return err
			}
		}
	}
	line()
	_, err := b.WriteTo(w)
	return err
}

// pad writes text in a field of width cells; zero bytes become blanks.
func pad(b *bytes.Buffer, text []byte, width int, right bool) {
	blanks := strings.Repeat(" ", max(0, width-screenCells(text)))
	if right {
		b.WriteString(blanks)
	}
	b.Write(bytes.ReplaceAll(text, []byte{0}, []byte{' '}))
	if !right {
		b.WriteString(blanks)
	}
}

// writeVertical writes a result as \G does.
func writeVertical(w io.Writer, set *resultSet) error {
	width := 0
	for _, c := range set.columns {
		width = max(width, len(c.name))
	}
	var b bytes.Buffer
	stars := strings.Repeat("*", 27)
	for n, row := range set.rows {
		fmt.Fprintf(&b, "%s %d. row %s\n", stars, n+1, stars)
		for i, c := range set.columns {
			text := row[i]
			if text == nil {
				text = cell("NULL")
			}
			b.WriteString(strings.Repeat(" ", width-len(c.name)))
			fmt.Fprintf(&b, "%s: %s\n", c.name, bytes.ReplaceAll(text, []byte{0}, []byte{' '}))
		}
		if b.Len() > 64<<10 {
			if _, err := b.WriteTo(w); err != nil {
				return err
			}
		}
	}
	_, err := b.WriteTo(w)
	return err
}

var batchEscapes = strings.NewReplacer("\x00", `\0`, "\n", `\n`, "\t", `\t`, `\`, `\\`)

// writeBatch writes a result tab separated, a row a line, as it is read. A result
// without rows is nothing at all, as from mysql --batch.
func writeBatch(w io.Writer, s *scanner) (rows int, err error) {
	texts := make([]string, len(s.columns))
	for {
		row, ok, err := s.next()
		if !ok {
			return rows, err
		}
		if rows == 0 {
			for i, c := range s.columns {
				texts[i] = batchEscapes.Replace(c.name)
			}
			if _, err := fmt.Fprintln(w, strings.Join(texts, "\t")); err != nil {
				return 0, err
			}
		}
		for i, c := range row {
			if texts[i] = "NULL"; c != nil {
				texts[i] = batchEscapes.Replace(string(c))
			}
		}
		if _, err := fmt.Fprintln(w, strings.Join(texts, "\t")); err != nil {
			return rows, err
		}
		rows++
	}
}

// screenCells is how many cells of a terminal the mysql client takes text to fill:
// one a character, two for the wide ones of East Asia (utr11 of its utf8 tables).
func screenCells(text []byte) int {
	n := 0
	for _, r := range string(text) {
		n++
		if isWide(r) {
			n++
		}
	}
	return n
}

func isWide(r rune) bool {
	switch {
	case r < 0x1100:
		return false
	case r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf && r != 0x303f, r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff,
		r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6, r >= 0x20000 && r <= 0x3fffd:
		return true
	}
	return false
}

// elapsed writes a duration as the mysql client does: "0.03 sec", "2 min 1.50 sec".
func elapsed(d time.Duration) string {
	var b strings.Builder
	if h := int(d.Hours()); h > 0 {
		fmt.Fprintf(&b, "%d hour%s ", h, plural(h))
		d -= time.Duration(h) * time.Hour
	}
	if m := int(d.Minutes()); m > 0 || b.Len() > 0 {
		fmt.Fprintf(&b, "%d min ", m)
		d -= time.Duration(m) * time.Minute
	}
	fmt.Fprintf(&b, "%.2f sec", d.Seconds())
	return b.String()
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}
