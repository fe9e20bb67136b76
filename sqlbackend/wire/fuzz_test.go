package wire

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"
)

// nopConn is a connection over a buffer.
type nopConn struct{ io.ReadWriter }

func (nopConn) Close() error                     { return nil }
func (nopConn) LocalAddr() net.Addr              { return nil }
func (nopConn) RemoteAddr() net.Addr             { return nil }
func (nopConn) SetDeadline(time.Time) error      { return nil }
func (nopConn) SetReadDeadline(time.Time) error  { return nil }
func (nopConn) SetWriteDeadline(time.Time) error { return nil }

func FuzzLoginPacket(f *testing.F) {
	b := append(le32(rawCaps|capConnectAttrs|capAuthLenenc), le32(1)...)
	b = append(append(b, collationUTF8MB4), make([]byte, 23)...)
	b = append(b, "root\x00\x03abcd\x00caching_sha2_password\x00\x06\x01a\x03bcd"...)
	f.Add(b)
	f.Add(b[:32])
	f.Add([]byte{})
	f.Fuzz(func(_ *testing.T, p []byte) {
		for _, offered := range []uint32{serverCaps, serverCaps | capSSL, 0} {
			_, _ = parseLogin(p, offered) // must only not panic
			_, _ = parseChangeUser(p, offered)
		}
	})
}

func FuzzParameters(f *testing.F) {
	f.Add([]byte{0, 1, typeTiny, 0, typeDatetime, 0, typeString, 0, 5, 11, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 'a', 'b'})
	f.Add([]byte{7})
	f.Add([]byte{0, 0})
	r, cfg := newRunner(f)
	srv, err := NewServer(*cfg)
	if err != nil {
		f.Fatal(err)
	}
	sess := r.Connect("fuzz", nil)
	f.Cleanup(sess.Close)
	if err := sess.Login(f.Context(), ConnInfo{}); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		a, b := net.Pipe()
		defer a.Close()
		defer b.Close()
		c := newConn(srv, a)
		defer c.cancel()
		c.sess = sess
		st := &stmt{prep: &Prepared{Params: 3}}
		for i := 0; i < 2; i++ { // the second time with remembered types
			args, err := c.parameters(st, &decoder{b: p})
			if err == nil && len(args) != 3 {
				t.Errorf("%d arguments", len(args))
			}
		}
	})
}

func FuzzPackets(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0, 14}, false)
	f.Add([]byte{0xff, 0xff, 0xff, 0}, false)
	f.Add([]byte{5, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 14}, true)
	f.Fuzz(func(t *testing.T, p []byte, compressed bool) {
		c := &packetConn{limit: 1 << 16}
		c.attach(nopConn{struct {
			io.Reader
			io.Writer
		}{bytes.NewReader(p), io.Discard}})
		if compressed {
			c.startCompression()
		}
		for i := 0; i < 100; i++ {
			c.startCommand()
			b, err := c.read()
			if err != nil {
				return
			}
			if len(b) > c.limit {
				t.Fatalf("packet of %d bytes", len(b))
			}
		}
	})
}

// FuzzConnection lets a server read arbitrary bytes after a login.
func FuzzConnection(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0, comPing, 1, 0, 0, 0, comStatistics})
	f.Add([]byte{9, 0, 0, 0, comStmtPrepare, 's', 'e', 'l', 'e', 'c', 't', ' ', '?', 10, 0, 0, 0, comStmtExecute, 1, 0, 0, 0, 0, 1, 0, 0, 0})
	f.Add([]byte{9, 0, 0, 0, comStmtFetch, 1, 0, 0, 0, 9, 0, 0, 0})
	f.Add([]byte{0, 0, 0, 0})
	f.Add([]byte{2, 0, 0, 0, comChangeUser, 'x'})
	fx := start(f)
	f.Fuzz(func(t *testing.T, p []byte) {
		if bytes.Contains(bytes.ToLower(p), []byte("sleep")) {
			t.Skip()
		}
		fx.t = t
		c := fx.login(0)
		if _, err := c.nc.Write(p); err != nil {
			t.Fatal(err)
		}
		if err := c.nc.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, c.nc); err != nil && !bytes.Contains([]byte(err.Error()), []byte("reset")) {
			t.Fatal(err)
		}
	})
}
