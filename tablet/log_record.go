package tablet

import (
	"encoding/binary"
	"errors"
	"fmt"

	"ksql/tablet/rowcodec"
)

// Sections of a commit's log payload. Persistent: do not reorder.
//
//	u8 version = 0 | section…
//
//	create   u8 1 | uvarint tablet | bytes schema
//	drop     u8 2 | uvarint tablet
//	raise    u8 3 | uvarint tablet | uvarint slot | uvarint value
//	set      u8 4 | uvarint tablet | uvarint slot | uvarint value
//	ops      u8 5 | uvarint tablet | uvarint count | op…
//
//	op       u8 type (RowOpType), +16 if the row is in a DiskRowSet | place | content
//	  place    in memory: bytes key          on disk: uvarint rowset | uvarint ordinal
//	  content  insert: bytes packed row      update: bytes change list      delete: none
//
// bytes = uvarint length | content. Sections stand in the order in which they are
// applied. An insert always goes to memory. The log's own framing says where a
// payload ends and that it is whole.
const (
	recordVersion = 0

	sectionCreate = 1
	sectionDrop   = 2
	sectionRaise  = 3
	sectionSet    = 4
	sectionOps    = 5

	opOnDisk = 16
)

var errMalformedRecord = errors.New("malformed log record")

func appendBytes(dst, b []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(b)))
	return append(dst, b...)
}

func appendTabletSection(dst []byte, section byte, id TabletID) []byte {
	return binary.AppendUvarint(append(dst, section), uint64(id))
}

func appendCounter(dst []byte, section byte, id TabletID, slot int, value uint64) []byte {
	dst = appendTabletSection(dst, section, id)
	dst = binary.AppendUvarint(dst, uint64(slot))
	return binary.AppendUvarint(dst, value)
}

// appendOp encodes a resolved op; change is the change list of an update.
func appendOp(dst []byte, op *resolvedOp, change rowcodec.ChangeList) []byte {
	if op.disk != nil {
		dst = append(dst, byte(op.typ)|opOnDisk)
		dst = binary.AppendUvarint(dst, op.disk.id)
		dst = binary.AppendUvarint(dst, uint64(op.ordinal))
	} else {
		dst = append(dst, byte(op.typ))
		dst = appendBytes(dst, op.key)
	}
	switch op.typ {
	case OpInsert:
		dst = appendBytes(dst, op.image)
	case OpUpdate:
		dst = appendBytes(dst, change)
	}
	return dst
}

// recordReader walks a payload. Its first error sticks.
type recordReader struct {
	b   []byte
	err error
}

func newRecordReader(payload []byte) *recordReader {
	r := &recordReader{b: payload}
	if v := r.byte(); r.err == nil && v != recordVersion {
		r.err = fmt.Errorf("record version %d: %w", v, errMalformedRecord)
	}
	return r
}

func (r *recordReader) fail(what string) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: %w", what, errMalformedRecord)
		r.b = nil
	}
}

func (r *recordReader) byte() byte {
	if len(r.b) == 0 {
		r.fail("truncated")
		return 0
	}
	b := r.b[0]
	r.b = r.b[1:]
	return b
}

func (r *recordReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail("bad number")
		return 0
	}
	r.b = r.b[n:]
	return v
}

// limited is a number of at most max.
func (r *recordReader) limited(max uint64, what string) uint64 {
	v := r.uvarint()
	if v > max {
		r.fail(what + " out of range")
		return 0
	}
	return v
}

// bytes aliases the payload.
func (r *recordReader) bytes() []byte {
	n := r.uvarint()
	if n > uint64(len(r.b)) {
		r.fail("bad length")
		return nil
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

// more tells whether another section follows.
func (r *recordReader) more() bool { return r.err == nil && len(r.b) > 0 }

// loggedOp is one op as the log has it.
type loggedOp struct {
	typ     RowOpType
	onDisk  bool
	rowset  uint64
	ordinal uint32
	key     []byte
	content []byte // packed row or change list
}

func (r *recordReader) op() loggedOp {
	b := r.byte()
	op := loggedOp{typ: RowOpType(b &^ opOnDisk), onDisk: b&opOnDisk != 0}
	if op.typ < OpInsert || op.typ > OpDelete || op.onDisk && op.typ == OpInsert {
		r.fail("bad operation")
		return op
	}
	if op.onDisk {
		op.rowset = r.uvarint()
		op.ordinal = uint32(r.limited(1<<32-1, "ordinal"))
	} else {
		op.key = r.bytes()
	}
	if op.typ != OpDelete {
		op.content = r.bytes()
	}
	return op
}
