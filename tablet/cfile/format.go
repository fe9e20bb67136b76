package cfile

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"ksql/tablet/rowcodec"
)

const (
	// VectorRows is the number of rows of every vector but the last of a file.
	VectorRows = 1 << vectorShift
	// MaxKeySize is the longest key in bytes; 2048 of them still fit into one chunk.
	MaxKeySize = 256 << 10

	vectorShift = 11
	slotMask    = VectorRows - 1

	formatVersion = 0

	// longValue is the longest value in bytes that is stored inside its
	// vector. It bounds a vector of strings to 512 KiB (the usual one stays
	// below 64 KiB) and still keeps a VARCHAR(255) inline.
	longValue = 256
	// blobTarget is the size up to which long values of one column share a blob
	// chunk: the unit that a point read of a long value has to decode.
	blobTarget = 64 << 10
	// blobPiece is the size of the chunks that a value above blobTarget is cut
	// into, so that writing 1 GiB needs a buffer of 1 MiB.
	blobPiece = 1 << 20
	// maxChunkRaw bounds an uncompressed chunk on write and on read alike.
	maxChunkRaw = 1 << 30

	headerSize      = 32
	tailSize        = 48
	chunkHeaderSize = 28
	chunkOverhead   = chunkHeaderSize + 4 // header and trailing CRC

	keyColumn = math.MaxUint32 // the column number of key vectors and of chunks of no column
)

var (
	fileMagic  = [8]byte{'K', 'S', 'Q', 'L', 'C', 'F', 'I', 'L'}
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// Chunk types. Persistent, do not reorder.
const (
	chunkKeys   = 1
	chunkColumn = 2
	chunkBlob   = 3
	chunkBloom  = 4
	chunkIndex  = 5
)

// Encodings of chunks and of int blocks. Persistent, do not reorder.
const (
	encNone   = 0 // no values, or raw bytes (blob, bloom, index)
	encPlain  = 1
	encDict   = 2
	encRLE    = 3
	encFOR    = 4 // frame of reference, bit-packed
	encPrefix = 5
)

// Codecs. Persistent, do not reorder.
const (
	codecNone = 0
	codecZstd = 1
)

// Chunk flags.
const (
	flagHasNull = 1 << 0 // a NULL bitmap comes first
	flagAllNull = 1 << 1 // nothing follows at all
	flagASCII   = 1 << 2 // every value is printable ASCII (20…7E)
	flagLong    = 1 << 3 // references to blob chunks follow the values
	knownFlags  = flagHasNull | flagAllNull | flagASCII | flagLong
)

// CorruptionError says that a file does not hold what was written to it.
type CorruptionError struct {
	File   string
	Offset int64 // where the damaged chunk (or header, or tail) starts
	Reason string
}

// Error implements error.
func (e *CorruptionError) Error() string {
	return fmt.Sprintf("%s: corrupt at offset %d: %s", e.File, e.Offset, e.Reason)
}

// extent is where a chunk lies, and how long its payload is uncompressed. A
// chunk is compressed if and only if its stored payload is not raw bytes long.
type extent struct {
	off  int64
	size uint32 // stored, chunkOverhead included
	raw  uint32
}

func (x extent) end() int64 { return x.off + int64(x.size) }

func (x extent) compressed() bool { return int64(x.size) != int64(x.raw)+chunkOverhead }

// chunkHeader precedes every payload:
//
//	 0  u8   type
//	 1  u8   encoding
//	 2  u8   codec
//	 3  u8   flags
//	 4  u32  column, FFFFFFFF for the keys and for chunks of no column
//	 8  u32  number of the vector (of a bloom chunk: of the page)
//	12  u32  rows in it (of a bloom chunk: keys)
//	16  u32  raw length of the payload
//	20  u32  stored length of the payload
//	24  u32  CRC-32C of bytes 0…23
//	28  payload, then its u32 CRC-32C (header included)
type chunkHeader struct {
	typ, enc, codec, flags byte
	column, number, rows   uint32
	raw, stored            uint32
}

// appendChunk appends header, payload and checksums to dst.
func appendChunk(dst []byte, h chunkHeader, payload []byte) []byte {
	start := len(dst)
	dst = append(dst, h.typ, h.enc, h.codec, h.flags)
	dst = binary.LittleEndian.AppendUint32(dst, h.column)
	dst = binary.LittleEndian.AppendUint32(dst, h.number)
	dst = binary.LittleEndian.AppendUint32(dst, h.rows)
	dst = binary.LittleEndian.AppendUint32(dst, h.raw)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(payload)))
	dst = binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
	dst = append(dst, payload...)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

// parseChunk checks both checksums of a whole chunk and returns its header and stored payload.
func parseChunk(b []byte) (chunkHeader, []byte, error) {
	if len(b) < chunkOverhead {
		return chunkHeader{}, nil, fmt.Errorf("chunk of %d bytes", len(b))
	}
	end := len(b) - 4
	if crc32.Checksum(b[:end], castagnoli) != binary.LittleEndian.Uint32(b[end:]) {
		return chunkHeader{}, nil, fmt.Errorf("checksum mismatch in a chunk of %d bytes", len(b))
	}
	if crc32.Checksum(b[:24], castagnoli) != binary.LittleEndian.Uint32(b[24:]) {
		return chunkHeader{}, nil, fmt.Errorf("checksum mismatch in a chunk header")
	}
	h := chunkHeader{
		typ: b[0], enc: b[1], codec: b[2], flags: b[3],
		column: binary.LittleEndian.Uint32(b[4:]), number: binary.LittleEndian.Uint32(b[8:]),
		rows: binary.LittleEndian.Uint32(b[12:]), raw: binary.LittleEndian.Uint32(b[16:]), stored: binary.LittleEndian.Uint32(b[20:]),
	}
	if int(h.stored) != len(b)-chunkOverhead {
		return h, nil, fmt.Errorf("chunk of %d bytes says %d", len(b)-chunkOverhead, h.stored)
	}
	if h.flags&^knownFlags != 0 {
		return h, nil, fmt.Errorf("unknown chunk flags %#x", h.flags)
	}
	return h, b[chunkHeaderSize:end], nil
}

