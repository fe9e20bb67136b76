package cfile

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"ksql/tablet/rowcodec"
)

// Check reads the whole file and verifies every checksum, that chunks tile the
// file without gap or overlap, that keys ascend and agree with index, bounds
// and blooms, and that zone maps and flags say the truth about the values. It
// returns the first fault as a *CorruptionError. The cache is not used.
// Zone maps of collated columns are only checked by CheckWeights.
func (r *Reader) Check() error { return r.CheckWeights(nil) }

// CheckWeights is Check with the function that the file's writer was given.
func (r *Reader) CheckWeights(weights WeightsFunc) error {
	c := &checker{r: r.withoutCache(), weights: weights}
	for vec := range r.index.vectors {
		if err := c.keys(vec); err != nil {
			return err
		}
		for col := range r.index.columns {
			if err := c.column(col, vec); err != nil {
				return err
			}
		}
	}
	return c.whole()
}

// withoutCache returns a reader of the same open file that keeps nothing, so
// that a check sees the disk and leaves the cache to others.
func (r *Reader) withoutCache() *Reader {
	return &Reader{
		name: r.name, f: r.f, schema: r.schema, rows: r.rows, size: r.size, limit: r.limit, index: r.index,
		blooms: r.blooms, bloomIndex: r.bloomIndex,
	}
}

type checker struct {
	r       *Reader
	weights WeightsFunc
	extents []extent
	last    []byte // key before
	prefix  []byte // bloom prefix before
	hashed  uint64 // distinct prefixes
	buf     []byte
}

func (c *checker) keys(vec int) error {
	x := c.r.index.keys[vec]
	c.extents = append(c.extents, x)
	v, err := c.r.decodeKeys(vec)
	if err != nil {
		return err
	}
	fault := func(slot int, format string, args ...any) error {
		return c.r.corrupt(x.off, fmt.Errorf("key %d: %w", vec<<vectorShift+slot, fmt.Errorf(format, args...)))
	}
	var cur keyCursor
	cur.reset(v)
	for slot := range v.rows {
		key := cur.key(slot)
		first := vec == 0 && slot == 0
		switch {
		case slot == 0 && !bytes.Equal(key, c.r.index.first.key(vec)):
			return fault(slot, "%x, the index says %x", key, c.r.index.first.key(vec))
		case first && !bytes.Equal(key, c.r.index.minKey):
			return fault(slot, "%x, the smallest is said to be %x", key, c.r.index.minKey)
		case !first && bytes.Compare(c.last, key) >= 0:
			return fault(slot, "%x after %x", key, c.last)
		}
		if got, exact := v.seek(key); !exact || got != slot {
			return fault(slot, "a seek ends at %d", got)
		}
		prefix, err := c.bloomPrefix(key)
		if err != nil {
			return fault(slot, "%w", err)
		}
		if !c.r.MayContain(prefix, HashKey(prefix)) {
			return fault(slot, "%x is not in its bloom page", prefix)
		}
		if first || !bytes.Equal(prefix, c.prefix) {
			c.hashed++
		}
		c.last, c.prefix = append(c.last[:0], key...), append(c.prefix[:0], prefix...)
	}
	return nil
}

func (c *checker) bloomPrefix(key []byte) ([]byte, error) {
	s := c.r.schema
	if s.BloomColumns == 0 {
		return key, nil
	}
	n, err := rowcodec.KeyPrefixLen(key, s.Key, s.BloomColumns)
	return key[:n], err
}

func (c *checker) column(col, vec int) error {
	x := c.r.index.columns[col][vec]
	c.extents = append(c.extents, x)
	v, err := c.r.decodeVector(col, vec)
	if err != nil {
		return err
	}
	if err := c.blobs(v); err != nil {
		return err
	}
	fault := func(format string, args ...any) error {
		return c.r.corrupt(x.off, fmt.Errorf("column %d, vector %d: %w", col, vec, fmt.Errorf(format, args...)))
	}
	z := c.r.ZoneMap(col, vec)
	if z.HasNull != (v.nullCount > 0) || z.AllNull != (v.nullCount == v.rows) || z.AllNull && z.Valid {
		return fault("zone map %+v, %d NULLs of %d", z, v.nullCount, v.rows)
	}
	ascii := true
	var memo blobMemo
	for row := range v.rows {
		d, err := v.datum(row, &memo)
		if err != nil {
			return err
		}
		if d.IsNull() {
			continue
		}
		if d.Kind() == rowcodec.KindBytes {
			ascii = ascii && printableASCII(d.Bytes())
			if collation := c.r.schema.Columns[col].Collation; collation != 0 {
				if c.weights == nil {
					continue
				}
				c.buf = c.weights(collation, c.buf[:0], d.Bytes())
				d = rowcodec.Bytes(c.buf)
			}
		}
		if z.Valid && (rowcodec.Compare(d, z.Min) < 0 || rowcodec.Compare(d, z.Max) > 0) {
			return fault("row %d lies outside of the zone map %v…%v", row, z.Min, z.Max)
		}
	}
	if v.ascii && !ascii {
		return fault("flagged ASCII, but isn't")
	}
	return nil
}

// blobs reads every blob of a vector: also one that no value would lead to.
func (c *checker) blobs(v *Vector) error {
	if v.long == nil {
		return nil
	}
	sc := scratchPool.Get().(*scratch)
	defer putScratch(sc)
	for _, x := range v.long.blobs {
		if _, _, err := c.r.readChunk(sc, x, v.blobHeader(), false); err != nil {
			return err
		}
	}
	c.extents = append(c.extents, v.long.blobs...)
	return nil
}

// whole checks what concerns the file as one: its last key, its bloom pages, and that no byte is unaccounted for.
func (c *checker) whole() error {
	x := c.r.index
	if !bytes.Equal(c.last, x.maxKey) {
		return c.r.corrupt(c.r.limit, fmt.Errorf("last key is %x, said to be %x", c.last, x.maxKey))
	}
	var hashed uint64
	for _, n := range x.bloomKeys {
		hashed += n
	}
	if len(x.blooms) > 0 && hashed != c.hashed {
		return c.r.corrupt(c.r.limit, fmt.Errorf("bloom pages of %d keys, the file has %d", hashed, c.hashed))
	}
	c.extents = append(c.extents, x.blooms...)
	slices.SortFunc(c.extents, func(a, b extent) int { return cmp.Compare(a.off, b.off) })
	pos := int64(headerSize)
	for _, e := range c.extents {
		if e.off != pos {
			return c.r.corrupt(pos, fmt.Errorf("next chunk is at %d", e.off))
		}
		pos = e.end()
	}
	if pos != c.r.limit {
		return c.r.corrupt(pos, fmt.Errorf("chunks end here, the index is at %d", c.r.limit))
	}
	return c.head()
}

// head reads again what Open read: the file may have been damaged since.
func (c *checker) head() error {
	again := &Reader{name: c.r.name, f: c.r.f, schema: c.r.schema}
	return again.open()
}
