package cfile

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"ksql/internal/vfs"
	"ksql/tablet/rowcodec"
)

// writeBuffer is how many bytes of finished chunks are gathered for one write call.
const writeBuffer = 512 << 10

// WriterOptions tune a file. The zero value is what a DiskRowSet uses, but for Weights.
type WriterOptions struct {
	NoBloom       bool // write no bloom pages; MayContain then says true
	NoCompression bool // store every chunk as encoded
	// Weights gives the zone maps of collated columns their bounds; without it they have none.
	Weights WeightsFunc
}

// Info describes a finished file.
type Info struct {
	Rows           int
	Size           int64
	MinKey, MaxKey []byte // nil if there are no rows
}

// Writer writes one file. It is used by one goroutine. It holds one vector of
// every column and a write buffer, whatever the size of file and values, plus
// the index (about 0.5 % of the file).
type Writer struct {
	fs     vfs.FS
	name   string
	f      vfs.File
	schema *rowcodec.Schema
	opts   WriterOptions

	keys    keyBuilder
	columns []columnBuilder
	bloom   bloomBuilder
	index   indexBuilder
	rows    int
	minKey  []byte

	buf     []byte // finished chunks not yet written
	off     int64  // file offset of the end of buf
	payload []byte // scratch
	zbuf    []byte // scratch of zstd
	err     error  // first failure: nothing works after it but Abort
	done    bool   // closed
	aborted bool
}

// NewWriter creates the file name, replacing one that exists. The caller ends
// with Finish or Abort, and syncs the directory.
func NewWriter(fs vfs.FS, name string, s *rowcodec.Schema, o WriterOptions) (*Writer, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	f, err := fs.Create(name)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	w := &Writer{fs: fs, name: name, f: f, schema: s, opts: o, columns: make([]columnBuilder, len(s.Columns))}
	for i, c := range s.Columns {
		w.columns[i] = columnBuilder{number: i, column: c, weights: o.Weights}
	}
	w.index.columns, w.index.zones = make([]directory, len(s.Columns)), make([]zoneBuilder, len(s.Columns))
	w.keys.reset()
	w.buf = appendHeader(nil, len(s.Columns))
	w.off = headerSize
	return w, nil
}

// Append adds one row. Keys must ascend strictly and have at most MaxKeySize
// bytes; neither slice is kept. A refused row leaves the writer as it was; an
// I/O error ends it.
func (w *Writer) Append(key []byte, row rowcodec.Row) error {
	if w.err != nil {
		return w.err
	}
	if w.done {
		return errors.New("append to a finished file " + w.name)
	}
	prefix := len(key)
	switch {
	case len(key) > MaxKeySize:
		return fmt.Errorf("append to %s: key of %d bytes, the limit is %d", w.name, len(key), MaxKeySize)
	case w.rows > 0 && bytes.Compare(w.keys.last, key) >= 0:
		return fmt.Errorf("append to %s: key %x after %x", w.name, key, w.keys.last)
	case w.rows == math.MaxUint32:
		return fmt.Errorf("append to %s: more than %d rows", w.name, uint32(math.MaxUint32))
	}
	if w.schema.BloomColumns > 0 {
		n, err := rowcodec.KeyPrefixLen(key, w.schema.Key, w.schema.BloomColumns)
		if err != nil {
			return fmt.Errorf("append to %s: %w", w.name, err)
		}
		prefix = n
	}
	if err := rowcodec.ValidateRow(w.schema, row); err != nil {
		return fmt.Errorf("append to %s: %w", w.name, err)
	}
	w.addKey(key, prefix)
	for i := range w.columns {
		c := &w.columns[i]
		v := row.Datum(w.schema, i)
		if c.add(v) {
			w.addLong(c, v.Bytes())
		}
	}
	if w.keys.rows == VectorRows {
		w.flushVector()
	}
	return w.err
}

func (w *Writer) addKey(key []byte, prefix int) {
	if w.rows == 0 {
		w.minKey = bytes.Clone(key)
	}
	if w.keys.rows == 0 {
		w.index.firstKeys.add(key)
	}
	if !w.opts.NoBloom && w.bloom.add(key[:prefix], w.rows > 0) {
		w.flushBloom()
	}
	w.keys.add(key)
	w.rows++
}

// addLong stores a long value: small ones share a blob, a larger one fills its own, piece by piece.
func (w *Writer) addLong(c *columnBuilder, v []byte) {
	if len(c.pending)+len(v) > blobTarget {
		w.flushPending(c)
	}
	c.addLong(v, len(c.blobs), len(c.pending))
	if len(v) <= blobTarget {
		c.pending = append(c.pending, v...)
		return
	}
	for len(v) > 0 {
		n := min(len(v), blobPiece)
		w.addBlob(c, v[:n])
		v = v[n:]
	}
}

func (w *Writer) flushPending(c *columnBuilder) {
	if len(c.pending) > 0 {
		w.addBlob(c, c.pending)
		c.pending = c.pending[:0]
	}
}

