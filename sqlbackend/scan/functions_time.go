package scan

import (
	"fmt"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/shopspring/decimal"
)

// Date and time functions of MySQL that the engine lacks
// (https://dev.mysql.com/doc/refman/8.4/en/date-and-time-functions.html).
func init() {
	registerScalar(&definition{name: "addtime", least: 2, most: 2, resultType: addTimeType,
		eval: func(ctx *sql.Context, a []sql.Expression, v []any) (any, error) { return addTime(ctx, a, v, 1) }})
	registerScalar(&definition{name: "subtime", least: 2, most: 2, resultType: addTimeType,
		eval: func(ctx *sql.Context, a []sql.Expression, v []any) (any, error) { return addTime(ctx, a, v, -1) }})
	registerScalar(&definition{name: "maketime", least: 3, most: 3, resultType: always(types.Time), eval: makeTime})
	registerScalar(&definition{name: "makedate", least: 2, most: 2, resultType: always(types.Date), eval: makeDate})
	registerScalar(&definition{name: "period_add", least: 2, most: 2, resultType: always(types.Int64), eval: periodAdd})
	registerScalar(&definition{name: "period_diff", least: 2, most: 2, resultType: always(types.Int64), eval: periodDiff})
	registerScalar(&definition{name: "sec_to_time", least: 1, most: 1, resultType: always(types.Time), eval: secToTime})
	registerScalar(&definition{name: "to_seconds", least: 1, most: 1, resultType: always(types.Int64), eval: toSeconds})
	registerScalar(&definition{name: "utc_date", most: 0, volatile: true, resultType: always(types.Date),
		eval: func(ctx *sql.Context, _ []sql.Expression, _ []any) (any, error) {
			return ctx.QueryTime().UTC().Truncate(24 * time.Hour), nil
		}})
	registerScalar(&definition{name: "utc_time", most: 1, volatile: true, resultType: always(types.Time), eval: utcTime})
}

// timespan reads a TIME. ok is false for text that is none.
func timespan(v any) (types.Timespan, bool) {
	if d, ok := v.(decimal.Decimal); ok {
		v = d.String()
	}
	t, err := types.Time.ConvertToTimespan(v)
	return t, err == nil
}

// clampTimespan keeps a time within TIME's range.
func clampTimespan(micros int64) types.Timespan {
	const limit = (838*3600 + 59*60 + 59) * 1_000_000
	return types.Timespan(min(max(micros, -limit), limit))
}

// addTimeType is the type of ADDTIME and SUBTIME: that of the first argument, text
// for text.
func addTimeType(ctx *sql.Context, args []sql.Expression) sql.Type {
	switch t := args[0].Type(ctx); {
	case types.IsTime(t):
		digits := 0
		if d, ok := t.(sql.DatetimeType); ok {
			digits = d.Precision()
		}
		if l, ok := args[1].(*expression.Literal); !ok || strings.Contains(fmt.Sprint(l.Value()), ".") {
			digits = 6
		}
		return types.MustCreateDatetimeType(sqltypes.Datetime, digits)
	case types.IsTimespan(t):
		return types.Time
	}
	return types.LongText
}

func addTime(ctx *sql.Context, args []sql.Expression, v []any, sign int64) (any, error) {
	if _, ok := v[1].(time.Time); ok {
		return nil, nil
	}
	d, ok := timespan(v[1])
	if !ok {
		return nil, nil
	}
	delta := sign * int64(d)
	text := addTimeType(ctx, args) == types.LongText
	if s, ok := v[0].(string); text && ok && strings.ContainsAny(strings.TrimLeft(s, "-"), "-/") {
		t, _, err := types.DatetimeMaxPrecision.Convert(ctx, s)
		if err != nil || t == nil {
			return nil, nil //nolint:nilerr // text that is no time gives NULL
		}
		v[0] = t
	}
	if t, ok := v[0].(time.Time); ok {
		t = t.Add(time.Duration(delta) * time.Microsecond)
		if !text {
			return t, nil
		}
		if t.Nanosecond() != 0 {
			return t.Format("2006-01-02 15:04:05.000000"), nil
		}
		return t.Format("2006-01-02 15:04:05"), nil
	}
	t, ok := timespan(v[0])
	if !ok {
		return nil, nil
	}
	sum := clampTimespan(int64(t) + delta)
	if text {
		return sum.String(), nil
	}
	return sum, nil
}

// wholeArg converts an argument to a whole number.
func wholeArg(ctx *sql.Context, v any) (int64, bool) {
	n, _, err := types.Int64.Convert(ctx, v)
	i, ok := n.(int64)
	return i, err == nil && ok
}

