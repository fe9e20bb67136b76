package catalog

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/shopspring/decimal"

	"ksql/tablet/rowcodec"
)

// sameValue is equality of Go values with what == and DeepEqual can't see:
// decimals by digits and exponent, floats by bits.
func sameValue(a, b any) bool {
	switch x := a.(type) {
	case decimal.Decimal:
		y, ok := b.(decimal.Decimal)
		return ok && x.Exponent() == y.Exponent() && x.Coefficient().Cmp(y.Coefficient()) == 0
	case float64:
		y, ok := b.(float64)
		return ok && math.Float64bits(x) == math.Float64bits(y)
	case float32:
		y, ok := b.(float32)
		return ok && math.Float32bits(x) == math.Float32bits(y)
	case types.JSONDocument:
		y, ok := b.(types.JSONDocument)
		return ok && sameValue(x.Val, y.Val)
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k, v := range x {
			if w, ok := y[k]; !ok || !sameValue(v, w) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !sameValue(x[i], y[i]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

// stored is what MySQL would show of v once it has been stored.
func stored(typ sql.Type, v any) any {
	if s, ok := v.(string); ok && typ.Type() == sqltypes.Char {
		return strings.TrimRight(s, " ")
	}
	return v
}

// TestColumnRoundTrip: what the type's Convert gives comes back as the same Go
// value of the same type, whatever the neighbours and the projection.
func TestColumnRoundTrip(t *testing.T) {
	r, ctx, cols := codecRand(t), codecContext(t, "+00:00"), codecTypes()
	table := codecTable(t, cols)
	for range 300 {
		row := make(sql.Row, len(cols))
		for i, c := range cols {
			if r.IntN(8) > 0 {
				row[i] = c.value(t, ctx, r)
			}
		}
		packed := mustEncode(t, table, ctx, row)
		if again := mustEncode(t, table, ctx, row); string(again) != string(packed) {
			t.Fatalf("encoding is not stable: %v", row)
		}
		got, err := table.DecodeRow(ctx, packed, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range packed { // nothing may alias the row
			packed[i] = 0xA5
		}
		for i, c := range cols {
			if want := stored(c.typ, row[i]); !sameValue(want, got[i]) {
				t.Fatalf("%s: %#v (%T) came back as %#v (%T)", c.typ, want, want, got[i], got[i])
			}
			if got[i] == nil || c.typ.ValueType() == nil || c.typ.ValueType().Kind() == reflect.Interface {
				continue
			}
			if reflect.TypeOf(got[i]) != c.typ.ValueType() {
				t.Fatalf("%s: Go type %T, want %s", c.typ, got[i], c.typ.ValueType())
			}
		}
	}
}

func TestColumnProjection(t *testing.T) {
	ctx, cols := codecContext(t, "+00:00"), codecTypes()[:5]
	table := codecTable(t, cols)
	row := sql.Row{int8(1), int8(-2), uint8(3), nil, uint16(5)}
	packed := mustEncode(t, table, ctx, row)
	d := table.newDecoder(ctx, []int{4, 3, 0, 4})
	got, err := d.Decode(packed)
	if err != nil || !reflect.DeepEqual(got, sql.Row{uint16(5), nil, int8(1), uint16(5)}) {
		t.Fatalf("got %v, %v", got, err)
	}
	if got, err := table.DecodeRow(ctx, packed, []int{}); err != nil || len(got) != 0 {
		t.Fatalf("empty projection: %v, %v", got, err)
	}
}

// TestColumnForeignValues: values of other Go types than the column's are
// converted as the engine would, or refused.
func TestColumnForeignValues(t *testing.T) {
	ctx := codecContext(t, "+00:00")
	dec := types.MustCreateColumnDecimalType(5, 2)
	char := types.MustCreateString(sqltypes.Char, 5, sql.Collation_utf8mb4_0900_ai_ci)
	for _, c := range []struct {
		typ      sql.Type
		in, want any
	}{
		{types.Int8, int64(7), int8(7)},
		{types.Int64, "42", int64(42)},
		{types.Float64, float32(1.5), 1.5},
		{dec, 1.5, decimal.New(150, -2)},
		{dec, decimal.New(15, -1), decimal.New(150, -2)},
		{dec, decimal.RequireFromString("1.005"), decimal.New(101, -2)},
		{dec, decimal.RequireFromString("-1.005"), decimal.New(-101, -2)},
		{dec, decimal.New(5, 1), decimal.New(5000, -2)},
		{char, "ab  ", "ab"},
		{char, []byte("é "), "é"},
		{types.Blob, "x", []byte("x")},
		{types.Datetime, "2020-02-03 04:05:06", time.Date(2020, 2, 3, 4, 5, 6, 0, time.UTC)},
		{types.Datetime, time.Date(2020, 2, 3, 4, 5, 6, 0, time.FixedZone("", 3600)), time.Date(2020, 2, 3, 4, 5, 6, 0, time.UTC)},
		{types.Datetime, "0000-00-00", types.ZeroTime},
		{types.JSON, `{"b":1,"a":[]}`, types.JSONDocument{Val: map[string]any{"a": []any{}, "b": 1.0}}},
		{types.JSON, types.NewLazyJSONDocument([]byte(`[1]`)), types.JSONDocument{Val: []any{1.0}}},
		{types.MustCreateEnumType([]string{"a", "b"}, sql.Collation_utf8mb4_0900_ai_ci), "B", uint16(2)},
	} {
		table := codecTable(t, []codecType{{typ: c.typ}})
		got, err := table.DecodeRow(ctx, mustEncode(t, table, ctx, sql.Row{c.in}), nil)
		if err != nil || !sameValue(got[0], c.want) {
			t.Errorf("%s: %#v became %#v, %v; want %#v", c.typ, c.in, got, err, c.want)
		}
	}
	for _, c := range []struct {
		typ sql.Type
		in  any
	}{
		{types.Int8, int64(128)}, {types.Uint64, int64(-1)}, {types.Float64, math.NaN()}, {types.Float32, float32(math.Inf(1))},
		{dec, 1000.0}, {types.Date, "2020-00-10"}, {types.JSON, "{"}, {types.PointType{}, "x"},
		{types.MustCreateSetType([]string{"a"}, sql.Collation_utf8mb4_0900_ai_ci), int64(2)},
	} {
		table := codecTable(t, []codecType{{typ: c.typ}})
		if got, err := table.EncodeRow(ctx, nil, sql.Row{c.in}); err == nil {
			t.Errorf("%s: %#v was stored as %x", c.typ, c.in, []byte(got))
		}
	}
}

func TestColumnNotNull(t *testing.T) {
	table := codecTable(t, []codecType{{typ: types.Int64}, {typ: types.Int64}}, 1)
	ctx := codecContext(t, "+00:00")
	if _, err := table.EncodeRow(ctx, nil, sql.Row{int64(1), nil}); !sql.ErrInsertIntoNonNullableProvidedNull.Is(err) {
		t.Errorf("NULL in a NOT NULL column: %v", err)
	}
	if _, err := table.PrimaryKey(ctx, sql.Row{int64(1), nil}); !sql.ErrInsertIntoNonNullableProvidedNull.Is(err) {
		t.Errorf("NULL in a primary key: %v", err)
	}
	if _, err := table.EncodeRow(ctx, nil, sql.Row{int64(1)}); err == nil {
		t.Error("a row with a column missing was stored")
	}
}

// TestJSONLimits: too deep a document has MySQL's error, and any bytes decode
// to a value or an error.
func TestJSONLimits(t *testing.T) {
	table := codecTable(t, []codecType{{typ: types.JSON}})
	var doc any
	for range maxJSONDepth {
		doc = []any{doc}
	}
	ctx := codecContext(t, "+00:00")
	mustEncode(t, table, ctx, sql.Row{types.JSONDocument{Val: doc}})
	_, err := table.EncodeRow(ctx, nil, sql.Row{types.JSONDocument{Val: []any{doc}}})
	if err == nil || !strings.Contains(err.Error(), "3157") {
		t.Errorf("one level too many: %v", err)
	}
}

// TestGoldenValues pins the bytes of stored values: they are on disk.
func TestGoldenValues(t *testing.T) {
	ctx := codecContext(t, "+03:00")
	var got strings.Builder
	date := time.Date(2024, 2, 29, 12, 34, 56, 789000, time.UTC)
	for _, c := range []struct {
		typ sql.Type
		v   any
	}{
		{types.Int8, int8(-1)}, {types.Uint64, uint64(1 << 63)}, {types.Float32, float32(1.5)}, {types.Float64, -1.5}, {types.Year, int16(1999)},
		{types.MustCreateBitType(13), uint64(0x1234)}, {types.MustCreateColumnDecimalType(10, 2), decimal.New(-123, -2)},
		{types.MustCreateColumnDecimalType(30, 2), decimal.New(-123, -2)}, {types.MustCreateColumnDecimalType(30, 2), decimal.New(0, -2)},
		{types.MustCreateColumnDecimalType(30, 2), decimal.New(123456, -2)}, {types.Date, types.ZeroTime}, {types.Datetime3, date},
		{types.Timestamp, date}, {types.Time, types.Timespan(-1)}, {types.LongText, "é"}, {types.LongBlob, []byte{0, 255}},
		{testEnum, uint16(2)}, {testSet, uint64(3)}, {mustType(types.CreateVectorType(1)), sql.EncodeVector([]float32{1})},
		{types.PointType{}, types.Point{SRID: 4326, X: 1, Y: -2}},
		{types.JSON, types.JSONDocument{Val: map[string]any{
			"bb": int64(-2), "z": []any{nil, true, false, 1.5, uint64(1 << 63), "x"}, "a": decimal.New(150, -2), "date": date, "": map[string]any{}, "time": types.Timespan(5),
		}}},
	} {
		table := codecTable(t, []codecType{{typ: c.typ}})
		fmt.Fprintf(&got, "%s %x\n", c.typ, []byte(mustEncode(t, table, ctx, sql.Row{c.v})))
	}
	compareGolden(t, "testdata/values.golden", got.String())
}

// TestMalformedGeometry: a nested value of the wrong type, or counts beyond the bytes, are errors.
func TestMalformedGeometry(t *testing.T) {
	points := make([]types.Point, 3)
	for _, g := range []types.GeometryValue{
		types.MultiPoint{Points: points}, types.MultiLineString{Lines: []types.LineString{{Points: points}}},
		types.MultiPolygon{Polygons: []types.Polygon{{Lines: []types.LineString{{Points: points}}}}},
	} {
		b := g.Serialize()
		if _, err := parseGeometry(b); err != nil {
			t.Fatal(err)
		}
		nested := types.EWKBHeaderSize + types.CountSize + types.EndianSize
		b[nested] = types.WKBGeomCollID
		if got, err := parseGeometry(b); err == nil {
			t.Errorf("%T with another type inside: %v", g, got)
		}
		b = g.Serialize()
		b[types.EWKBHeaderSize+3] = 0x7F // 2 billion members
		if got, err := parseGeometry(b); err == nil {
			t.Errorf("%T with too many members: %v", g, got)
		}
		if got, err := parseGeometry(append(g.Serialize(), 0)); err == nil {
			t.Errorf("%T with a byte behind: %v", g, got)
		}
	}
}

func FuzzStoredValues(f *testing.F) {
	b, err := appendJSON([]byte{jsonVersion}, map[string]any{"a": []any{1.5, int64(-1), decimal.New(5, -1), nil, "x"}}, 0)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(types.MultiPolygon{Polygons: []types.Polygon{{Lines: []types.LineString{{Points: make([]types.Point, 3)}}}}}.Serialize())
	f.Add([]byte{0x80 - 2, 1, 2})
	f.Fuzz(func(t *testing.T, b []byte) {
		if v, err := parseJSON(b); err == nil {
			again, err := appendJSON([]byte{jsonVersion}, v, 0)
			if err != nil {
				t.Fatalf("%x: %v", b, err)
			}
			if w, err := parseJSON(again); err != nil || !sameValue(v, w) {
				t.Fatalf("%x: %#v became %#v, %v", b, v, w, err)
			}
		}
		if g, err := parseGeometry(b); err == nil && string(g.Serialize()) != string(b) {
			t.Fatalf("%x: geometry became %x", b, g.Serialize())
		}
		if n, err := parseBigInt(b); err == nil {
			if _, err := appendBigInt(nil, n); err != nil {
				t.Fatalf("%x: %v", b, err)
			}
		}
	})
}

// TestRowSchema: kinds, collation tags and the hidden row id are what the stored bytes need.
func TestRowSchema(t *testing.T) {
	text := types.MustCreateString(sqltypes.VarChar, 10, sql.Collation_utf8mb4_general_ci)
	table := codecTable(t, []codecType{{typ: types.Int64}, {typ: text}, {typ: types.Blob}, {typ: types.MustCreateColumnDecimalType(19, 2)}}, 1, 0)
	want := &rowcodec.Schema{
		Columns: []rowcodec.Column{
			{Kind: rowcodec.KindInt64, ID: 1},
			{Kind: rowcodec.KindBytes, ID: 2, Collation: 45 | 1<<9},
			{Kind: rowcodec.KindBytes, ID: 3, Nullable: true},
			{Kind: rowcodec.KindBytes, ID: 4, Nullable: true},
		},
		Key: []rowcodec.KeyColumn{{Kind: rowcodec.KindBytes}, {Kind: rowcodec.KindInt64}},
	}
	if !table.RowSchema().Equal(want) {
		t.Errorf("got %+v, want %+v", table.RowSchema(), want)
	}
	if err := table.CheckStored(want); err != nil {
		t.Error(err)
	}
	want.Columns[1].Collation = 45 | 2<<9
	if err := table.CheckStored(want); err == nil || !strings.Contains(err.Error(), "utf8mb4_general_ci") {
		t.Errorf("other weights were accepted: %v", err)
	}
	hidden := codecTable(t, []codecType{{typ: text}})
	if !hidden.RowSchema().Equal(&rowcodec.Schema{
		Columns: []rowcodec.Column{{Kind: rowcodec.KindBytes, ID: 1, Nullable: true, Collation: 45 | 1<<9}},
		Key:     []rowcodec.KeyColumn{{Kind: rowcodec.KindUint64}},
	}) || hidden.HasPrimaryKey() {
		t.Errorf("hidden row id: %+v", hidden.RowSchema())
	}
	if got := hidden.RowIDKey(258); string(got) != "\x00\x00\x00\x00\x00\x00\x01\x02" {
		t.Errorf("row id key %x", got)
	}
}
