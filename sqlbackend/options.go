package sqlbackend

import (
	"crypto/tls"
	"time"

	"ksql/internal/vfs"
	"ksql/tablet"
)

// SyncMode says when a commit is acknowledged.
type SyncMode = tablet.SyncMode

// The sync modes; see tablet.SyncMode.
const (
	SyncFull     = tablet.SyncFull
	SyncInterval = tablet.SyncInterval
	SyncOff      = tablet.SyncOff
)

// Options of Open. The zero value of each field means its default.
type Options struct {
	// Sync is SyncFull unless said otherwise.
	Sync         SyncMode
	SyncInterval time.Duration // of SyncInterval; default 1 s
	// MemoryLimit in bytes; default a quarter of the machine's memory, at most 4 GiB.
	MemoryLimit int64
	// FlushBytes: a table whose unflushed rows exceed it is flushed; default 64 MiB.
	FlushBytes int64
	// ReadOnly refuses every change.
	ReadOnly bool
	// Socket is the path of the unix socket that is named to other processes that
	// find the folder in use; Serve listens on it. Empty: none is named.
	Socket string
	// Logf takes lines for the operator; default: dropped. Passwords and statement
	// texts never reach it.
	Logf func(format string, args ...any)
	// FS is the file system; nil means the operating system's. It is for tests.
	FS vfs.FS
}

// ServeOptions of Serve.
type ServeOptions struct {
	// Address is host:port for TCP; empty means no TCP. Port 0 picks a free one.
	Address string
	// Socket is the path of the unix socket; empty means Options.Socket, and none
	// if that is empty too.
	Socket string
	// TLS is used for encrypted connections; nil means a certificate made for this
	// folder by itself, kept in <folder>/tls.
	TLS *tls.Config
	// RequireTLS refuses TCP connections without encryption.
	RequireTLS bool
	// Ready is called once with the addresses that are listened on.
	Ready func(tcp, socket string)
}
