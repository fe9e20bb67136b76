package catalog

import (
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

var testZones = []string{"+00:00", "-12:00", "+05:30", "+14:00", "UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia", "America/Sao_Paulo", "Asia/Kathmandu", "Africa/Casablanca"}

func micros(t testing.TB, s string) int64 {
	at, err := time.Parse("2006-01-02 15:04:05.999999", s)
	if err != nil {
		t.Fatal(err)
	}
	return at.UnixMicro()
}

// TestZoneTable: what MariaDB 10.11 stores for wall clocks that exist twice or not at all.
func TestZoneTable(t *testing.T) {
	for _, c := range []struct {
		zone, wall string
		later      bool
		utc        string
		gap        bool
	}{
		{"Europe/Berlin", "2024-07-01 12:00:00", false, "2024-07-01 10:00:00", false},
		{"Europe/Berlin", "2024-10-27 02:30:00", false, "2024-10-27 00:30:00", false},
		{"Europe/Berlin", "2024-10-27 02:30:00", true, "2024-10-27 01:30:00", false},
		{"Europe/Berlin", "2024-10-27 03:00:00", false, "2024-10-27 02:00:00", false},
		{"Europe/Berlin", "2024-03-31 02:30:00", false, "2024-03-31 01:00:00", true},
		{"America/New_York", "2024-11-03 01:30:00", false, "2024-11-03 05:30:00", false},
		{"America/New_York", "2024-11-03 01:30:00", true, "2024-11-03 06:30:00", false},
		{"America/New_York", "2024-03-10 02:30:00", false, "2024-03-10 07:00:00", true},
		{"Pacific/Apia", "2011-12-30 12:00:00", false, "2011-12-30 10:00:00", true}, // the day that Samoa skipped
		{"+05:30", "2020-01-01 00:00:00", false, "2019-12-31 18:30:00", false},
	} {
		utc, gap := zoneNamed(c.zone).utc(micros(t, c.wall), c.later)
		if utc != micros(t, c.utc) || gap != c.gap {
			t.Errorf("%s %s (later %v): %v, gap %v; want %s, %v", c.zone, c.wall, c.later, time.UnixMicro(utc).UTC(), gap, c.utc, c.gap)
		}
	}
}

// TestZoneRoundTrip: every instant of a zone, above all those around its
// transitions, comes back from its wall clock, and the wall clock is what Go's
// time package shows.
func TestZoneRoundTrip(t *testing.T) {
	r := codecRand(t)
	twice := 0
	for _, name := range testZones {
		z := zoneNamed(name)
		if z == utcZone && name != "UTC" {
			t.Fatalf("zone %s is not known", name)
		}
		for range 4000 {
			utc := r.Int64N(1<<31) * microsPerSecond
			if !z.fixed && r.IntN(2) == 0 { // near a transition
				if p := z.periodAt(utc); p.end < endOfTime {
					utc = p.end + r.Int64N(8*3600*microsPerSecond) - 4*3600*microsPerSecond
				}
			}
			wall, later := z.wall(utc)
			if later {
				twice++
			}
			want := time.UnixMicro(utc).In(z.loc)
			if got := time.UnixMicro(wall).UTC(); got.Format(time.DateTime) != want.Format(time.DateTime) {
				t.Fatalf("%s: %d shows %v, want %v", name, utc, got, want)
			}
			if back, gap := z.utc(wall, later); back != utc || gap {
				t.Fatalf("%s: %v (later %v) came back as %v (gap %v)", name, want, later, time.UnixMicro(back).UTC(), gap)
			}
			low, high := z.bracket(wall)
			if utc < low || utc > high {
				t.Fatalf("%s: %v is outside its bracket %d … %d", name, want, low, high)
			}
			// A wall clock that may not exist: where do the instants around it belong?
			probe := wall + r.Int64N(4*3600*microsPerSecond) - 2*3600*microsPerSecond
			low, high = z.bracket(probe)
			for _, d := range []int64{0, 1, 1800 * microsPerSecond, 5400 * microsPerSecond, 3 * microsPerDay} {
				before, _ := z.wall(low - 1 - d)
				behind, _ := z.wall(high + 1 + d)
				if before >= probe || behind <= probe {
					t.Fatalf("%s: bracket %d … %d of %v is too narrow", name, low, high, time.UnixMicro(probe).UTC())
				}
			}
			first, _ := z.wall(low)
			last, _ := z.wall(high)
			if first < probe || last > probe {
				t.Fatalf("%s: bracket %d … %d of %v is too wide", name, low, high, time.UnixMicro(probe).UTC())
			}
		}
	}
	if twice < 100 {
		t.Errorf("only %d instants in an hour shown twice: the test is blind", twice)
	}
}

// TestTimestampColumn: a TIMESTAMP is stored as UTC, shown in the session's
// zone, and a row that was read can be written again without moving.
func TestTimestampColumn(t *testing.T) {
	table := codecTable(t, []codecType{{typ: timestampType(6)}})
	berlin, utc, newYork := codecContext(t, "Europe/Berlin"), codecContext(t, "+00:00"), codecContext(t, "America/New_York")
	wall := func(s string) time.Time { return time.UnixMicro(micros(t, s)).UTC() }
	read := func(ctx *sql.Context, b []byte) time.Time {
		row, err := table.DecodeRow(ctx, b, nil)
		if err != nil {
			t.Fatal(err)
		}
		return row[0].(time.Time)
	}
	b := mustEncode(t, table, berlin, sql.Row{wall("2024-07-01 12:00:00.5")})
	for ctx, want := range map[*sql.Context]string{utc: "2024-07-01 10:00:00.5", newYork: "2024-07-01 06:00:00.5", berlin: "2024-07-01 12:00:00.5"} {
		if got := read(ctx, b); got != wall(want) {
			t.Errorf("got %v, want %s", got, want)
		}
	}
	for _, s := range []string{"2024-10-27 00:30:00", "2024-10-27 01:30:00"} {
		b := mustEncode(t, table, utc, sql.Row{wall(s)})
		got := read(berlin, b)
		if !got.Equal(wall("2024-10-27 02:30:00")) || got.Format(time.RFC3339) != "2024-10-27T02:30:00Z" {
			t.Errorf("%s shows %v", s, got)
		}
		if again := mustEncode(t, table, berlin, sql.Row{got}); string(again) != string(b) {
			t.Errorf("%s moved to %v when written again", s, read(utc, again))
		}
		key, err := codecTable(t, []codecType{{typ: timestampType(6)}}, 0).PrimaryKey(berlin, sql.Row{got})
		if want, _ := codecTable(t, []codecType{{typ: timestampType(6)}}, 0).PrimaryKey(utc, sql.Row{wall(s)}); err != nil || string(key) != string(want) {
			t.Errorf("%s: key %x, want %x, %v", s, key, want, err)
		}
	}
	if b := mustEncode(t, table, berlin, sql.Row{types.ZeroTime}); read(newYork, b) != types.ZeroTime {
		t.Error("the zero timestamp moved")
	}
	if b := mustEncode(t, table, nil, sql.Row{wall("2024-07-01 12:00:00")}); read(utc, b) != wall("2024-07-01 12:00:00") {
		t.Error("without a session the time zone is not UTC")
	}
}

// TestTimestampRefused: a wall clock that does not exist, or an instant out of
// range, is an error in strict mode and MySQL's substitute without it.
func TestTimestampRefused(t *testing.T) {
	table := codecTable(t, []codecType{{typ: timestampType(0)}})
	for _, c := range []struct{ zone, wall, want string }{
		{"America/New_York", "2024-03-10 02:30:00", "2024-03-10 07:00:00"},
		{"+03:00", "1970-01-01 02:00:00", "0000-00-00 00:00:00"},
		{"-03:00", "2038-01-19 02:14:08", "0000-00-00 00:00:00"},
	} {
		row := sql.Row{time.UnixMicro(micros(t, c.wall)).UTC()}
		ctx := codecContext(t, c.zone)
		if _, err := table.EncodeRow(ctx, nil, row); !types.ErrConvertingToTime.Is(err) {
			t.Errorf("%s %s: %v", c.zone, c.wall, err)
		}
		if err := ctx.SetSessionVariable(ctx, "sql_mode", ""); err != nil {
			t.Fatal(err)
		}
		b := mustEncode(t, table, ctx, row)
		got, err := table.DecodeRow(codecContext(t, "+00:00"), b, nil)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := timestampType(0).SQL(ctx, nil, got[0]); err != nil || text.ToString() != c.want {
			t.Errorf("%s %s: stored %s, %v; want %s", c.zone, c.wall, text, err, c.want)
		}
	}
}
