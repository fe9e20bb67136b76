package cfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// A bytes block holds the non-NULL values of a Bytes column in one vector; the
// encoding is in the chunk header (a long value counts as empty here):
//
//	plain  int block of lengths, contents
//	dict   uvarint entries, int block of their lengths, their contents in ascending order, int block of codes
//
// A chunk with flagLong goes on with the references of its long values:
//
//	uvarint long values; int blocks: slots ascending, first blob, offset in it, length
//	uvarint blobs; int blocks: file offset, stored size, raw size
//
// A long value is length bytes of the concatenation of the blobs from its first on.
func appendBytesPlain(dst, data []byte, ends []uint32) []byte {
	return append(appendInts(dst, lengths(ends), false), data...)
}

func lengths(ends []uint32) []uint64 {
	out := make([]uint64, len(ends))
	var prev uint32
	for i, e := range ends {
		out[i] = uint64(e - prev)
		prev = e
	}
	return out
}

// bytesDict is a dictionary of a vector's values, sorted.
type bytesDict struct {
	entries [][]byte
	codes   []uint64
}

// buildBytesDict returns a dictionary of the values, nil if too many are
// different for it to pay: more than half of them, judged after 256 already.
func buildBytesDict(data []byte, ends []uint32) *bytesDict {
	const tableSize = 2 * VectorRows
	var table [tableSize]uint16 // entry + 1
	d := &bytesDict{}
	var codes []uint64
	var start uint32
	for i, end := range ends {
		v := data[start:end]
		start = end
		slot := xxhash.Sum64(v) % tableSize
		for table[slot] != 0 && !bytes.Equal(d.entries[table[slot]-1], v) {
			slot = (slot + 1) % tableSize
		}
		if table[slot] == 0 {
			if n := len(d.entries); n >= len(ends)/2+1 || (i >= 256 && n > i/2) {
				return nil
			}
			d.entries = append(d.entries, v)
			table[slot] = uint16(len(d.entries))
		}
		codes = append(codes, uint64(table[slot]-1))
	}
	d.codes = codes
	d.sort()
	return d
}

// sort puts the entries in order, so that a code compares as its value does.
func (d *bytesDict) sort() {
	perm := make([]int, len(d.entries))
	for i := range perm {
		perm[i] = i
	}
	slices.SortFunc(perm, func(a, b int) int { return bytes.Compare(d.entries[a], d.entries[b]) })
	sorted := make([][]byte, len(perm))
	rank := make([]uint64, len(perm))
	for i, p := range perm {
		sorted[i] = d.entries[p]
		rank[p] = uint64(i)
	}
	d.entries = sorted
	for i, c := range d.codes {
		d.codes[i] = rank[c]
	}
}

func (d *bytesDict) append(dst []byte) []byte {
	lens := make([]uint64, len(d.entries))
	for i, e := range d.entries {
		lens[i] = uint64(len(e))
	}
	dst = binary.AppendUvarint(dst, uint64(len(d.entries)))
	dst = appendInts(dst, lens, false)
	for _, e := range d.entries {
		dst = append(dst, e...)
	}
	return appendInts(dst, d.codes, false)
}

// stringList reads n strings whose lengths are an int block: offsets has n+1 entries.
func stringList(r *byteReader, n int) (offsets []uint32, data []byte) {
	words := make([]uint64, n)
	r.ints(words)
	offsets = make([]uint32, n+1)
	var total uint64
	for i, l := range words {
		total += l
		if l > uint64(len(r.b)) || total > uint64(len(r.b)) {
			r.fail(errShort)
			return make([]uint32, n+1), nil
		}
		offsets[i+1] = uint32(total)
	}
	return offsets, r.take(total)
}

// longRef is where a long value lies.
type longRef struct {
	blob   uint32 // first blob
	inner  uint32 // where in it
	length uint32
}

// longValues is the decoded list of references of one vector.
type longValues struct {
	index []uint16 // per slot: reference + 1, 0 = inline
	refs  []longRef
	blobs []extent
}

