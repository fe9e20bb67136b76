package catalog

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"ksql/tablet/rowcodec"
)

// This file is the border between SQL values and stored values:
//
//	integers, YEAR                  Int64, Uint64 if unsigned
//	BIT, ENUM (index), SET (bits)   Uint64
//	FLOAT, DOUBLE                   Float32, Float64
//	DECIMAL                         Int64 × 10^scale up to 18 digits, else order-preserving Bytes (types_decimal.go)
//	DATE, DATETIME, TIMESTAMP       Int64 µs since 1970, UTC; TIMESTAMP is converted from the session's wall clock
//	TIME                            Int64 µs
//	CHAR, VARCHAR, TEXT             Bytes, UTF-8; CHAR without trailing spaces
//	BINARY, VARBINARY, BLOB, VECTOR Bytes
//	JSON                            Bytes, tagged binary form (types_json.go)
//	GEOMETRY and its subtypes       Bytes, EWKB (types_geometry.go)
//	the NULL type                   Bytes, always NULL

// rowEnv is what conversion needs to know about the session. A rowEnv is for
// one statement and one goroutine.
type rowEnv struct {
	ctx     *sql.Context // may be nil: internal work, UTC
	zone    *zone        // nil if no column is a TIMESTAMP
	scratch []byte       // reused for weights; no datum outlives the call that fills it
	small   [64]byte     // the first scratch
}

// context returns a context that is never a nil pointer in an interface.
func (e *rowEnv) context() context.Context {
	if e.ctx == nil {
		return context.Background()
	}
	return e.ctx
}

// strict reports whether the session's sql_mode rejects values that don't fit.
func (e *rowEnv) strict() bool { return e.ctx != nil && sql.LoadSqlMode(e.ctx).Strict() }

// converter moves values of one SQL type across the border. The functions are
// chosen once a column; they use no reflection.
type converter struct {
	kind rowcodec.Kind
	// encode turns a value of the type's own Go type into a datum; ok is false
	// for any other Go type. Bytes alias the value.
	encode func(e *rowEnv, v any) (d rowcodec.Datum, ok bool, err error)
	// decode is the inverse; it copies bytes.
	decode func(e *rowEnv, d rowcodec.Datum) (any, error)
	// place says where any value lies among the column's values (ranges_bound.go).
	place func(e *rowEnv, v any) bound
	// loose says that go-mysql-server rounds constants of comparisons to the
	// column's type before they reach us, so that a < or > may have been a ≤ or ≥.
	loose bool
	// keyable says that the order of the datums (weights, for text) is the type's order.
	keyable bool
	zoned   bool // TIMESTAMP
}

// columnCodec is one column of a table with all that was looked up about it.
type columnCodec struct {
	converter
	name     string
	typ      sql.Type
	nullable bool
	collator *collator // nil unless character text
	tag      uint16    // collationTag
}

func newColumnCodec(col *sql.Column, tableCollation sql.CollationID) (*columnCodec, error) {
	c := &columnCodec{name: col.Name, typ: col.Type, nullable: col.Nullable}
	conv, ok := converterOf(col.Type)
	if !ok {
		return nil, errNotSupported(fmt.Sprintf("column '%s' of type %s", col.Name, col.Type))
	}
	c.converter = conv
	if !types.IsTextOnly(col.Type) {
		return c, nil
	}
	id := tableCollation
	if t, ok := col.Type.(sql.TypeWithCollation); ok && t.Collation() != sql.Collation_Unspecified {
		id = t.Collation()
	}
	var err error
	c.collator, err = collatorOf(id)
	c.tag = collationTag(id)
	return c, err
}

