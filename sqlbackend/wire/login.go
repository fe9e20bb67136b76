package wire

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/dolthub/vitess/go/mysql"
)

// login greets the client, switches to TLS if asked, authenticates and builds
// the session. On error the client has been told.
func (c *conn) login() error {
	limit := c.srv.cfg.HandshakeTimeout
	if limit == 0 {
		limit = time.Duration(globalInt("connect_timeout", 10)) * time.Second
	}
	c.tc.setUntil(time.Now().Add(limit))
	var err error
	if c.salt, err = newSalt(); err != nil {
		return err
	}
	hello := greeting(c.srv.cfg.Version, c.sess.ID(), c.salt, c.srv.caps, collationUTF8MB4, statusAutocommit)
	if err := c.pc.write(hello); err != nil {
		return err
	}
	if err := c.pc.flush(); err != nil {
		return err
	}
	l, err := c.readLogin()
	if err != nil {
		return c.loginFailed(err)
	}
	c.caps = l.caps
	if err := c.enter(l); err != nil {
		return c.loginFailed(err)
	}
	if err := c.sendOK(0, 0, "", false); err != nil {
		return err
	}
	if err := c.pc.flush(); err != nil {
		return err
	}
	if c.caps&capCompress != 0 {
		c.pc.startCompression()
	}
	c.pc.limit = int(globalInt("max_allowed_packet", 64<<20))
	c.tc.setUntil(time.Time{})
	return nil
}

// readLogin reads the handshake response, by way of TLS if the client asks.
func (c *conn) readLogin() (loginPacket, error) {
	p, err := c.pc.read()
	if err != nil {
		return loginPacket{}, err
	}
	l, err := parseLogin(p, c.srv.caps)
	if err != nil || !l.sslRequest {
		return l, err
	}
	if c.srv.cfg.TLS == nil {
		return l, errMalformed
	}
	if err := c.startTLS(); err != nil {
		return l, err
	}
	if p, err = c.pc.read(); err != nil {
		return l, err
	}
	l, err = parseLogin(p, c.srv.caps)
	if err == nil && l.sslRequest {
		err = errMalformed
	}
	return l, err
}

// startTLS puts TLS under the packets. Bytes of the TLS handshake may have
// been read along with the request for it.
func (c *conn) startTLS() error {
	early, err := c.pc.r.Peek(c.pc.r.Buffered())
	if err != nil {
		return err
	}
	under := &replayConn{timedConn: c.tc, r: io.MultiReader(bytes.NewReader(bytes.Clone(early)), c.tc)}
	t := tls.Server(under, c.srv.cfg.TLS)
	if err := t.HandshakeContext(c.ctx); err != nil {
		return fmt.Errorf("TLS handshake: %w", err)
	}
	c.tls = t
	c.pc.attach(t)
	return nil
}

// replayConn reads from r and does everything else on the connection.
type replayConn struct {
	*timedConn
	r io.Reader
}

func (c *replayConn) Read(b []byte) (int, error) { return c.r.Read(b) }

// enter checks the client and makes it the session's user.
func (c *conn) enter(l loginPacket) error {
	if c.tls == nil && !c.peer.socket && c.srv.cfg.RequireSecureTransport() {
		return newError(erInsecureTransport, "Connections using insecure transport are prohibited while --require_secure_transport=ON.")
	}
	acct, err := c.authenticate(l)
	if err != nil {
		return err
	}
	return c.enterAs(l, acct)
}

// enterAs builds the session of an authenticated client.
func (c *conn) enterAs(l loginPacket, acct Account) error {
	info := ConnInfo{
		User: l.user, Host: c.peer.host(), AccountUser: acct.User, AccountHost: acct.Host,
		Addr: c.addr(), Capabilities: c.caps, Collation: l.collation, Database: l.database,
		Attributes: l.attrs,
	}
	if c.tls != nil {
		st := c.tls.ConnectionState()
		info.TLSVersion, info.TLSCipher = tls.VersionName(st.Version), tls.CipherSuiteName(st.CipherSuite)
	}
	if err := c.sess.Login(c.ctx, info); err != nil {
		return err
	}
	c.multi = c.caps&capMultiStmts != 0
	c.collate = l.collation
	c.interactive()
	return nil
}

// interactive clients idle by interactive_timeout.
func (c *conn) interactive() {
	if c.caps&capInteractive == 0 {
		return
	}
	seconds := globalInt("interactive_timeout", 28800)
	ctx := c.sess.newContext(c.ctx, "", 0)
	if err := ctx.SetSessionVariable(ctx, "wait_timeout", seconds); err != nil {
		c.srv.cfg.Logf("connection %d: interactive_timeout: %v", c.sess.ID(), err)
	}
}

// loginFailed tells the client what went wrong where it may still listen.
func (c *conn) loginFailed(err error) error {
	var se *mysql.SQLError
	switch {
	case errors.As(err, &se):
	case errors.Is(err, errMalformed):
		se = newError(erHandshake, "Bad handshake")
	case errors.Is(err, errTooLarge):
		se = newError(erPacketTooLarge, "Got a packet bigger than 'max_allowed_packet' bytes")
	case errors.Is(err, errOutOfOrder):
		se = newError(erPacketsOutOfOrder, "Got packets out of order")
	default:
		return fmt.Errorf("login: %w", err)
	}
	return c.fatal(se, fmt.Errorf("login: %w", err))
}
