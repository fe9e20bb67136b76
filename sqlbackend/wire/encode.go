package wire

import "encoding/binary"

// appendLenenc appends a length-encoded integer.
func appendLenenc(b []byte, n uint64) []byte {
	switch {
	case n < 251:
		return append(b, byte(n))
	case n < 1<<16:
		return append(b, 0xfc, byte(n), byte(n>>8))
	case n < 1<<24:
		return append(b, 0xfd, byte(n), byte(n>>8), byte(n>>16))
	}
	return binary.LittleEndian.AppendUint64(append(b, 0xfe), n)
}

// appendLenencString appends a length-encoded string.
func appendLenencString(b []byte, s string) []byte {
	return append(appendLenenc(b, uint64(len(s))), s...)
}

// appendLenencBytes appends a length-encoded byte string.
func appendLenencBytes(b, s []byte) []byte {
	return append(appendLenenc(b, uint64(len(s))), s...)
}
