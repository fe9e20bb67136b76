package rowcodec

import (
	"math"

	"pgregory.net/rapid"
)

// Values that break codecs are drawn as often as random ones.
var (
	edgeInts   = []int64{0, 1, -1, math.MinInt64, math.MinInt64 + 1, math.MaxInt64, -128, 255, 256}
	edgeUints  = []uint64{0, 1, math.MaxUint64, 1 << 63, 1<<63 - 1, 127, 128}
	edgeFloats = []float64{
		0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), -math.NaN(), math.MaxFloat64,
		-math.MaxFloat64, math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, math.Float64frombits(0x7FF0000000000001),
	}
	edgeBytes = []string{"", "\x00", "\x00\x00", "\x01", "\xff", "\xff\xff", "a", "a\x00", "a\x00b", "a\x01", "a\xff", "\x00\xff", "\x00\x01"}
)

func drawKind(t *rapid.T) Kind {
	return Kind(rapid.IntRange(int(KindInt64), int(KindBytes)).Draw(t, "kind"))
}

// drawDatum draws a value of kind k, NULL now and then if nullable.
func drawDatum(t *rapid.T, k Kind, nullable bool) Datum {
	if nullable && rapid.IntRange(0, 4).Draw(t, "null") == 0 {
		return Null()
	}
	switch k {
	case KindInt64:
		return Int(rapid.OneOf(rapid.SampledFrom(edgeInts), rapid.Int64()).Draw(t, "int"))
	case KindUint64:
		return Uint(rapid.OneOf(rapid.SampledFrom(edgeUints), rapid.Uint64()).Draw(t, "uint"))
	case KindFloat32:
		return F32(float32(rapid.OneOf(rapid.SampledFrom(edgeFloats), rapid.Float64()).Draw(t, "f32")))
	case KindFloat64:
		return F64(rapid.OneOf(rapid.SampledFrom(edgeFloats), rapid.Float64()).Draw(t, "f64"))
	}
	raw := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 2, 'a', 0xFE, 0xFF}), 0, 6), func(b []byte) string { return string(b) })
	return String(rapid.OneOf(rapid.SampledFrom(edgeBytes), raw).Draw(t, "bytes"))
}

func drawSchema(t *rapid.T) *Schema {
	s := &Schema{}
	for range rapid.IntRange(0, 20).Draw(t, "columns") {
		s.Columns = append(s.Columns, Column{
			Kind: drawKind(t), Nullable: rapid.Bool().Draw(t, "nullable"),
			ID: rapid.Uint32().Draw(t, "id"), Collation: rapid.Uint16().Draw(t, "collation"),
		})
	}
	s.Key = drawKeyColumns(t)
	s.BloomColumns = rapid.IntRange(0, len(s.Key)).Draw(t, "bloom")
	return s
}

func drawKeyColumns(t *rapid.T) []KeyColumn {
	var cols []KeyColumn
	for range rapid.IntRange(0, 4).Draw(t, "key columns") {
		cols = append(cols, KeyColumn{Kind: drawKind(t), Nullable: rapid.Bool().Draw(t, "nullable")})
	}
	return cols
}

func drawKeyValues(t *rapid.T, cols []KeyColumn) []Datum {
	var vals []Datum
	for _, c := range cols {
		vals = append(vals, drawDatum(t, c.Kind, c.Nullable))
	}
	return vals
}

func drawRowValues(t *rapid.T, s *Schema) []Datum {
	var vals []Datum
	for _, c := range s.Columns {
		vals = append(vals, drawDatum(t, c.Kind, c.Nullable))
	}
	return vals
}

// compareAll orders two value lists column by column: the model of key order.
func compareAll(a, b []Datum) int {
	for i := range a {
		if c := Compare(a[i], b[i]); c != 0 {
			return c
		}
	}
	return 0
}

// fuzzSchema makes a schema from bytes, so that the fuzzer controls it too.
func fuzzSchema(spec []byte) *Schema {
	s := &Schema{}
	for _, b := range spec[:min(len(spec), 24)] {
		k := Kind(b%5) + KindInt64
		s.Columns = append(s.Columns, Column{Kind: k, Nullable: b&0x80 != 0})
		s.Key = append(s.Key, KeyColumn{Kind: k, Nullable: b&0x80 != 0})
	}
	return s
}
