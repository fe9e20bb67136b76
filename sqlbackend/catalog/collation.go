package catalog

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
	"unsafe"

	"github.com/cespare/xxhash/v2"
	"github.com/dolthub/go-mysql-server/sql"
)

// weightVersion numbers the way in which strings become key bytes. It is
// stored with the collation of every column (collationTag), so that a release
// with other weights refuses old keys instead of searching them in a wrong
// order. testdata/weights.golden pins a fingerprint of the weights of every
// collation: when that test fails after an upgrade of go-mysql-server, raise
// this number.
const weightVersion = 1

// collationIDBits is the width of the collation id inside a collationTag;
// MySQL's ids end at 323.
const collationIDBits = 9

// collationTag packs a collation id and the version of its weights into the
// opaque collation id of rowcodec.Column; 0 stands for plain bytes.
func collationTag(id sql.CollationID) uint16 {
	if id == sql.Collation_binary {
		return 0
	}
	return uint16(id) | weightVersion<<collationIDBits
}

// checkCollationTag reports whether keys that were written under tag can be
// read by this program.
func checkCollationTag(tag uint16) error {
	id, version := tag&(1<<collationIDBits-1), tag>>collationIDBits
	if tag == 0 || version == weightVersion {
		return nil
	}
	return fmt.Errorf("collation %s: keys have weights of version %d, this program computes version %d: dump with the old program and load again",
		sql.CollationID(id).Name(), version, weightVersion)
}

// collator compares, hashes and weighs strings under one collation, exactly as
// go-mysql-server's Type.Compare does: rune by rune, one weight a rune, no
// contractions, no expansions, no ignorable characters, and no space padding.
// It is safe for concurrent use.
type collator struct {
	id     sql.CollationID
	sorter sql.CollationSorter
	// bytewise says that the order of the runes' weights is the order of their
	// UTF-8 bytes, so that valid text is its own weight string.
	bytewise bool
	// ascii holds the finished weight codes of the first 128 runes.
	ascii [utf8.RuneSelf]weightCode
	// pages caches weights of the basic multilingual plane, 256 runes a page;
	// a page is computed when a rune of it is first met.
	pages [256]atomic.Pointer[[256]int32]
}

// weightCode is the encoded weight of one rune.
type weightCode struct {
	n     uint8
	bytes [3]byte
}

// A weight is written so that byte order is weight order, no code is a prefix
// of another, and no code contains a 00 byte (which keys would have to escape):
//
//	01 + 5 bytes        negative weights: the low 32 bits in five 7-bit groups, each with its high bit set
//	02 … 7F             weights 0 … 125
//	80 … DF + 1 byte    the next 96·255 weights; the second byte is 01 … FF
//	E0 … FD + 2 bytes   the next 30·255²
//	FE + 5 bytes        all greater weights, groups as above
const (
	weights1 = 0x80 - 0x02
	weights2 = weights1 + (0xE0-0x80)*255
	weights3 = weights2 + (0xFE-0xE0)*255*255
)

func appendWeight(dst []byte, w int32) []byte {
	switch {
	case w < 0:
		return appendGroups(append(dst, 0x01), uint32(w))
	case w < weights1:
		return append(dst, byte(w)+0x02)
	case w < weights2:
		w -= weights1
		return append(dst, byte(0x80+w/255), byte(1+w%255))
	case w < weights3:
		w -= weights2
		return append(dst, byte(0xE0+w/(255*255)), byte(1+w/255%255), byte(1+w%255))
	default:
		return appendGroups(append(dst, 0xFE), uint32(w))
	}
}

func appendGroups(dst []byte, u uint32) []byte {
	return append(dst, byte(u>>28)|0x80, byte(u>>21)|0x80, byte(u>>14)|0x80, byte(u>>7)|0x80, byte(u)|0x80)
}

var collators [1 << collationIDBits]struct {
	once sync.Once
	c    *collator
}

// collatorOf returns the collator of a collation, nil for the binary
// collation, whose strings are bytes. Errors: a collation that
// go-mysql-server knows by name only.
func collatorOf(id sql.CollationID) (*collator, error) {
	if id == sql.Collation_binary {
		return nil, nil
	}
	if int(id) >= len(collators) || id.Sorter() == nil {
		return nil, sql.ErrCollationNotYetImplementedTemp.New(id.Name())
	}
	slot := &collators[id]
	slot.once.Do(func() { slot.c = newCollator(id) })
	return slot.c, nil
}

func newCollator(id sql.CollationID) *collator {
	c := &collator{id: id, sorter: id.Sorter()}
	c.bytewise = id == sql.Collation_utf8mb4_0900_bin || id == sql.Collation_utf8mb4_bin
	for r := range c.ascii {
		b := appendWeight(c.ascii[r].bytes[:0], c.sorter(rune(r)))
		if len(b) > len(c.ascii[r].bytes) {
			continue // too long for the table: n stays 0 and the slow path writes it
		}
		c.ascii[r].n = uint8(len(b))
	}
	return c
}

// weight returns the weight of one rune, from the page cache if it can.
func (c *collator) weight(r rune) int32 {
	if uint32(r) >= 1<<16 {
		return c.sorter(r)
	}
	page := c.pages[r>>8].Load()
	if page == nil {
		page = new([256]int32)
		for i := range page {
			page[i] = c.sorter(r&^0xFF | rune(i))
		}
		c.pages[r>>8].Store(page)
	}
	return page[r&0xFF]
}

// AppendWeights appends the weight string of s: for two strings the order and
// equality of their weight strings are those of the strings.
func (c *collator) AppendWeights(dst []byte, s string) []byte {
	if c.bytewise {
		if utf8.ValidString(s) {
			return append(dst, s...)
		}
		return append(dst, strings.ToValidUTF8(s, string(utf8.RuneError))...)
	}
	for i := 0; i < len(s); {
		if b := s[i]; b < utf8.RuneSelf {
			i++
			code := &c.ascii[b]
			switch code.n {
			case 1:
				dst = append(dst, code.bytes[0])
			case 2:
				dst = append(dst, code.bytes[0], code.bytes[1])
			case 3:
				dst = append(dst, code.bytes[:]...)
			default:
				dst = appendWeight(dst, c.weight(rune(b)))
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		dst = appendWeight(dst, c.weight(r))
	}
	return dst
}

// Compare orders two strings: -1, 0 or +1.
func (c *collator) Compare(a, b string) int {
	for len(a) > 0 && len(b) > 0 {
		ra, na := utf8.DecodeRuneInString(a)
		rb, nb := utf8.DecodeRuneInString(b)
		if ra != rb {
			wa, wb := c.weight(ra), c.weight(rb)
			if wa != wb {
				if wa < wb {
					return -1
				}
				return 1
			}
		}
		a, b = a[na:], b[nb:]
	}
	switch {
	case len(a) > 0:
		return 1
	case len(b) > 0:
		return -1
	}
	return 0
}

// Hash returns a hash that is equal for strings that compare equal.
func (c *collator) Hash(s string) uint64 {
	var buf [256]byte
	return xxhash.Sum64(c.AppendWeights(buf[:0], s))
}

// charPrefix returns the first n characters of s and whether that is less than s.
func charPrefix(s string, n int) (string, bool) {
	if len(s) <= n {
		return s, false
	}
	for i := range s {
		if n == 0 {
			return s[:i], true
		}
		n--
	}
	return s, false
}

// bytesAsString returns b as a string without copying; it must not be kept
// beyond b or outlive a change of it.
func bytesAsString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
