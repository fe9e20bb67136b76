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

var (
	// ErrPoisoned is wrapped by every error after a write or sync of the log failed.
	ErrPoisoned = errors.New("the log is poisoned by a failed write or sync; reopen the folder")
	// ErrClosed is returned by Append after Close.
	ErrClosed = errors.New("the log is closed")
)

// CorruptionError says where the log is damaged.
type CorruptionError struct {
	File   string // path of the segment, or of the log's directory
	Offset int64  // bytes; where the damaged record or header begins
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
//	          first LSN of the commit 8 | durable LSN 8 | epoch 8 | wall 8 | payload | zeros to 8
//
// The header crc also covers the record's LSN and the log id, which are not stored:
// a record is valid in its place and its log only, so that neither stale bytes nor a
// payload that quotes a log can pass for one.
const (
	magic         = "ksqlWAL\x00"
	formatVersion = 0
	pageSize      = 4096
	promiseOffset = 512
	promiseSize   = 12
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
	// recordAbandon says that the commit which began at its first LSN has no end: a
	// crash or a full disk stopped it between two chunks.
	recordAbandon recordType = 5
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

func appendHeader(b []byte, at LSN, id uint64, h recordHeader) []byte {
	start := len(b)
	b = append(b, 0, 0, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, h.length)
	b = binary.LittleEndian.AppendUint32(b, h.crc)
	b = append(b, byte(h.typ), 0, 0, 0)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.first))
	b = binary.LittleEndian.AppendUint64(b, uint64(h.durable))
	b = binary.LittleEndian.AppendUint64(b, h.stamp.Epoch)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.stamp.WallMicros))
	binary.LittleEndian.PutUint32(b[start:], headerCRC(b[start+4:start+headerSize], at, id))
	return b
}

// appendRecord appends header, payload and padding.
func appendRecord(b []byte, at LSN, id uint64, h recordHeader, payload []byte) []byte {
	b = appendHeader(b, at, id, h)
	b = append(b, payload...)
	for n := headerSize + len(payload); n%align != 0; n++ {
		b = append(b, 0)
	}
	return b
}

// headerCRC is the CRC-32C of b, the LSN and the id, one behind the other. The last
// 16 bytes go through the table by hand: as a slice they would be allocated.
func headerCRC(b []byte, at LSN, id uint64) uint32 {
	c := ^crc32.Checksum(b, castagnoli)
	for _, v := range [2]uint64{uint64(at), id} {
		for i := 0; i < 64; i += 8 {
			c = castagnoli[byte(c)^byte(v>>i)] ^ c>>8
		}
	}
	return ^c
}

// parseHeader reads the header of the record at LSN at; b has headerSize bytes.
func parseHeader(b []byte, at LSN, id uint64) (recordHeader, bool) {
	if binary.LittleEndian.Uint32(b) != headerCRC(b[4:headerSize], at, id) {
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
	return h, h.length <= MaxRecord && h.durable <= at && h.firstIsRight(at)
}

// firstIsRight tells whether type and first LSN go together.
func (h *recordHeader) firstIsRight(at LSN) bool {
	switch h.typ {
	case recordFull, recordBegin:
		return h.first == at
	case recordMiddle, recordEnd, recordAbandon:
		return h.first < at
	}
	return false
}

// payload is what body, the bytes from the header to the next record, holds; !ok
// means damage. The padding is checked too: no byte of a record may change unseen.
func (h *recordHeader) payload(body []byte) (p []byte, ok bool) {
	p = body[:h.length]
	for _, b := range body[h.length:] {
		if b != 0 {
			return nil, false
		}
	}
	return p, crc32.Checksum(p, castagnoli) == h.crc
}

func segmentHeader(first LSN, id uint64) []byte {
	b := make([]byte, pageSize)
	copy(b, magic)
	binary.LittleEndian.PutUint32(b[8:], formatVersion)
	binary.LittleEndian.PutUint64(b[16:], uint64(first))
	binary.LittleEndian.PutUint64(b[24:], id)
	binary.LittleEndian.PutUint32(b[12:], segmentCRC(b))
	promise((*[promiseSize]byte)(b[promiseOffset:]), 0) // nothing, but not blank
	return b
}

func segmentCRC(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:12], castagnoli), castagnoli, b[16:32])
}

// parseSegmentHeader returns the log id, or the reason why page is no header of a
// segment that begins with first.
func parseSegmentHeader(page []byte, first LSN) (id uint64, reason string) {
	switch {
	case string(page[:8]) != magic:
		return 0, "not a log segment"
	case binary.LittleEndian.Uint32(page[12:]) != segmentCRC(page):
		return 0, "segment header checksum"
	case binary.LittleEndian.Uint32(page[8:]) != formatVersion:
		return 0, fmt.Sprintf("log format version %d is not supported", binary.LittleEndian.Uint32(page[8:]))
	case LSN(binary.LittleEndian.Uint64(page[16:])) != first:
		return 0, "segment header has another LSN than the file name"
	case !isZero(page[32:promiseOffset]) || !isZero(page[promiseOffset+promiseSize:]):
		return 0, "reserved bytes of the segment header are not zero"
	case isZero(page[promiseOffset : promiseOffset+promiseSize]): // never, not even when torn
		return 0, "the promise is blank"
	}
	return binary.LittleEndian.Uint64(page[24:]), ""
}

func isZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// promise is the newest durable LSN as noted, unsynced, behind the header. It tells
// damage of the last synced records from a torn tail after a mere process kill. One
// that a lost machine has torn counts for nothing.
// It is written into b.
func promise(b *[promiseSize]byte, durable LSN) {
	binary.LittleEndian.PutUint64(b[:], uint64(durable))
	binary.LittleEndian.PutUint32(b[8:], crc32.Checksum(b[:8], castagnoli))
}

func parsePromise(page []byte) LSN {
	b := page[promiseOffset : promiseOffset+promiseSize]
	if binary.LittleEndian.Uint32(b[8:]) != crc32.Checksum(b[:8], castagnoli) {
		return 0
	}
	return LSN(binary.LittleEndian.Uint64(b))
}

// tempSuffix is that of a segment that is being made.
const tempSuffix = ".new"

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
