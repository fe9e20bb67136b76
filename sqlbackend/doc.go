// Package sqlbackend puts the database together: one folder, the tablet engine on
// it, go-mysql-server above with ksql's parser, catalog, batch nodes and repairs,
// and the statement path that the MySQL protocol and the database/sql driver share.
//
// The life of a statement: a connection (wire) or a driver call (driver) → the
// statement path (wire.Runner: process list, parser, restarts, spool) → the engine
// plans it → catalog and dml turn writes into tablet row operations → COMMIT is one
// log record. What happens below is told in package tablet.
//
// This package only assembles: Open, Close, Serve, Check. Hooks of the engine that
// are global to a process are installed once, in install.go, and can't differ
// between two folders that one process has open.
package sqlbackend