// encodeValue converts one value for storage; it accepts everything that the
// type's Convert accepts without loss. Errors are MySQL's: NULL in a NOT NULL
// column (1048), a value that the type refuses.
func (c *columnCodec) encodeValue(e *rowEnv, v any) (rowcodec.Datum, error) {
	if v == nil {
		if !c.nullable {
			return rowcodec.Null(), sql.ErrInsertIntoNonNullableProvidedNull.New(c.name)
		}
		return rowcodec.Null(), nil
	}
	d, ok, err := c.encode(e, v)
	if ok || err != nil {
		return d, err
	}
	if v, err = sql.UnwrapAny(e.context(), v); err != nil {
		return d, fmt.Errorf("read value of column %s: %w", c.name, err)
	}
	conv, inRange, err := c.typ.Convert(e.context(), v)
	if err != nil {
		return d, err
	}
	if inRange != sql.InRange {
		return d, sql.ErrValueOutOfRange.New(v, c.typ)
	}
	d, ok, err = c.encode(e, conv)
	if !ok && err == nil {
		err = fmt.Errorf("column %s of type %s: unexpected value of Go type %T", c.name, c.typ, conv)
	}
	return d, err
}

// decodeValue converts one stored value for go-mysql-server.
func (c *columnCodec) decodeValue(e *rowEnv, d rowcodec.Datum) (any, error) {
	if d.IsNull() {
		return nil, nil
	}
	return c.decode(e, d)
}

func converterOf(t sql.Type) (converter, bool) {
	switch t := t.(type) {
	case types.DecimalType_:
		return decimalConverter(t), true
	case types.EnumType:
		return enumConverter(t), true
	case types.SetType:
		return setConverter(t), true
	case types.JsonType:
		return jsonConverter(), true
	case sql.SpatialColumnType:
		return geometryConverter(), true
	case types.StringType:
		return stringConverter(t), true
	case types.BitType:
		c := unsignedConverter[uint64]()
		c.place = func(e *rowEnv, v any) bound { return placeBit(e, t, v) }
		return c, true
	}
	switch t.Type() {
	case sqltypes.Float32:
		return float32Converter(), true
	case sqltypes.Float64:
		return float64Converter(), true
	case sqltypes.Date, sqltypes.Datetime:
		return datetimeConverter(), true
	case sqltypes.Timestamp:
		return timestampConverter(), true
	case sqltypes.Time:
		return timespanConverter(), true
	case sqltypes.Year:
		return yearConverter(), true
	case sqltypes.Vector:
		return binaryConverter(), true
	case sqltypes.Null:
		return nullConverter(), true
	}
	return integerConverter(t)
}

func integerConverter(t sql.Type) (converter, bool) {
	switch t.Type() {
	case sqltypes.Int8:
		return signedConverter[int8](), true
	case sqltypes.Int16:
		return signedConverter[int16](), true
	case sqltypes.Int24, sqltypes.Int32:
		return signedConverter[int32](), true
	case sqltypes.Int64:
		return signedConverter[int64](), true
	case sqltypes.Uint8:
		return unsignedConverter[uint8](), true
	case sqltypes.Uint16:
		return unsignedConverter[uint16](), true
	case sqltypes.Uint24, sqltypes.Uint32:
		return unsignedConverter[uint32](), true
	case sqltypes.Uint64:
		return unsignedConverter[uint64](), true
	}
	return converter{}, false
}

func signedConverter[T int8 | int16 | int32 | int64]() converter {
	return converter{
		kind:    rowcodec.KindInt64,
		keyable: true,
		encode: func(_ *rowEnv, v any) (rowcodec.Datum, bool, error) {
			n, ok := v.(T)
			return rowcodec.Int(int64(n)), ok, nil
		},
		decode: func(_ *rowEnv, d rowcodec.Datum) (any, error) { return T(d.Int()), nil },
		place:  placeSigned,
	}
}

func unsignedConverter[T uint8 | uint16 | uint32 | uint64]() converter {
	return converter{
		kind:    rowcodec.KindUint64,
		keyable: true,
		encode: func(_ *rowEnv, v any) (rowcodec.Datum, bool, error) {
			n, ok := v.(T)
			return rowcodec.Uint(uint64(n)), ok, nil
		},
		decode: func(_ *rowEnv, d rowcodec.Datum) (any, error) { return T(d.Uint()), nil },
		place:  placeUnsigned,
	}
}

