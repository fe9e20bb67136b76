package cfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sort"
)

// restartInterval is the number of keys between two that are stored whole:
// a seek is a binary search over those and at most 15 steps.
const restartInterval = 16

// A key vector is one of:
//
//	FOR     all keys are 8 bytes (one integer column): int block of their big-endian values
//	prefix  uvarint bytes of entries; entries; int block of the offsets of entries 0, 16, 32, …
//	        entry: uvarint length shared with the key before (0 at a restart), uvarint rest length, rest
type keyVector struct {
	rows     int
	fixed    []uint64 // the FOR form; nil for prefix
	restarts []uint32
	data     []byte
}

// keyBuilder collects the keys of the vector being written.
type keyBuilder struct {
	rows     int
	last     []byte
	entries  []byte
	restarts []uint64
	fixed    []uint64
	allFixed bool
}

func (b *keyBuilder) reset() {
	b.rows, b.allFixed = 0, true
	b.entries, b.restarts, b.fixed = b.entries[:0], b.restarts[:0], b.fixed[:0]
}

func (b *keyBuilder) add(key []byte) {
	shared := 0
	if b.rows%restartInterval == 0 {
		b.restarts = append(b.restarts, uint64(len(b.entries)))
	} else {
		shared = commonPrefix(b.last, key)
	}
	b.entries = binary.AppendUvarint(b.entries, uint64(shared))
	b.entries = binary.AppendUvarint(b.entries, uint64(len(key)-shared))
	b.entries = append(b.entries, key[shared:]...)
	if b.allFixed = b.allFixed && len(key) == 8; b.allFixed {
		b.fixed = append(b.fixed, binary.BigEndian.Uint64(key))
	}
	b.last = append(b.last[:0], key...)
	b.rows++
}

// append writes the keys to dst and returns their encoding.
func (b *keyBuilder) append(dst []byte) ([]byte, byte) {
	if b.allFixed {
		return appendInts(dst, b.fixed, false), encFOR
	}
	dst = binary.AppendUvarint(dst, uint64(len(b.entries)))
	dst = append(dst, b.entries...)
	return appendInts(dst, b.restarts, false), encPrefix
}

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for i+8 <= n && binary.LittleEndian.Uint64(a[i:]) == binary.LittleEndian.Uint64(b[i:]) {
		i += 8
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// decodeKeys decodes a key vector, which keeps payload. Entries are walked once
// here, so that later seeks need no checks.
func decodeKeys(enc byte, payload []byte, rows int) (*keyVector, error) {
	v := &keyVector{rows: rows}
	r := byteReader{b: payload}
	switch enc {
	case encFOR:
		v.fixed = make([]uint64, rows)
		r.ints(v.fixed)
		return v, r.end()
	case encPrefix:
	default:
		return nil, fmt.Errorf("keys of encoding %d", enc)
	}
	v.data = r.take(r.uvarint(maxChunkRaw))
	restarts := make([]uint64, (rows+restartInterval-1)/restartInterval)
	r.ints(restarts)
	if err := r.end(); err != nil {
		return nil, err
	}
	v.restarts = make([]uint32, len(restarts))
	pos, prev := 0, 0
	for i := range rows {
		if i%restartInterval == 0 {
			if restarts[i/restartInterval] != uint64(pos) {
				return nil, fmt.Errorf("restart of key %d at %d, want %d", i, restarts[i/restartInterval], pos)
			}
			v.restarts[i/restartInterval] = uint32(pos)
			prev = 0
		}
		shared, n := binary.Uvarint(v.data[pos:])
		if n <= 0 || shared > uint64(prev) {
			return nil, fmt.Errorf("key %d shares %d bytes of %d", i, shared, prev)
		}
		rest, m := binary.Uvarint(v.data[pos+n:])
		if pos += n + m; m <= 0 || rest > uint64(len(v.data)-pos) || shared+rest > MaxKeySize {
			return nil, fmt.Errorf("key %d of %d+%d bytes", i, shared, rest)
		}
		pos += int(rest)
		prev = int(shared + rest)
	}
	if pos != len(v.data) {
		return nil, fmt.Errorf("%d bytes after the last key", len(v.data)-pos)
	}
	return v, nil
}

// size is the memory the vector takes.
func (v *keyVector) size() int { return 8*len(v.fixed) + 4*len(v.restarts) + len(v.data) + 96 }

// entry returns shared length, rest and the position of the next entry.
func (v *keyVector) entry(pos int) (shared int, rest []byte, next int) {
	d := v.data
	if d[pos] < 0x80 && d[pos+1] < 0x80 { // both lengths in one byte: nearly always
		shared, pos = int(d[pos]), pos+1
		next = pos + 1 + int(d[pos])
		return shared, d[pos+1 : next : next], next
	}
	s, n := binary.Uvarint(d[pos:])
	l, m := binary.Uvarint(d[pos+n:])
	pos += n + m
	next = pos + int(l)
	return int(s), d[pos:next:next], next
}

// seek returns the first slot whose key is ≥ key (rows if none) and whether it is equal. It allocates nothing.
func (v *keyVector) seek(key []byte) (slot int, exact bool) {
	if v.fixed != nil {
		return v.seekFixed(key)
	}
	// The last restart that is ≤ key; all before the first one: slot 0.
	lo, hi := 0, len(v.restarts)
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		_, k, _ := v.entry(int(v.restarts[mid]))
		if bytes.Compare(k, key) <= 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return 0, false
	}
	return v.seekFrom((lo-1)*restartInterval, key)
}

