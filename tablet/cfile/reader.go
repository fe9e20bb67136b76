package cfile

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bits-and-blooms/bloom/v3"

	"ksql/internal/vfs"
	"ksql/tablet/rowcodec"
)

// Reader reads one finished file. It is safe for concurrent use; Close may only
// be called when nobody uses it. Index, key index, zone maps and bloom pages
// are resident (about 3 bytes a row with blooms), vectors come through the cache.
type Reader struct {
	name   string
	f      vfs.File
	schema *rowcodec.Schema
	cache  *Cache
	rows   int
	size   int64
	limit  int64 // end of all chunks but the index
	index  *fileIndex

	blooms     []*bloom.BloomFilter
	bloomIndex keyIndex

	// slots of the cached vectors: the keys' first, then column by column.
	slots []atomic.Pointer[entry]
	// loading keeps two goroutines from decoding one vector twice.
	loading [16]sync.Mutex
	blobMu  sync.Mutex
	blobs   map[int64]*entry // by file offset
}

// Open opens a finished file that was written for s. It reads header, tail,
// index and bloom pages. cache may be nil: then nothing is kept. Errors: a
// *CorruptionError, or what the file system says.
func Open(fs vfs.FS, name string, s *rowcodec.Schema, cache *Cache) (*Reader, error) {
	f, err := fs.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	r := &Reader{name: name, f: f, schema: s, cache: cache, blobs: map[int64]*entry{}}
	if err := r.open(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}

func (r *Reader) open() error {
	size, err := r.f.Size()
	if err != nil {
		return fmt.Errorf("open %s: %w", r.name, err)
	}
	r.size = size
	if size < headerSize+tailSize {
		return r.corrupt(0, fmt.Errorf("file of %d bytes", size))
	}
	var buf [tailSize]byte
	if err := r.readAt(buf[:headerSize], 0); err != nil {
		return err
	}
	if err := checkHeader(buf[:headerSize], len(r.schema.Columns)); err != nil {
		return r.corrupt(0, err)
	}
	if err := r.readAt(buf[:], size-tailSize); err != nil {
		return err
	}
	t, err := parseTail(buf[:], size)
	if err != nil {
		return r.corrupt(size-tailSize, err)
	}
	r.rows, r.limit = int(t.rows), t.index.off
	_, payload, err := r.readChunk(new(scratch), t.index, chunkHeader{typ: chunkIndex, column: keyColumn}, true)
	if err != nil {
		return err
	}
	if r.index, err = decodeIndex(payload, t.rows, r.limit); err != nil {
		return r.corrupt(t.index.off, fmt.Errorf("index: %w", err))
	}
	if err := compatible(&r.index.schema, r.schema); err != nil {
		return r.corrupt(t.index.off, err)
	}
	r.slots = make([]atomic.Pointer[entry], r.index.vectors*(1+len(r.schema.Columns)))
	return r.openBlooms()
}

func (r *Reader) openBlooms() error {
	r.bloomIndex = r.index.bloomFirst
	sc := scratchPool.Get().(*scratch)
	defer putScratch(sc)
	for i, x := range r.index.blooms {
		n := r.index.bloomKeys[i]
		want := chunkHeader{typ: chunkBloom, column: keyColumn, number: uint32(i), rows: uint32(n)}
		_, payload, err := r.readChunk(sc, x, want, false)
		if err != nil {
			return err
		}
		page, err := decodeBloom(payload, int(min(n, bloomPageKeys+1)))
		if err != nil {
			return r.corrupt(x.off, err)
		}
		r.blooms = append(r.blooms, page)
	}
	return nil
}

// Close closes the file and takes its vectors out of the cache.
func (r *Reader) Close() error {
	if r.cache != nil {
		var all []*entry
		for i := range r.slots {
			if e := r.slots[i].Swap(nil); e != nil {
				all = append(all, e)
			}
		}
		r.blobMu.Lock()
		for _, e := range r.blobs {
			all = append(all, e)
		}
		clear(r.blobs)
		r.blobMu.Unlock()
		r.cache.forget(all)
	}
	if err := r.f.Close(); err != nil {
		return fmt.Errorf("close %s: %w", r.name, err)
	}
	return nil
}

// Name returns the file's name.
func (r *Reader) Name() string { return r.name }

// Rows returns the number of rows.
func (r *Reader) Rows() int { return r.rows }

// Size returns the file's size in bytes.
func (r *Reader) Size() int64 { return r.size }

// MinKey returns the first key, nil if there are no rows. It must not be written to.
func (r *Reader) MinKey() []byte { return r.index.minKey }

// MaxKey returns the last key, nil if there are no rows. It must not be written to.
func (r *Reader) MaxKey() []byte { return r.index.maxKey }

// Vectors returns the number of vectors of each column.
func (r *Reader) Vectors() int { return r.index.vectors }

// Memory returns the bytes that the reader keeps resident, outside of the cache.
func (r *Reader) Memory() int64 {
	n := int64(16 * (len(r.index.first.heads) + len(r.bloomIndex.heads)))
	n += int64(len(r.index.first.data) + len(r.bloomIndex.data) + 24*len(r.slots))
	for _, b := range r.blooms {
		n += int64(b.Cap()/8) + 64
	}
	for i := range r.index.zones {
		z := &r.index.zones[i]
		n += int64(len(z.flags) + 8*len(z.min) + 8*len(z.max) + 4*len(z.offsets) + len(z.data))
	}
	return n
}

// DataBytes returns the uncompressed size of keys and columns in bytes, long values left out.
func (r *Reader) DataBytes() int64 {
	var n int64
	for _, x := range slices.Concat(append(slices.Clone(r.index.columns), r.index.keys)...) {
		n += int64(x.raw)
	}
	return n
}

// ZoneMap returns the zone map of one column in one vector.
func (r *Reader) ZoneMap(col, vec int) ZoneMap { return r.index.zones[col].at(vec) }

// vectorRows returns how many rows a vector has: VectorRows, but for the last.
func (r *Reader) vectorRows(vec int) int { return min(VectorRows, r.rows-vec<<vectorShift) }

func (r *Reader) corrupt(off int64, err error) error {
	return &CorruptionError{File: r.name, Offset: off, Reason: err.Error()}
}

func (r *Reader) readAt(b []byte, off int64) error {
	n, err := r.f.ReadAt(b, off)
	switch {
	case n == len(b):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return r.corrupt(off, fmt.Errorf("file ends after %d of %d bytes", n, len(b)))
	}
	return fmt.Errorf("read %s at %d: %w", r.name, off, err)
}

// readChunk reads and checks the chunk at x, which must be what want says
// (type, column, number, rows), and returns its payload uncompressed. With own
// the payload may be kept, else it lies in sc.
func (r *Reader) readChunk(sc *scratch, x extent, want chunkHeader, own bool) (chunkHeader, []byte, error) {
	var buf []byte
	if own && !x.compressed() {
		buf = make([]byte, x.size)
	} else {
		sc.stored = slices.Grow(sc.stored[:0], int(x.size))
		buf = sc.stored[:x.size]
	}
	if err := r.readAt(buf, x.off); err != nil {
		return want, nil, err
	}
	h, payload, err := parseChunk(buf)
	if err != nil {
		return h, nil, r.corrupt(x.off, err)
	}
	if h.typ != want.typ || h.column != want.column || h.number != want.number || h.rows != want.rows || h.raw != x.raw {
		return h, nil, r.corrupt(x.off, fmt.Errorf("another chunk lies here: %+v, want %+v", h, want))
	}
	switch {
	case h.codec == codecNone && !x.compressed():
		return h, payload, nil
	case h.codec != codecZstd || !x.compressed():
		return h, nil, r.corrupt(x.off, fmt.Errorf("codec %d for %d bytes stored in %d", h.codec, h.raw, h.stored))
	}
	var dst []byte
	if !own {
		dst = sc.raw
	}
	out, err := decompress(dst, payload, int(h.raw))
	if err != nil {
		return h, nil, r.corrupt(x.off, err)
	}
	if !own {
		sc.raw = out
	}
	return h, out, nil
}
