package cfile

import (
	"encoding/binary"
	"fmt"

	"github.com/bits-and-blooms/bloom/v3"
	"github.com/cespare/xxhash/v2"
)

// Bloom pages are Kudu's: filters of 4 KiB, each over a consecutive range of
// keys, found by the first key of the page. bloom/v3 holds the bits and tests
// them; the locations come from one 64-bit hash that the caller computes once
// per key, however many files it asks.
const (
	// bloomPageKeys keys in 4 KiB with bloomHashes probes give 1e-4 false
	// positives: n = m·ln²2/-ln p = 32768·0.4805/9.2103.
	bloomPageKeys  = 1709
	bloomHashes    = 13
	bloomPageBytes = 4096
)

// HashKey hashes a key, or its first BloomColumns encoded columns, for MayContain. It is xxhash64; persistent.
func HashKey(prefix []byte) uint64 { return xxhash.Sum64(prefix) }

// bloomLocations fills locs from a hash by enhanced double hashing (Dillinger
// and Manolios): the increment grows, so no two keys share a long stride.
func bloomLocations(locs *[bloomHashes]uint64, hash uint64) {
	x, y := hash, hash>>32|hash<<32
	for i := range locs {
		locs[i] = x // TestLocations reduces it modulo the number of bits
		x += y
		y += uint64(i) + 1
	}
}

// bloomWords returns the size of a page of n keys: 4 KiB if full, less for the last page of a file.
func bloomWords(n int) int {
	return min(bloomPageBytes/8, (n*bloomPageBytes*8/bloomPageKeys+63)/64)
}

// bloomBuilder collects hashes until a page is full.
type bloomBuilder struct {
	hashes []uint64
	first  []byte // key of the first hash
	last   []byte // prefix added last, so that equal prefixes count once
}

// add adds a key or prefix; full tells that the page has to be written before the next one.
func (b *bloomBuilder) add(prefix []byte, any bool) (full bool) {
	if any && string(prefix) == string(b.last) {
		return false
	}
	if len(b.hashes) == 0 {
		b.first = append(b.first[:0], prefix...)
	}
	b.last = append(b.last[:0], prefix...)
	b.hashes = append(b.hashes, HashKey(prefix))
	return len(b.hashes) == bloomPageKeys
}

// build returns the page of the collected hashes as little-endian words and forgets them.
func (b *bloomBuilder) build() []byte {
	f := bloom.From(make([]uint64, bloomWords(len(b.hashes))), bloomHashes)
	var locs [bloomHashes]uint64
	m := uint64(f.Cap())
	for _, h := range b.hashes {
		bloomLocations(&locs, h)
		for _, l := range locs {
			f.BitSet().Set(uint(l % m))
		}
	}
	b.hashes = b.hashes[:0]
	var out []byte
	for _, w := range f.BitSet().Words() {
		out = binary.LittleEndian.AppendUint64(out, w)
	}
	return out
}

// decodeBloom turns the payload of a page of n keys into a filter.
func decodeBloom(payload []byte, n int) (*bloom.BloomFilter, error) {
	if n <= 0 || n > bloomPageKeys || len(payload) != 8*bloomWords(n) {
		return nil, fmt.Errorf("bloom page of %d bytes for %d keys", len(payload), n)
	}
	words := make([]uint64, len(payload)/8)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(payload[8*i:])
	}
	return bloom.From(words, bloomHashes), nil
}

// MayContain reports whether the file may hold key, or a key that starts with
// it when the schema has BloomColumns (then key may be the prefix or the whole
// key). hash is HashKey of the key or prefix. False is certain; true is wrong
// for about one absent key in 10 000. A file without blooms says true.
func (r *Reader) MayContain(key []byte, hash uint64) bool {
	if len(r.blooms) == 0 {
		return r.rows > 0
	}
	page := r.bloomIndex.floor(key)
	if page < 0 {
		return false
	}
	var locs [bloomHashes]uint64
	bloomLocations(&locs, hash)
	return r.blooms[page].TestLocations(locs[:])
}
