package rowcodec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

const (
	// MaxColumns is the largest number of columns of a row or a key, MySQL's own limit.
	MaxColumns = 4096
	// MaxRowSize is the largest packed row in bytes (1 GiB, max_allowed_packet's ceiling).
	MaxRowSize = 1 << 30

	schemaVersion = 0
)

// ErrMalformed is wrapped by every error that says that bytes are not what the
// schema says they are. It names no file: the caller knows where they came from.
var ErrMalformed = errors.New("malformed encoding")

// Column describes one column of a row.
type Column struct {
	Kind      Kind
	Nullable  bool
	ID        uint32 // stable identity across ALTER TABLE, opaque here
	Collation uint16 // opaque collation id, 0 = binary
}

// KeyColumn describes one column of a key. Bytes in keys are already collation weights or raw bytes.
type KeyColumn struct {
	Kind     Kind
	Nullable bool
}

// Schema describes the rows and keys of one tablet. It is a plain value that
// is not changed once rows exist; readers may share it.
type Schema struct {
	Columns []Column
	Key     []KeyColumn
	// BloomColumns is the number of leading key columns that the bloom filter hashes; 0 = the whole key.
	BloomColumns int
}

// Validate checks what every other function takes for granted: known kinds, limits, BloomColumns within the key.
func (s *Schema) Validate() error {
	if len(s.Columns) > MaxColumns || len(s.Key) > MaxColumns {
		return fmt.Errorf("schema: %d columns, %d key columns: the limit is %d", len(s.Columns), len(s.Key), MaxColumns)
	}
	for i, c := range s.Columns {
		if !c.Kind.Valid() {
			return fmt.Errorf("schema: column %d has %v", i, c.Kind)
		}
	}
	for i, c := range s.Key {
		if !c.Kind.Valid() {
			return fmt.Errorf("schema: key column %d has %v", i, c.Kind)
		}
	}
	if s.BloomColumns < 0 || s.BloomColumns > len(s.Key) {
		return fmt.Errorf("schema: %d bloom columns of %d key columns", s.BloomColumns, len(s.Key))
	}
	return nil
}

// Equal reports whether two schemas describe the same bytes.
func (s *Schema) Equal(o *Schema) bool {
	return s.BloomColumns == o.BloomColumns && slices.Equal(s.Columns, o.Columns) && slices.Equal(s.Key, o.Key)
}

// Marshal encodes the schema:
//
//	u8 version | uvarint columns | {u8 kind, u8 nullable, uvarint id, uvarint collation}…
//	| uvarint key columns | {u8 kind, u8 nullable}… | uvarint bloom columns
func (s *Schema) Marshal() []byte {
	b := make([]byte, 0, 8+8*len(s.Columns)+2*len(s.Key))
	b = append(b, schemaVersion)
	b = binary.AppendUvarint(b, uint64(len(s.Columns)))
	for _, c := range s.Columns {
		b = append(b, byte(c.Kind), boolByte(c.Nullable))
		b = binary.AppendUvarint(b, uint64(c.ID))
		b = binary.AppendUvarint(b, uint64(c.Collation))
	}
	b = binary.AppendUvarint(b, uint64(len(s.Key)))
	for _, c := range s.Key {
		b = append(b, byte(c.Kind), boolByte(c.Nullable))
	}
	return binary.AppendUvarint(b, uint64(s.BloomColumns))
}

// Unmarshal decodes exactly b into s. Errors wrap ErrMalformed and leave s as it was.
func (s *Schema) Unmarshal(b []byte) error {
	d := decoder{b: b}
	if v := d.byte(); d.err == nil && v != schemaVersion {
		return fmt.Errorf("schema version %d, want %d: %w", v, schemaVersion, ErrMalformed)
	}
	var out Schema
	n := d.uvarint(MaxColumns)
	// Each column takes ≥ 4 bytes: a short input can't make us allocate for a long one.
	out.Columns = make([]Column, 0, min(n, uint64(len(d.b)/4)))
	for i := uint64(0); i < n && d.err == nil; i++ {
		out.Columns = append(out.Columns, Column{
			Kind: d.kind(), Nullable: d.bool(), ID: uint32(d.uvarint(1<<32 - 1)), Collation: uint16(d.uvarint(1<<16 - 1)),
		})
	}
	n = d.uvarint(MaxColumns)
	out.Key = make([]KeyColumn, 0, min(n, uint64(len(d.b)/2)))
	for i := uint64(0); i < n && d.err == nil; i++ {
		out.Key = append(out.Key, KeyColumn{Kind: d.kind(), Nullable: d.bool()})
	}
	out.BloomColumns = int(d.uvarint(uint64(len(out.Key))))
	if d.err == nil && len(d.b) > 0 {
		d.fail("bytes after the end")
	}
	if d.err != nil {
		return fmt.Errorf("schema: %w", d.err)
	}
	*s = out
	return nil
}

func boolByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}
