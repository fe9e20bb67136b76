package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"runtime/debug"
	"sync"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
)

// conn is one client connection, served by one goroutine.
type conn struct {
	srv  *Server
	tc   *timedConn
	pc   *packetConn
	tls  *tls.Conn // nil without encryption
	peer peer
	sess *Session
	salt []byte
	caps uint32
	// multi: the client may send several statements at once
	// (CLIENT_MULTI_STATEMENTS, COM_SET_OPTION).
	multi bool
	res   results

	stmts  map[uint32]*stmt
	lastID uint32

	infile *infileReader // LOAD DATA LOCAL in progress
	failed bool          // the last result ended in an error packet
	out    []byte        // packet under construction

	mu   sync.Mutex
	busy bool
	// commandNo counts commands, so that the watch can tell one long one.
	commandNo uint64
	quit      bool // close after the running command
	ctx       context.Context
	cancel    context.CancelFunc
	collate   uint16
}

func newConn(s *Server, nc net.Conn) *conn {
	tc := &timedConn{Conn: nc}
	ctx, cancel := context.WithCancel(context.Background())
	return &conn{
		srv: s, tc: tc, pc: newPacketConn(tc, preAuthLimit), peer: peerOf(nc),
		stmts: map[uint32]*stmt{}, ctx: ctx, cancel: cancel,
	}
}

// kill interrupts the running statement and ends the connection.
func (c *conn) kill() {
	c.mu.Lock()
	sess := c.sess
	c.mu.Unlock()
	if sess != nil {
		sess.Kill(ErrQueryKilled)
	}
	c.tc.kill()
}

// drain ends the connection when it is idle, at once or after its command.
func (c *conn) drain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.quit = true
	if !c.busy {
		c.tc.kill()
	}
}

// setBusy marks the beginning and end of a command; false means the
// connection is to end.
func (c *conn) setBusy(busy bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy = busy
	if busy {
		c.commandNo++
	}
	return !c.quit
}

// serve runs the connection to its end.
func (c *conn) serve() {
	defer func() {
		if p := recover(); p != nil {
			c.srv.cfg.Logf("connection from %v: panic: %v\n%s", c.tc.RemoteAddr(), p, debug.Stack())
		}
		c.cancel()
		c.closeStatements()
		if c.sess != nil {
			c.sess.Close()
		}
		_ = c.tc.Close() // the client may have closed it already
	}()
	sess := c.srv.cfg.Runner.Connect(c.addr(), c.tc.kill)
	c.mu.Lock()
	c.sess = sess
	c.mu.Unlock()
	sess.SetLoadInfile(c.loadInfile)
	if err := c.login(); err != nil {
		if sql.StatusVariables != nil {
			sql.StatusVariables.IncrementGlobal("Aborted_connects", 1)
		}
		c.srv.cfg.Logf("connection from %v: %v", c.tc.RemoteAddr(), err)
		c.lingerFor(err)
		return
	}
	if err := c.commands(); err != nil && !quietEnd(err) {
		if sql.StatusVariables != nil {
			sql.StatusVariables.IncrementGlobal("Aborted_clients", 1)
		}
		c.srv.cfg.Logf("connection %d: %v", sess.ID(), err)
		c.lingerFor(err)
	}
}

// quietEnd: clients often leave without COM_QUIT, and kills are our doing.
func quietEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, errKilled) || errors.Is(err, net.ErrClosed)
}

// lingerFor swallows what the client is still sending after a fatal protocol
// error, for a moment: closing with unread bytes would reset the connection
// and the client would not see the error packet.
func (c *conn) lingerFor(err error) {
	if !errors.Is(err, errTooLarge) {
		return
	}
	c.tc.setUntil(time.Now().Add(500 * time.Millisecond))
	if t, ok := c.tc.Conn.(*net.TCPConn); ok && c.tls == nil {
		_ = t.CloseWrite() // best effort: the linger below works without
	}
	_, _ = io.CopyN(io.Discard, c.tc, 64<<20) // ends with the deadline or the client
}

func (c *conn) addr() string {
	if c.peer.socket {
		return "localhost"
	}
	return c.tc.RemoteAddr().String()
}

// commands reads and answers commands until the client or the server ends it.
func (c *conn) commands() error {
	for {
		p, err := c.nextCommand()
		if err != nil {
			return c.readFailed(err)
		}
		if len(p) == 0 {
			return c.fatal(newError(erMalformedPacket, "Malformed communication packet."), errMalformed)
		}
		if p[0] == comQuit {
			return nil
		}
		if err := c.dispatch(p[0], p[1:]); err != nil {
			return err
		}
		if err := c.pc.flush(); err != nil {
			return err
		}
		if !c.setBusy(false) {
			return nil
		}
	}
}

// nextCommand waits for the next command: wait_timeout for its first byte,
// net_read_timeout for each further read.
func (c *conn) nextCommand() ([]byte, error) {
	c.pc.startCommand()
	if c.pc.r.Buffered() == 0 {
		c.tc.setTimeouts(c.sess.waitTimeout, c.sess.writeTimeout)
		if _, err := c.pc.r.Peek(1); err != nil {
			var ne net.Error
			if errors.As(err, &ne) && ne.Timeout() {
				return nil, errIdle
			}
			return nil, err
		}
		c.tc.setTimeouts(c.sess.readTimeout, c.sess.writeTimeout)
	}
	if !c.setBusy(true) {
		return nil, errKilled
	}
	return c.pc.read()
}

// errIdle says that wait_timeout has passed.
var errIdle = errors.New("idle for longer than wait_timeout")

// readFailed answers a command that could not be read, where the client may
// still hear it. The connection ends.
func (c *conn) readFailed(err error) error {
	switch {
	case errors.Is(err, errTooLarge):
		return c.fatal(newError(erPacketTooLarge, "Got a packet bigger than 'max_allowed_packet' bytes"), err)
	case errors.Is(err, errOutOfOrder):
		return c.fatal(newError(erPacketsOutOfOrder, "Got packets out of order"), err)
	case errors.Is(err, errIdle):
		return c.fatal(newError(erClientTimeout, "The client was disconnected by the server because of inactivity. "+
			"See wait_timeout and interactive_timeout for configuring this behavior."), err)
	}
	return err
}

// fatal sends an error and returns cause, which ends the connection.
func (c *conn) fatal(answer *mysql.SQLError, cause error) error {
	if err := c.sendError(answer); err != nil {
		return err
	}
	if err := c.pc.flush(); err != nil {
		return err
	}
	return cause
}
