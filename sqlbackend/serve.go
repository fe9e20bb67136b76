package sqlbackend

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/dolthub/go-mysql-server/sql/mysql_db"

	"ksql/sqlbackend/wire"
)

// ErrRootWithoutPassword is wrapped by Serve's error when it would listen beyond
// loopback although a root account has no password.
var ErrRootWithoutPassword = errors.New("root has no password")

// Serve speaks the MySQL protocol until ctx ends or Shutdown or Close is called;
// then running statements finish and it returns nil. It can be called once at a time.
func (b *Backend) Serve(ctx context.Context, o ServeOptions) error {
	if o.Socket == "" {
		o.Socket = b.options.Socket
	}
	if err := b.checkRoot(o.Address); err != nil {
		return err
	}
	server, err := b.newServer(o)
	if err != nil {
		return err
	}
	listeners, err := b.listen(o)
	if err != nil {
		return err
	}
	b.mu.Lock()
	if b.closed || b.server != nil {
		b.mu.Unlock()
		return errors.Join(errors.New("serve: the database is closed or being served"), closeAll(listeners))
	}
	b.server = server
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		b.server = nil
		b.mu.Unlock()
	}()
	results := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() { results <- server.Serve(l) }()
	}
	if o.Ready != nil {
		o.Ready(addresses(listeners))
	}
	var stopped error
	left := len(listeners)
	select {
	case <-ctx.Done():
	case stopped = <-results:
		left--
	}
	// a background context: the statements that run now may finish
	err = server.Shutdown(b.drain)
	for ; left > 0; left-- {
		if e := <-results; !errors.Is(e, wire.ErrServerClosed) {
			stopped = errors.Join(stopped, e)
		}
	}
	if errors.Is(stopped, wire.ErrServerClosed) {
		stopped = nil
	}
	if errors.Is(err, context.Canceled) {
		err = nil // Abort was called: the rest was killed, as asked for
	}
	return errors.Join(err, stopped)
}

// Abort ends the statements that a Serve which is shutting down still waits for.
func (b *Backend) Abort() { b.abort() }

func (b *Backend) newServer(o ServeOptions) (*wire.Server, error) {
	if o.TLS == nil {
		var err error
		if o.TLS, err = b.selfMadeTLS(); err != nil {
			return nil, err
		}
	}
	cfg := wire.Config{Runner: b.runner, Version: ServerVersion, TLS: o.TLS, Logf: b.options.Logf, NewSpill: b.newSpill}
	if o.RequireTLS {
		cfg.RequireSecureTransport = func() bool { return true }
	}
	return wire.NewServer(cfg)
}

func (b *Backend) listen(o ServeOptions) ([]net.Listener, error) {
	var ls []net.Listener
	if o.Address != "" {
		l, err := net.Listen("tcp", o.Address)
		if err != nil {
			return nil, fmt.Errorf("listen on %s: %w", o.Address, err)
		}
		ls = append(ls, l)
	}
	if o.Socket != "" {
		// the folder's lock is ours, so a socket that is left there belongs to nobody
		if err := b.removeSocket(o.Socket); err != nil {
			return nil, errors.Join(err, closeAll(ls))
		}
		l, err := net.Listen("unix", o.Socket)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("listen on socket %s: %w", o.Socket, err), closeAll(ls))
		}
		ls = append(ls, l)
	}
	if len(ls) == 0 {
		return nil, errors.New("serve: neither an address nor a socket is given")
	}
	return ls, nil
}

func closeAll(ls []net.Listener) error {
	var err error
	for _, l := range ls {
		err = errors.Join(err, l.Close())
	}
	return err
}

func addresses(ls []net.Listener) (tcp, socket string) {
	for _, l := range ls {
		if l.Addr().Network() == "unix" {
			socket = l.Addr().String()
		} else {
			tcp = l.Addr().String()
		}
	}
	return tcp, socket
}

// checkRoot refuses to listen beyond loopback while a root account has no password.
func (b *Backend) checkRoot(address string) error {
	if address == "" || isLoopback(address) {
		return nil
	}
	rd := b.engine.Analyzer.Catalog.MySQLDb.Reader()
	defer rd.Close()
	var open *mysql_db.User
	rd.VisitUsers(func(u *mysql_db.User) {
		// by name: IsSuperUser is not there any more once accounts were read from disk
		if u.User == "root" && u.AuthString == "" && !u.Locked && !u.IsRole {
			open = u
		}
	})
	if open == nil {
		return nil
	}
	return fmt.Errorf("refusing to listen on %s: %w; set one first: run `ksql shell` on the folder and "+
		"ALTER USER '%s'@'%s' IDENTIFIED BY 'a good password'", address, ErrRootWithoutPassword, open.User, open.Host)
}

func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
