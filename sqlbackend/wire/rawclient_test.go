package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// rawClient speaks the protocol by hand, for what drivers never send.
type rawClient struct {
	t    testing.TB
	nc   net.Conn
	pc   *packetConn
	caps uint32
}

const rawCaps = capLongPassword | capProtocol41 | capTransactions | capSecureConn | capPluginAuth |
	capMultiResults | capPSMultiResults | capConnectWithDB

func (f *fixture) dial() *rawClient {
	f.t.Helper()
	nc, err := net.Dial("tcp", f.addr)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { nc.Close() })
	if err := nc.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		f.t.Fatal(err)
	}
	return &rawClient{t: f.t, nc: nc, pc: newPacketConn(nc, 1<<30)}
}

// login dials and logs in as root without a password, into database d.
func (f *fixture) login(extra uint32) *rawClient {
	f.t.Helper()
	c := f.dial()
	c.read() // greeting
	c.caps = rawCaps | extra
	b := binary.LittleEndian.AppendUint32(nil, c.caps)
	b = binary.LittleEndian.AppendUint32(b, 1<<24)
	b = append(b, collationUTF8MB4)
	b = append(b, make([]byte, 23)...)
	b = append(b, "root\x00\x00d\x00"...)
	b = append(b, pluginCachingSha2+"\x00"...)
	c.send(b)
	if p := c.read(); p[0] != hdrOK {
		f.t.Fatalf("login: %q", p)
	}
	return c
}

func (c *rawClient) send(p []byte) {
	c.t.Helper()
	if err := c.pc.write(p); err != nil {
		c.t.Fatal(err)
	}
	if err := c.pc.flush(); err != nil {
		c.t.Fatal(err)
	}
}

// command starts a command.
func (c *rawClient) command(cmd byte, body ...byte) {
	c.t.Helper()
	c.pc.startCommand()
	c.send(append([]byte{cmd}, body...))
}

func (c *rawClient) read() []byte {
	c.t.Helper()
	p, err := c.pc.read()
	if err != nil {
		c.t.Fatal(err)
	}
	return bytes.Clone(p)
}

// expectOK reads an OK packet.
func (c *rawClient) expectOK() {
	c.t.Helper()
	if p := c.read(); p[0] != hdrOK {
		c.t.Fatalf("want OK, got %q", p)
	}
}

// expectError reads an error packet with this number.
func (c *rawClient) expectError(num int) string {
	c.t.Helper()
	return wantError(c.t, c.read(), num)
}

func wantError(t testing.TB, p []byte, num int) string {
	t.Helper()
	if len(p) < 3 || p[0] != hdrErr {
		t.Fatalf("want error %d, got %q", num, p)
	}
	if got := int(binary.LittleEndian.Uint16(p[1:])); got != num {
		t.Fatalf("want error %d, got %d %q", num, got, p[3:])
	}
	return string(p[3:])
}

// expectClosed reads until the server has closed the connection.
func (c *rawClient) expectClosed() {
	c.t.Helper()
	if n, err := io.Copy(io.Discard, c.pc.r); n != 0 || err != nil && errors.Is(err, errKilled) {
		c.t.Fatalf("want end of stream, got %d bytes, %v", n, err)
	}
}

// prepare sends COM_STMT_PREPARE and returns the statement id.
func (c *rawClient) prepare(q string) uint32 {
	c.t.Helper()
	c.command(comStmtPrepare, []byte(q)...)
	p := c.read()
	if p[0] != hdrOK || len(p) != 12 {
		c.t.Fatalf("prepare %s: %q", q, p)
	}
	for _, n := range []uint16{binary.LittleEndian.Uint16(p[7:]), binary.LittleEndian.Uint16(p[5:])} {
		for i := 0; i < int(n); i++ {
			c.read()
		}
		if n > 0 && c.caps&capDeprecateEOF == 0 {
			c.read()
		}
	}
	return binary.LittleEndian.Uint32(p[1:])
}

func le32(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }

// executeBody is COM_STMT_EXECUTE without parameters.
func executeBody(id uint32, flags byte) []byte {
	return append(append(le32(id), flags), 1, 0, 0, 0)
}
