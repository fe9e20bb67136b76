package wire

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	gms "github.com/dolthub/go-mysql-server/sql"
)

func TestCommands(t *testing.T) {
	f := start(t)
	f.exec(f.db(""), "create table t (id int primary key, name varchar(10) default 'x')")
	c := f.login(0)

	c.command(comPing)
	c.expectOK()
	c.command(comStatistics)
	if p := string(c.read()); !strings.HasPrefix(p, "Uptime: ") || !strings.Contains(p, "Threads: 2") {
		t.Error(p)
	}
	c.command(comDebug)
	if p := c.read(); p[0] != hdrEOF {
		t.Errorf("debug: %q", p)
	}
	c.command(comInitDB, []byte("nodb")...)
	c.expectError(1049)
	c.command(comInitDB, []byte("information_schema")...)
	c.expectOK()
	c.command(comInitDB, []byte("d")...)
	c.expectOK()
	for _, unknown := range []byte{0x00, 0x05, 0x08, 0x12, 0x20, 0xff} {
		c.command(unknown)
		if s := c.expectError(1047); s != "#08S01Unknown command" {
			t.Error(s)
		}
	}
	c.command(comFieldList, []byte("t\x00%a%")...)
	if p := c.read(); !bytes.Contains(p, []byte("\x04name")) || p[len(p)-1] != hdrNull {
		t.Errorf("field list: %q", p)
	}
	if p := c.read(); p[0] != hdrEOF {
		t.Errorf("field list ends with %q", p)
	}
	c.command(comFieldList, []byte("nosuch\x00")...)
	c.expectError(1146)
	c.command(comSetOption, 7, 0)
	c.expectError(1047)
	c.command(comSetOption)
	c.expectError(erMalformedPacket)
	c.command(comProcessKill, le32(999)...)
	c.expectError(1094)
	c.command(comQuit)
	c.expectClosed()
}

func TestSetOptionMultiStatements(t *testing.T) {
	c := start(t).login(0)
	c.command(comQuery, []byte("set @a = 1; set @b = 2")...)
	c.expectError(1064)
	c.command(comSetOption, 0, 0)
	if p := c.read(); p[0] != hdrEOF {
		t.Fatalf("%q", p)
	}
	c.command(comQuery, []byte("set @a = 1; set @b = 2")...)
	p := c.read()
	if p[0] != hdrOK || binary.LittleEndian.Uint16(p[3:])&statusMoreResults == 0 {
		t.Fatalf("first result does not say that more follow: %q", p)
	}
	p = c.read()
	if p[0] != hdrOK || binary.LittleEndian.Uint16(p[3:])&statusMoreResults != 0 {
		t.Fatalf("second result: %q", p)
	}
	c.command(comSetOption, 1, 0)
	c.read()
	c.command(comQuery, []byte("set @a = 1; set @b = 2")...)
	c.expectError(1064)
}

func TestPacketTooLarge(t *testing.T) {
	f := start(t)
	t.Run("2 GB announced", func(t *testing.T) {
		c := f.login(0)
		max := int(globalInt("max_allowed_packet", 0))
		if max <= 0 {
			t.Fatal("no max_allowed_packet")
		}
		chunk := make([]byte, maxChunk)
		for seq := 0; seq*maxChunk <= max; seq++ { // a 2 GB packet is 128 such chunks
			if _, err := c.nc.Write([]byte{0xff, 0xff, 0xff, byte(seq)}); err != nil {
				t.Fatal(err)
			}
			if (seq+1)*maxChunk > max {
				break // the server has to answer before this chunk's body
			}
			if _, err := c.nc.Write(chunk); err != nil {
				t.Fatal(err)
			}
		}
		c.pc.seq = 5
		if s := wantError(t, readAnswer(t, c), 1153); s != "#08S01Got a packet bigger than 'max_allowed_packet' bytes" {
			t.Error(s)
		}
		c.expectClosed()
	})
	t.Run("before login", func(t *testing.T) {
		c := f.dial()
		c.read()
		if _, err := c.nc.Write([]byte{0xff, 0xff, 0xff, 1}); err != nil {
			t.Fatal(err)
		}
		p := readAnswer(t, c)
		if binary.LittleEndian.Uint16(p[1:]) != 1153 {
			t.Errorf("%q", p)
		}
		c.expectClosed()
	})
	t.Run("announced only", func(t *testing.T) { // memory follows bytes, not announcements
		c := f.login(0)
		if _, err := c.nc.Write([]byte{0xff, 0xff, 0xff, 0, comQuery}); err != nil {
			t.Fatal(err)
		}
		c.nc.Close()
	})
}

// readAnswer reads a packet whatever its sequence number.
func readAnswer(t *testing.T, c *rawClient) []byte {
	t.Helper()
	h, err := c.pc.r.Peek(4)
	if err != nil {
		t.Fatal(err)
	}
	c.pc.seq = h[3]
	return c.read()
}

func TestOutOfOrder(t *testing.T) {
	c := start(t).login(0)
	if _, err := c.nc.Write([]byte{1, 0, 0, 9, comPing}); err != nil {
		t.Fatal(err)
	}
	wantError(t, readAnswer(t, c), 1156)
	c.expectClosed()
}

