package tablet

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"ksql/internal/vfs"
	"ksql/tablet/rowcodec"
)

// A REDO delta file holds what has happened to the rows of one DiskRowSet up to one
// epoch: per ordinal the newest change list against the file's row, or that the row
// was deleted. The layout is in docs/format/superblock.md:
//
//	header  0  8  magic "KSQLDELT"
//	        8  4  format version
//	       12  8  rowset id
//	       20  4  CRC-32C of bytes 0…19
//	block…  0  4  length n of the content, at most deltaBlockMax
//	        4  4  CRC-32C of the content, seeded with that of the length
//	        8  n  records
//	end     0  4  0
//	        4  4  number of records
//	        8  4  CRC-32C of the 8 bytes before
//
//	record  uvarint ordinal (from the record before, the first from -1) | uvarint epoch
//	        | u8 kind: 1 changed, 2 deleted | changed: bytes change list
const (
	deltaMagic       = "KSQLDELT"
	deltaHeader      = 24
	deltaBlockTarget = 64 << 10
	deltaBlockMax    = rowcodec.MaxRowSize + deltaBlockTarget
	maxDeltaFile     = 8 << 30

	deltaChanged = 1
	deltaDeleted = 2
)

func deltaFileName(rowset, seq uint64) string {
	return fmt.Sprintf("rowsets/%016x-%08x.redo", rowset, seq)
}

// deltaWriter writes one REDO file.
type deltaWriter struct {
	f       vfs.File
	block   []byte
	last    int64
	records uint32
	deleted int
	size    int64
}

func newDeltaWriter(fsys vfs.FS, path string, rowset uint64) (*deltaWriter, error) {
	f, err := fsys.Create(path)
	if err != nil {
		return nil, err
	}
	h := append([]byte(nil), deltaMagic...)
	h = binary.LittleEndian.AppendUint32(h, FormatVersion)
	h = binary.LittleEndian.AppendUint64(h, rowset)
	h = binary.LittleEndian.AppendUint32(h, crc32.Checksum(h, castagnoli))
	w := &deltaWriter{f: f, last: -1}
	if err := w.write(h); err != nil {
		return nil, closeAfter(f, err)
	}
	return w, nil
}

func (w *deltaWriter) write(b []byte) error {
	n, err := w.f.Write(b)
	w.size += int64(n)
	return err
}

// add appends the newest state of an ordinal; a nil change means deleted.
func (w *deltaWriter) add(ordinal uint32, e Epoch, change rowcodec.ChangeList) error {
	w.block = binary.AppendUvarint(w.block, uint64(int64(ordinal)-w.last))
	w.last = int64(ordinal)
	w.block = binary.AppendUvarint(w.block, uint64(e))
	if change == nil {
		w.block = append(w.block, deltaDeleted)
		w.deleted++
	} else {
		w.block = append(w.block, deltaChanged)
		w.block = appendBytes(w.block, change)
	}
	w.records++
	if len(w.block) >= deltaBlockTarget {
		return w.flush()
	}
	return nil
}

func (w *deltaWriter) flush() error {
	if len(w.block) == 0 {
		return nil
	}
	var h [8]byte
	binary.LittleEndian.PutUint32(h[:], uint32(len(w.block)))
	binary.LittleEndian.PutUint32(h[4:], deltaBlockCRC(h[:4], w.block))
	if err := w.write(h[:]); err != nil {
		return err
	}
	err := w.write(w.block)
	w.block = w.block[:0]
	return err
}

func deltaBlockCRC(length, content []byte) uint32 {
	return crc32.Update(crc32.Checksum(length, castagnoli), castagnoli, content)
}

// finish ends and syncs the file.
func (w *deltaWriter) finish() error {
	if err := w.flush(); err != nil {
		return err
	}
	var end [12]byte
	binary.LittleEndian.PutUint32(end[4:], w.records)
	binary.LittleEndian.PutUint32(end[8:], crc32.Checksum(end[:8], castagnoli))
	if err := w.write(end[:]); err != nil {
		return err
	}
	return w.f.Sync()
}

