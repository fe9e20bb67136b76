// Package cfile is the immutable columnar file that holds the base data of one
// DiskRowSet: rows in ascending key order, addressed by ordinal 0…n-1.
//
// The life of a file:
//
//  1. Writer.Append takes rows in key order. All columns are cut at the same
//     ordinals into vectors of VectorRows rows, so an ordinal's vector and slot
//     are arithmetic. Values longer than longValue bytes leave the vector at
//     once and go to blob chunks, so memory is bounded whatever the values.
//  2. A full vector is written column by column, each in the encoding that is
//     smallest for it (plain, dictionary, run-length, bit-packed; prefix for
//     keys), then zstd if that saves a tenth. Its zone map and first key go to
//     the index, key hashes to the bloom page of the moment.
//  3. Writer.Finish writes bloom pages, index and tail, and syncs. A file
//     without a valid tail is not a file.
//
// To look a key up: MayContain asks the resident bloom page; Find searches the
// resident key index for the vector, then the vector's keys; Row reads one slot
// of each column's vector. To scan: NewIterator for rows, Vector for columns.
// Decoded vectors live in a bounded Cache that all readers share.
//
// Every byte of a file is covered by a CRC-32C. A damaged one gives a
// *CorruptionError that names file and offset, never a wrong row. Nothing here
// knows a transaction, a deleted row or a collation; a file is as good as the
// rows it was given. The layout is in tablet/docs/format/cfile.md.
package cfile
