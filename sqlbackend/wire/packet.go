package wire

import (
	"bufio"
	"errors"
	"io"
	"net"
	"slices"
)

const (
	// maxChunk is the largest payload of one physical packet; longer logical
	// packets are chains of full chunks and one shorter one.
	maxChunk = 1<<24 - 1
	// readStep bounds how far a buffer grows ahead of the bytes that arrived,
	// so that an announced length alone costs nothing.
	readStep = 64 << 10
	// keepBuffer is the largest read buffer kept between commands.
	keepBuffer = 1 << 20
	// writeBuffer is the size of the write buffer of a connection.
	writeBuffer = 32 << 10
)

var (
	// errTooLarge says that a packet exceeds max_allowed_packet (1153).
	errTooLarge = errors.New("packet larger than max_allowed_packet")
	// errOutOfOrder says that a packet's sequence number is wrong (1156).
	errOutOfOrder = errors.New("packets out of order")
)

// packetConn frames MySQL packets on a connection. It is used by one
// goroutine.
type packetConn struct {
	nc  net.Conn
	r   *bufio.Reader
	w   *bufio.Writer
	z   *compressor // nil without CLIENT_COMPRESS
	seq byte
	// limit is the largest logical packet accepted, in bytes.
	limit int
	buf   []byte
}

func newPacketConn(nc net.Conn, limit int) *packetConn {
	p := &packetConn{limit: limit}
	p.attach(nc)
	return p
}

// attach makes nc the transport; bytes buffered from an earlier transport are
// the caller's concern.
func (p *packetConn) attach(nc net.Conn) {
	p.nc = nc
	p.r = bufio.NewReaderSize(nc, 16<<10)
	p.w = bufio.NewWriterSize(nc, writeBuffer)
}

// startCompression switches both directions to the compressed protocol.
func (p *packetConn) startCompression() {
	p.z = newCompressor(p.r, p.nc)
	p.r = bufio.NewReaderSize(p.z, 16<<10)
	p.w = bufio.NewWriterSize(p.z, writeBuffer)
}

// startCommand resets the sequence numbers: each command starts at zero.
func (p *packetConn) startCommand() {
	p.seq = 0
	if p.z != nil {
		p.z.seq = 0
	}
}

// header reads one physical packet header and checks its sequence number.
func (p *packetConn) header() (int, error) {
	var h [4]byte
	if _, err := io.ReadFull(p.r, h[:]); err != nil {
		return 0, err
	}
	if h[3] != p.seq {
		return 0, errOutOfOrder
	}
	p.seq++
	return int(h[0]) | int(h[1])<<8 | int(h[2])<<16, nil
}

// read returns the next logical packet. The slice is valid until the next
// read.
func (p *packetConn) read() ([]byte, error) {
	if cap(p.buf) > keepBuffer {
		p.buf = nil
	}
	out := p.buf[:0]
	for {
		n, err := p.header()
		if err != nil {
			return nil, err
		}
		if n > p.limit-len(out) {
			return nil, errTooLarge
		}
		for left := n; left > 0; {
			step := min(left, max(readStep, len(out)))
			at := len(out)
			out = slices.Grow(out, step)[:at+step]
			if _, err := io.ReadFull(p.r, out[at:]); err != nil {
				return nil, unexpected(err)
			}
			left -= step
		}
		if n < maxChunk {
			p.buf = out
			return out, nil
		}
	}
}

// unexpected turns an end of stream inside a packet into ErrUnexpectedEOF.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// write sends one logical packet into the write buffer.
func (p *packetConn) write(payload []byte) error {
	for {
		n := min(len(payload), maxChunk)
		h := [4]byte{byte(n), byte(n >> 8), byte(n >> 16), p.seq}
		p.seq++
		if _, err := p.w.Write(h[:]); err != nil {
			return err
		}
		if _, err := p.w.Write(payload[:n]); err != nil {
			return err
		}
		payload = payload[n:]
		if n < maxChunk {
			return nil
		}
	}
}

// flush pushes everything written so far to the client.
func (p *packetConn) flush() error { return p.w.Flush() }
