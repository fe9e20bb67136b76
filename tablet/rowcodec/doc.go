// Package rowcodec turns typed column values into bytes and back: ordered
// keys, packed rows, change lists and the schema that describes them.
//
//   - A key is memcomparable: bytes.Compare on two keys of one schema gives
//     the order of their values, column by column, NULL first. Every column is
//     self-delimiting, so a prefix of columns is a prefix of bytes.
//   - A row is packed but addressable: any column is found in O(1) from its
//     position alone, without a decoded copy. Equal values give equal bytes.
//   - A change list holds the changed columns of a row only, in column order.
//
// The byte layouts are described in tablet/docs/format/rowcodec.md.
//
// The package is pure: no I/O, no lock, no goroutine, no clock. It knows no
// collation; a string in a key is whatever bytes the caller wants compared
// (weights, usually), and a string in a row is its original spelling. What
// comes from disk goes through ValidateRow, ValidateChangeList, DecodeKey or
// Schema.Unmarshal first: these never panic, whatever the bytes; the accessors
// behind them expect validated bytes and check no more than Go does.
package rowcodec
