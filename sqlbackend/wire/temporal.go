package wire

import (
	"encoding/binary"
	"time"

	"github.com/dolthub/go-mysql-server/sql/types"
)

// clock is a point in time, or a duration with days in day, by its parts.
type clock struct {
	negative             bool
	year                 uint16
	month                byte
	day                  uint32
	hour, minute, second byte
	micros               uint32
}

// clockOf takes a time of the engine apart. digits is the fraction that the
// column has; the engine's stand-in for '0000-00-00' gives zeros.
func clockOf(t time.Time, kind byte, digits byte) clock {
	if t.Equal(types.ZeroTime) || t.Year() < 0 {
		return clock{}
	}
	c := clock{year: uint16(t.Year()), month: byte(t.Month()), day: uint32(t.Day())}
	if kind == typeDate {
		return c
	}
	c.hour, c.minute, c.second = byte(t.Hour()), byte(t.Minute()), byte(t.Second())
	c.micros = uint32(t.Nanosecond() / 1000)
	unit := uint32(1)
	for ; digits < 6; digits++ {
		unit *= 10
	}
	c.micros -= c.micros % unit
	return c
}

// appendDatetime appends a DATE, DATETIME or TIMESTAMP in the shortest form.
func appendDatetime(b []byte, c clock) []byte {
	n := byte(0)
	switch {
	case c.micros != 0:
		n = 11
	case c.hour|c.minute|c.second != 0:
		n = 7
	case c.year != 0 || c.month != 0 || c.day != 0:
		n = 4
	}
	b = append(b, n)
	if n >= 4 {
		b = binary.LittleEndian.AppendUint16(b, c.year)
		b = append(b, c.month, byte(c.day))
	}
	if n >= 7 {
		b = append(b, c.hour, c.minute, c.second)
	}
	if n == 11 {
		b = binary.LittleEndian.AppendUint32(b, c.micros)
	}
	return b
}

// appendTime appends a TIME in the shortest form.
func appendTime(b []byte, c clock) []byte {
	if c.day == 0 && c.hour|c.minute|c.second == 0 && c.micros == 0 {
		return append(b, 0)
	}
	n := byte(8)
	if c.micros != 0 {
		n = 12
	}
	sign := byte(0)
	if c.negative {
		sign = 1
	}
	b = append(b, n, sign)
	b = binary.LittleEndian.AppendUint32(b, c.day)
	b = append(b, c.hour, c.minute, c.second)
	if n == 12 {
		b = binary.LittleEndian.AppendUint32(b, c.micros)
	}
	return b
}

// textReader takes numbers off a text.
type textReader struct {
	s   []byte
	bad bool
}

// number reads a run of digits no greater than limit.
func (r *textReader) number(limit int) int {
	n, i := 0, 0
	for i < len(r.s) && r.s[i] >= '0' && r.s[i] <= '9' && n <= limit {
		n = n*10 + int(r.s[i]-'0')
		i++
	}
	if i == 0 || n > limit {
		r.bad = true
		return 0
	}
	r.s = r.s[i:]
	return n
}

// skip takes one of the separators; false leaves the text alone.
func (r *textReader) skip(c byte) bool {
	if len(r.s) == 0 || r.s[0] != c {
		return false
	}
	r.s = r.s[1:]
	return true
}

// micros reads an optional ".ffffff", cut after six digits.
func (r *textReader) micros() uint32 {
	if !r.skip('.') {
		return 0
	}
	n, digits := uint32(0), 0
	for len(r.s) > 0 && r.s[0] >= '0' && r.s[0] <= '9' {
		if digits < 6 {
			n = n*10 + uint32(r.s[0]-'0')
			digits++
		}
		r.s = r.s[1:]
	}
	for ; digits < 6; digits++ {
		n *= 10
	}
	return n
}

// clock reads h:m:s[.f] into c.
func (r *textReader) clock(c *clock, maxHour int) {
	h := r.number(maxHour)
	c.day += uint32(h / 24)
	c.hour = byte(h % 24)
	if !r.skip(':') {
		r.bad = true
	}
	c.minute = byte(r.number(59))
	if !r.skip(':') {
		r.bad = true
	}
	c.second = byte(r.number(59))
	c.micros = r.micros()
}

// parseDatetime reads "2006-01-02" and "2006-01-02 15:04:05[.999999]".
func parseDatetime(s []byte) (clock, bool) {
	r := textReader{s: s}
	var c clock
	c.year = uint16(r.number(9999))
	if !r.skip('-') {
		return c, false
	}
	c.month = byte(r.number(12))
	if !r.skip('-') {
		return c, false
	}
	c.day = uint32(r.number(31))
	if r.skip(' ') || r.skip('T') {
		r.clock(&c, 23)
	}
	return c, !r.bad && len(r.s) == 0
}

// parseTime reads "[-]hhh:mm:ss[.ffffff]".
func parseTime(s []byte) (clock, bool) {
	r := textReader{s: s}
	var c clock
	c.negative = r.skip('-')
	r.clock(&c, 838)
	return c, !r.bad && len(r.s) == 0
}
