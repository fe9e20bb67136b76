package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
)

// ErrServerClosed is what Serve returns after Shutdown or Close.
var ErrServerClosed = errors.New("wire: server closed")

// SpillFile takes the rows of a cursor that do not fit in memory. internal/vfs
// files satisfy it. Close removes what it holds.
type SpillFile interface {
	Write(p []byte) (int, error)
	ReadAt(p []byte, off int64) (int, error)
	Close() error
}

// Config configures a Server. The zero value of every optional field is
// usable.
type Config struct {
	// Runner runs the statements. Required.
	Runner *Runner
	// Accounts says who may log in; nil means the engine's grant tables.
	Accounts Accounts
	// Version is what the greeting says. Required; clients read features out of
	// it, so it should begin with a MySQL version ("8.4.6-ksql").
	Version string
	// TLS enables encrypted connections.
	TLS *tls.Config
	// RequireSecureTransport refuses TCP connections without TLS; nil means
	// the global variable require_secure_transport.
	RequireSecureTransport func() bool
	// AllowLogin is asked after the password was right; false is error 1045.
	// Nil means PasswordlessOnlyLocal.
	AllowLogin func(Login) bool
	// MaxConnections bounds the connections of this server; nil means the
	// global variable max_connections.
	MaxConnections func() int
	// HandshakeTimeout bounds the whole login; 0 means the global variable
	// connect_timeout.
	HandshakeTimeout time.Duration
	// CursorMemory is how many bytes of a cursor's rows stay in memory; 0
	// means 16 MiB.
	CursorMemory int64
	// NewSpill makes a file for a cursor beyond CursorMemory; nil means such a
	// statement fails with error 1041.
	NewSpill func() (SpillFile, error)
	// Logf receives protocol faults and failed logins; nil means nothing is
	// logged.
	Logf func(format string, args ...any)
}

// Server accepts connections and speaks the MySQL protocol on them.
type Server struct {
	cfg   Config
	caps  uint32
	rsa   rsaKey
	cache shaCache

	mu        sync.Mutex
	listeners map[net.Listener]bool
	conns     map[*conn]bool
	draining  bool
	closed    bool
	watching  bool
	stop      chan struct{} // ends watch
	stopOnce  sync.Once
	wg        sync.WaitGroup

	fullAuths, fastAuths atomic.Int64
	refused              atomic.Int64
}

// NewServer checks the configuration; Serve starts it.
func NewServer(cfg Config) (*Server, error) {
	if cfg.Runner == nil || cfg.Version == "" {
		return nil, errors.New("wire: Config.Runner and Config.Version are required")
	}
	if cfg.Accounts == nil {
		cfg.Accounts = MySQLAccounts(cfg.Runner.engine.Analyzer.Catalog.MySQLDb)
	}
	if cfg.RequireSecureTransport == nil {
		cfg.RequireSecureTransport = func() bool { return globalInt("require_secure_transport", 0) != 0 }
	}
	if cfg.AllowLogin == nil {
		cfg.AllowLogin = PasswordlessOnlyLocal
	}
	if cfg.MaxConnections == nil {
		cfg.MaxConnections = func() int { return int(globalInt("max_connections", 151)) }
	}
	if cfg.CursorMemory == 0 {
		cfg.CursorMemory = 16 << 20
	}
	if cfg.Logf == nil {
		cfg.Logf = func(string, ...any) {}
	}
	s := &Server{cfg: cfg, caps: serverCaps, listeners: map[net.Listener]bool{}, conns: map[*conn]bool{},
		stop: make(chan struct{})}
	if cfg.TLS != nil {
		s.caps |= capSSL
	}
	return s, nil
}

// Serve accepts connections from l until the server is closed, and closes l.
// It returns ErrServerClosed after Shutdown and Close. Several listeners may be
// served at once.
func (s *Server) Serve(l net.Listener) error {
	s.mu.Lock()
	if s.draining || s.closed {
		s.mu.Unlock()
		return errors.Join(ErrServerClosed, l.Close())
	}
	s.listeners[l] = true
	if !s.watching {
		s.watching = true
		s.wg.Add(1)
		go func() {
			defer s.wg.Done()
			s.watch()
		}()
	}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.listeners, l)
		s.mu.Unlock()
	}()
	delay := time.Duration(0)
	for {
		nc, err := l.Accept()
		if err == nil {
			delay = 0
			s.handle(nc)
			continue
		}
		if s.stopping() {
			return ErrServerClosed
		}
		if errors.Is(err, net.ErrClosed) {
			return fmt.Errorf("accept: %w", err)
		}
		// out of descriptors or memory: it passes, and must not spin
		delay = min(max(2*delay, 5*time.Millisecond), time.Second)
		s.cfg.Logf("accept: %v; trying again in %v", err, delay)
		time.Sleep(delay)
	}
}

func (s *Server) stopping() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draining || s.closed
}

// handle starts a connection, or tells the client that there are too many.
func (s *Server) handle(nc net.Conn) {
	c := newConn(s, nc)
	s.mu.Lock()
	if s.draining || s.closed {
		s.mu.Unlock()
		_ = nc.Close() // nothing was promised to this client yet
		return
	}
	full := len(s.conns) >= s.cfg.MaxConnections()
	if !full {
		s.conns[c] = true
	}
	s.wg.Add(1)
	s.mu.Unlock()
	go func() {
		defer s.wg.Done()
		if full {
			s.refuse(c)
			return
		}
		c.serve()
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
	}()
}

// refuse sends error 1040 instead of a greeting.
func (s *Server) refuse(c *conn) {
	s.refused.Add(1)
	if sql.StatusVariables != nil {
		sql.StatusVariables.IncrementGlobal("Connection_errors_max_connections", 1)
	}
	c.tc.setUntil(time.Now().Add(time.Second))
	if err := c.sendError(newError(erConCount, "Too many connections")); err == nil {
		_ = c.pc.flush() // a client that is gone already needs no answer
	}
	_ = c.tc.Close() // refused: no state to lose
}

// Connections returns the number of open connections.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// Shutdown stops accepting, closes idle connections, lets running statements
// finish, and waits. When ctx ends first the rest is killed and ctx's error
// returned.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.draining = true
	s.closeListeners()
	for c := range s.conns {
		c.drain()
	}
	s.mu.Unlock()
	s.stopOnce.Do(func() { close(s.stop) })
	done := make(chan struct{})
	go func() {
		s.wg.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		s.killConns()
		<-done
		return ctx.Err()
	}
}

// Close stops accepting, kills every connection and waits for them.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.closeListeners()
	s.mu.Unlock()
	s.stopOnce.Do(func() { close(s.stop) })
	s.killConns()
	s.wg.Wait()
	return nil
}

// closeListeners is called with mu held. A listener that fails to close has
// been closed by somebody else.
func (s *Server) closeListeners() {
	for l := range s.listeners {
		_ = l.Close()
	}
}

func (s *Server) killConns() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.kill()
	}
}
