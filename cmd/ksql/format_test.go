package main

import (
	"math"
	"strings"
	"testing"
	"time"
)

func set(columns []column, rows ...[]any) *resultSet {
	s := &resultSet{columns: columns}
	for _, r := range rows {
		cells := make([]cell, len(r))
		for i, v := range r {
			cells[i] = formatValue(v)
		}
		s.rows = append(s.rows, cells)
	}
	return s
}

// The tables are what the mariadb client prints for the same results.
func TestTable(t *testing.T) {
	for name, c := range map[string]struct {
		set  *resultSet
		want string
	}{
		"numbers right, NULL needs room where it may come": {
			set([]column{{name: "n", numeric: true}, {name: "m", numeric: true, nullable: true}, {name: "s"}},
				[]any{int64(1), int64(22), "x"}, []any{int64(100), nil, "yy"}),
			`+-----+------+----+
| n   | m    | s  |
+-----+------+----+
|   1 |   22 | x  |
| 100 | NULL | yy |
+-----+------+----+
`},
		"columns are as wide as the bytes, padded by cells": {
			set([]column{{name: "FirstName"}, {name: "LastName"}}, []any{"František", "Wichterlová"}, []any{"Luís", "Gonçalves"}),
			`+------------+--------------+
| FirstName  | LastName     |
+------------+--------------+
| František  | Wichterlová  |
| Luís       | Gonçalves    |
+------------+--------------+
`},
		"wide characters fill two cells": {
			set([]column{{name: "é"}}, []any{"日本"}, []any{"abcdefg"}),
			"+---------+\n| é       |\n+---------+\n| 日本    |\n| abcdefg |\n+---------+\n"},
		"zero bytes are blanks": {
			set([]column{{name: "b"}}, []any{[]byte("a\x00c")}), "+-----+\n| b   |\n+-----+\n| a c |\n+-----+\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			if err := writeTable(&b, c.set); err != nil {
				t.Fatal(err)
			}
			if b.String() != c.want {
				t.Fatalf("got\n%swant\n%s", b.String(), c.want)
			}
		})
	}
}

func TestTableOfLongValues(t *testing.T) {
	var b strings.Builder
	if err := writeTable(&b, set([]column{{name: "t"}}, []any{strings.Repeat("x", 2000)}, []any{"y"})); err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(b.String()), "\n") {
		if i != 3 && len(line) != widestColumn+4 {
			t.Errorf("line %d has %d bytes", i, len(line))
		}
	}
	if !strings.Contains(b.String(), strings.Repeat("x", 2000)) {
		t.Error("the value is cut")
	}
}

func TestVertical(t *testing.T) {
	var b strings.Builder
	if err := writeVertical(&b, set([]column{{name: "id"}, {name: "name"}}, []any{int64(1), nil}, []any{int64(2), "b"})); err != nil {
		t.Fatal(err)
	}
	want := `*************************** 1. row ***************************
  id: 1
name: NULL
*************************** 2. row ***************************
  id: 2
name: b
`
	if b.String() != want {
		t.Fatalf("got\n%swant\n%s", b.String(), want)
	}
}

func TestValues(t *testing.T) {
	for want, v := range map[string]any{
		"1000000": 1e6, "100000000000000": 1e14, "1e15": 1e15, "-1.5e300": -1.5e300, "0.000000000000001": 1e-15, "1e-16": 1e-16,
		"0.1": float32(0.1), "0": 0.0, "3.4028235e38": float32(math.MaxFloat32), "18446744073709551615": uint64(math.MaxUint64),
		"-9223372036854775808": int64(math.MinInt64), "x": "x", "1": true,
		"2020-01-02 03:04:05.5": time.Date(2020, 1, 2, 3, 4, 5, 5e8, time.UTC),
	} {
		if got := string(formatValue(v)); got != want {
			t.Errorf("%v (%T) is written %s, want %s", v, v, got, want)
		}
	}
	if formatValue(nil) != nil || formatValue("") == nil {
		t.Error("NULL and the empty string are mixed up")
	}
	if isText([]byte{0xff}) || isText([]byte("a\x00")) || !isText([]byte("é\n")) {
		t.Error("isText is wrong")
	}
}

func TestElapsed(t *testing.T) {
	for d, want := range map[time.Duration]string{
		4 * time.Millisecond: "0.00 sec", 1236 * time.Millisecond: "1.24 sec", 61 * time.Second: "1 min 1.00 sec",
		3600 * time.Second: "1 hour 0 min 0.00 sec", 7262 * time.Second: "2 hours 1 min 2.00 sec",
	} {
		if got := elapsed(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
