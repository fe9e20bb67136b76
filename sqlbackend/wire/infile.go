package wire

import (
	"io"
)

// loadInfile asks the client for a file (LOAD DATA LOCAL INFILE). The contents
// are streamed: nothing but the read buffer is held.
func (c *conn) loadInfile(name string) (io.ReadCloser, error) {
	if c.caps&capLocalFiles == 0 {
		return nil, newError(erLoadLocalDisabled,
			"Loading local data is disabled; this must be enabled on both the client and server sides")
	}
	if err := c.pc.write(append([]byte{hdrInfile}, name...)); err != nil {
		return nil, err
	}
	if err := c.pc.flush(); err != nil {
		return nil, err
	}
	c.infile = &infileReader{pc: c.pc}
	return c.infile, nil
}

// endInfile takes in the rest of a file that the statement did not read, so
// that the next packet from the client is a command again.
func (c *conn) endInfile() error {
	r := c.infile
	if r == nil {
		return nil
	}
	c.infile = nil
	if _, err := io.Copy(io.Discard, r); err != nil {
		return err
	}
	return nil
}

// infileReader reads the packets in which a client sends a file, up to the
// empty one that ends it.
type infileReader struct {
	pc   *packetConn
	left int // bytes left in the current packet
	err  error
}

func (r *infileReader) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for r.left == 0 {
		if r.err != nil {
			return 0, r.err
		}
		n, err := r.pc.header()
		if err != nil {
			r.err = unexpected(err)
			return 0, r.err
		}
		if n == 0 {
			r.err = io.EOF
			return 0, io.EOF
		}
		r.left = n
	}
	n, err := r.pc.r.Read(b[:min(len(b), r.left)])
	r.left -= n
	if err != nil {
		r.err = unexpected(err)
		return n, r.err
	}
	return n, nil
}

// Close leaves the rest of the file to endInfile: the engine closes its reader
// from places where a slow client should not be waited for.
func (r *infileReader) Close() error { return nil }
