package cfile

import (
	"encoding/binary"
	"fmt"

	"ksql/tablet/rowcodec"
)

// The payload of the index chunk, which a reader keeps in memory whole:
//
//	uvarint length, marshalled schema
//	uvarint vectors
//	uvarint length, first key of the file; uvarint length, last key     (if there are vectors)
//	directory of the key chunks
//	first keys: int block of lengths, contents
//	per column: directory; one byte of zone map flags a vector;
//	            fixed kinds: int blocks of the minima and of the maxima; Bytes: int block of 2·vectors lengths, contents
//	uvarint bloom pages; directory; int block of keys a page; first keys as above
//
// A directory is three int blocks: offsets, sizes, raw sizes of the chunks.
type directory struct {
	off, size, raw []uint64
}

func (d *directory) add(x extent) {
	d.off = append(d.off, uint64(x.off))
	d.size = append(d.size, uint64(x.size))
	d.raw = append(d.raw, uint64(x.raw))
}

func (d *directory) append(dst []byte) []byte {
	dst = appendInts(dst, d.off, false)
	dst = appendInts(dst, d.size, false)
	return appendInts(dst, d.raw, false)
}

// keyList collects keys for a keyIndex.
type keyList struct {
	lens []uint64
	data []byte
}

func (l *keyList) add(key []byte) {
	l.lens = append(l.lens, uint64(len(key)))
	l.data = append(l.data, key...)
}

func (l *keyList) append(dst []byte) []byte {
	return append(appendInts(dst, l.lens, false), l.data...)
}

// indexBuilder collects what the index chunk says, vector by vector.
type indexBuilder struct {
	vectors   int
	keys      directory
	firstKeys keyList
	columns   []directory
	zones     []zoneBuilder
	blooms    directory
	bloomKeys []uint64
	bloomList keyList
}

func (b *indexBuilder) append(dst []byte, s *rowcodec.Schema, minKey, maxKey []byte) []byte {
	schema := s.Marshal()
	dst = appendString(dst, schema)
	dst = binary.AppendUvarint(dst, uint64(b.vectors))
	if b.vectors > 0 {
		dst = appendString(appendString(dst, minKey), maxKey)
	}
	dst = b.firstKeys.append(b.keys.append(dst))
	for i := range b.columns {
		z := &b.zones[i]
		dst = append(b.columns[i].append(dst), z.flags...)
		switch k := s.Columns[i].Kind; k {
		case rowcodec.KindBytes:
			dst = append(appendInts(dst, z.lens, false), z.data...)
		default:
			dst = appendInts(dst, z.min, k == rowcodec.KindInt64)
			dst = appendInts(dst, z.max, k == rowcodec.KindInt64)
		}
	}
	dst = binary.AppendUvarint(dst, uint64(len(b.bloomKeys)))
	dst = appendInts(b.blooms.append(dst), b.bloomKeys, false)
	return b.bloomList.append(dst)
}

func appendString(dst, s []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// fileIndex is the decoded index chunk.
type fileIndex struct {
	schema         rowcodec.Schema
	vectors        int
	minKey, maxKey []byte
	keys           []extent
	first          keyIndex
	columns        [][]extent
	zones          []zones
	blooms         []extent
	bloomKeys      []uint64
	bloomFirst     keyIndex
}

// decodeIndex decodes the index of a file of rows rows whose other chunks end
// at limit. It keeps payload.
func decodeIndex(payload []byte, rows uint64, limit int64) (*fileIndex, error) {
	r := &byteReader{b: payload}
	x := &fileIndex{}
	schema := r.take(r.uvarint(uint64(len(r.b))))
	if r.err != nil {
		return nil, r.err
	}
	if err := x.schema.Unmarshal(schema); err != nil {
		return nil, err
	}
	// Each vector has a chunk of keys, so the file's length bounds their number.
	x.vectors = int(r.uvarint(uint64(limit) / chunkOverhead))
	if r.err == nil && uint64(x.vectors) != (rows+VectorRows-1)/VectorRows {
		return nil, fmt.Errorf("%d vectors for %d rows", x.vectors, rows)
	}
	if x.vectors > 0 {
		x.minKey = r.take(r.uvarint(MaxKeySize))
		x.maxKey = r.take(r.uvarint(MaxKeySize))
	}
	x.keys = readDirectory(r, x.vectors, limit)
	x.first = newKeyIndex(stringList(r, x.vectors))
	for _, c := range x.schema.Columns {
		if r.err != nil {
			return nil, r.err
		}
		x.columns = append(x.columns, readDirectory(r, x.vectors, limit))
		x.zones = append(x.zones, readZones(r, c.Kind, x.vectors))
	}
	pages := int(r.uvarint(uint64(limit) / chunkOverhead))
	x.blooms = readDirectory(r, pages, limit)
	x.bloomKeys = make([]uint64, pages)
	r.ints(x.bloomKeys)
	x.bloomFirst = newKeyIndex(stringList(r, pages))
	if err := r.end(); err != nil {
		return nil, err
	}
	return x, nil
}

func readDirectory(r *byteReader, n int, limit int64) []extent {
	off, size, raw := make([]uint64, n), make([]uint64, n), make([]uint64, n)
	r.ints(off)
	r.ints(size)
	r.ints(raw)
	if r.err != nil {
		return nil
	}
	out := make([]extent, n)
	for i := range out {
		if err := checkExtent(off[i], size[i], raw[i], limit); err != nil {
			r.fail(err)
			return nil
		}
		out[i] = extent{off: int64(off[i]), size: uint32(size[i]), raw: uint32(raw[i])}
	}
	return out
}

func readZones(r *byteReader, k rowcodec.Kind, n int) zones {
	z := zones{kind: k, flags: r.take(uint64(n))}
	if k == rowcodec.KindBytes {
		z.offsets, z.data = stringList(r, 2*n)
		return z
	}
	z.min, z.max = make([]uint64, n), make([]uint64, n)
	r.ints(z.min)
	r.ints(z.max)
	return z
}
