package catalog

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	_ "github.com/dolthub/go-mysql-server/sql/variables" // time_zone
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/shopspring/decimal"

	"ksql/tablet/rowcodec"
)

// codecRand returns the test's source of random values; the seed is printed
// when the test fails and taken from KSQL_SEED if set.
func codecRand(t testing.TB) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("KSQL_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed=%d (set KSQL_SEED)", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 0))
}

// codecContext returns the context of a session in a time zone, strict as by default.
func codecContext(t testing.TB, zone string) *sql.Context {
	ctx := sql.NewEmptyContext()
	if err := ctx.SetSessionVariable(ctx, "time_zone", zone); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// codecType is one column type with a source of values for it; the values go
// through the type's own Convert.
type codecType struct {
	typ sql.Type
	gen func(r *rand.Rand) any
}

func mustType[T sql.Type](t T, err error) sql.Type {
	if err != nil {
		panic(err)
	}
	return t
}

// codecTypes lists every column type that go-mysql-server can declare.
func codecTypes() []codecType {
	out := append(numberTypes(), stringTypes()...)
	out = append(out, temporalTypes()...)
	return append(out, otherTypes()...)
}

func edgeInt(r *rand.Rand, lo, hi int64) int64 {
	switch r.IntN(8) {
	case 0:
		return lo
	case 1:
		return hi
	case 2:
		return min(max(int64(r.IntN(5)-2), lo), hi)
	}
	return lo + int64(r.Uint64N(uint64(hi-lo)))
}

func intType(typ sql.Type, lo, hi int64) codecType {
	return codecType{typ, func(r *rand.Rand) any { return edgeInt(r, lo, hi) }}
}

func numberTypes() []codecType {
	out := []codecType{
		intType(types.Boolean, 0, 1), intType(types.Int8, -128, 127), intType(types.Uint8, 0, 255),
		intType(types.Int16, -1<<15, 1<<15-1), intType(types.Uint16, 0, 1<<16-1),
		intType(types.Int24, -1<<23, 1<<23-1), intType(types.Uint24, 0, 1<<24-1),
		intType(types.Int32, -1<<31, 1<<31-1), intType(types.Uint32, 0, 1<<32-1),
		{types.Int64, func(r *rand.Rand) any {
			return []int64{math.MinInt64, math.MaxInt64, 0, -1, 1, int64(r.Uint64())}[r.IntN(6)]
		}},
		{types.Uint64, func(r *rand.Rand) any { return []uint64{math.MaxUint64, 1 << 63, 0, 1, r.Uint64()}[r.IntN(5)] }},
		{types.Float32, func(r *rand.Rand) any {
			return []float32{0, float32(math.Copysign(0, -1)), 1.1, -1.1, math.MaxFloat32, -math.MaxFloat32, float32(r.NormFloat64() * 1000)}[r.IntN(7)]
		}},
		{types.Float64, func(r *rand.Rand) any {
			return []float64{0, math.Copysign(0, -1), 1.1, -1.1, math.MaxFloat64, math.SmallestNonzeroFloat64, r.NormFloat64() * 1e6}[r.IntN(7)]
		}},
		intType(types.Year, 1901, 2155),
	}
	for _, bits := range []uint8{1, 8, 13, 64} {
		out = append(out, codecType{types.MustCreateBitType(bits), func(r *rand.Rand) any { return r.Uint64() >> (64 - bits) }})
	}
	for _, p := range [][2]uint8{{5, 0}, {5, 2}, {10, 10}, {18, 4}, {19, 4}, {38, 10}, {65, 0}, {65, 30}} {
		out = append(out, codecType{types.MustCreateColumnDecimalType(p[0], p[1]), func(r *rand.Rand) any { return randomDecimal(r, p[0], p[1]) }})
	}
	return out
}

// randomDecimal returns a DECIMAL(p, s) with any number of digits, sometimes with fewer digits behind the point.
func randomDecimal(r *rand.Rand, p, s uint8) decimal.Decimal {
	digits := 1 + r.IntN(int(p))
	n := new(big.Int)
	for range digits {
		d := int64(r.IntN(10))
		if r.IntN(20) == 0 {
			d = 9
		}
		n.Add(n.Mul(n, big.NewInt(10)), big.NewInt(d))
	}
	if r.IntN(2) == 0 {
		n.Neg(n)
	}
	scale := int32(s)
	if scale > 0 && r.IntN(3) == 0 {
		scale--
		n.Quo(n, big.NewInt(10))
	}
	return decimal.NewFromBigInt(n, -scale)
}

var runePool = []rune("aAbBzZ09 _-.'%äÄàÁéßœøÅñıİſKſﬀΑαΣςДдйЙאبกあアｱ亜가힣😀𝒳\u0301\u200d\u00ad\t\u0000\u007f\uffff\ufffd\u2028")

// randomText returns up to n characters, many of them hard ones.
func randomText(r *rand.Rand, n int) string {
	out := make([]rune, r.IntN(n+1))
	for i := range out {
		switch r.IntN(6) {
		case 0:
			out[i] = rune(r.IntN(0xD800))
		case 1:
			out[i] = rune(0xE000 + r.IntN(0x10FFFF-0xE000))
		case 2, 3:
			out[i] = runePool[r.IntN(len(runePool))]
		default:
			out[i] = rune('a' + r.IntN(3))
			if r.IntN(2) == 0 {
				out[i] -= 'a' - 'A'
			}
		}
	}
	return string(out)
}

func randomBytes(r *rand.Rand, n int) []byte {
	out := make([]byte, r.IntN(n+1))
	for i := range out {
		out[i] = []byte{0, 0xFF, 'a', byte(r.UintN(256))}[r.IntN(4)]
	}
	return out
}

func stringTypes() []codecType {
	var out []codecType
	text := func(n int) func(r *rand.Rand) any { return func(r *rand.Rand) any { return randomText(r, n) } }
	for _, c := range []sql.CollationID{sql.Collation_utf8mb4_0900_ai_ci, sql.Collation_utf8mb4_0900_bin, sql.Collation_utf8mb4_general_ci} {
		out = append(out,
			codecType{types.MustCreateString(sqltypes.Char, 10, c), text(10)},
			codecType{types.MustCreateString(sqltypes.VarChar, 20, c), text(20)},
			codecType{types.CreateTinyText(c), text(10)}, codecType{types.CreateText(c), text(50)},
			codecType{types.CreateMediumText(c), text(50)}, codecType{types.CreateLongText(c), text(50)})
	}
	blob := func(n int) func(r *rand.Rand) any { return func(r *rand.Rand) any { return randomBytes(r, n) } }
	return append(out,
		codecType{types.MustCreateBinary(sqltypes.Binary, 8), blob(8)}, codecType{types.MustCreateBinary(sqltypes.VarBinary, 30), blob(30)},
		codecType{types.TinyBlob, blob(20)}, codecType{types.Blob, blob(40)}, codecType{types.MediumBlob, blob(40)}, codecType{types.LongBlob, blob(40)})
}

func randomTime(r *rand.Rand) time.Time {
	switch r.IntN(6) {
	case 0:
		return types.ZeroTime
	case 1:
		return time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	case 2:
		return time.Date(9999, 12, 31, 23, 59, 58, 0, time.UTC)
	}
	return time.Date(r.IntN(10000), time.Month(1+r.IntN(12)), 1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(59), r.IntN(1e9), time.UTC)
}

// randomTimestamp stays a day away from the limits, so that it is legal in every zone.
func randomTimestamp(r *rand.Rand) time.Time {
	if r.IntN(8) == 0 {
		return types.ZeroTime
	}
	return time.Unix(86400+r.Int64N(1<<31-3*86400), r.Int64N(1e9)).UTC()
}

func temporalTypes() []codecType {
	out := []codecType{
		{types.Date, func(r *rand.Rand) any { return randomTime(r) }},
		{types.Time, func(r *rand.Rand) any { return types.Timespan(edgeInt(r, -3020399000000, 3020399000000)) }},
	}
	for _, p := range []int{0, 3, 6} {
		out = append(out, codecType{types.MustCreateDatetimeType(sqltypes.Datetime, p), func(r *rand.Rand) any { return randomTime(r) }})
	}
	// TIMESTAMP, whose values depend on the session, has tests of its own; here it runs in UTC.
	return append(out, codecType{timestampType(0), func(r *rand.Rand) any { return randomTimestamp(r) }},
		codecType{timestampType(6), func(r *rand.Rand) any { return randomTimestamp(r) }})
}

func timestampType(precision int) sql.Type {
	return types.MustCreateDatetimeType(sqltypes.Timestamp, precision)
}

func otherTypes() []codecType {
	members := make([]string, 300)
	for i := range members {
		members[i] = fmt.Sprintf("m%03d", 999-i)
	}
	set64 := members[:64]
	point := func(r *rand.Rand) types.Point { return types.Point{X: r.NormFloat64(), Y: float64(r.IntN(3))} }
	return []codecType{
		{types.MustCreateEnumType(members, sql.Collation_utf8mb4_0900_ai_ci), func(r *rand.Rand) any { return uint16(r.IntN(len(members) + 1)) }},
		{types.MustCreateSetType([]string{"x", "Y", "z"}, sql.Collation_utf8mb4_0900_ai_ci), func(r *rand.Rand) any { return r.Uint64N(8) }},
		{types.MustCreateSetType(append([]string{}, set64...), sql.Collation_utf8mb4_0900_ai_ci), func(r *rand.Rand) any { return r.Uint64() }},
		{types.JSON, func(r *rand.Rand) any { return types.JSONDocument{Val: randomJSON(r, 3)} }},
		{mustType(types.CreateVectorType(3)), func(r *rand.Rand) any {
			return sql.EncodeVector([]float32{float32(r.NormFloat64()), 0, float32(r.IntN(4))})
		}},
		{types.PointType{}, func(r *rand.Rand) any { return point(r) }},
		{types.GeometryType{}, func(r *rand.Rand) any { return randomGeometry(r, 2) }},
		{types.GeomCollType{}, func(r *rand.Rand) any {
			return types.GeomColl{SRID: 4326, Geoms: []types.GeometryValue{point(r).SetSRID(4326)}}
		}},
		{types.Null, func(r *rand.Rand) any { return nil }},
	}
}

func randomJSON(r *rand.Rand, depth int) any {
	switch n := r.IntN(14); {
	case n < 3 && depth > 0:
		m := map[string]any{}
		for range r.IntN(4) {
			m[randomText(r, 4)] = randomJSON(r, depth-1)
		}
		return m
	case n < 5 && depth > 0:
		a := make([]any, r.IntN(4))
		for i := range a {
			a[i] = randomJSON(r, depth-1)
		}
		return a
	case n < 6:
		return int64(r.Uint64())
	case n < 7:
		return r.Uint64()
	case n < 8:
		return r.NormFloat64()
	case n < 9:
		return randomDecimal(r, 30, 5)
	case n < 10:
		return randomTimestamp(r).Round(time.Microsecond)
	case n < 11:
		return r.IntN(2) == 0
	case n < 12:
		return nil
	}
	return randomText(r, 12)
}

func randomGeometry(r *rand.Rand, depth int) types.GeometryValue {
	points := make([]types.Point, 2+r.IntN(4))
	for i := range points {
		points[i] = types.Point{X: r.NormFloat64(), Y: float64(r.IntN(3))}
	}
	line := types.LineString{Points: points}
	polygon := types.Polygon{Lines: []types.LineString{line, line}}
	switch n := r.IntN(7); {
	case n == 0:
		return points[0]
	case n == 1:
		return line
	case n == 2:
		return polygon
	case n == 3:
		return types.MultiPoint{Points: points}
	case n == 4:
		return types.MultiLineString{Lines: []types.LineString{line, line}}
	case n == 5:
		return types.MultiPolygon{Polygons: []types.Polygon{polygon}}
	case depth == 0:
		return types.GeomColl{Geoms: []types.GeometryValue{}}
	}
	return types.GeomColl{Geoms: []types.GeometryValue{randomGeometry(r, depth-1), randomGeometry(r, depth-1)}}
}

// value draws a value and converts it as an INSERT would.
func (c codecType) value(t testing.TB, ctx *sql.Context, r *rand.Rand) any {
	raw := c.gen(r)
	v, inRange, err := c.typ.Convert(ctx, raw)
	if err != nil || inRange != sql.InRange {
		if types.ErrConvertToDecimalLimit.Is(err) {
			return c.value(t, ctx, r) // one digit too many
		}
		t.Fatalf("%s: convert %v (%T): %v, %v", c.typ, raw, raw, inRange, err)
	}
	return v
}

// codecTable returns the codec of a table of such columns, all nullable but the primary key.
func codecTable(t testing.TB, cols []codecType, primary ...int) *tableCodec {
	schema := make(sql.Schema, len(cols))
	for i, c := range cols {
		schema[i] = &sql.Column{Name: fmt.Sprintf("c%d", i), Type: c.typ, Nullable: true}
	}
	for _, i := range primary {
		schema[i].Nullable, schema[i].PrimaryKey = false, true
	}
	table, err := newTableCodec(sql.NewPrimaryKeySchema(schema, primary...), sql.Collation_utf8mb4_0900_ai_ci)
	if err != nil {
		t.Fatal(err)
	}
	if err := table.RowSchema().Validate(); err != nil {
		t.Fatal(err)
	}
	return table
}

func mustEncode(t testing.TB, table *tableCodec, ctx *sql.Context, row sql.Row) rowcodec.Row {
	t.Helper()
	b, err := table.EncodeRow(ctx, nil, row)
	if err != nil {
		t.Fatalf("encode %v: %v", row, err)
	}
	if err := rowcodec.ValidateRow(table.RowSchema(), b); err != nil {
		t.Fatalf("encode %v: %v", row, err)
	}
	return b
}