func (w *Writer) addBlob(c *columnBuilder, b []byte) {
	h := chunkHeader{typ: chunkBlob, column: uint32(c.number), number: uint32(w.index.vectors)}
	c.blobs = append(c.blobs, w.writeChunk(h, b))
}

// flushVector writes the keys and all columns of the vector at hand.
func (w *Writer) flushVector() {
	h := chunkHeader{typ: chunkKeys, column: keyColumn, number: uint32(w.index.vectors), rows: uint32(w.keys.rows)}
	w.payload, h.enc = w.keys.append(w.payload[:0])
	w.index.keys.add(w.writeChunk(h, w.payload))
	for i := range w.columns {
		c := &w.columns[i]
		w.flushPending(c)
		h := chunkHeader{typ: chunkColumn, column: uint32(i), number: uint32(w.index.vectors), rows: uint32(c.rows)}
		w.payload, h.enc, h.flags = c.append(w.payload[:0], &w.index.zones[i])
		w.index.columns[i].add(w.writeChunk(h, w.payload))
		c.reset()
	}
	w.keys.reset()
	w.index.vectors++
}

func (w *Writer) flushBloom() {
	n := len(w.bloom.hashes)
	h := chunkHeader{typ: chunkBloom, column: keyColumn, number: uint32(len(w.index.bloomKeys)), rows: uint32(n)}
	w.index.bloomList.add(w.bloom.first)
	w.index.bloomKeys = append(w.index.bloomKeys, uint64(n))
	w.index.blooms.add(w.writeChunk(h, w.bloom.build()))
}

// writeChunk compresses a payload if that pays and adds the chunk to the
// write buffer. Failures go to w.err.
func (w *Writer) writeChunk(h chunkHeader, payload []byte) extent {
	if w.err != nil {
		return extent{}
	}
	if len(payload) > maxChunkRaw {
		w.err = fmt.Errorf("write %s: chunk of %d bytes, the limit is %d", w.name, len(payload), maxChunkRaw)
		return extent{}
	}
	h.raw = uint32(len(payload))
	stored := payload
	// A bloom page is noise: half of its bits are set.
	if !w.opts.NoCompression && h.typ != chunkBloom {
		out, saved, err := compress(w.zbuf, payload)
		if err != nil {
			w.err = fmt.Errorf("write %s: %w", w.name, err)
			return extent{}
		}
		if w.zbuf = out; saved {
			stored, h.codec = out, codecZstd
		}
	}
	x := extent{off: w.off, size: uint32(len(stored) + chunkOverhead), raw: h.raw}
	w.buf = appendChunk(w.buf, h, stored)
	w.off = x.end()
	if len(w.buf) >= writeBuffer {
		w.flushBuffer()
	}
	return x
}

func (w *Writer) flushBuffer() {
	if w.err != nil || len(w.buf) == 0 {
		return
	}
	if _, err := w.f.Write(w.buf); err != nil {
		w.err = fmt.Errorf("write %s: %w", w.name, err)
	}
	w.buf = w.buf[:0]
	if cap(w.buf) > 4*writeBuffer { // a single large chunk must not stay for the life of the writer
		w.buf = nil
	}
}

// Finish writes what is left, index and tail, syncs and closes the file. After
// an error the caller still has to Abort.
func (w *Writer) Finish() (Info, error) {
	if w.done {
		return Info{}, errors.New("finish of a finished file " + w.name)
	}
	if w.keys.rows > 0 {
		w.flushVector()
	}
	if len(w.bloom.hashes) > 0 {
		w.flushBloom()
	}
	h := chunkHeader{typ: chunkIndex, column: keyColumn}
	index := w.writeChunk(h, w.index.append(nil, w.schema, w.minKey, w.keys.last))
	if w.err != nil {
		return Info{}, w.err
	}
	w.off += tailSize
	w.buf = appendTail(w.buf, tail{index: index, rows: uint64(w.rows), size: w.off})
	w.flushBuffer()
	if w.err != nil {
		return Info{}, w.err
	}
	if err := w.f.Sync(); err != nil {
		w.err = fmt.Errorf("sync %s: %w", w.name, err)
		return Info{}, w.err
	}
	w.done = true
	if err := w.f.Close(); err != nil {
		w.err = fmt.Errorf("close %s: %w", w.name, err)
		return Info{}, w.err
	}
	info := Info{Rows: w.rows, Size: w.off}
	if w.rows > 0 {
		info.MinKey, info.MaxKey = w.minKey, w.keys.last
	}
	return info, nil
}

// Abort closes and removes an unfinished file. After a successful Finish, or a second time, it does nothing.
func (w *Writer) Abort() error {
	if w.aborted || (w.done && w.err == nil) {
		return nil
	}
	w.aborted = true
	var errClose error
	if !w.done {
		errClose = w.f.Close()
	}
	w.done = true
	if err := errors.Join(errClose, w.fs.Remove(w.name)); err != nil {
		return fmt.Errorf("abort %s: %w", w.name, err)
	}
	return nil
}

// Size returns the bytes written so far; a caller may cut files by it.
func (w *Writer) Size() int64 { return w.off }
