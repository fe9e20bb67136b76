package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"ksql/config"
	"ksql/sqlbackend"
	"ksql/sqlbackend/driver"
)

var serveCommand = command{
	name:    "serve",
	summary: "serve the folder to MySQL clients over TCP and a unix socket",
	run:     serve,
}

// serve runs until SIGTERM or SIGINT: then running statements finish, everything is
// flushed and the exit code is 0. A second signal ends the statements; one that does
// not end within forcedExit ends the process with exit code 1, as a crash would: what
// was acknowledged is in the log.
func serve(env *environment, cfg *config.Config, fs *pflag.FlagSet) error {
	if fs.NArg() > 0 {
		return failure(exitUsage, "unexpected argument %q", fs.Arg(0))
	}
	socket, err := filepath.Abs(cfg.Socket)
	if err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	tlsConfig, err := tlsFromFiles(cfg)
	if err != nil {
		return err
	}
	// before anything is opened, so that a signal during recovery is not lost
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	defer signal.Stop(signals)

	logf := logTo(env, cfg)
	b, err := openBackend(cfg, logf, sqlbackend.Options{Socket: socket})
	if err != nil {
		return err
	}
	if err := setVariables(b, cfg); err != nil {
		return errors.Join(err, b.Close())
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	watcher := make(chan struct{})
	go func() {
		defer close(watcher)
		watchSignals(b, signals, stop, ended, logf)
	}()
	options := sqlbackend.ServeOptions{
		Socket: socket, TLS: tlsConfig, RequireTLS: cfg.RequireSecureTransport,
		Ready: func(tcp, socket string) {
			fmt.Fprintf(env.stdout, "ready for connections on %s (folder %s, ksql %s, MySQL %s)\n",
				joinAddresses(tcp, socket), b.Dir(), version, sqlbackend.ServerVersion)
		},
	}
	if cfg.Address != "" {
		options.Address = net.JoinHostPort(cfg.Address, strconv.Itoa(cfg.Port))
	}
	err = b.Serve(ctx, options)
	close(ended)
	<-watcher
	stop()
	err = errors.Join(err, b.Close())
	if err == nil {
		logf("stopped: everything is on disk")
	}
	return err
}

// watchSignals stops the server at the first signal and its statements at the second.
func watchSignals(b *sqlbackend.Backend, signals <-chan os.Signal, stop func(), ended <-chan struct{}, logf func(string, ...any)) {
	select {
	case s := <-signals:
		logf("%s: finishing the statements that run; a second signal ends them", s)
		stop()
	case <-ended:
		return
	}
	select {
	case s := <-signals:
		logf("%s: ending the statements that run", s)
		b.Abort()
	case <-ended:
		return
	}
	select {
	case <-time.After(forcedExit):
		logf("a statement does not end: the process ends without it; the next start recovers from the log")
		os.Exit(exitFailed)
	case <-ended:
	}
}

// forcedExit is how long statements may take to notice that they were ended.
const forcedExit = 5 * time.Second

func joinAddresses(tcp, socket string) string {
	if tcp == "" {
		return "socket " + socket
	}
	return tcp + " and socket " + socket
}

// setVariables sets the global variables that the settings name.
func setVariables(b *sqlbackend.Backend, cfg *config.Config) error {
	db := sql.OpenDB(driver.NewBackendConnector(b, driver.Config{}))
	for _, v := range []struct {
		name  string
		value int64
	}{
		{"max_connections", int64(cfg.MaxConnections)},
		{"max_allowed_packet", cfg.MaxAllowedPacket},
		{"wait_timeout", int64(cfg.WaitTimeout.Seconds())},
	} {
		if !cfg.IsSet(v.name) {
			continue
		}
		if _, err := db.Exec(fmt.Sprintf("SET GLOBAL %s = %d", v.name, v.value)); err != nil {
			return errors.Join(fmt.Errorf("set %s: %w", v.name, err), db.Close())
		}
	}
	return db.Close()
}

// tlsFromFiles reads the certificate of the settings; nil if none is named.
func tlsFromFiles(cfg *config.Config) (*tls.Config, error) {
	if cfg.TLSCert == "" {
		if cfg.TLSCA != "" {
			return nil, failure(exitUsage, "tls_ca needs tls_cert and tls_key")
		}
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(cfg.TLSCert, cfg.TLSKey)
	if err != nil {
		return nil, failure(exitUsage, "tls_cert %s, tls_key %s: %w", cfg.TLSCert, cfg.TLSKey, err)
	}
	c := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if cfg.TLSCA == "" {
		return c, nil
	}
	pem, err := os.ReadFile(cfg.TLSCA)
	if err != nil {
		return nil, failure(exitUsage, "tls_ca: %w", err)
	}
	c.ClientCAs, c.ClientAuth = x509.NewCertPool(), tls.VerifyClientCertIfGiven
	if !c.ClientCAs.AppendCertsFromPEM(pem) {
		return nil, failure(exitUsage, "tls_ca %s holds no certificate", cfg.TLSCA)
	}
	return c, nil
}
