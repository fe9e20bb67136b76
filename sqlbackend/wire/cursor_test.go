package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing"
)

// memorySpill is a spill file that counts.
type memorySpill struct {
	bytes.Buffer
	closed *int
}

func (m *memorySpill) ReadAt(p []byte, off int64) (int, error) {
	b := m.Bytes()
	if off >= int64(len(b)) {
		return 0, io.EOF
	}
	return copy(p, b[off:]), nil
}

func (m *memorySpill) Close() error { *m.closed++; return nil }

func TestCursor(t *testing.T) {
	for _, mode := range []struct {
		name  string
		extra uint32
	}{{"EOF", 0}, {"DEPRECATE_EOF", capDeprecateEOF}} {
		t.Run(mode.name, func(t *testing.T) {
			var made, closed int
			f := start(t, func(_ *Options, c *Config) {
				c.CursorMemory = 200
				c.NewSpill = func() (SpillFile, error) { made++; return &memorySpill{closed: &closed}, nil }
			})
			db := f.db("")
			f.exec(db, "create table n (i int primary key, s varchar(100))")
			for i := 0; i < 25; i++ {
				f.exec(db, "insert into n values (?, ?)", i, strings.Repeat("x", i))
			}
			c := f.login(mode.extra)
			id := c.prepare("select i, s from n order by i")
			c.command(comStmtExecute, executeBody(id, cursorReadOnly)...)
			c.read() // column count
			c.read()
			c.read()
			if st := endStatus(t, c.read(), mode.extra); st&statusCursorExists == 0 {
				t.Fatalf("status %x", st)
			}
			c.command(comQuery, []byte("set @other = 1")...) // other statements may run meanwhile
			c.expectOK()
			got := 0
			for last := false; !last; {
				c.command(comStmtFetch, append(le32(id), le32(10)...)...)
				for {
					p := c.read()
					if p[0] == hdrEOF && len(p) < 9 {
						last = endStatus(t, p, mode.extra)&statusLastRowSent != 0
						break
					}
					want := fmt.Sprintf("\x00\x00%s%s", le32(uint32(got)), appendLenencString(nil, strings.Repeat("x", got)))
					if string(p) != want {
						t.Fatalf("row %d: %q, want %q", got, p, want)
					}
					got++
				}
			}
			if got != 25 || made != 1 || closed != 1 {
				t.Errorf("%d rows, %d spill files made, %d closed", got, made, closed)
			}
			c.command(comStmtFetch, append(le32(id), le32(10)...)...)
			c.expectError(1421)
			c.command(comStmtFetch, append(le32(id+7), le32(10)...)...)
			c.expectError(1243)
			c.command(comStmtFetch, 1, 2)
			c.expectError(erMalformedPacket)
		})
	}
}

// endStatus reads the status flags of an EOF packet or its successor.
func endStatus(t *testing.T, p []byte, caps uint32) uint16 {
	t.Helper()
	if p[0] != hdrEOF {
		t.Fatalf("want the end of a list, got %q", p)
	}
	if caps&capDeprecateEOF != 0 {
		return binary.LittleEndian.Uint16(p[3:])
	}
	return binary.LittleEndian.Uint16(p[3:])
}

func TestCursorWithoutSpill(t *testing.T) {
	f := start(t, func(_ *Options, c *Config) { c.CursorMemory = 100 })
	c := f.login(0)
	id := c.prepare("select repeat('x', 1000)")
	c.command(comStmtExecute, executeBody(id, cursorReadOnly)...)
	c.expectError(1041)
	c.command(comPing)
	c.expectOK()
}

func TestCursorResetAndReexecute(t *testing.T) {
	f := start(t)
	c := f.login(0)
	id := c.prepare("select 1 union all select 2")
	open := func() {
		c.command(comStmtExecute, executeBody(id, cursorReadOnly)...)
		for i := 0; i < 3; i++ {
			c.read()
		}
	}
	open()
	c.command(comStmtReset, le32(id)...)
	c.expectOK()
	c.command(comStmtFetch, append(le32(id), le32(1)...)...)
	c.expectError(1421)
	open()
	open()
	c.command(comStmtFetch, append(le32(id), le32(1)...)...)
	c.read()
	if p := c.read(); p[0] != hdrEOF {
		t.Errorf("%q", p)
	}
	c.command(comStmtClose, le32(id)...)
	c.command(comStmtExecute, executeBody(id, 0)...)
	c.expectError(1243)
	c.command(comStmtReset, le32(id)...)
	c.expectError(1243)
}
