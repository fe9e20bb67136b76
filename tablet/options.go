package tablet

import (
	"time"

	"ksql/internal/vfs"
)

// SyncMode says when a commit is acknowledged.
type SyncMode uint8

const (
	// SyncFull acknowledges after the log is synced (the default).
	SyncFull SyncMode = iota
	// SyncInterval acknowledges after the log record is written; the log is synced
	// every Options.SyncInterval. A killed process loses nothing, a lost machine
	// that much.
	SyncInterval
	// SyncOff writes too, and leaves syncing to the operating system and to flushes.
	SyncOff
)

// Options of Open. The zero value of each field means its default.
type Options struct {
	FS           vfs.FS        // default vfs.Default
	Sync         SyncMode      // default SyncFull
	SyncInterval time.Duration // default 1 s; SyncInterval mode only
	// MemoryLimit bounds MemRowSets, DeltaMemStores and the block cache together,
	// in bytes. Default 512 MiB.
	MemoryLimit int64
	// FlushBytes: a tablet whose MemRowSet and unflushed deltas exceed it is
	// flushed. Default 64 MiB.
	FlushBytes int64
	// LogBytes: beyond this much log the tablets that hold its start are flushed,
	// so that a restart stays short. Default 64 MiB.
	LogBytes    int64
	SegmentSize int64 // bytes of one log segment file; default 8 MiB
	ReadOnly    bool  // refuse writes; recovery still runs
	// Owner is written into LOCK for whoever finds the folder in use: pid, socket.
	Owner string
	// Logf takes one line for the operator: recovery, failed flushes. Default: drop.
	Logf func(format string, args ...any)
	// LockWait is how long LockKeys waits when it is given a negative wait.
	// Default 50 s (MySQL's innodb_lock_wait_timeout).
	LockWait time.Duration
}

func (o Options) withDefaults() Options {
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if o.SyncInterval <= 0 {
		o.SyncInterval = time.Second
	}
	if o.MemoryLimit <= 0 {
		o.MemoryLimit = 512 << 20
	}
	if o.FlushBytes <= 0 {
		o.FlushBytes = 64 << 20
	}
	if o.LogBytes <= 0 {
		o.LogBytes = 64 << 20
	}
	if o.SegmentSize <= 0 {
		o.SegmentSize = 8 << 20
	}
	if o.Logf == nil {
		o.Logf = func(string, ...any) {}
	}
	if o.LockWait <= 0 {
		o.LockWait = 50 * time.Second
	}
	return o
}
