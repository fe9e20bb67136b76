package tablet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"

	"ksql/internal/vfs"
	"ksql/tablet/rowcodec"
	"ksql/tablet/wal"
)

// The superblock names everything that the folder consists of besides the log. The
// layout is in docs/format/superblock.md:
//
//	copy | copy                        both the same; the second starts at size/2
//
//	 0  8  magic "KSQLSB\r\n"
//	 8  4  format version
//	12  8  body length
//	20  4  CRC-32C of bytes 0…19
//	24  n  body
//	    4  CRC-32C of the body
const (
	superBlockName   = "SUPERBLOCK"
	superBlockTemp   = "SUPERBLOCK.new"
	superBlockMagic  = "KSQLSB\r\n"
	superBlockHeader = 24
	// FormatVersion is the version of everything in the folder. 0 = may still change.
	FormatVersion = 0
	// maxSuperBlock bounds what is read: a million tablets of 1 KiB.
	maxSuperBlock = 2 << 30
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// SuperBlock is the content of the superblock file.
type SuperBlock struct {
	Sequence   uint64  // counts installs
	Epoch      Epoch   // creations, drops and counters up to it are in here
	LastWall   int64   // of Epoch, microseconds
	ReplayFrom wal.LSN // where recovery starts
	NextTablet TabletID
	NextRowSet uint64
	Tablets    []SuperBlockTablet
}

// SuperBlockTablet describes one tablet.
type SuperBlockTablet struct {
	ID       TabletID
	Schema   *rowcodec.Schema
	Durable  Epoch // every op of this tablet with an epoch ≤ Durable is in its files
	Counters [counterSlots]uint64
	RowSets  []SuperBlockRowSet
}

// SuperBlockRowSet describes one DiskRowSet.
type SuperBlockRowSet struct {
	ID             uint64
	MemRowSet      uint64 // the MemRowSet that the rows came from
	Rows           int
	Live           int // rows that the delta file does not delete
	Bytes          int64
	MinKey, MaxKey []byte
	Delta          deltaFileInfo
}

// deltaFileInfo names a rowset's REDO file; Seq 0 = none.
type deltaFileInfo struct {
	Seq   uint64
	Bytes int64
}

func (sb *SuperBlock) encode() []byte {
	b := make([]byte, 0, 256+512*len(sb.Tablets))
	b = append(b, superBlockMagic...)
	b = binary.LittleEndian.AppendUint32(b, FormatVersion)
	b = append(b, make([]byte, 12)...)
	for _, v := range []uint64{sb.Sequence, uint64(sb.Epoch), uint64(sb.LastWall), uint64(sb.ReplayFrom),
		uint64(sb.NextTablet), sb.NextRowSet, uint64(len(sb.Tablets))} {
		b = binary.AppendUvarint(b, v)
	}
	for i := range sb.Tablets {
		b = sb.Tablets[i].encode(b)
	}
	binary.LittleEndian.PutUint64(b[12:], uint64(len(b)-superBlockHeader))
	binary.LittleEndian.PutUint32(b[20:], crc32.Checksum(b[:20], castagnoli))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[superBlockHeader:], castagnoli))
	return append(b, b...)
}

func (t *SuperBlockTablet) encode(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(t.ID))
	b = appendBytes(b, t.Schema.Marshal())
	b = binary.AppendUvarint(b, uint64(t.Durable))
	for _, c := range t.Counters {
		b = binary.AppendUvarint(b, c)
	}
	b = binary.AppendUvarint(b, uint64(len(t.RowSets)))
	for i := range t.RowSets {
		r := &t.RowSets[i]
		for _, v := range []uint64{r.ID, r.MemRowSet, uint64(r.Rows), uint64(r.Live), uint64(r.Bytes), r.Delta.Seq, uint64(r.Delta.Bytes)} {
			b = binary.AppendUvarint(b, v)
		}
		b = appendBytes(b, r.MinKey)
		b = appendBytes(b, r.MaxKey)
	}
	return b
}

// decodeSuperBlock reads the first good copy. damaged is the fault of the other one.
func decodeSuperBlock(b []byte) (sb *SuperBlock, damaged error, err error) {
	half := len(b) / 2
	first, err1 := decodeCopy(b, 0)
	second, err2 := decodeCopy(b[half:], int64(half))
	switch {
	case err1 == nil && err2 == nil:
		return first, nil, nil
	case err1 == nil:
		return first, err2, nil
	case err2 == nil:
		return second, err1, nil
	}
	return nil, nil, err1
}

