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
// index names for its column, and thereby rounds or refuses them: on a DATE
// column d < '2020-01-01 12:00' becomes d < '2020-01-01' and loses a row, on a
// TIMESTAMP column ts < '2050-01-01' is an error. The types here stand for the
// column types that do so. They differ in two points only: conversion leaves a
// constant as precise as it was written, or says on which side of the column's
// range it is; and constants are compared in full precision.

type (
	// losslessDecimal is a DECIMAL column's type in index ranges.
	losslessDecimal struct{ sql.DecimalType }
	// losslessBit is a BIT column's type in index ranges.
	losslessBit struct{ types.BitType }
	// losslessYear is a YEAR column's type in index ranges.
	losslessYear struct{ sql.YearType }
	// losslessDatetime is the type of a DATE, DATETIME or TIMESTAMP column in index ranges.
	losslessDatetime struct{ sql.DatetimeType }
	// losslessEnum is an ENUM column's type in index ranges.
	losslessEnum struct{ sql.EnumType }
	// losslessSet is a SET column's type in index ranges.
	losslessSet struct{ sql.SetType }
)

// lossless reports whether constants of type t kept their precision.
func lossless(t sql.Type) bool {
	switch t.(type) {
	case losslessDecimal, losslessDatetime:
		return true
	}
	return false // the others don't round
}

// boundType returns the type that an index should name for the column in
// ColumnExpressionTypes: the column's own, or one that keeps constants precise.
func (c *columnCodec) boundType() sql.Type {
	switch t := c.typ.(type) {
	case types.DecimalType_:
		return losslessDecimal{t}
	case types.BitType:
		return losslessBit{t}
	case types.YearType_:
		return losslessYear{t}
	case sql.DatetimeType:
		return losslessDatetime{t}
	case types.EnumType:
		return losslessEnum{t}
	case types.SetType:
		return losslessSet{t}
	}
	return c.typ
}

// losslessNumber returns v as a DECIMAL of as many digits as it has. ok is
// false if it isn't a finite number.
func losslessNumber(v any) (d decimal.Decimal, ok bool) {
	switch n := numberOf(v); n.class {
	case intNumber:
		return decimal.NewFromInt(n.i), true
	case uintNumber:
		return decimal.NewFromUint64(n.u), true
	case decimalNumber:
		return n.d, true
	case floatNumber:
		if math.Abs(n.f) <= math.MaxFloat64 { // neither infinite nor NaN
			return decimal.NewFromFloat(n.f), true
		}
	}
	return d, false
}

// compareNumbers compares two numbers of any Go type.
func compareNumbers(ctx context.Context, a, b any) (int, error) {
	if null, c := types.CompareNulls(a, b); null {
		return c, nil
	}
	return types.InternalDecimalType.Compare(ctx, a, b)
}

// Convert returns any number as it is.
func (t losslessDecimal) Convert(ctx context.Context, v any) (any, sql.ConvertInRange, error) {
	if d, ok := losslessNumber(v); ok {
		return d, sql.InRange, nil
	}
	return t.DecimalType.Convert(ctx, v)
}

// Compare compares two numbers of any type and scale.
func (t losslessDecimal) Compare(ctx context.Context, a, b any) (int, error) {
	return compareNumbers(ctx, a, b)
}

// Equals reports whether both stand for the same column type.
func (t losslessDecimal) Equals(other sql.Type) bool {
	if o, ok := other.(losslessDecimal); ok {
		other = o.DecimalType
	}
	return t.DecimalType.Equals(other)
}

// Convert returns any number as it is, and converts bit strings.
func (t losslessBit) Convert(ctx context.Context, v any) (any, sql.ConvertInRange, error) {
	switch v.(type) {
	case string, []byte:
		c, inRange, err := t.BitType.Convert(ctx, v)
		if err != nil && inRange == sql.Overflow {
			return v, sql.Overflow, nil
		}
		return c, inRange, err
	}
	if d, ok := losslessNumber(v); ok {
		return d, sql.InRange, nil
	}
	return t.BitType.Convert(ctx, v)
}

// Compare compares two numbers of any type.
func (t losslessBit) Compare(ctx context.Context, a, b any) (int, error) {
	return compareNumbers(ctx, a, b)
}

// Equals reports whether both stand for the same column type.
func (t losslessBit) Equals(other sql.Type) bool {
	if o, ok := other.(losslessBit); ok {
		other = o.BitType
	}
	return t.BitType.Equals(other)
}

// Convert returns any number as it is; text may have two digits.
func (t losslessYear) Convert(ctx context.Context, v any) (any, sql.ConvertInRange, error) {
	switch v.(type) {
	case string, []byte:
		if c, inRange, err := t.YearType.Convert(ctx, v); err == nil {
			return c, inRange, nil
		}
	}
	if d, ok := losslessNumber(v); ok {
		return d, sql.InRange, nil
	}
	return t.YearType.Convert(ctx, v)
}

// Compare compares two numbers of any type.
func (t losslessYear) Compare(ctx context.Context, a, b any) (int, error) {
	return compareNumbers(ctx, a, b)
}

// Equals reports whether both stand for the same column type.
func (t losslessYear) Equals(other sql.Type) bool {
	if o, ok := other.(losslessYear); ok {
		other = o.YearType
	}
	return t.YearType.Equals(other)
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

// Convert takes a value that is no member of the ENUM as one beyond its range,
// so that = finds nothing and <> everything.
func (t losslessEnum) Convert(ctx context.Context, v any) (any, sql.ConvertInRange, error) {
	if n := numberOf(v); n.class == intNumber && !n.text {
		switch {
		case n.i < 0:
			return v, sql.Underflow, nil
		case n.i <= int64(t.NumberOfElements()):
			return uint16(n.i), sql.InRange, nil
		}
	}
	c, inRange, err := t.EnumType.Convert(ctx, v)
	if types.ErrConvertingToEnum.Is(err) {
		return v, sql.Overflow, nil
	}
	return c, inRange, err
}

// Equals reports whether both stand for the same column type.
func (t losslessEnum) Equals(other sql.Type) bool {
	if o, ok := other.(losslessEnum); ok {
		other = o.EnumType
	}
	return t.EnumType.Equals(other)
}

// Convert takes a value that is no subset of the SET as one beyond its range.
func (t losslessSet) Convert(ctx context.Context, v any) (any, sql.ConvertInRange, error) {
	c, inRange, err := t.SetType.Convert(ctx, v)
	if err != nil {
		return v, sql.Overflow, nil
	}
	return c, inRange, nil
}

// Equals reports whether both stand for the same column type.
func (t losslessSet) Equals(other sql.Type) bool {
	if o, ok := other.(losslessSet); ok {
		other = o.SetType
	}
	return t.SetType.Equals(other)
}
