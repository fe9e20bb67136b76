package catalog

import (
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // time zones on machines that have no zone database

	"github.com/dolthub/go-mysql-server/sql"
)

// go-mysql-server computes with the wall clock of the session, as a time.Time
// labelled UTC, and never converts a TIMESTAMP. MySQL stores UTC. The two meet
// in this file: what is stored is UTC, what the engine sees is the session's
// wall clock, both as microseconds since 1970.

const (
	microsPerSecond = int64(time.Second / time.Microsecond)
	microsPerDay    = 24 * 60 * 60 * microsPerSecond
	// zoneReach is farther than any wall clock is from UTC, twice.
	zoneReach = 2 * microsPerDay
)

// laterOccurrence is the location of a wall clock that a zone shows twice (the
// hour in which clocks are set back) and which means the second time. It looks
// like UTC in every way but its address, and lets a row that was read be
// written or deleted again without moving by an hour.
var laterOccurrence = time.FixedZone("UTC", 0)

// zone converts between UTC and the wall clock of one time zone.
type zone struct {
	loc   *time.Location
	fixed bool  // the offset never changes:
	shift int64 // wall clock minus UTC in µs, if fixed
}

var utcZone = &zone{loc: time.UTC, fixed: true}

// zones caches zones by name as SET time_zone spells them; there are only as
// many as there are valid names.
var zones sync.Map

// sessionZone returns the time zone of ctx's session, UTC without a session.
func sessionZone(ctx *sql.Context) *zone {
	if ctx == nil || ctx.Session == nil {
		return utcZone
	}
	v, err := ctx.GetSessionVariable(ctx, "time_zone")
	if err != nil {
		return utcZone // sessions of internal statements have no variables
	}
	name, _ := v.(string)
	return zoneNamed(name)
}

// zoneNamed returns the zone that MySQL calls name: SYSTEM, an offset like
// +05:30, or a name of the zone database. Other names can't be set; they mean UTC.
func zoneNamed(name string) *zone {
	if z, ok := zones.Load(name); ok {
		return z.(*zone)
	}
	loc := loadLocation(name)
	if loc == nil {
		return utcZone
	}
	z := &zone{loc: loc}
	start, end := time.Unix(0, 0).In(loc).ZoneBounds()
	if start.IsZero() && end.IsZero() {
		_, offset := time.Unix(0, 0).In(loc).Zone()
		z.fixed, z.shift = true, int64(offset)*microsPerSecond
	}
	zones.Store(name, z)
	return z
}

func loadLocation(name string) *time.Location {
	if name == "" || strings.EqualFold(name, "SYSTEM") {
		return time.Local
	}
	if d, err := sql.MySQLOffsetToDuration(name); err == nil {
		return time.FixedZone(name, int(d/time.Second))
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil
	}
	return loc
}

// period is a stretch of time with one offset: start ≤ t < end in UTC.
type period struct{ start, end, offset int64 }

const (
	beginOfTime = -1 << 62
	endOfTime   = 1 << 62
)

func (z *zone) periodAt(utc int64) period {
	t := time.UnixMicro(utc).In(z.loc)
	_, offset := t.Zone()
	p := period{start: beginOfTime, end: endOfTime, offset: int64(offset) * microsPerSecond}
	start, end := t.ZoneBounds()
	if !start.IsZero() {
		p.start = start.UnixMicro()
	}
	if !end.IsZero() {
		p.end = end.UnixMicro()
	}
	return p
}

// wall returns the wall clock at an instant, and whether the zone had shown it
// once before.
func (z *zone) wall(utc int64) (wall int64, later bool) {
	if z.fixed {
		return utc + z.shift, false
	}
	p := z.periodAt(utc)
	wall = utc + p.offset
	if utc-p.start >= zoneReach {
		return wall, false
	}
	before := z.periodAt(p.start - 1)
	earlier := wall - before.offset
	return wall, earlier >= before.start && earlier < before.end
}

// utc returns the instant at which the zone shows the wall clock: of two, the
// earlier one unless later asks for the other. A wall clock that is skipped
// (gap) means the instant at which it is skipped. Both are MySQL's choice.
func (z *zone) utc(wall int64, later bool) (utc int64, gap bool) {
	if z.fixed {
		return wall - z.shift, false
	}
	found := false
	p := z.periodAt(wall - zoneReach)
	for {
		if t := wall - p.offset; t >= p.start && t < p.end {
			if !later {
				return t, false
			}
			utc, found = t, true
		}
		if p.end >= wall+zoneReach {
			break
		}
		next := z.periodAt(p.end)
		if !found && wall-p.offset >= p.end && wall-next.offset < next.start {
			return p.end, true
		}
		p = next
	}
	if !found {
		return wall, true // a zone with periods shorter than its jumps; none exists
	}
	return utc, false
}

// bracket returns low, the first instant whose wall clock is not before wall,
// and high, the last one whose wall clock is not behind it. They are the same
// instant unless the zone shows wall twice, or nearly so (low < high: between
// them the wall clock jumps back), or never (low > high).
func (z *zone) bracket(wall int64) (low, high int64) {
	if z.fixed {
		return wall - z.shift, wall - z.shift
	}
	low, high = endOfTime, beginOfTime
	for p := z.periodAt(wall - zoneReach); ; p = z.periodAt(p.end) {
		at := wall - p.offset
		if at < p.end {
			low = min(low, max(at, p.start))
		}
		if at >= p.start {
			high = max(high, min(at, p.end-1))
		}
		if p.end >= wall+zoneReach {
			return low, high
		}
	}
}
