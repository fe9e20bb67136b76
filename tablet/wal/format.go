package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// LSN is a position in the log in bytes. It counts record bytes only, so that it
// has no gaps between segments. The first record of a folder has LSN 0.
type LSN uint64

// Stamp is what seal gives a record.
type Stamp struct {
	Epoch      uint64
	WallMicros int64 // UTC
}

// ErrPoisoned is wrapped by every error after a write or sync of the log failed.
var ErrPoisoned = errors.New("the log is poisoned by a failed write or sync; reopen the folder")

// CorruptionError says where the log is damaged.
type CorruptionError struct {
	File   string
	Offset int64
	Reason string
}

func (e *CorruptionError) Error() string {
	return fmt.Sprintf("corruption in %s at offset %d: %s", e.File, e.Offset, e.Reason)
}

// Layout, little-endian; see ../docs/format/wal.md.
//
//	segment:  header page (4096) | record | record | … | zeros
//	header:   magic 8 | version 4 | crc 4 | first LSN 8 | log id 8
//	          at 512: promise: durable LSN 8 | crc 4
//	record:   header crc 4 | payload length 4 | payload crc 4 | type 1 | 0 0 0 |
//	          first LSN of the commit 8 | durable LSN 8 | epoch 8 | wall 8 | payload | pad to 8
//
// The header crc covers the LSN too, so that a record is valid in its place only.
const (
	magic         = "ksqlWAL\x00"
	formatVersion = 0
	pageSize      = 4096
	promiseOffset = 512
	headerSize    = 48
	align         = 8
	// MaxRecord bounds the payload of one record; larger commits are chunked.
	MaxRecord = 1<<20 - headerSize
)

// recordType is persistent: do not reorder.
type recordType uint8

const (
	recordFull   recordType = 1
	recordBegin  recordType = 2
	recordMiddle recordType = 3
	recordEnd    recordType = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

type recordHeader struct {
	length  uint32
	crc     uint32 // of the payload
	typ     recordType
	first   LSN // of the commit's first record
	durable LSN // everything below was synced when this was appended
	stamp   Stamp
}

func recordSize(payload int) int64 {
	return (int64(headerSize+payload) + align - 1) &^ (align - 1)
}

func appendHeader(b []byte, at LSN, h recordHeader) []byte {
	start := len(b)
	b = append(b, 0, 0, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, h.length)
	b = binary.LittleEndian.AppendUint32(b, h.crc)
	b = append(b, byte(h.typ), 0, 0, 0)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.first))
	b = binary.LittleEndian.AppendUint64(b, uint64(h.durable))
	b = binary.LittleEndian.AppendUint64(b, h.stamp.Epoch)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.stamp.WallMicros))
	binary.LittleEndian.PutUint32(b[start:], headerCRC(b[start+4:start+headerSize], at))
	return b
}

func headerCRC(b []byte, at LSN) uint32 {
	var l [8]byte
	binary.LittleEndian.PutUint64(l[:], uint64(at))
	return crc32.Update(crc32.Checksum(b, castagnoli), castagnoli, l[:])
}

// parseHeader reads the header of the record at LSN at; b has headerSize bytes.
func parseHeader(b []byte, at LSN) (recordHeader, bool) {
	if binary.LittleEndian.Uint32(b) != headerCRC(b[4:headerSize], at) {
		return recordHeader{}, false
	}
	h := recordHeader{
		length:  binary.LittleEndian.Uint32(b[4:]),
		crc:     binary.LittleEndian.Uint32(b[8:]),
		typ:     recordType(b[12]),
		first:   LSN(binary.LittleEndian.Uint64(b[16:])),
		durable: LSN(binary.LittleEndian.Uint64(b[24:])),
		stamp:   Stamp{binary.LittleEndian.Uint64(b[32:]), int64(binary.LittleEndian.Uint64(b[40:]))},
	}
	ok := h.length <= MaxRecord && h.typ >= recordFull && h.typ <= recordEnd && h.durable <= at && h.first <= at
	return h, ok
}

func segmentHeader(first LSN, id uint64) []byte {
	b := make([]byte, pageSize)
	copy(b, magic)
	binary.LittleEndian.PutUint32(b[8:], formatVersion)
	binary.LittleEndian.PutUint64(b[16:], uint64(first))
	binary.LittleEndian.PutUint64(b[24:], id)
	binary.LittleEndian.PutUint32(b[12:], segmentCRC(b))
	return b
}

func segmentCRC(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:12], castagnoli), castagnoli, b[16:32])
}

// parseSegmentHeader returns the log id.
func parseSegmentHeader(b []byte, first LSN) (id uint64, reason string) {
	switch {
	case string(b[:8]) != magic:
		return 0, "not a log segment"
	case binary.LittleEndian.Uint32(b[12:]) != segmentCRC(b):
		return 0, "segment header checksum"
	case binary.LittleEndian.Uint32(b[8:]) != formatVersion:
		return 0, fmt.Sprintf("log format version %d is not supported", binary.LittleEndian.Uint32(b[8:]))
	case LSN(binary.LittleEndian.Uint64(b[16:])) != first:
		return 0, "segment header has another LSN than the file name"
	}
	return binary.LittleEndian.Uint64(b[24:]), ""
}

// promise is the newest durable LSN as noted, unsynced, behind the header. It tells
// damage of the last synced records from a torn tail after a mere process kill.
func promise(durable LSN) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(durable))
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

func parsePromise(page []byte) LSN {
	b := page[promiseOffset : promiseOffset+12]
	if binary.LittleEndian.Uint32(b[8:]) != crc32.Checksum(b[:8], castagnoli) {
		return 0
	}
	return LSN(binary.LittleEndian.Uint64(b))
}

func segmentName(first LSN) string { return fmt.Sprintf("%016x.log", uint64(first)) }

func parseSegmentName(name string) (LSN, bool) {
	var l uint64
	if len(name) != 20 || name[16:] != ".log" {
		return 0, false
	}
	for _, c := range name[:16] {
		switch {
		case c >= '0' && c <= '9':
			l = l<<4 | uint64(c-'0')
		case c >= 'a' && c <= 'f':
			l = l<<4 | uint64(c-'a'+10)
		default:
			return 0, false
		}
	}
	return LSN(l), true
}
