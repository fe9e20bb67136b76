package wire

import (
	"errors"
	"net"
	"sync"
	"time"
)

// errKilled says that the connection was ended from the server's side.
var errKilled = errors.New("connection killed")

// killGrace is how long a killed connection may still write: enough for the
// error packet of its statement.
const killGrace = 2 * time.Second

// timedConn sets deadlines: an absolute one while a client logs in, one per
// read afterwards (wait_timeout when idle, net_read_timeout inside a command),
// one per write (net_write_timeout), so that a client which stops can't hold a
// connection for ever. kill may be called from any goroutine.
type timedConn struct {
	net.Conn

	mu           sync.Mutex
	killed       bool
	until        time.Time // absolute read deadline, zero = none
	readTimeout  time.Duration
	writeTimeout time.Duration
}

// setUntil bounds all reads and writes by one moment; the zero time ends that.
func (c *timedConn) setUntil(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = t
}

// setTimeouts bounds each read and write.
func (c *timedConn) setTimeouts(read, write time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readTimeout, c.writeTimeout = read, write
}

func (c *timedConn) Read(b []byte) (int, error) {
	if err := c.armRead(); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(b)
	if err != nil && c.isKilled() {
		return n, errKilled
	}
	return n, err
}

func (c *timedConn) armRead() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.killed {
		return errKilled
	}
	switch {
	case !c.until.IsZero():
		return c.Conn.SetReadDeadline(c.until)
	case c.readTimeout > 0:
		return c.Conn.SetReadDeadline(time.Now().Add(c.readTimeout))
	}
	return c.Conn.SetReadDeadline(time.Time{})
}

func (c *timedConn) Write(b []byte) (int, error) {
	if err := c.armWrite(); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

func (c *timedConn) armWrite() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.killed:
		return nil // the deadline that kill set stands
	case !c.until.IsZero():
		return c.Conn.SetWriteDeadline(c.until)
	case c.writeTimeout > 0:
		return c.Conn.SetWriteDeadline(time.Now().Add(c.writeTimeout))
	}
	return nil
}

func (c *timedConn) isKilled() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.killed
}

// kill ends reads at once and leaves writes killGrace.
func (c *timedConn) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.killed {
		return
	}
	c.killed = true
	// a connection that is already closed has no deadlines to set
	_ = c.Conn.SetReadDeadline(time.Unix(1, 0))
	_ = c.Conn.SetWriteDeadline(time.Now().Add(killGrace))
}