func decodeCopy(b []byte, off int64) (*SuperBlock, error) {
	bad := func(at int64, reason string) error {
		return &CorruptionError{File: superBlockName, Offset: off + at, Reason: reason}
	}
	if len(b) < superBlockHeader+4 {
		return nil, bad(0, fmt.Sprintf("%d bytes left, the header takes %d", len(b), superBlockHeader))
	}
	if string(b[:8]) != superBlockMagic {
		return nil, bad(0, "wrong magic")
	}
	if binary.LittleEndian.Uint32(b[20:]) != crc32.Checksum(b[:20], castagnoli) {
		return nil, bad(20, "wrong checksum of the header")
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != FormatVersion {
		return nil, bad(8, fmt.Sprintf("format version %d, this program knows %d", v, FormatVersion))
	}
	n := binary.LittleEndian.Uint64(b[12:])
	if n > uint64(len(b)-superBlockHeader-4) {
		return nil, bad(12, fmt.Sprintf("body of %d bytes in a file of %d", n, off+int64(len(b))))
	}
	body := b[superBlockHeader : superBlockHeader+n]
	if binary.LittleEndian.Uint32(b[superBlockHeader+n:]) != crc32.Checksum(body, castagnoli) {
		return nil, bad(superBlockHeader, "wrong checksum of the body")
	}
	sb, err := decodeBody(body)
	if err != nil {
		return nil, bad(superBlockHeader, err.Error())
	}
	return sb, nil
}

func decodeBody(body []byte) (*SuperBlock, error) {
	r := &recordReader{b: body}
	sb := &SuperBlock{Sequence: r.uvarint(), Epoch: Epoch(r.uvarint()), LastWall: int64(r.uvarint()),
		ReplayFrom: wal.LSN(r.uvarint()), NextTablet: TabletID(r.uvarint()), NextRowSet: r.uvarint()}
	for n := r.uvarint(); n > 0 && r.err == nil; n-- {
		t := SuperBlockTablet{ID: TabletID(r.uvarint()), Schema: new(rowcodec.Schema)}
		if err := t.Schema.Unmarshal(r.bytes()); r.err == nil && err != nil {
			return nil, fmt.Errorf("tablet %d: %w", t.ID, err)
		}
		t.Durable = Epoch(r.uvarint())
		for i := range t.Counters {
			t.Counters[i] = r.uvarint()
		}
		for k := r.uvarint(); k > 0 && r.err == nil; k-- {
			t.RowSets = append(t.RowSets, SuperBlockRowSet{
				ID: r.uvarint(), MemRowSet: r.uvarint(),
				Rows: int(r.limited(1<<32, "rows")), Live: int(r.limited(1<<32, "live rows")),
				Bytes:  int64(r.limited(1<<62, "bytes")),
				Delta:  deltaFileInfo{Seq: r.uvarint(), Bytes: int64(r.limited(1<<62, "bytes"))},
				MinKey: r.bytes(), MaxKey: r.bytes(),
			})
		}
		sb.Tablets = append(sb.Tablets, t)
	}
	if r.err == nil && len(r.b) > 0 {
		r.fail("bytes after the end")
	}
	return sb, r.err
}

// loadSuperBlock reads the folder's superblock; nil if there is none.
func loadSuperBlock(fsys vfs.FS, path string) (sb *SuperBlock, damaged error, err error) {
	b, err := vfs.ReadFile(fsys, path, maxSuperBlock)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", superBlockName, err)
	}
	return decodeSuperBlock(b)
}

// install makes sb the folder's superblock: temporary file, sync, rename, sync of the
// directory. It is the only rename in this package. renamed tells whether an error
// came after the point where a crash can show either superblock.
func (sb *SuperBlock) install(fsys vfs.FS, dir string) (renamed bool, err error) {
	temp := dir + "/" + superBlockTemp
	f, err := fsys.Create(temp)
	if err != nil {
		return false, fmt.Errorf("create %s: %w", superBlockTemp, err)
	}
	if _, err := f.Write(sb.encode()); err != nil {
		return false, closeAfter(f, fmt.Errorf("write %s: %w", superBlockTemp, err))
	}
	if err := f.Sync(); err != nil {
		return false, closeAfter(f, fmt.Errorf("sync %s: %w", superBlockTemp, err))
	}
	if err := f.Close(); err != nil {
		return false, fmt.Errorf("close %s: %w", superBlockTemp, err)
	}
	if err := fsys.Rename(temp, dir+"/"+superBlockName); err != nil {
		return true, fmt.Errorf("install %s: %w", superBlockName, err)
	}
	if err := vfs.SyncDir(fsys, dir); err != nil {
		return true, fmt.Errorf("sync data folder: %w", err)
	}
	return true, nil
}
