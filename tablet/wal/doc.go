// Package wal is the write-ahead log: one sequence of records for all tablets.
//
// The life of a record: [Log.Append] computes the payload's checksum (log.go), makes
// room (segment.go; no space surfaces here, before anything has happened), and in one
// critical section assigns the LSN, calls seal for the epoch and copies the record
// into the group buffer. [Log.Sync] waits until the record is on disk: whoever finds
// no sync running becomes the leader, writes what has collected and syncs once for
// all, without any timer (group_commit.go).
//
// The life of a start: [Open], then [Log.Replay] once, which delivers the commits
// that are whole (recover.go), tells a torn tail from damage, and cuts it (tail.go).
//
// An LSN is a logical byte position; segment files are named by the first LSN in
// them. A failed write or sync poisons the log: it is never tried again, since the
// kernel may have dropped the dirty pages (see the fsync study of ATC'20).
//
// The package knows no tablets: payloads are opaque.
package wal
