package rowcodec

import (
	"encoding/binary"
	"fmt"
)

// decoder reads primitive values from the front of b. The first failure sticks
// in err, after it every read returns zero. It accepts one spelling of each
// value only, so that equal values are equal bytes everywhere.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format+": %w", append(args, ErrMalformed)...)
	}
	d.b = nil
}

func (d *decoder) take(n int) []byte {
	if n > len(d.b) {
		d.fail("%d bytes wanted, %d left", n, len(d.b))
		return nil
	}
	out := d.b[:n:n]
	d.b = d.b[n:]
	return out
}

func (d *decoder) byte() byte {
	if len(d.b) == 0 {
		d.fail("input ends early")
		return 0
	}
	v := d.b[0]
	d.b = d.b[1:]
	return v
}

func (d *decoder) bool() bool {
	v := d.byte()
	if v > 1 {
		d.fail("flag is %d", v)
	}
	return v == 1
}

func (d *decoder) kind() Kind {
	k := Kind(d.byte())
	if d.err == nil && !k.Valid() {
		d.fail("unknown %v", k)
	}
	return k
}

// uvarint reads a minimally encoded unsigned varint that is at most limit.
func (d *decoder) uvarint(limit uint64) uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 || (n > 1 && d.b[n-1] == 0) {
		d.fail("bad varint")
		return 0
	}
	if v > limit {
		d.fail("%d exceeds %d", v, limit)
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) uint64() uint64 {
	if b := d.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (d *decoder) uint32() uint32 {
	if b := d.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}