// appendHeader appends the file header:
//
//	 0  8 bytes  magic
//	 8  u16      format version
//	10  u16      incompatible features; a reader that doesn't know one stops
//	12  u32      rows of a vector
//	16  u32      columns
//	20  u64      0
//	28  u32      CRC-32C of bytes 0…27
func appendHeader(dst []byte, columns int) []byte {
	dst = append(dst, fileMagic[:]...)
	dst = binary.LittleEndian.AppendUint16(dst, formatVersion)
	dst = binary.LittleEndian.AppendUint16(dst, 0)
	dst = binary.LittleEndian.AppendUint32(dst, VectorRows)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(columns))
	dst = binary.LittleEndian.AppendUint64(dst, 0)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[len(dst)-28:], castagnoli))
}

func checkHeader(b []byte, columns int) error {
	if [8]byte(b) != fileMagic {
		return fmt.Errorf("bad magic %q", b[:8])
	}
	if crc32.Checksum(b[:28], castagnoli) != binary.LittleEndian.Uint32(b[28:]) {
		return fmt.Errorf("header checksum mismatch")
	}
	if v, f := binary.LittleEndian.Uint16(b[8:]), binary.LittleEndian.Uint16(b[10:]); v != formatVersion || f != 0 {
		return fmt.Errorf("format version %d with features %#x, this build reads version %d", v, f, formatVersion)
	}
	if n := binary.LittleEndian.Uint32(b[12:]); n != VectorRows {
		return fmt.Errorf("vectors of %d rows", n)
	}
	if n := binary.LittleEndian.Uint32(b[16:]); n != uint32(columns) {
		return fmt.Errorf("%d columns, the schema has %d", n, columns)
	}
	return nil
}

// tail ends the file:
//
//	 0  u64      offset of the index chunk
//	 8  u32      its size
//	12  u32      its raw payload length
//	16  u64      rows
//	24  u64      size of the file
//	32  u16      format version
//	34  u16      0
//	36  u32      CRC-32C of bytes 0…35
//	40  8 bytes  magic
type tail struct {
	index extent
	rows  uint64
	size  int64
}

func appendTail(dst []byte, t tail) []byte {
	start := len(dst)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(t.index.off))
	dst = binary.LittleEndian.AppendUint32(dst, t.index.size)
	dst = binary.LittleEndian.AppendUint32(dst, t.index.raw)
	dst = binary.LittleEndian.AppendUint64(dst, t.rows)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(t.size))
	dst = binary.LittleEndian.AppendUint16(dst, formatVersion)
	dst = binary.LittleEndian.AppendUint16(dst, 0)
	dst = binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
	return append(dst, fileMagic[:]...)
}

func parseTail(b []byte, size int64) (tail, error) {
	if [8]byte(b[40:]) != fileMagic {
		return tail{}, fmt.Errorf("bad magic %q at the end: the file was not finished or is cut", b[40:48])
	}
	if crc32.Checksum(b[:36], castagnoli) != binary.LittleEndian.Uint32(b[36:]) {
		return tail{}, fmt.Errorf("tail checksum mismatch")
	}
	t := tail{
		index: extent{off: int64(binary.LittleEndian.Uint64(b)), size: binary.LittleEndian.Uint32(b[8:]), raw: binary.LittleEndian.Uint32(b[12:])},
		rows:  binary.LittleEndian.Uint64(b[16:]), size: int64(binary.LittleEndian.Uint64(b[24:])),
	}
	if v := binary.LittleEndian.Uint16(b[32:]); v != formatVersion {
		return t, fmt.Errorf("tail of format version %d, this build reads %d", v, formatVersion)
	}
	if t.size != size {
		return t, fmt.Errorf("file of %d bytes says %d", size, t.size)
	}
	x := t.index
	if x.off < headerSize || x.size < chunkOverhead || x.off > size || x.end() != size-tailSize || x.raw > maxChunkRaw {
		return t, fmt.Errorf("index at %d, %d bytes, in a file of %d", x.off, x.size, size)
	}
	if t.rows > math.MaxUint32 {
		return t, fmt.Errorf("%d rows", t.rows)
	}
	return t, nil
}

// compatible reports why a file written for schema f can't be read as s: all
// must be equal, but a column may have become nullable meanwhile.
func compatible(f, s *rowcodec.Schema) error {
	if len(f.Columns) != len(s.Columns) {
		return fmt.Errorf("%d columns, the schema has %d", len(f.Columns), len(s.Columns))
	}
	for i, c := range f.Columns {
		c.Nullable = c.Nullable || s.Columns[i].Nullable
		if c != s.Columns[i] {
			return fmt.Errorf("column %d is %+v, the schema says %+v", i, f.Columns[i], s.Columns[i])
		}
	}
	if !f.Equal(&rowcodec.Schema{Columns: f.Columns, Key: s.Key, BloomColumns: s.BloomColumns}) {
		return fmt.Errorf("key %+v, the schema says %+v", f.Key, s.Key)
	}
	return nil
}
