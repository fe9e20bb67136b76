package driver

import (
	"database/sql"
	"testing"
	"time"
)

func TestParseDSN(t *testing.T) {
	ny, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	for dsn, want := range map[string]Config{
		"/d":              {Dir: "/d", Loc: time.UTC},
		"rel/dir?db=shop": {Dir: "rel/dir", DB: "shop", Loc: time.UTC},
		"ksql:///d?parseTime=true&loc=America%2FNew_York": {Dir: "/d", ParseTime: true, Loc: ny},
		"/d?multiStatements=1&clientFoundRows=true&readonly=true&isolation=read-committed": {Dir: "/d", Loc: time.UTC,
			MultiStatements: true, ClientFoundRows: true, ReadOnly: true, Isolation: sql.LevelReadCommitted},
	} {
		got, err := ParseDSN(dsn)
		if err != nil || got.Loc.String() != want.Loc.String() {
			t.Errorf("%s: %+v, %v", dsn, got, err)
		}
		again, err := ParseDSN(got.FormatDSN())
		got.Loc, want.Loc, again.Loc = nil, nil, nil
		if got != want || err != nil || again != want {
			t.Errorf("%s: %+v, %v, want %+v", dsn, got, err, want)
		}
	}
	for _, dsn := range []string{"", "?db=x", "/d?nosuch=1", "/d?parseTime=maybe", "/d?loc=Nowhere", "/d?isolation=chaos", "/d?db=a&db=b", "/d?%zz"} {
		if c, err := ParseDSN(dsn); err == nil {
			t.Errorf("%s is accepted: %+v", dsn, c)
		}
		if _, err := sql.Open("ksql", dsn); err == nil {
			t.Errorf("%s can be opened", dsn)
		}
	}
}
