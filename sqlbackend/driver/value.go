package driver

import (
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/shopspring/decimal"

	"ksql/sqlbackend/wire"
)

// CheckNamedValue implements driver.NamedValueChecker: beyond the standard
// types it takes uint64, decimal.Decimal, json.RawMessage, and anything with
// one of the basic kinds.
func (c *conn) CheckNamedValue(nv *driver.NamedValue) error {
	if nv.Name != "" {
		return errors.New("ksql: named arguments are not supported")
	}
	v, err := convert(nv.Value)
	if err != nil {
		return err
	}
	nv.Value = v
	return nil
}

// convert makes a value that argument takes.
func convert(v any) (any, error) {
	switch v := v.(type) {
	case decimal.Decimal, json.RawMessage, time.Time:
		return v, nil
	case *decimal.Decimal:
		if v == nil {
			return nil, nil
		}
		return *v, nil
	case decimal.NullDecimal:
		if !v.Valid {
			return nil, nil
		}
		return v.Decimal, nil
	}
	if driver.IsValue(v) {
		return v, nil
	}
	if valuer, ok := v.(driver.Valuer); ok {
		return callValuer(valuer)
	}
	rv := reflect.ValueOf(v)
	switch rv.Kind() {
	case reflect.Pointer:
		if rv.IsNil() {
			return nil, nil
		}
		return convert(rv.Elem().Interface())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return rv.Int(), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return rv.Uint(), nil
	case reflect.Float32, reflect.Float64:
		return rv.Float(), nil
	case reflect.Bool:
		return rv.Bool(), nil
	case reflect.String:
		return rv.String(), nil
	case reflect.Slice:
		if rv.Type().Elem().Kind() == reflect.Uint8 {
			return rv.Bytes(), nil
		}
	}
	return nil, fmt.Errorf("ksql: unsupported argument type %T", v)
}

// callValuer calls Value; a nil pointer whose type has it by value is NULL, as
// in database/sql.
func callValuer(v driver.Valuer) (any, error) {
	if rv := reflect.ValueOf(v); rv.Kind() == reflect.Pointer && rv.IsNil() &&
		rv.Type().Elem().Implements(reflect.TypeFor[driver.Valuer]()) {
		return nil, nil
	}
	out, err := v.Value()
	if err != nil || driver.IsValue(out) {
		return out, err
	}
	if u, ok := out.(uint64); ok {
		return u, nil
	}
	return nil, fmt.Errorf("ksql: Value of %T returned %T", v, out)
}

// argument turns a converted value into an expression.
func (c *conn) argument(v any) (ast.Expr, error) {
	switch v := v.(type) {
	case time.Time:
		return timeLiteral(v, c.cfg.Loc), nil
	case decimal.Decimal:
		return wire.DecimalLiteral(v.String()), nil
	case json.RawMessage:
		if v == nil {
			return &ast.NullVal{}, nil
		}
		return ast.NewStrVal(append([]byte(nil), v...)), nil
	}
	if e, ok := wire.Literal(v); ok {
		return e, nil
	}
	return nil, fmt.Errorf("ksql: unsupported argument type %T", v)
}

// timeLiteral writes a time in the connection's zone, to the microsecond; the
// zero time is '0000-00-00'.
func timeLiteral(t time.Time, loc *time.Location) ast.Expr {
	if t.IsZero() {
		return ast.NewStrVal([]byte("0000-00-00"))
	}
	const layout = "2006-01-02 15:04:05.999999"
	return ast.NewStrVal(t.In(loc).AppendFormat(nil, layout))
}
