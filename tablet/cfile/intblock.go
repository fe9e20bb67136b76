package cfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// An int block holds a known number of 64-bit words: the values of a
// fixed-width column (integers, or the bits of floats), string lengths,
// dictionary codes, offsets. It starts with its encoding:
//
//	plain  u8 1, 8 bytes a word
//	dict   u8 2, uvarint entries, 8 bytes an entry, int block of codes
//	RLE    u8 3, uvarint runs, per run: uvarint zigzag(word - word of the run before, wrapping), uvarint length
//	FOR    u8 4, u8 width ≤ 56, uvarint zigzag(base), (n·width+7)/8 bytes of word-base, least significant bit first, 7 zero bytes
const (
	maxPackedWidth = 56 // one unaligned 8-byte load reads any packed word
	packSlack      = 7  // zero bytes after packed words, so that the load never runs over
	maxIntDict     = 256
)

var errShort = errors.New("chunk ends early")

// appendInts appends vals in the smallest encoding. signed says that the words
// are int64, which decides what the frame of reference starts from.
func appendInts(dst []byte, vals []uint64, signed bool) []byte {
	lo, hi, runs := scanInts(vals, signed)
	width := bits.Len64(hi - lo)
	size := 8 * len(vals)
	enc := byte(encPlain)
	if width <= maxPackedWidth {
		enc, size = encFOR, packedLen(len(vals), width)
	}
	// A run costs at most its delta and a length of two bytes.
	if n := runs * (min(width, 63)/7 + 3); n < size {
		enc, size = encRLE, n
	}
	if width > 16 && enc != encRLE {
		if d := buildIntDict(vals, size); d != nil {
			return d.append(dst)
		}
	}
	switch enc {
	case encRLE:
		return appendRLE(dst, vals, runs)
	case encFOR:
		return appendFOR(dst, vals, lo, width)
	}
	dst = append(dst, encPlain)
	for _, v := range vals {
		dst = binary.LittleEndian.AppendUint64(dst, v)
	}
	return dst
}

// scanInts returns minimum and maximum in signed or unsigned order, and the number of runs.
func scanInts(vals []uint64, signed bool) (lo, hi uint64, runs int) {
	if len(vals) == 0 {
		return 0, 0, 0
	}
	var flip uint64
	if signed {
		flip = 1 << 63
	}
	lo, hi = vals[0]^flip, vals[0]^flip
	prev, runs := vals[0], 1
	for _, v := range vals[1:] {
		if v != prev {
			runs++
			prev = v
			lo, hi = min(lo, v^flip), max(hi, v^flip)
		}
	}
	return lo ^ flip, hi ^ flip, runs
}

func zigzag(v uint64) uint64   { return v<<1 ^ uint64(int64(v)>>63) }
func unzigzag(u uint64) uint64 { return u>>1 ^ -(u & 1) }

func packedLen(n, width int) int { return (n*width+7)/8 + packSlack }

func appendFOR(dst []byte, vals []uint64, base uint64, width int) []byte {
	dst = append(dst, encFOR, byte(width))
	dst = binary.AppendUvarint(dst, zigzag(base))
	var acc uint64
	var have int
	for _, v := range vals {
		v -= base
		acc |= v << have
		have += width
		if have >= 64 {
			dst = binary.LittleEndian.AppendUint64(dst, acc)
			have -= 64
			acc = v >> (width - have) // a shift by 64 or more gives 0
		}
	}
	for ; have > 0; have -= 8 {
		dst = append(dst, byte(acc))
		acc >>= 8
	}
	return append(dst, make([]byte, packSlack)...)
}

func appendRLE(dst []byte, vals []uint64, runs int) []byte {
	dst = append(dst, encRLE)
	dst = binary.AppendUvarint(dst, uint64(runs))
	var prev uint64
	for i := 0; i < len(vals); {
		j := i + 1
		for j < len(vals) && vals[j] == vals[i] {
			j++
		}
		dst = binary.AppendUvarint(dst, zigzag(vals[i]-prev))
		dst = binary.AppendUvarint(dst, uint64(j-i))
		prev = vals[i]
		i = j
	}
	return dst
}

// intDict is a dictionary of few distinct words that lie far apart.
type intDict struct {
	entries []uint64
	codes   []uint64
}

// buildIntDict returns a dictionary if it takes less than size bytes. It gives
// up early on words that look all different.
func buildIntDict(vals []uint64, size int) *intDict {
	const tableSize = 4 * maxIntDict
	var table [tableSize]uint16 // entry + 1
	d := &intDict{codes: make([]uint64, 0, 128)}
	for i, v := range vals {
		slot := v * 0x9E3779B97F4A7C15 >> 54
		for table[slot] != 0 && d.entries[table[slot]-1] != v {
			slot = (slot + 1) % tableSize
		}
		if table[slot] == 0 {
			if len(d.entries) == maxIntDict || (i == maxIntDict && len(d.entries) > maxIntDict*7/8) {
				return nil
			}
			d.entries = append(d.entries, v)
			table[slot] = uint16(len(d.entries))
		}
		d.codes = append(d.codes, uint64(table[slot]-1))
	}
	if 8*len(d.entries)+packedLen(len(vals), bits.Len(uint(len(d.entries)))) >= size {
		return nil
	}
	return d
}

