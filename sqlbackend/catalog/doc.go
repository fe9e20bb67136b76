// Package catalog is the SQL side of the storage engine: it shows the tablets
// of one tablet.Manager to go-mysql-server as databases and tables, and turns
// every row that the engine writes into tablet row operations.
//
// Life of a read: Provider.Database → Database.GetTableInsensitive (takes the
// table's shared metadata lock) → Table.Partitions or Table.LookupPartitions →
// rowIter (a tablet scan, or an index scan with one primary look-up a row) →
// tableCodec.DecodeRow.
//
// Life of a write: Table.Inserter, Updater, Deleter and Replacer of one
// statement share one statementEditor, which locks keys, probes them at the
// newest state and writes row operations into the transaction's overlay →
// Session.CommitTransaction → tablet.Transaction.Commit, one log record for
// the rows, the index entries and the definitions.
//
// Definitions live in the system catalog (tablet 1) as JSON values and in
// memory as one immutable snapshot behind an atomic pointer. A DDL statement
// works on its session's own copy and publishes it when its transaction has
// committed. DDL statements run one at a time; a transaction holds a shared
// metadata lock on every table it has used, and DDL needs it exclusively.
//
// What this package does not do: it speaks no protocol, parses no SQL beyond
// column types, starts no goroutine, opens no file, and knows no watermark.
// SERIALIZABLE is refused.
package catalog
