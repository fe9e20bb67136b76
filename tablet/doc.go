// Package tablet stores rows durably: it owns the data folder, the write-ahead
// log, every tablet's components in memory and on disk, row locks and
// transactions. It knows keys (bytes in order), packed rows and epochs; it knows
// no SQL, no collation and no client.
//
// # The life of a write
//
//  1. [Manager.Begin] gives a [Transaction]; [Transaction.StartStatement] picks
//     the epoch that the statement reads.
//  2. [Transaction.LockKeys] takes the row locks, [Transaction.Probe] finds out in
//     one batch what is stored under the keys (memory first, the remainder
//     grouped per DiskRowSet) and leaves the locations in the overlay.
//  3. [Transaction.Write] puts row operations into the overlay; nothing else sees
//     them. [Transaction.Mark] and [Transaction.UndoTo] take them back.
//  4. [Transaction.Commit]: WriteOp.prepare pins each tablet's components and checks
//     the carried locations; every error surfaces here.
//  5. One log record for all tablets; its epoch is assigned inside the log's
//     critical section. From here nothing can fail but the disk itself.
//  6. applyRowOp puts each op into the MemRowSet or a DeltaMemStore.
//  7. The log is synced, the epoch is published, row locks go, the caller is
//     answered.
//  8. Later maintenance flushes: MemRowSet to a new DiskRowSet, DeltaMemStores to
//     REDO delta files, then the superblock that names them, then log segments go.
//
// # The life of a read
//
//  1. The epoch is chosen and registered first, the version (the immutable set of
//     a tablet's components) is captured afterwards; so the version holds
//     everything at or below the epoch.
//  2. [Transaction.Get] asks overlay, MemRowSet, frozen MemRowSets, then the
//     DiskRowSets whose key range and bloom filter admit the key.
//  3. [Transaction.Scan] merges the same components by key, prunes vectors by zone
//     maps, and lays the transaction's own writes on top.
//
// # What it does not promise
//
// No range locks and no deadlock search: a wait ends by time-out. Secondary
// indexes are tablets like any other; keeping them in step with their table is
// the caller's work, and one commit covers them all.
package tablet