func appendLong(dst []byte, slots []uint64, refs []longRef, blobs []extent) []byte {
	words := make([]uint64, max(len(refs), len(blobs)))
	block := func(n int, word func(i int) uint64) {
		for i := range n {
			words[i] = word(i)
		}
		dst = appendInts(dst, words[:n], false)
	}
	dst = binary.AppendUvarint(dst, uint64(len(refs)))
	dst = appendInts(dst, slots, false)
	block(len(refs), func(i int) uint64 { return uint64(refs[i].blob) })
	block(len(refs), func(i int) uint64 { return uint64(refs[i].inner) })
	block(len(refs), func(i int) uint64 { return uint64(refs[i].length) })
	dst = binary.AppendUvarint(dst, uint64(len(blobs)))
	block(len(blobs), func(i int) uint64 { return uint64(blobs[i].off) })
	block(len(blobs), func(i int) uint64 { return uint64(blobs[i].size) })
	block(len(blobs), func(i int) uint64 { return uint64(blobs[i].raw) })
	return dst
}

// decodeLong reads the references of a vector of rows slots in a file whose
// chunks end at limit. NULL and repeated slots, blobs outside the file and
// values outside their blobs are refused.
func decodeLong(r *byteReader, rows int, limit int64) (*longValues, error) {
	n := int(r.uvarint(uint64(rows)))
	slots, first, inner, length := make([]uint64, n), make([]uint64, n), make([]uint64, n), make([]uint64, n)
	for _, w := range [][]uint64{slots, first, inner, length} {
		r.ints(w)
	}
	// A blob takes chunkOverhead bytes of the file at least, which bounds their number.
	count := int(r.uvarint(uint64(limit) / chunkOverhead))
	offs, sizes, raws := make([]uint64, count), make([]uint64, count), make([]uint64, count)
	for _, w := range [][]uint64{offs, sizes, raws} {
		r.ints(w)
	}
	if r.err != nil {
		return nil, r.err
	}
	l := &longValues{index: make([]uint16, rows), refs: make([]longRef, n), blobs: make([]extent, count)}
	starts := make([]uint64, count+1) // of each blob in the concatenation of all
	for i := range offs {
		if err := checkExtent(offs[i], sizes[i], raws[i], limit); err != nil {
			return nil, fmt.Errorf("blob %d: %w", i, err)
		}
		l.blobs[i] = extent{off: int64(offs[i]), size: uint32(sizes[i]), raw: uint32(raws[i])}
		starts[i+1] = starts[i] + raws[i]
	}
	prev := -1
	for i := range slots {
		slot := int(min(slots[i], uint64(rows)))
		if slot <= prev || slot >= rows || first[i] >= uint64(count) || length[i] > maxChunkRaw ||
			inner[i] > raws[first[i]] || starts[first[i]]+inner[i]+length[i] > starts[count] {
			return nil, fmt.Errorf("long value %d: slot %d, blob %d of %d, offset %d, length %d", i, slots[i], first[i], count, inner[i], length[i])
		}
		l.index[slot] = uint16(i + 1)
		l.refs[i] = longRef{blob: uint32(first[i]), inner: uint32(inner[i]), length: uint32(length[i])}
		prev = slot
	}
	return l, nil
}

// checkExtent reports a chunk that does not lie between header and limit.
func checkExtent(off, size, raw uint64, limit int64) error {
	if off < headerSize || off > uint64(limit) || size < chunkOverhead || size > uint64(limit)-off || raw > maxChunkRaw {
		return fmt.Errorf("chunk at %d, %d bytes (%d raw) in %d bytes of chunks", off, size, raw, limit)
	}
	return nil
}

// blobsOf returns the blobs that hold a reference's bytes.
func (l *longValues) blobsOf(ref longRef) []extent {
	need := uint64(ref.inner) + uint64(ref.length)
	rest := l.blobs[ref.blob:]
	var sum uint64
	for i, b := range rest {
		if sum += uint64(b.raw); sum >= need {
			return rest[:i+1]
		}
	}
	return rest
}

// cost estimates the bytes that the dictionary form takes.
func (d *bytesDict) cost() int {
	n := len(d.entries) + packedLen(len(d.codes), bits.Len(uint(len(d.entries))))
	for _, e := range d.entries {
		n += len(e)
	}
	return n
}