func (d *intDict) append(dst []byte) []byte {
	dst = append(dst, encDict)
	dst = binary.AppendUvarint(dst, uint64(len(d.entries)))
	for _, v := range d.entries {
		dst = binary.LittleEndian.AppendUint64(dst, v)
	}
	return appendInts(dst, d.codes, false)
}

// decodeInts decodes one int block of len(out) words from the front of b and returns what follows.
func decodeInts(b []byte, out []uint64) ([]byte, error) {
	return decodeIntBlock(b, out, true)
}

func decodeIntBlock(b []byte, out []uint64, dict bool) ([]byte, error) {
	if len(b) == 0 {
		return nil, errShort
	}
	enc := b[0]
	b = b[1:]
	switch {
	case enc == encPlain:
		if len(b)/8 < len(out) {
			return nil, errShort
		}
		for i := range out {
			out[i] = binary.LittleEndian.Uint64(b[8*i:])
		}
		return b[8*len(out):], nil
	case enc == encDict && dict:
		return decodeIntDict(b, out)
	case enc == encRLE:
		return decodeRLE(b, out)
	case enc == encFOR:
		return decodeFOR(b, out)
	}
	return nil, fmt.Errorf("int block of encoding %d", enc)
}

func decodeFOR(b []byte, out []uint64) ([]byte, error) {
	if len(b) == 0 {
		return nil, errShort
	}
	width := int(b[0])
	u, n := binary.Uvarint(b[1:])
	if n <= 0 || width > maxPackedWidth {
		return nil, fmt.Errorf("bit-packed block of width %d", width)
	}
	b = b[1+n:]
	base := unzigzag(u)
	size := packedLen(len(out), width)
	if len(b) < size {
		return nil, errShort
	}
	packed, mask := b[:size], uint64(1)<<width-1
	switch width {
	case 0:
		for i := range out {
			out[i] = base
		}
	case 8:
		for i := range out {
			out[i] = base + uint64(packed[i])
		}
	default:
		bit := 0
		for i := range out {
			out[i] = base + binary.LittleEndian.Uint64(packed[bit>>3:])>>(bit&7)&mask
			bit += width
		}
	}
	return b[size:], nil
}

func decodeRLE(b []byte, out []uint64) ([]byte, error) {
	runs, n := binary.Uvarint(b)
	if n <= 0 || runs > uint64(len(out)) {
		return nil, fmt.Errorf("%d runs for %d values", runs, len(out))
	}
	b = b[n:]
	var v uint64
	for ; runs > 0; runs-- {
		delta, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, errShort
		}
		length, m := binary.Uvarint(b[n:])
		if m <= 0 || length == 0 || length > uint64(len(out)) {
			return nil, fmt.Errorf("run of %d for %d values", length, len(out))
		}
		b = b[n+m:]
		v += unzigzag(delta)
		for i := range out[:length] {
			out[i] = v
		}
		out = out[length:]
	}
	if len(out) > 0 {
		return nil, fmt.Errorf("runs end %d values early", len(out))
	}
	return b, nil
}

func decodeIntDict(b []byte, out []uint64) ([]byte, error) {
	count, n := binary.Uvarint(b)
	if n <= 0 || count > maxIntDict || len(b)-n < 8*int(count) {
		return nil, fmt.Errorf("dictionary of %d words", count)
	}
	dict := b[n : n+8*int(count)]
	b, err := decodeIntBlock(b[n+len(dict):], out, false)
	if err != nil {
		return nil, err
	}
	for i, code := range out {
		if code >= count {
			return nil, fmt.Errorf("code %d of a dictionary of %d", code, count)
		}
		out[i] = binary.LittleEndian.Uint64(dict[8*code:])
	}
	return b, nil
}

// byteReader reads lengths, strings and int blocks from the front of b; the first failure sticks.
type byteReader struct {
	b   []byte
	err error
}

func (r *byteReader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.b = nil
}

func (r *byteReader) uvarint(limit uint64) uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > limit {
		r.fail(fmt.Errorf("number %d above %d", v, limit))
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *byteReader) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.fail(errShort)
		return nil
	}
	out := r.b[:n:n]
	r.b = r.b[n:]
	return out
}

// ints fills out; out keeps its old content after an error.
func (r *byteReader) ints(out []uint64) {
	if r.err != nil {
		return
	}
	rest, err := decodeInts(r.b, out)
	if err != nil {
		r.fail(err)
		return
	}
	r.b = rest
}

func (r *byteReader) end() error {
	if r.err == nil && len(r.b) > 0 {
		return fmt.Errorf("%d bytes too many", len(r.b))
	}
	return r.err
}
