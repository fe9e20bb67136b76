package dml

import (
	"context"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/proto/query"
)

// convert checks NOT NULL and converts the values of a row to their columns'
// types, in place. number is the row's, from 1. Under IGNORE a value that does
// not fit becomes the nearest one that does, with a warning.
func (r *insertRun) convert(ctx *sql.Context, row sql.Row, number int) error {
	ignore := r.node.insert.Ignore
	for i, c := range r.schema {
		if row[i] == nil {
			if c.Nullable {
				continue
			}
			err := r.missing(i, c)
			if !ignore {
				return err
			}
			row[i] = c.Type.Zero()
			if err := r.warnInOrder(ctx, sql.ErrInsertIntoNonNullableProvidedNull.New(c.Name)); err != nil {
				return err
			}
		}
		v, err := convertValue(ctx, c, row[i], number)
		if err == nil {
			row[i] = v
			continue
		}
		if !ignore || c.Type.Type() == query.Type_JSON {
			return sql.NewWrappedTypeConversionError(row[i], i, columnError(c, row[i], number, err))
		}
		err = columnError(c, row[i], number, err)
		row[i] = nearest(c, row[i], v)
		if err := r.warnInOrder(ctx, err); err != nil {
			return err
		}
	}
	return nil
}

// missing is the error for NULL in a NOT NULL column: given, or for want of a default.
func (r *insertRun) missing(i int, c *sql.Column) error {
	if r.node.insert.DeferredDefaults.Contains(i) {
		return sql.ErrInsertIntoNonNullableDefaultNullColumn.New(c.Name)
	}
	return sql.ErrInsertIntoNonNullableProvidedNull.New(c.Name)
}

// warnInOrder warns after the warnings of earlier rows.
func (r *insertRun) warnInOrder(ctx *sql.Context, err error) error {
	if ferr := r.flush(ctx); ferr != nil {
		return ferr
	}
	warn(ctx, err)
	return nil
}

// convertValue converts a value that is not NULL. With an error it still
// returns what the engine made of the value, if anything.
func convertValue(ctx *sql.Context, c *sql.Column, v any, number int) (any, error) {
	var out any
	var in sql.ConvertInRange
	var err error
	if t, ok := c.Type.(sql.RoundingNumberType); ok {
		out, in, err = t.ConvertRound(ctx, v)
	} else if out, in, err = c.Type.Convert(ctx, v); err != nil {
		// Once more with what the engine's messages about bad text name.
		named := context.WithValue(ctx.Context, types.ColumnNameKey, c.Name)
		named = context.WithValue(named, types.RowNumberKey, int64(number))
		out, in, err = c.Type.Convert(ctx.WithContext(named), v)
	}
	if blankNumber(c.Type, v) {
		return out, sql.ErrInvalidValue.New(v, c.Type)
	}
	if fit, ok := cutSpaces(c.Type, v); ok && err != nil {
		return convertValue(ctx, c, fit, number)
	}
	if in != sql.InRange || err != nil || needsBounds(c.Type, v) {
		if near, inside, known := boundNumber(ctx, c.Type, v); known {
			if out, err, in = near, nil, sql.InRange; !inside {
				in = sql.Overflow
			}
		}
	}
	if err == nil && in != sql.InRange {
		err = sql.ErrValueOutOfRange.New(v, c.Type)
	}
	if sql.ErrTruncatedIncorrect.Is(err) {
		err = sql.ErrInvalidValue.New(v, c.Type)
	}
	return out, err
}

// columnError puts column and row into a conversion error where MySQL does.
func columnError(c *sql.Column, v any, number int, err error) error {
	switch {
	case types.ErrLengthBeyondLimit.Is(err), types.IsBit(c.Type):
		return types.ErrLengthBeyondLimit.New(v, c.Name)
	case sql.ErrNotMatchingSRID.Is(err):
		return sql.ErrNotMatchingSRIDWithColName.New(c.Name, err)
	case types.ErrConvertingToEnum.Is(err), sql.ErrInvalidSetValue.Is(err), sql.ErrConvertingToSet.Is(err):
		return types.ErrDataTruncatedForColumnAtRow.New(c.Name, int64(number))
	}
	return err
}

// nearest is the value that IGNORE stores for one that does not fit: a number
// at the end of the range, a text cut to its length, else the type's zero.
func nearest(c *sql.Column, v, converted any) any {
	if isNumber(c.Type) {
		if converted == nil {
			return c.Type.Zero()
		}
		return converted
	}
	t, ok := c.Type.(sql.StringType)
	s, text := v.(string)
	if !ok || !text {
		return c.Type.Zero()
	}
	runes := []rune(s)
	if most := t.MaxCharacterLength(); int64(len(runes)) > most {
		return string(runes[:most])
	}
	return c.Type.Zero()
}