// seekFrom walks the entries from a restart slot, without building a key: match
// is how many bytes the target shares with the last key, which is below it.
func (v *keyVector) seekFrom(slot int, key []byte) (int, bool) {
	match := 0
	pos := int(v.restarts[slot/restartInterval])
	for i := 0; i < restartInterval && slot < v.rows; i++ {
		shared, rest, next := v.entry(pos)
		switch {
		case shared < match: // differs from the last key upwards, before the target does
			return slot, false
		case shared == match: // else it is as far below the target as the last key
			tail := key[match:]
			n := commonPrefix(rest, tail)
			if n == len(tail) {
				return slot, n == len(rest)
			}
			if n < len(rest) && rest[n] > tail[n] {
				return slot, false
			}
			match += n
		}
		pos = next
		slot++
	}
	return slot, false
}

func (v *keyVector) seekFixed(key []byte) (int, bool) {
	h := head(key)
	slot := sort.Search(len(v.fixed), func(i int) bool { return v.fixed[i] >= h })
	if slot == len(v.fixed) || v.fixed[slot] != h {
		return slot, false
	}
	if len(key) > 8 { // the stored key is a true prefix of the wanted one
		return slot + 1, false
	}
	return slot, len(key) == 8
}

// appendKey appends the key of a slot to dst.
func (v *keyVector) appendKey(dst []byte, slot int) []byte {
	if v.fixed != nil {
		return binary.BigEndian.AppendUint64(dst, v.fixed[slot])
	}
	base := len(dst)
	pos := int(v.restarts[slot/restartInterval])
	for i := slot &^ (restartInterval - 1); ; i++ {
		shared, rest, next := v.entry(pos)
		dst = append(dst[:base+shared], rest...)
		if i == slot {
			return dst
		}
		pos = next
	}
}

// head returns the first 8 bytes of a key as a number, 00 beyond its end: head(a) < head(b) implies a < b.
func head(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var b [8]byte
	copy(b[:], key)
	return binary.BigEndian.Uint64(b[:])
}

// keyIndex is a resident ascending list of keys: first keys of vectors or bloom pages.
type keyIndex struct {
	heads   []uint64
	offsets []uint32 // len(heads)+1
	data    []byte
}

func newKeyIndex(offsets []uint32, data []byte) keyIndex {
	x := keyIndex{offsets: offsets, data: data, heads: make([]uint64, len(offsets)-1)}
	for i := range x.heads {
		x.heads[i] = head(x.key(i))
	}
	return x
}

func (x *keyIndex) key(i int) []byte { return x.data[x.offsets[i]:x.offsets[i+1]:x.offsets[i+1]] }

// floor returns the last entry that is ≤ key, -1 if none.
func (x *keyIndex) floor(key []byte) int {
	h := head(key)
	lo, hi := 0, len(x.heads)
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		m := x.heads[mid]
		if m < h || (m == h && bytes.Compare(x.key(mid), key) <= 0) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo - 1
}
