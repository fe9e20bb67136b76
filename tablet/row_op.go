package tablet

import "ksql/tablet/rowcodec"

// RowOpType is the kind of a row operation. Persistent in log records: do not
// reorder.
type RowOpType uint8

const (
	OpInsert RowOpType = 1 // the key must be absent
	OpUpdate RowOpType = 2 // the key must be live
	OpDelete RowOpType = 3 // the key must be live
	OpUpsert RowOpType = 4 // either; logged as insert or update once resolved
)

func (t RowOpType) String() string {
	switch t {
	case OpInsert:
		return "insert"
	case OpUpdate:
		return "update"
	case OpDelete:
		return "delete"
	case OpUpsert:
		return "upsert"
	}
	return "invalid"
}

// RowOp is one row operation of a batch. The transaction keeps Key and Row: the
// caller must not change their bytes afterwards.
type RowOp struct {
	Type RowOpType
	Key  []byte       // encoded key, see rowcodec.AppendKey
	Row  rowcodec.Row // full new image; nil for OpDelete
	// Ref is the location that a Probe, Get or Scan found (after the key was
	// locked); zero = unknown.
	Ref RowRef
	// Absent: the caller knows that no live row has the key (an index entry that
	// holds the key of a row which is new itself), so an OpInsert needs no probe.
	Absent bool
}

// RowRef is where the newest version of a row lives: a row of a MemRowSet or an
// ordinal of a DiskRowSet. It stays valid while that rowset is a component of its
// tablet; a stale one is found out at prepare and costs one more probe.
type RowRef struct {
	rowset  uint64 // MemRowSet or DiskRowSet id; one number space; 0 = unknown
	ordinal uint32 // DiskRowSet only
	row     *memRow
}

// IsZero tells whether r names no location.
func (r RowRef) IsZero() bool { return r.rowset == 0 }