func yearConverter() converter {
	c := signedConverter[int16]()
	c.place = func(e *rowEnv, v any) bound {
		b := placeSigned(e, v)
		if _, native := v.(int16); !native {
			b.exact = false // 70 may mean 1970
		}
		return b
	}
	return c
}

func enumConverter(t types.EnumType) converter {
	c := unsignedConverter[uint16]()
	c.place = func(e *rowEnv, v any) bound { return placeMember(e, t, v) }
	return c
}

func setConverter(t types.SetType) converter {
	c := unsignedConverter[uint64]()
	for _, member := range t.Values() {
		if member == "" {
			// '' equals both the empty set and the set of that member.
			c.place = func(*rowEnv, any) bound { return bound{pos: unknown} }
			return c
		}
	}
	c.place = func(e *rowEnv, v any) bound { return placeMember(e, t, v) }
	return c
}

// float32Converter is loose: constants are rounded to single precision, while
// a comparison computes in double precision.
func float32Converter() converter {
	return converter{
		kind:    rowcodec.KindFloat32,
		keyable: true,
		loose:   true,
		encode: func(_ *rowEnv, v any) (rowcodec.Datum, bool, error) {
			f, ok := v.(float32)
			return rowcodec.F32(f), ok, checkFinite(float64(f))
		},
		decode: func(_ *rowEnv, d rowcodec.Datum) (any, error) { return d.F32(), nil },
		place:  placeFloat32,
	}
}

func float64Converter() converter {
	return converter{
		kind:    rowcodec.KindFloat64,
		keyable: true,
		encode: func(_ *rowEnv, v any) (rowcodec.Datum, bool, error) {
			f, ok := v.(float64)
			return rowcodec.F64(f), ok, checkFinite(f)
		},
		decode: func(_ *rowEnv, d rowcodec.Datum) (any, error) { return d.F64(), nil },
		place:  placeFloat64,
	}
}

// checkFinite refuses what MySQL has no value for (1264) and what has no place
// in the order of keys.
func checkFinite(f float64) error {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return sql.ErrValueOutOfRange.New(f, types.Float64)
	}
	return nil
}

func stringConverter(t types.StringType) converter {
	if types.IsBinaryType(t) {
		return binaryConverter()
	}
	c := converter{
		kind:    rowcodec.KindBytes,
		keyable: true,
		encode: func(_ *rowEnv, v any) (rowcodec.Datum, bool, error) {
			s, ok := v.(string)
			return rowcodec.String(s), ok, nil
		},
		decode: func(_ *rowEnv, d rowcodec.Datum) (any, error) { return string(d.Bytes()), nil },
		place:  placeText,
	}
	if t.Type() == sqltypes.Char {
		// MySQL never shows the trailing spaces of a CHAR, so they aren't stored.
		c.encode = func(_ *rowEnv, v any) (rowcodec.Datum, bool, error) {
			s, ok := v.(string)
			return rowcodec.String(strings.TrimRight(s, " ")), ok, nil
		}
	}
	return c
}

func binaryConverter() converter {
	return converter{
		kind:    rowcodec.KindBytes,
		keyable: true,
		encode: func(_ *rowEnv, v any) (rowcodec.Datum, bool, error) {
			b, ok := v.([]byte)
			return rowcodec.Bytes(b), ok, nil
		},
		decode: func(_ *rowEnv, d rowcodec.Datum) (any, error) { return append([]byte{}, d.Bytes()...), nil },
		place:  placeBinary,
	}
}

func nullConverter() converter {
	return converter{
		kind:   rowcodec.KindBytes,
		encode: func(*rowEnv, any) (rowcodec.Datum, bool, error) { return rowcodec.Null(), false, nil },
		decode: func(*rowEnv, rowcodec.Datum) (any, error) { return nil, nil },
		place:  func(*rowEnv, any) bound { return bound{pos: unknown} },
	}
}
