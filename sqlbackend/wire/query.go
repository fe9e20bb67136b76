package wire

import (
	"errors"
	"io"
)

// query runs the statements of one COM_QUERY and sends a result for each.
func (c *conn) query(text string) error {
	for {
		res, rest, err := c.sess.Query(c.ctx, text, c.multi)
		if err != nil {
			return c.statementFailed(err)
		}
		more := rest != ""
		err = c.sendResult(res, more, false)
		if err != nil {
			if closeErr := res.Close(); closeErr != nil {
				c.srv.cfg.Logf("connection %d: %v", c.sess.ID(), closeErr)
			}
			return err
		}
		if !more || c.failed {
			return nil
		}
		text = rest
	}
}

// statementFailed reports the error of a statement, after taking in what the
// client may still send of its file.
func (c *conn) statementFailed(err error) error {
	if ferr := c.endInfile(); ferr != nil {
		return ferr
	}
	c.failed = true
	return c.sendFailure(err)
}

// sendResult sends a whole result. A statement that fails midway ends in an
// error packet, which c.failed records; an error return is the connection's.
func (c *conn) sendResult(res *Result, more, binary bool) error {
	c.failed = false
	if err := c.endInfile(); err != nil {
		return err
	}
	if !res.HasRows() {
		return c.sendOK(res.Affected, res.InsertID, res.Info, more)
	}
	enc := c.encoder(res)
	if err := c.sendColumns(enc.cols, c.status(more)); err != nil {
		return err
	}
	if err := c.sendRows(res, enc, binary); err != nil || c.failed {
		return err
	}
	return c.sendEOF(c.status(more), c.sess.Warnings())
}

// encoder makes the row encoder for a result.
func (c *conn) encoder(res *Result) *rowEncoder {
	how := sessionResults(res.Context(), c.collate)
	how.tables = tableNames(res.run.stmt)
	return newRowEncoder(res.Context(), res.Schema, how)
}

// sendColumns sends the number of columns and their definitions.
func (c *conn) sendColumns(cols []column, status uint16) error {
	c.out = appendLenenc(c.out[:0], uint64(len(cols)))
	if err := c.pc.write(c.out); err != nil {
		return err
	}
	return c.sendDefinitions(cols, status)
}

func (c *conn) sendDefinitions(cols []column, status uint16) error {
	for i := range cols {
		c.out = cols[i].append(c.out[:0])
		if err := c.pc.write(c.out); err != nil {
			return err
		}
	}
	if len(cols) > 0 && c.caps&capDeprecateEOF == 0 {
		return c.pc.write(c.eofPacket(status, 0))
	}
	return nil
}

// sendRows streams the rows: nothing but the write buffer is held.
func (c *conn) sendRows(res *Result, enc *rowEncoder, binary bool) error {
	for {
		row, err := res.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return c.statementFailed(err)
		}
		encode := enc.appendText
		if binary {
			encode = enc.appendBinary
		}
		b, err := encode(c.out[:0], row)
		if err != nil {
			return c.statementFailed(res.fail(err))
		}
		c.out = b
		if err := c.pc.write(b); err != nil {
			res.s.Kill(ErrClientGone)
			return err
		}
		if cap(c.out) > keepBuffer {
			c.out = nil
		}
	}
}
