package catalog

import (
	"errors"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	goerrors "gopkg.in/src-d/go-errors.v1"
)

// duplicateKeyError is the engine's error for a key that exists already. Its
// text is the tail of MySQL's message: '1-a' for key 't.PRIMARY'.
func duplicateKeyError(ctx *sql.Context, def *tableDef, x *indexDef, row, existing sql.Row) error {
	values := make([]string, len(x.record.Columns))
	for i, o := range x.record.Columns {
		values[i] = keyValueText(ctx, def.schema.Schema[o].Type, row[o])
		if i < len(x.record.Prefix) && x.record.Prefix[i] > 0 {
			values[i], _ = charPrefix(values[i], int(x.record.Prefix[i]))
		}
	}
	text := "'" + strings.Join(values, "-") + "' for key '" + def.record.Name + "." + x.record.Name + "'"
	return sql.NewUniqueKeyErr(text, x.primary, existing)
}

// keyValueText prints a value as the text protocol does.
func keyValueText(ctx *sql.Context, t sql.Type, v any) string {
	if v == nil {
		return "NULL"
	}
	value, err := t.SQL(ctx, nil, v)
	if err != nil {
		return "?"
	}
	return value.ToString()
}

// DuplicateKey returns MySQL error 1062 for the engine's unique key error,
// false for any other error.
func DuplicateKey(err error) (*mysql.SQLError, bool) {
	u, ok := UniqueKey(err)
	if !ok {
		return nil, false
	}
	return mysql.NewSQLError(mysql.ERDupEntry, "23000", "Duplicate entry %s", u.Error()), true
}

// MySQLError returns err as MySQL's error, for a warning.
func MySQLError(ctx *sql.Context, err error) *mysql.SQLError {
	if dup, ok := DuplicateKey(err); ok {
		return dup
	}
	if s := sessionOf(ctx); s != nil && s.provider.options.MapError != nil {
		err = s.provider.options.MapError(err)
	}
	var e *mysql.SQLError
	if errors.As(err, &e) {
		return e
	}
	return sql.CastSQLError(err)
}

// UniqueKey finds the engine's unique key error in a chain of errors.
func UniqueKey(err error) (sql.UniqueKeyError, bool) {
	for err != nil {
		err = sql.UnwrapError(err)
		switch e := err.(type) {
		case sql.UniqueKeyError:
			return e, true
		case *goerrors.Error:
			err = e.Cause()
		default:
			err = errors.Unwrap(err)
		}
	}
	return sql.UniqueKeyError{}, false
}