// deltaRecord is one record of a REDO file.
type deltaRecord struct {
	ordinal uint32
	epoch   Epoch
	change  rowcodec.ChangeList // nil = deleted
}

// readDeltaFile checks every byte of a REDO file and visits its records.
func readDeltaFile(fsys vfs.FS, path, name string, rowset uint64, rows int, s *rowcodec.Schema, visit func(deltaRecord)) error {
	b, err := vfs.ReadFile(fsys, path, maxDeltaFile)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	off := int64(0)
	bad := func(format string, args ...any) error {
		return &CorruptionError{File: name, Offset: off, Reason: fmt.Sprintf(format, args...)}
	}
	if len(b) < deltaHeader || string(b[:8]) != deltaMagic ||
		binary.LittleEndian.Uint32(b[20:]) != crc32.Checksum(b[:20], castagnoli) {
		return bad("bad header")
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != FormatVersion {
		return bad("format version %d, this program knows %d", v, FormatVersion)
	}
	if id := binary.LittleEndian.Uint64(b[12:]); id != rowset {
		return bad("belongs to rowset %d", id)
	}
	p := deltaParser{last: -1, rows: int64(rows), schema: s, visit: visit}
	for off = deltaHeader; ; {
		rest := b[off:]
		if len(rest) < 12 {
			return bad("ends without its end block")
		}
		n := int64(binary.LittleEndian.Uint32(rest))
		if n == 0 {
			if binary.LittleEndian.Uint32(rest[8:]) != crc32.Checksum(rest[:8], castagnoli) ||
				binary.LittleEndian.Uint32(rest[4:]) != p.records || len(rest) != 12 {
				return bad("bad end block")
			}
			return nil
		}
		if n > deltaBlockMax || n > int64(len(rest))-8 {
			return bad("block of %d bytes, %d are left", n, len(rest)-8)
		}
		if binary.LittleEndian.Uint32(rest[4:]) != deltaBlockCRC(rest[:4], rest[8:8+n]) {
			return bad("wrong checksum of a block")
		}
		if err := p.block(rest[8 : 8+n]); err != nil {
			return bad("%v", err)
		}
		off += 8 + n
	}
}

type deltaParser struct {
	last, rows int64
	records    uint32
	schema     *rowcodec.Schema
	visit      func(deltaRecord)
}

func (p *deltaParser) block(b []byte) error {
	r := &recordReader{b: b}
	for r.more() {
		ord := p.last + int64(r.limited(1<<32, "ordinal"))
		rec := deltaRecord{epoch: Epoch(r.uvarint())}
		switch r.byte() {
		case deltaChanged:
			rec.change = rowcodec.ChangeList(r.bytes())
			if rec.change == nil {
				rec.change = rowcodec.ChangeList{}
			}
		case deltaDeleted:
		default:
			r.fail("bad kind")
		}
		if r.err != nil {
			return r.err
		}
		if ord <= p.last || ord >= p.rows {
			return fmt.Errorf("ordinal %d after %d of %d rows", ord, p.last, p.rows)
		}
		if err := rowcodec.ValidateChangeList(p.schema, rec.change); err != nil {
			return err
		}
		rec.ordinal = uint32(ord)
		p.last = ord
		p.records++
		p.visit(rec)
	}
	return r.err
}

// loadDeltas puts the REDO file's records into the DeltaMemStore; none of them if the
// file is damaged.
func (d *DiskRowSet) loadDeltas() error {
	name := deltaFileName(d.id, d.delta.Seq)
	var records []deltaRecord
	err := readDeltaFile(d.t.m.fs, d.t.m.path(name), name, d.id, d.rows, d.t.schema, func(r deltaRecord) {
		records = append(records, r)
	})
	if err != nil {
		return err
	}
	for _, r := range records {
		v := &rowVersion{epoch: r.epoch, kind: versionChange, image: r.change}
		if r.change == nil {
			v.kind = versionDeleted
		}
		v.prev.Store(baseVersion)
		d.dms.put(r.ordinal, v, false)
	}
	return nil
}