func TestHandshakeStall(t *testing.T) {
	f := start(t, func(_ *Options, c *Config) { c.HandshakeTimeout = 150 * time.Millisecond })
	t.Run("silent", func(t *testing.T) {
		c := f.dial()
		c.read()
		began := time.Now()
		c.expectClosed()
		if d := time.Since(began); d > 3*time.Second {
			t.Errorf("closed after %v", d)
		}
	})
	t.Run("drip", func(t *testing.T) { // a byte now and then must not extend it
		c := f.dial()
		c.read()
		began := time.Now()
		for i := 0; time.Since(began) < 3*time.Second; i++ {
			if _, err := c.nc.Write([]byte{200}); err != nil {
				return
			}
			time.Sleep(40 * time.Millisecond)
		}
		t.Error("still connected")
	})
	t.Run("garbage", func(t *testing.T) {
		c := f.dial()
		c.read()
		c.send([]byte("GET / HTTP/1.1"))
		p := readAnswer(t, c)
		if binary.LittleEndian.Uint16(p[1:]) != 1043 {
			t.Errorf("%q", p)
		}
		c.expectClosed()
	})
	waitFor(t, func() bool { return f.srv.Connections() == 0 })
}

func waitFor(t testing.TB, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); !cond(); {
		if time.Now().After(end) {
			t.Fatal("condition not met in time")
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestTooManyConnections(t *testing.T) {
	f := start(t, func(_ *Options, c *Config) { c.MaxConnections = func() int { return 2 } })
	a, b := f.login(0), f.login(0)
	c := f.dial()
	p := c.read()
	if p[0] != hdrErr || binary.LittleEndian.Uint16(p[1:]) != 1040 || string(p[3:]) != "Too many connections" {
		t.Errorf("%q", p)
	}
	c.expectClosed()
	_, err := f.db("").Exec("set @a = 1")
	if me := sqlError(t, err); me.Number != 1040 {
		t.Error(me)
	}
	a.command(comQuit)
	a.expectClosed()
	waitFor(t, func() bool { return f.srv.Connections() == 1 })
	f.exec(f.db(""), "set @a = 1")
	b.command(comPing)
	b.expectOK()
}

func TestIdleTimeout(t *testing.T) {
	f := start(t)
	c := f.login(0)
	c.command(comQuery, []byte("set wait_timeout = 1")...)
	c.expectOK()
	p := readAnswer(t, c)
	if binary.LittleEndian.Uint16(p[1:]) != 4031 {
		t.Errorf("%q", p)
	}
	c.expectClosed()
}

func TestResetAndChangeUser(t *testing.T) {
	f := start(t)
	c := f.login(0)
	value := func() string {
		c.command(comQuery, []byte("select @a")...)
		for i := 0; i < 3; i++ {
			c.read() // count, definition, EOF
		}
		row := c.read()
		c.read()
		return fmt.Sprintf("%q", row)
	}
	c.command(comQuery, []byte("set @a = 'x'")...)
	c.expectOK()
	id := c.prepare("select 1")
	if v := value(); v != `"\x01x"` {
		t.Fatal(v)
	}
	c.command(comResetConnection)
	c.expectOK()
	if v := value(); v != `"\xfb"` {
		t.Errorf("after reset: %s", v)
	}
	c.command(comStmtExecute, executeBody(id, 0)...)
	c.expectError(1243)

	c.command(comQuery, []byte("set @a = 'y'")...)
	c.expectOK()
	body := append([]byte("other\x00\x00d\x00"), collationUTF8MB4, 0)
	c.command(comChangeUser, append(body, []byte(pluginCachingSha2+"\x00")...)...)
	c.expectOK()
	if v := value(); v != `"\xfb"` {
		t.Errorf("after change of user: %s", v)
	}
	c.command(comChangeUser, []byte("x")...)
	c.expectError(1043)
	c.expectClosed()
}

func TestShutdownFinishesStatements(t *testing.T) {
	f := start(t)
	idle, busy := f.login(0), f.login(0)
	done := make(chan []byte, 1)
	busy.command(comQuery, []byte("select sleep(0.4)")...)
	go func() {
		var row []byte
		for i := 0; i < 4; i++ {
			row = busy.read()
		}
		busy.read()
		done <- row
	}()
	waitFor(t, func() bool { return running(f.r) == 1 })
	if err := f.srv.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	if row := <-done; string(row) != "\x010" {
		t.Errorf("%q", row)
	}
	busy.expectClosed()
	idle.expectClosed()
	if _, err := net.Dial("tcp", f.addr); err == nil {
		t.Error("still accepting")
	}
}

func TestShutdownKillsAfterItsContext(t *testing.T) {
	f := start(t)
	c := f.login(0)
	c.command(comQuery, []byte("select sleep(30)")...)
	waitFor(t, func() bool { return running(f.r) == 1 })
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := f.srv.Shutdown(ctx); err != context.DeadlineExceeded {
		t.Error(err)
	}
	wantError(t, readAnswer(t, c), 1317)
}

// running counts the statements in the process list.
func running(r *Runner) int {
	n := 0
	for _, p := range r.ProcessList().Processes() {
		if p.Command == gms.ProcessCommandQuery {
			n++
		}
	}
	return n
}
