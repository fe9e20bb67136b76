package cfile

import (
	"bytes"

	"ksql/tablet/rowcodec"
)

// zoneBytes is the longest bound of a Bytes column that is kept.
const zoneBytes = 32

// WeightsFunc appends to dst the bytes whose order is the order of value under a
// collation (its weights, or any prefix-closed form of them).
type WeightsFunc func(collation uint16, dst, value []byte) []byte

// ZoneMap bounds the values of one column in one vector: Min ≤ v ≤ Max under
// rowcodec.Compare for every value that is not NULL. Bytes bounds are cut to 32
// bytes, the maximum then rounded up, so they need not occur. In a collated
// column they bound the weights, not the values.
type ZoneMap struct {
	Min, Max rowcodec.Datum
	HasNull  bool
	AllNull  bool // no value but NULL; Min and Max are NULL
	Valid    bool // Min and Max hold; false if there are no values or no bound could be kept
}

const (
	zoneHasNull = 1 << 0
	zoneAllNull = 1 << 1
	zoneValid   = 1 << 2
)

// zones keeps the zone maps of one column; a zone map is built when asked for.
type zones struct {
	kind     rowcodec.Kind
	flags    []byte
	min, max []uint64 // bits of fixed kinds
	// bounds of Bytes: vector v's minimum is string 2v, its maximum 2v+1
	offsets []uint32
	data    []byte
}

func (z *zones) at(vec int) ZoneMap {
	f := z.flags[vec]
	m := ZoneMap{HasNull: f&zoneHasNull != 0, AllNull: f&zoneAllNull != 0, Valid: f&zoneValid != 0}
	switch {
	case !m.Valid:
	case z.kind == rowcodec.KindBytes:
		o := z.offsets[2*vec:]
		m.Min, m.Max = rowcodec.Bytes(z.data[o[0]:o[1]:o[1]]), rowcodec.Bytes(z.data[o[1]:o[2]:o[2]])
	default:
		m.Min, m.Max = rowcodec.FromBits(z.kind, z.min[vec]), rowcodec.FromBits(z.kind, z.max[vec])
	}
	return m
}

// fixedBounds returns the bits of minimum and maximum of words under rowcodec.Compare.
func fixedBounds(k rowcodec.Kind, words []uint64) (lo, hi uint64) {
	switch k {
	case rowcodec.KindInt64, rowcodec.KindUint64:
		lo, hi, _ = scanInts(words, k == rowcodec.KindInt64)
		return lo, hi
	}
	least, most := rowcodec.FromBits(k, words[0]), rowcodec.FromBits(k, words[0])
	for _, w := range words[1:] {
		d := rowcodec.FromBits(k, w)
		if rowcodec.Compare(d, least) < 0 {
			least = d
		}
		if rowcodec.Compare(d, most) > 0 {
			most = d
		}
	}
	return least.Bits(), most.Bits()
}

// bytesBounds collects minimum and maximum of byte strings. Only the first
// zoneBytes+1 bytes of each are looked at: more never reach a bound.
type bytesBounds struct {
	any      bool
	min, max []byte // ≤ zoneBytes+1 bytes
}

func (b *bytesBounds) add(v []byte) {
	v = v[:min(len(v), zoneBytes+1)]
	switch {
	case !b.any:
		b.any = true
		b.min, b.max = append(b.min[:0], v...), append(b.max[:0], v...)
	case bytes.Compare(v, b.min) < 0:
		b.min = append(b.min[:0], v...)
	case bytes.Compare(v, b.max) > 0:
		b.max = append(b.max[:0], v...)
	}
}

// bounds returns the bounds to store; ok is false if there were no values, or
// the maximum can't be rounded up because it starts with 32 times FF.
func (b *bytesBounds) bounds() (lo, hi []byte, ok bool) {
	if !b.any {
		return nil, nil, false
	}
	lo, hi = b.min[:min(len(b.min), zoneBytes)], b.max
	if len(hi) > zoneBytes {
		if hi = rowcodec.PrefixSuccessor(hi[:zoneBytes]); hi == nil {
			return nil, nil, false
		}
	}
	return lo, hi, true
}
