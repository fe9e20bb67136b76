package main

import (
	"bytes"
	"database/sql"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// column is what printing needs to know of a result's column.
type column struct {
	name     string
	numeric  bool // right-aligned
	nullable bool // NULL needs room
	binary   bool // bytes, not text
}

// cell is one value as text; nil is NULL.
type cell []byte

// resultSet is a result with all its rows.
type resultSet struct {
	columns []column
	rows    [][]cell
}

// describe reads the columns of a result.
func describe(rows *sql.Rows) ([]column, error) {
	kinds, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	columns := make([]column, len(kinds))
	for i, k := range kinds {
		nullable, known := k.Nullable()
		name := k.DatabaseTypeName()
		columns[i] = column{name: k.Name(), nullable: nullable || !known, numeric: isNumeric(name), binary: isBinary(name)}
	}
	return columns, nil
}

// isNumeric is IS_NUM of MySQL's client for the driver's type names.
func isNumeric(name string) bool {
	switch strings.TrimPrefix(name, "UNSIGNED ") {
	case "TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL", "YEAR", "NULL":
		return true
	}
	return false
}

func isBinary(name string) bool {
	switch name {
	case "BINARY", "VARBINARY", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB", "BIT", "GEOMETRY", "VECTOR":
		return true
	}
	return false
}

// scanner reads rows of one result; the cells are valid until the next call.
type scanner struct {
	rows    *sql.Rows
	columns []column
	hex     bool // bytes that are no text are shown as 0x…
	values  []any
	targets []any
}

func newScanner(rows *sql.Rows, hexBytes bool) (*scanner, error) {
	columns, err := describe(rows)
	if err != nil {
		return nil, err
	}
	s := &scanner{rows: rows, columns: columns, hex: hexBytes, values: make([]any, len(columns)), targets: make([]any, len(columns))}
	for i := range s.values {
		s.targets[i] = &s.values[i]
	}
	return s, nil
}

func (s *scanner) next() ([]cell, bool, error) {
	if !s.rows.Next() {
		return nil, false, s.rows.Err()
	}
	if err := s.rows.Scan(s.targets...); err != nil {
		return nil, false, err
	}
	row := make([]cell, len(s.values))
	for i, v := range s.values {
		row[i] = formatValue(v)
		if s.hex && s.columns[i].binary && row[i] != nil && !isText(row[i]) {
			row[i] = append([]byte("0x"), bytes.ToUpper([]byte(hex.EncodeToString(row[i])))...)
		}
	}
	return row, true, nil
}

// readAll takes the rest of a result into memory.
func (s *scanner) readAll() (*resultSet, error) {
	set := &resultSet{columns: s.columns}
	for {
		row, ok, err := s.next()
		if !ok {
			return set, err
		}
		set.rows = append(set.rows, row)
	}
}

// isText tells whether bytes can be shown on a terminal as they are.
func isText(b []byte) bool {
	if !utf8.Valid(b) {
		return false
	}
	for _, r := range string(b) {
		if unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' {
			return false
		}
	}
	return true
}

// formatValue writes a value of either driver as MySQL's text protocol does.
func formatValue(v any) cell {
	switch v := v.(type) {
	case nil:
		return nil
	case []byte:
		return append(cell{}, v...)
	case string:
		return append(cell{}, v...)
	case int64:
		return strconv.AppendInt(nil, v, 10)
	case uint64:
		return strconv.AppendUint(nil, v, 10)
	case float32:
		return appendFloat(float64(v), 32)
	case float64:
		return appendFloat(v, 64)
	case bool:
		if v {
			return cell("1")
		}
		return cell("0")
	case time.Time:
		return v.AppendFormat(nil, "2006-01-02 15:04:05.999999")
	}
	return fmt.Append(nil, v)
}

// appendFloat writes the shortest digits that read back as the same number, without an
// exponent while the decimal point lies within 15 places (my_gcvt of MySQL).
func appendFloat(f float64, bits int) cell {
	if f == 0 || math.IsInf(f, 0) || math.IsNaN(f) {
		return strconv.AppendFloat(nil, f, 'f', -1, bits)
	}
	b := strconv.AppendFloat(nil, f, 'e', -1, bits)
	at := bytes.IndexByte(b, 'e')
	exponent, err := strconv.Atoi(string(b[at+1:]))
	if err != nil {
		panic("BUG: strconv wrote the exponent " + string(b[at+1:]))
	}
	if exponent >= -15 && exponent < 15 {
		return strconv.AppendFloat(nil, f, 'f', -1, bits)
	}
	return strconv.AppendInt(b[:at+1], int64(exponent), 10)
}
