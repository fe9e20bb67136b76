package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// cursor holds the rows of a statement that the client fetches in portions
// (CURSOR_TYPE_READ_ONLY). Like MySQL's temporary table it is filled when the
// statement runs, so that other statements may follow; rows are kept as
// packets, in memory up to a limit and behind it in a spill file.
type cursor struct {
	mem   []byte // length-prefixed packets
	limit int64
	spill SpillFile
	size  int64 // bytes in spill
	make  func() (SpillFile, error)

	readMem   int
	readSpill int64
	rows      uint64 // not yet fetched
}

// add appends a row packet.
func (k *cursor) add(packet []byte) error {
	var n [4]byte
	binary.LittleEndian.PutUint32(n[:], uint32(len(packet)))
	k.rows++
	if k.spill == nil && int64(len(k.mem)+len(packet)) <= k.limit {
		k.mem = append(append(k.mem, n[:]...), packet...)
		return nil
	}
	if k.spill == nil {
		if k.make == nil {
			return newError(erOutOfResources, "Out of memory: the rows of a cursor exceed %d bytes", k.limit)
		}
		f, err := k.make()
		if err != nil {
			return fmt.Errorf("spill cursor: %w", err)
		}
		k.spill = f
	}
	for _, b := range [][]byte{n[:], packet} {
		if _, err := k.spill.Write(b); err != nil {
			return fmt.Errorf("spill cursor: %w", err)
		}
		k.size += int64(len(b))
	}
	return nil
}

// next returns the next row packet, io.EOF after the last. The slice is valid
// until the next call with the same buffer.
func (k *cursor) next(buf []byte) ([]byte, error) {
	if k.readMem < len(k.mem) {
		n := int(binary.LittleEndian.Uint32(k.mem[k.readMem:]))
		at := k.readMem + 4
		k.readMem = at + n
		k.rows--
		return append(buf[:0], k.mem[at:at+n]...), nil
	}
	if k.readSpill >= k.size {
		return nil, io.EOF
	}
	var h [4]byte
	if err := readFull(k.spill, h[:], k.readSpill); err != nil {
		return nil, err
	}
	n := int(binary.LittleEndian.Uint32(h[:]))
	if int64(n) > k.size-k.readSpill-4 {
		return nil, fmt.Errorf("spill file of a cursor: packet of %d bytes", n)
	}
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	if err := readFull(k.spill, buf, k.readSpill+4); err != nil {
		return nil, err
	}
	k.readSpill += 4 + int64(n)
	k.rows--
	return buf, nil
}

func readFull(f SpillFile, p []byte, off int64) error {
	n, err := f.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	return fmt.Errorf("read spill file of a cursor: %w", err)
}

func (k *cursor) close() {
	k.mem = nil
	if k.spill != nil {
		_ = k.spill.Close() // temporary data: nothing to do about it
		k.spill = nil
	}
	k.rows, k.size, k.readSpill, k.readMem = 0, 0, 0, 0
}

// openCursor runs res to its end into a cursor and sends the columns only.
func (c *conn) openCursor(st *stmt, res *Result) error {
	enc := c.encoder(res)
	k := &cursor{limit: c.srv.cfg.CursorMemory, make: c.srv.cfg.NewSpill}
	if err := c.fillCursor(k, res, enc); err != nil {
		k.close()
		return c.statementFailed(err)
	}
	st.cursor = k
	status := c.status(false) | statusCursorExists
	if err := c.sendColumns(enc.cols, status); err != nil {
		return err
	}
	if c.caps&capDeprecateEOF != 0 { // no EOF after the columns: this one says that a cursor is open
		return c.sendEOF(status, c.sess.Warnings())
	}
	return nil
}

func (c *conn) fillCursor(k *cursor, res *Result, enc *rowEncoder) error {
	for {
		row, err := res.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		b, err := enc.appendBinary(c.out[:0], row)
		if err != nil {
			return res.fail(err)
		}
		c.out = b
		if err := k.add(b); err != nil {
			return res.fail(err)
		}
	}
}

// fetch answers COM_STMT_FETCH with up to the asked number of rows.
func (c *conn) fetch(p []byte) error {
	d := decoder{b: p}
	id, want := d.u32(), d.u32()
	if d.bad {
		return c.malformed()
	}
	st := c.stmts[id]
	if st == nil {
		return c.unknownStatement(id, "mysqld_stmt_fetch")
	}
	if st.cursor == nil {
		return c.sendError(newError(erStmtHasNoCursor, "The statement (%d) has no open cursor.", id))
	}
	for ; want > 0 && st.cursor.rows > 0; want-- {
		b, err := st.cursor.next(c.out)
		if err != nil {
			st.closeCursor()
			return c.sendFailure(err)
		}
		c.out = b
		if err := c.pc.write(b); err != nil {
			return err
		}
	}
	status := c.status(false) | statusCursorExists
	if st.cursor.rows == 0 {
		status = c.status(false) | statusLastRowSent
		st.closeCursor()
	}
	return c.sendEOF(status, c.sess.Warnings())
}