// secondsArg converts seconds with a fraction to microseconds.
func secondsArg(ctx *sql.Context, v any) (int64, bool) {
	d, _, err := types.InternalDecimalType.Convert(ctx, v)
	x, ok := d.(decimal.Decimal)
	if err != nil || !ok {
		return 0, false
	}
	x = x.Mul(decimal.NewFromInt(1_000_000)).Round(0)
	if x.Abs().Cmp(decimal.NewFromInt(1<<60)) > 0 {
		return int64(x.Sign()) << 60, true
	}
	return x.IntPart(), true
}

func makeTime(ctx *sql.Context, _ []sql.Expression, v []any) (any, error) {
	h, ok1 := wholeArg(ctx, v[0])
	m, ok2 := wholeArg(ctx, v[1])
	micros, ok3 := secondsArg(ctx, v[2])
	if !ok1 || !ok2 || !ok3 || m < 0 || m > 59 || micros < 0 || micros >= 60_000_000 {
		return nil, nil
	}
	sign := int64(1)
	if h < 0 {
		sign, h = -1, -h
	}
	if h > 838 {
		return clampTimespan(sign << 60), nil
	}
	return clampTimespan(sign * ((h*3600+m*60)*1_000_000 + micros)), nil
}

func makeDate(ctx *sql.Context, _ []sql.Expression, v []any) (any, error) {
	y, ok1 := wholeArg(ctx, v[0])
	d, ok2 := wholeArg(ctx, v[1])
	if !ok1 || !ok2 || d <= 0 || y < 0 || y > 9999 || d > 4_000_000 {
		return nil, nil
	}
	t := time.Date(int(fullYear(y)), 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, int(d-1))
	if t.Year() > 9999 {
		return nil, nil
	}
	return t, nil
}

// fullYear reads a year of two digits.
func fullYear(y int64) int64 {
	switch {
	case y < 70:
		return y + 2000
	case y < 100:
		return y + 1900
	}
	return y
}

// months counts the months of a period YYMM or YYYYMM.
func months(name string, p int64) (int64, error) {
	m := p % 100
	if p <= 0 || m < 1 || m > 12 {
		return 0, mysql.NewSQLError(1210, "HY000", "Incorrect arguments to %s", name)
	}
	return fullYear(p/100)*12 + m - 1, nil
}

func periodAdd(ctx *sql.Context, _ []sql.Expression, v []any) (any, error) {
	p, _ := wholeArg(ctx, v[0])
	n, _ := wholeArg(ctx, v[1])
	m, err := months("period_add", p)
	if err != nil {
		return nil, err
	}
	m += n
	return m/12*100 + m%12 + 1, nil
}

func periodDiff(ctx *sql.Context, _ []sql.Expression, v []any) (any, error) {
	p, _ := wholeArg(ctx, v[0])
	q, _ := wholeArg(ctx, v[1])
	a, err := months("period_diff", p)
	if err != nil {
		return nil, err
	}
	b, err := months("period_diff", q)
	if err != nil {
		return nil, err
	}
	return a - b, nil
}

func secToTime(ctx *sql.Context, _ []sql.Expression, v []any) (any, error) {
	micros, ok := secondsArg(ctx, v[0])
	if !ok {
		return nil, nil
	}
	return clampTimespan(micros), nil
}

func toSeconds(ctx *sql.Context, _ []sql.Expression, v []any) (any, error) {
	d, _, err := types.DatetimeMaxPrecision.Convert(ctx, v[0])
	t, ok := d.(time.Time)
	if err != nil || !ok {
		return nil, nil //nolint:nilerr // what is no date gives NULL
	}
	return dayNumber(t)*86400 + int64(t.Hour()*3600+t.Minute()*60+t.Second()), nil
}

// dayNumber counts days as MySQL's TO_DAYS does (its calc_daynr): year 0 has 365.
func dayNumber(t time.Time) int64 {
	y, m, d := int64(t.Year()), int64(t.Month()), int64(t.Day())
	n := 365*y + 31*(m-1) + d
	if m <= 2 {
		y--
	} else {
		n -= (m*4 + 23) / 10
	}
	return n + y/4 - (y/100+1)*3/4
}

func utcTime(ctx *sql.Context, _ []sql.Expression, v []any) (any, error) {
	digits := int64(0)
	if len(v) == 1 {
		n, ok := wholeArg(ctx, v[0])
		if !ok || n < 0 || n > 6 {
			return nil, mysql.NewSQLError(1426, "42000", "Too-big precision specified for 'utc_time'. Maximum is 6.")
		}
		digits = n
	}
	t := ctx.QueryTime().UTC()
	micros := t.Sub(t.Truncate(24 * time.Hour)).Microseconds()
	step := int64(1)
	for ; digits < 6; digits++ {
		step *= 10
	}
	return types.Timespan(micros - micros%step), nil
}
