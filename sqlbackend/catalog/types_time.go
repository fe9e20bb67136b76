package catalog

import (
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"ksql/tablet/rowcodec"
)

// zeroMicros is '0000-00-00 00:00:00', which go-mysql-server represents by a
// date in the year -1. It is stored as such and never moved between time zones.
var zeroMicros = types.ZeroTime.UnixMicro()

// A TIMESTAMP is legal from 1970-01-01 00:00:01 to 2038-01-19 03:14:07.999999 UTC.
const (
	minTimestampMicros = microsPerSecond
	maxTimestampMicros = (1<<31)*microsPerSecond - 1
)

func datetimeConverter() converter {
	return converter{
		kind:    rowcodec.KindInt64,
		keyable: true,
		loose:   true,
		encode: func(_ *rowEnv, v any) (rowcodec.Datum, bool, error) {
			t, ok := v.(time.Time)
			return rowcodec.Int(wallMicros(t)), ok, nil
		},
		decode: func(_ *rowEnv, d rowcodec.Datum) (any, error) { return time.UnixMicro(d.Int()).UTC(), nil },
		place:  placeDatetime,
	}
}

// wallMicros returns the wall clock that t shows, as if it were UTC.
func wallMicros(t time.Time) int64 {
	if _, offset := t.Zone(); offset != 0 {
		return t.UnixMicro() + int64(offset)*microsPerSecond
	}
	return t.UnixMicro()
}

func timestampConverter() converter {
	c := datetimeConverter()
	c.zoned = true
	c.encode = func(e *rowEnv, v any) (rowcodec.Datum, bool, error) {
		t, ok := v.(time.Time)
		if !ok {
			return rowcodec.Datum{}, false, nil
		}
		utc, err := e.timestamp(t)
		return rowcodec.Int(utc), true, err
	}
	c.decode = func(e *rowEnv, d rowcodec.Datum) (any, error) {
		if d.Int() == zeroMicros {
			return types.ZeroTime, nil
		}
		wall, later := e.zone.wall(d.Int())
		if later {
			return time.UnixMicro(wall).In(laterOccurrence), nil
		}
		return time.UnixMicro(wall).UTC(), nil
	}
	c.place = placeTimestamp
	return c
}

// timestamp converts the wall clock of the session to UTC. A wall clock that
// the zone skips, or an instant outside the type's range, is an error in
// strict mode (1292); otherwise it becomes the instant of the jump, or the
// zero timestamp.
func (e *rowEnv) timestamp(t time.Time) (int64, error) {
	wall := wallMicros(t)
	if wall == zeroMicros {
		return wall, nil
	}
	utc, gap := e.zone.utc(wall, t.Location() == laterOccurrence)
	outside := utc < minTimestampMicros || utc > maxTimestampMicros
	if (gap || outside) && e.strict() {
		return 0, types.ErrConvertingToTime.New(t.Format(sql.TimestampDatetimeLayout))
	}
	if outside {
		return zeroMicros, nil
	}
	return utc, nil
}

func timespanConverter() converter {
	return converter{
		kind:    rowcodec.KindInt64,
		keyable: true,
		encode: func(_ *rowEnv, v any) (rowcodec.Datum, bool, error) {
			t, ok := v.(types.Timespan)
			return rowcodec.Int(int64(t)), ok, nil
		},
		decode: func(_ *rowEnv, d rowcodec.Datum) (any, error) { return types.Timespan(d.Int()), nil },
		place:  placeTimespan,
	}
}
