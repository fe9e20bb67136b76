package cfile

import (
	"encoding/binary"

	"ksql/tablet/rowcodec"
)

// columnBuilder collects one column of the vector being written. Buffers are
// kept from vector to vector.
type columnBuilder struct {
	number  int
	column  rowcodec.Column
	weights WeightsFunc

	rows  int
	nulls [VectorRows / 64]uint64
	null  int      // NULLs so far
	words []uint64 // values of fixed kinds, NULLs left out
	ends  []uint32 // ends of byte values in data, NULLs left out
	data  []byte
	other bool // a byte outside printable ASCII was seen

	// Long values, which are empty in data.
	slots   []uint64
	refs    []longRef
	blobs   []extent
	pending []byte      // values of the blob being filled
	long    bytesBounds // of the long values
}

func (b *columnBuilder) reset() {
	b.rows, b.null, b.other = 0, 0, false
	clear(b.nulls[:])
	b.words, b.ends, b.data = b.words[:0], b.ends[:0], b.data[:0]
	b.slots, b.refs, b.blobs = b.slots[:0], b.refs[:0], b.blobs[:0]
	b.long.any = false
}

// add takes the next value; long says that the caller has to store it in a blob and call addLong.
func (b *columnBuilder) add(v rowcodec.Datum) (long bool) {
	switch {
	case v.IsNull():
		b.nulls[b.rows>>6] |= 1 << (b.rows & 63)
		b.null++
	case b.column.Kind != rowcodec.KindBytes:
		b.words = append(b.words, v.Bits())
	default:
		s := v.Bytes()
		b.other = b.other || !printableASCII(s)
		if long = len(s) > longValue; !long {
			b.data = append(b.data, s...)
		}
		b.ends = append(b.ends, uint32(len(b.data)))
	}
	b.rows++
	return long
}

// addLong notes where the value added last begins: blob number and offset in it.
func (b *columnBuilder) addLong(v []byte, blob, inner int) {
	b.slots = append(b.slots, uint64(b.rows-1))
	b.refs = append(b.refs, longRef{blob: uint32(blob), inner: uint32(inner), length: uint32(len(v))})
	b.long.add(v)
}

func (b *columnBuilder) flags() byte {
	var f byte
	if b.null > 0 {
		f |= flagHasNull
	}
	if b.null == b.rows {
		return flagAllNull | flagHasNull
	}
	if b.column.Kind == rowcodec.KindBytes && !b.other {
		f |= flagASCII
	}
	if len(b.refs) > 0 {
		f |= flagLong
	}
	return f
}

// append appends the payload of the vector to dst and its zone map to z.
func (b *columnBuilder) append(dst []byte, z *zoneBuilder) (out []byte, enc, flags byte) {
	flags = b.flags()
	if flags&flagAllNull != 0 {
		z.add(zoneHasNull|zoneAllNull, nil, nil, 0, 0)
		return dst, encNone, flags
	}
	zone := byte(0)
	if flags&flagHasNull != 0 {
		zone = zoneHasNull
		for _, w := range b.nulls[:(b.rows+63)/64] {
			dst = binary.LittleEndian.AppendUint64(dst, w)
		}
	}
	if b.column.Kind != rowcodec.KindBytes {
		lo, hi := fixedBounds(b.column.Kind, b.words)
		z.add(zone|zoneValid, nil, nil, lo, hi)
		start := len(dst)
		dst = appendInts(dst, b.words, b.column.Kind == rowcodec.KindInt64)
		return dst, dst[start], flags
	}
	dict := buildBytesDict(b.data, b.ends)
	if dict != nil && dict.cost() >= len(b.data)+len(b.ends) {
		dict = nil
	}
	if lo, hi, ok := b.byteBounds(dict); ok {
		z.add(zone|zoneValid, lo, hi, 0, 0)
	} else {
		z.add(zone, nil, nil, 0, 0)
	}
	if dict != nil {
		dst, enc = dict.append(dst), encDict
	} else {
		dst, enc = appendBytesPlain(dst, b.data, b.ends), encPlain
	}
	if len(b.refs) > 0 {
		dst = appendLong(dst, b.slots, b.refs, b.blobs)
	}
	return dst, enc, flags
}

// byteBounds returns the zone map's bounds of a Bytes column. Collated columns
// are bounded by weights; not if there is nobody to ask for them, nor when a
// value is long: the weights of a part say nothing about the whole.
func (b *columnBuilder) byteBounds(dict *bytesDict) (lo, hi []byte, ok bool) {
	collation := b.column.Collation
	if collation != 0 && (b.weights == nil || len(b.refs) > 0) {
		return nil, nil, false
	}
	var bounds bytesBounds
	var buf []byte
	add := func(v []byte) {
		if collation != 0 {
			buf = b.weights(collation, buf[:0], v)
			v = buf
		}
		bounds.add(v)
	}
	if dict != nil && len(b.refs) == 0 {
		for _, e := range dict.entries {
			add(e)
		}
		return bounds.bounds()
	}
	var start uint32
	row, long := 0, 0
	for _, end := range b.ends {
		for b.isNull(row) {
			row++
		}
		if long < len(b.slots) && b.slots[long] == uint64(row) {
			long++ // empty here, its true bounds are in b.long
		} else {
			add(b.data[start:end])
		}
		start = end
		row++
	}
	if b.long.any {
		bounds.add(b.long.min)
		bounds.add(b.long.max)
	}
	return bounds.bounds()
}

func (b *columnBuilder) isNull(row int) bool { return b.nulls[row>>6]&(1<<(row&63)) != 0 }

// printableASCII reports whether all bytes lie in 20…7E.
func printableASCII(s []byte) bool {
	for len(s) >= 8 {
		w := binary.LittleEndian.Uint64(s)
		// No byte has its top bit set, is below 20 or is 7F: borrow and carry show in the top bits.
		if (w|(w-0x2020202020202020)|(w+0x0101010101010101))&0x8080808080808080 != 0 {
			return false
		}
		s = s[8:]
	}
	for _, c := range s {
		if c < 0x20 || c > 0x7E {
			return false
		}
	}
	return true
}

// zoneBuilder collects the zone maps of one column over the whole file.
type zoneBuilder struct {
	flags    []byte
	min, max []uint64
	lens     []uint64 // of the minimum and the maximum of each vector
	data     []byte
}

func (z *zoneBuilder) add(flags byte, lo, hi []byte, min, max uint64) {
	z.flags = append(z.flags, flags)
	z.min, z.max = append(z.min, min), append(z.max, max)
	z.lens = append(z.lens, uint64(len(lo)), uint64(len(hi)))
	z.data = append(append(z.data, lo...), hi...)
}
