package wire

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
)

const (
	// minCompress is the payload size from which compressing pays (MySQL's
	// MIN_COMPRESS_LENGTH).
	minCompress = 50
	// compressChunk bounds one compressed frame that we send.
	compressChunk = 256 << 10
)

// compressor is the compressed protocol (CLIENT_COMPRESS, zlib): frames of a
// 7-byte header and a payload around the ordinary packets. Frame sequence
// numbers run on over both directions within a command; those of the client
// are taken as they come, as MySQL does.
type compressor struct {
	src io.Reader
	dst io.Writer
	seq byte

	frame io.LimitedReader // compressed bytes left in the current frame
	body  io.Reader        // decoded bytes of the current frame, nil between frames
	left  int              // decoded bytes left in the current frame
	zr    io.ReadCloser

	zw  *zlib.Writer
	out bytes.Buffer
}

func newCompressor(src io.Reader, dst io.Writer) *compressor {
	return &compressor{src: src, dst: dst}
}

// Read gives decoded bytes. Nothing is allocated by announced sizes: frames
// are decoded as a stream and both sizes are enforced.
func (c *compressor) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for c.left == 0 {
		if err := c.nextFrame(); err != nil {
			return 0, err
		}
	}
	n, err := c.body.Read(b[:min(len(b), c.left)])
	c.left -= n
	if c.left == 0 {
		if derr := c.endFrame(); derr != nil {
			return n, derr
		}
		return n, nil
	}
	if n > 0 {
		return n, nil
	}
	if err == nil {
		return 0, io.ErrNoProgress
	}
	return 0, unexpected(err)
}

func (c *compressor) nextFrame() error {
	var h [7]byte
	if _, err := io.ReadFull(c.src, h[:]); err != nil {
		return err
	}
	size := int(h[0]) | int(h[1])<<8 | int(h[2])<<16
	c.seq = h[3] + 1
	plain := int(h[4]) | int(h[5])<<8 | int(h[6])<<16
	c.frame = io.LimitedReader{R: c.src, N: int64(size)}
	if plain == 0 {
		c.body, c.left = &c.frame, size
		return nil
	}
	c.left = plain
	if c.zr == nil {
		zr, err := zlib.NewReader(&c.frame)
		if err != nil {
			return fmt.Errorf("compressed frame: %w", err)
		}
		c.zr = zr
	} else if err := c.zr.(zlib.Resetter).Reset(&c.frame, nil); err != nil {
		return fmt.Errorf("compressed frame: %w", err)
	}
	c.body = c.zr
	return nil
}

// endFrame skips what is left of a frame: the zlib checksum, or bytes that a
// client sent beyond the announced size.
func (c *compressor) endFrame() error {
	c.body = nil
	if c.frame.N == 0 {
		return nil
	}
	_, err := io.Copy(io.Discard, &c.frame)
	return err
}

// Write sends b as one or more frames.
func (c *compressor) Write(b []byte) (int, error) {
	for done := 0; done < len(b); {
		n := min(len(b)-done, compressChunk)
		if err := c.writeFrame(b[done : done+n]); err != nil {
			return done, err
		}
		done += n
	}
	return len(b), nil
}

func (c *compressor) writeFrame(p []byte) error {
	c.out.Reset()
	c.out.Write(make([]byte, 7))
	plain := 0
	if len(p) >= minCompress {
		if err := c.deflate(p); err != nil {
			return err
		}
		if c.out.Len()-7 < len(p) {
			plain = len(p)
		} else {
			c.out.Truncate(7)
		}
	}
	if plain == 0 {
		c.out.Write(p)
	}
	f := c.out.Bytes()
	size := len(f) - 7
	f[0], f[1], f[2], f[3] = byte(size), byte(size>>8), byte(size>>16), c.seq
	f[4], f[5], f[6] = byte(plain), byte(plain>>8), byte(plain>>16)
	c.seq++
	_, err := c.dst.Write(f)
	return err
}

func (c *compressor) deflate(p []byte) error {
	if c.zw == nil {
		zw, err := zlib.NewWriterLevel(&c.out, zlib.BestSpeed)
		if err != nil {
			return fmt.Errorf("start zlib: %w", err)
		}
		c.zw = zw
	} else {
		c.zw.Reset(&c.out)
	}
	if _, err := c.zw.Write(p); err != nil {
		return fmt.Errorf("compress: %w", err)
	}
	if err := c.zw.Close(); err != nil {
		return fmt.Errorf("compress: %w", err)
	}
	return nil
}
