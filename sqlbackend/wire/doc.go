// Package wire speaks the MySQL client/server protocol and runs statements.
//
// It has two halves. Runner, Session and Result are the statement path: they
// turn text and bound values into a result by way of parser, implicit commit,
// engine and a streaming iterator, keep the process list, and map every error
// to its MySQL number (MapErr). Server and its connections are the protocol:
// handshake, authentication, TLS, compression, commands, row encoding. The
// embedded database/sql driver uses the first half alone, so a statement
// behaves the same over a socket and in process.
//
// go-mysql-server's own server package is left out: its connection loop parses
// prepared text before any hook, hard-codes capabilities and info strings, and
// flattens errors. Nothing here trusts a length that came from a client, and a
// panic inside the engine costs one statement, not the connection.
//
// The protocol is documented at
// https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html.
package wire
