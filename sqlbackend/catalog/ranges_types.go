package catalog

import (
	"cmp"
	"context"
	"math"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"

	"ksql/tablet/rowcodec"
)

// go-mysql-server converts the constants of a comparison to the type that an
// index names for its column, and thereby rounds them: on a DATE column
// d < '2020-01-01 12:00' becomes d < '2020-01-01' and loses a row, on a
// TIMESTAMP column ts < '2050-01-01' fails. The types here stand for DECIMAL,
// DATE, DATETIME and TIMESTAMP and differ in two points only: conversion
// leaves a constant as precise as it was written, and constants are compared
// in full precision.

// losslessDecimal is a DECIMAL column's type in index ranges.
type losslessDecimal struct{ sql.DecimalType }

// losslessDatetime is the type of a DATE, DATETIME or TIMESTAMP column in index ranges.
type losslessDatetime struct{ sql.DatetimeType }

// lossless reports whether constants of type t kept their precision.
func lossless(t sql.Type) bool {
	switch t.(type) {
	case losslessDecimal, losslessDatetime:
		return true
	}
	return false
}

// boundType returns the type that an index should name for the column in
// ColumnExpressionTypes: the column's own, or one that keeps constants precise.
func (c *columnCodec) boundType() sql.Type {
	switch t := c.typ.(type) {
	case types.DecimalType_:
		return losslessDecimal{t}
	case sql.DatetimeType:
		return losslessDatetime{t}
	}
	return c.typ
}

// Convert returns any number as a DECIMAL of as many digits as it has.
func (t losslessDecimal) Convert(ctx context.Context, v any) (any, sql.ConvertInRange, error) {
	switch n := numberOf(v); n.class {
	case intNumber:
		return decimal.NewFromInt(n.i), sql.InRange, nil
	case uintNumber:
		return decimal.NewFromUint64(n.u), sql.InRange, nil
	case decimalNumber:
		return n.d, sql.InRange, nil
	case floatNumber:
		if math.Abs(n.f) <= math.MaxFloat64 { // neither infinite nor NaN
			return decimal.NewFromFloat(n.f), sql.InRange, nil
		}
	}
	return t.DecimalType.Convert(ctx, v)
}

// Compare compares two numbers of any type and scale.
func (t losslessDecimal) Compare(ctx context.Context, a, b any) (int, error) {
	if null, c := types.CompareNulls(a, b); null {
		return c, nil
	}
	return types.InternalDecimalType.Compare(ctx, a, b)
}

// Equals reports whether both stand for the same column type.
func (t losslessDecimal) Equals(other sql.Type) bool {
	if o, ok := other.(losslessDecimal); ok {
		other = o.DecimalType
	}
	return t.DecimalType.Equals(other)
}

// Convert returns a time as it is, and text as the time it names, without
// rounding and without a check of the column's range.
func (t losslessDatetime) Convert(ctx context.Context, v any) (any, sql.ConvertInRange, error) {
	switch v := v.(type) {
	case nil, time.Time:
		return v, sql.InRange, nil
	case string, []byte:
		if at, err := types.DatetimeMaxRange.ConvertWithoutRangeCheck(ctx, v); err == nil {
			return at, sql.InRange, nil
		}
	}
	return t.DatetimeType.Convert(ctx, v)
}

// Compare compares two times in full precision.
func (t losslessDatetime) Compare(ctx context.Context, a, b any) (int, error) {
	if null, c := types.CompareNulls(a, b); null {
		return c, nil
	}
	pa, pb := placeDatetime(&rowEnv{}, a), placeDatetime(&rowEnv{}, b)
	if pa.pos == unknown || pb.pos == unknown {
		return t.DatetimeType.Compare(ctx, a, b)
	}
	if c := rowcodec.Compare(pa.low, pb.low); c != 0 {
		return c, nil
	}
	return cmp.Compare(pa.pos, pb.pos), nil
}

// Equals reports whether both stand for the same column type.
func (t losslessDatetime) Equals(other sql.Type) bool {
	if o, ok := other.(losslessDatetime); ok {
		other = o.DatetimeType
	}
	return t.DatetimeType.Equals(other)
}
