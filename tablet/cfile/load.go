package cfile

import (
	"fmt"
	"sync/atomic"

	"ksql/tablet/rowcodec"
)

// Vector returns one column of rows vec·VectorRows on, decoded, from the cache if it is there.
func (r *Reader) Vector(col, vec int) (*Vector, error) {
	slot := &r.slots[(1+col)*r.index.vectors+vec]
	if e := slot.Load(); e != nil {
		e.touch()
		return e.vector, nil
	}
	return r.loadVector(slot, col, vec)
}

func (r *Reader) loadVector(slot *atomic.Pointer[entry], col, vec int) (*Vector, error) {
	if r.cache == nil {
		return r.decodeVector(col, vec)
	}
	mu := &r.loading[(col+vec)%len(r.loading)]
	mu.Lock()
	defer mu.Unlock()
	if e := slot.Load(); e != nil {
		return e.vector, nil
	}
	v, err := r.decodeVector(col, vec)
	if err != nil {
		return nil, err
	}
	e := &entry{vector: v, size: int64(v.size()), slot: slot}
	slot.Store(e)
	r.cache.insert(e)
	return v, nil
}

func (r *Reader) decodeVector(col, vec int) (*Vector, error) {
	sc := scratchPool.Get().(*scratch)
	defer putScratch(sc)
	x := r.index.columns[col][vec]
	c := r.index.schema.Columns[col]
	want := chunkHeader{typ: chunkColumn, column: uint32(col), number: uint32(vec), rows: uint32(r.vectorRows(vec))}
	h, payload, err := r.readChunk(sc, x, want, c.Kind == rowcodec.KindBytes)
	if err != nil {
		return nil, err
	}
	v, err := decodeVector(c, h, payload, r.limit)
	if err != nil {
		return nil, r.corrupt(x.off, fmt.Errorf("column %d, vector %d: %w", col, vec, err))
	}
	v.reader, v.column, v.number = r, col, vec
	return v, nil
}

// keyVector returns the keys of a vector, from the cache if they are there.
func (r *Reader) keyVector(vec int) (*keyVector, error) {
	slot := &r.slots[vec]
	if e := slot.Load(); e != nil {
		e.touch()
		return e.keys, nil
	}
	return r.loadKeys(slot, vec)
}

func (r *Reader) loadKeys(slot *atomic.Pointer[entry], vec int) (*keyVector, error) {
	if r.cache == nil {
		return r.decodeKeys(vec)
	}
	mu := &r.loading[vec%len(r.loading)]
	mu.Lock()
	defer mu.Unlock()
	if e := slot.Load(); e != nil {
		return e.keys, nil
	}
	v, err := r.decodeKeys(vec)
	if err != nil {
		return nil, err
	}
	e := &entry{keys: v, size: int64(v.size()), slot: slot}
	slot.Store(e)
	r.cache.insert(e)
	return v, nil
}

func (r *Reader) decodeKeys(vec int) (*keyVector, error) {
	sc := scratchPool.Get().(*scratch)
	defer putScratch(sc)
	x := r.index.keys[vec]
	want := chunkHeader{typ: chunkKeys, column: keyColumn, number: uint32(vec), rows: uint32(r.vectorRows(vec))}
	h, payload, err := r.readChunk(sc, x, want, true)
	if err != nil {
		return nil, err
	}
	v, err := decodeKeys(h.enc, payload, int(h.rows))
	if err != nil {
		return nil, r.corrupt(x.off, fmt.Errorf("keys of vector %d: %w", vec, err))
	}
	return v, nil
}

// blobMemo is the blob that an iterator used last: its next value is likely there too.
type blobMemo struct {
	off  int64
	data []byte
}

// readLong returns the bytes of a long value of v.
func (r *Reader) readLong(v *Vector, ref longRef, memo *blobMemo) ([]byte, error) {
	blobs := v.long.blobsOf(ref)
	if len(blobs) == 1 {
		b, err := r.blob(v, blobs[0], memo)
		if err != nil {
			return nil, err
		}
		end := int(ref.inner) + int(ref.length)
		return b[ref.inner:end:end], nil
	}
	sc := scratchPool.Get().(*scratch)
	defer putScratch(sc)
	out := make([]byte, 0, ref.length)
	skip := int(ref.inner)
	for _, x := range blobs {
		_, b, err := r.readChunk(sc, x, v.blobHeader(), false)
		if err != nil {
			return nil, err
		}
		n := min(skip, len(b))
		skip -= n
		b = b[n:]
		out = append(out, b[:min(len(b), cap(out)-len(out))]...)
	}
	return out, nil
}

func (v *Vector) blobHeader() chunkHeader {
	return chunkHeader{typ: chunkBlob, column: uint32(v.column), number: uint32(v.number)}
}

// blob returns the content of one blob chunk, from memo or cache if it is there.
func (r *Reader) blob(v *Vector, x extent, memo *blobMemo) ([]byte, error) {
	if memo != nil && memo.off == x.off {
		return memo.data, nil
	}
	b, err := r.loadBlob(v, x)
	if err == nil && memo != nil {
		memo.off, memo.data = x.off, b
	}
	return b, err
}

func (r *Reader) loadBlob(v *Vector, x extent) ([]byte, error) {
	if r.cache != nil {
		r.blobMu.Lock()
		e := r.blobs[x.off]
		r.blobMu.Unlock()
		if e != nil {
			e.touch()
			return e.blob, nil
		}
	}
	sc := scratchPool.Get().(*scratch)
	defer putScratch(sc)
	_, b, err := r.readChunk(sc, x, v.blobHeader(), true)
	if err != nil || r.cache == nil {
		return b, err
	}
	e := &entry{blob: b, size: int64(len(b)) + entryOverhead, reader: r, offset: x.off}
	r.blobMu.Lock()
	other := r.blobs[x.off]
	if other == nil {
		r.blobs[x.off] = e
	}
	r.blobMu.Unlock()
	if other != nil { // somebody was faster
		return other.blob, nil
	}
	r.cache.insert(e)
	return b, nil
}

// dropBlob forgets an evicted blob.
func (r *Reader) dropBlob(e *entry) {
	r.blobMu.Lock()
	defer r.blobMu.Unlock()
	if r.blobs[e.offset] == e {
		delete(r.blobs, e.offset)
	}
}
