package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// errMalformed says that a packet ended before the field that its own bytes
// announced, or that a field has a value the protocol does not allow.
var errMalformed = errors.New("malformed packet")

// decoder reads protocol fields from one packet. It never reads past the end:
// the first shortage sets bad, and every later read gives zero values, so that
// a parser can read all fields and check once.
type decoder struct {
	b   []byte
	bad bool
}

// take returns the next n bytes, which alias the packet.
func (d *decoder) take(n int) []byte {
	if d.bad || n < 0 || n > len(d.b) {
		d.bad = true
		return nil
	}
	out := d.b[:n:n]
	d.b = d.b[n:]
	return out
}

func (d *decoder) u8() byte {
	if p := d.take(1); p != nil {
		return p[0]
	}
	return 0
}

func (d *decoder) u16() uint16 {
	if p := d.take(2); p != nil {
		return binary.LittleEndian.Uint16(p)
	}
	return 0
}

func (d *decoder) u32() uint32 {
	if p := d.take(4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

func (d *decoder) u64() uint64 {
	if p := d.take(8); p != nil {
		return binary.LittleEndian.Uint64(p)
	}
	return 0
}

// lenenc reads a length-encoded integer. The markers for NULL (0xfb) and for
// an error packet (0xff) are not integers and make the packet malformed.
func (d *decoder) lenenc() uint64 {
	switch first := d.u8(); first {
	case 0xfb, 0xff:
		d.bad = true
		return 0
	case 0xfc:
		return uint64(d.u16())
	case 0xfd:
		p := d.take(3)
		if p == nil {
			return 0
		}
		return uint64(p[0]) | uint64(p[1])<<8 | uint64(p[2])<<16
	case 0xfe:
		return d.u64()
	default:
		return uint64(first)
	}
}

// lenencBytes reads a length-encoded string; the result aliases the packet.
func (d *decoder) lenencBytes() []byte {
	n := d.lenenc()
	if d.bad || n > uint64(len(d.b)) {
		d.bad = true
		return nil
	}
	return d.take(int(n))
}

// cstring reads a string that ends with a zero byte. A missing terminator is
// accepted at the end of the packet: several clients omit the last one.
func (d *decoder) cstring() string {
	if d.bad {
		return ""
	}
	if i := bytes.IndexByte(d.b, 0); i >= 0 {
		s := string(d.b[:i])
		d.b = d.b[i+1:]
		return s
	}
	s := string(d.b)
	d.b = nil
	return s
}

func (d *decoder) empty() bool { return len(d.b) == 0 }

// err returns errMalformed if any read so far was short.
func (d *decoder) err() error {
	if d.bad {
		return errMalformed
	}
	return nil
}
