package wire

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestColumnDefinitions: type, length, decimals, character set and flags as
// MySQL 8.4 announces them (mysql --column-type-info).
func TestColumnDefinitions(t *testing.T) {
	r, _ := newRunner(t)
	s := r.Connect("x", nil)
	defer s.Close()
	ctx := context.Background()
	if err := s.Login(ctx, ConnInfo{User: "root", Database: "d", Collation: collationUTF8MB4}); err != nil {
		t.Fatal(err)
	}
	const binary, utf8 = collationBinary, collationUTF8MB4
	cases := []struct {
		def  string
		want column
	}{
		{"tinyint", column{kind: typeTiny, length: 4, charset: binary, flags: flagBinary}},
		{"tinyint unsigned not null", column{kind: typeTiny, length: 3, charset: binary, flags: flagBinary | flagUnsigned | flagNotNull | flagNoDefault}},
		{"bool", column{kind: typeTiny, length: 1, charset: binary, flags: flagBinary}},
		{"smallint", column{kind: typeShort, length: 6, charset: binary, flags: flagBinary}},
		{"mediumint", column{kind: typeInt24, length: 9, charset: binary, flags: flagBinary}},
		{"int not null default 3", column{kind: typeLong, length: 11, charset: binary, flags: flagBinary | flagNotNull}},
		{"bigint unsigned", column{kind: typeLongLong, length: 20, charset: binary, flags: flagBinary | flagUnsigned}},
		{"float", column{kind: typeFloat, length: 12, decimals: 31, charset: binary, flags: flagBinary}},
		{"double", column{kind: typeDouble, length: 22, decimals: 31, charset: binary, flags: flagBinary}},
		{"decimal(10,3)", column{kind: typeNewDecimal, length: 12, decimals: 3, charset: binary, flags: flagBinary}},
		{"decimal(5,0)", column{kind: typeNewDecimal, length: 6, charset: binary, flags: flagBinary}},
		{"year", column{kind: typeYear, length: 4, charset: binary, flags: flagBinary | flagUnsigned | flagZerofill}},
		{"date", column{kind: typeDate, length: 10, charset: binary, flags: flagBinary}},
		{"time", column{kind: typeTime, length: 10, charset: binary, flags: flagBinary}},
		{"datetime", column{kind: typeDatetime, length: 19, charset: binary, flags: flagBinary}},
		{"datetime(6)", column{kind: typeDatetime, length: 26, decimals: 6, charset: binary, flags: flagBinary}},
		{"timestamp(3) null", column{kind: typeTimestamp, length: 23, decimals: 3, charset: binary, flags: flagBinary}},
		{"char(7)", column{kind: typeString, length: 28, charset: utf8}},
		{"varchar(10)", column{kind: typeVarString, length: 40, charset: utf8}},
		{"binary(7)", column{kind: typeString, length: 7, charset: binary, flags: flagBinary}},
		{"varbinary(9)", column{kind: typeVarString, length: 9, charset: binary, flags: flagBinary}},
		{"tinytext", column{kind: typeBlob, length: 1020, charset: utf8, flags: flagBlob}},
		{"text", column{kind: typeBlob, length: 262140, charset: utf8, flags: flagBlob}},
		{"longtext", column{kind: typeBlob, length: 4294967295, charset: utf8, flags: flagBlob}},
		{"blob", column{kind: typeBlob, length: 65535, charset: binary, flags: flagBlob | flagBinary}},
		{"enum('a','bcd')", column{kind: typeString, length: 12, charset: utf8, flags: flagEnum}},
		{"set('a','b')", column{kind: typeString, length: 12, charset: utf8, flags: flagSet}},
		{"json", column{kind: typeJSON, length: 4294967295, charset: binary, flags: flagBlob | flagBinary}},
		{"bit(9)", column{kind: typeBit, length: 9, charset: binary, flags: flagUnsigned}},
		{"geometry", column{kind: typeGeometry, length: 4294967295, charset: binary, flags: flagBlob | flagBinary}},
	}
	defs := []string{"id int primary key auto_increment"}
	for i, c := range cases {
		defs = append(defs, fmt.Sprintf("c%d %s", i, c.def))
	}
	run := func(q string) *Result {
		res, _, err := s.Query(ctx, q, false)
		if err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		return res
	}
	if err := run("create table t (" + strings.Join(defs, ", ") + ")").Close(); err != nil {
		t.Fatal(err)
	}
	res := run("select * from t as Tee")
	how := sessionResults(res.Context(), collationUTF8MB4)
	how.tables = tableNames(res.run.stmt)
	cols := newRowEncoder(res.Context(), res.Schema, how).cols
	if err := res.Close(); err != nil {
		t.Fatal(err)
	}
	want := column{kind: typeLong, length: 11, charset: binary, flags: flagBinary | flagNotNull | flagPrimaryKey | flagAutoIncrement}
	cases = append(cases[:0:0], append([]struct {
		def  string
		want column
	}{{"id", want}}, cases...)...)
	for i, c := range cases {
		c.want.name, c.want.database, c.want.table, c.want.orgTable = cols[i].name, "d", "Tee", "t"
		if cols[i] != c.want {
			t.Errorf("%s:\n got %+v\nwant %+v", c.def, cols[i], c.want)
		}
	}
}

func TestColumnTypesOfDriver(t *testing.T) {
	f := start(t)
	db := f.db("")
	f.exec(db, "create table t (id int unsigned not null, v varchar(10), d decimal(8,3), b blob, j json, x text)")
	for _, args := range [][]any{nil, {1}} {
		q := "select *, count(*) over () as n, 1.5 as f from t where id = 1"
		if args != nil {
			q = strings.Replace(q, "= 1", "= ?", 1)
		}
		rows, err := db.Query(q, args...)
		if err != nil {
			t.Fatal(err)
		}
		types, err := rows.ColumnTypes()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range types {
			null, _ := c.Nullable()
			s := fmt.Sprintf("%s %s %v", c.Name(), c.DatabaseTypeName(), null)
			if p, sc, ok := c.DecimalSize(); ok {
				s += fmt.Sprintf(" (%d,%d)", p, sc)
			}
			got = append(got, s)
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
		want := "id UNSIGNED INT false|v VARCHAR true|d DECIMAL true (8,3)|b BLOB true|j JSON true|x TEXT true|n BIGINT false|f DECIMAL false (2,1)"
		if s := strings.Join(got, "|"); s != want {
			t.Errorf("got  %s\nwant %s", s, want)
		}
	}
}

// A column that is named by a long expression gets a short name.
func TestLongColumnNames(t *testing.T) {
	f := start(t)
	db := f.db("")
	text := strings.Repeat("é", 200_000)
	rows, err := db.Query("select length('" + text + "')")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil || len(names) != 1 || len(names[0]) > 256 || !strings.HasPrefix(names[0], "length('é") || !utf8.ValidString(names[0]) {
		t.Fatalf("%d bytes of name, %v", len(names[0]), err)
	}
}
