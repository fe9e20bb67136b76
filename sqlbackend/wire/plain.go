package wire

import (
	"time"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// Column describes a result column to callers in process, with the protocol's
// numbers (MYSQL_TYPE_*, *_FLAG, collation id).
type Column struct {
	Name     string
	Kind     byte
	Flags    uint16
	Charset  uint16
	Length   uint32 // display width, in bytes for text
	Decimals byte
}

// PlainOptions say how dates come out.
type PlainOptions struct {
	// ParseTime turns DATE, DATETIME and TIMESTAMP into time.Time in Loc.
	ParseTime bool
	// Loc is the zone in which dates are read; nil means UTC.
	Loc *time.Location
}

// Plain reads the rows of a result as plain Go values: int64 (uint64 beyond
// its range), float32, float64, string for text, decimals, ENUM, SET and TIME,
// []byte for binary strings, BIT, JSON and GEOMETRY, and dates as told by the
// options. Text is UTF-8 whatever character_set_results says.
type Plain struct {
	res *Result
	enc *rowEncoder
	o   PlainOptions
	row []any
}

// Plain returns a reader of plain values. It takes the place of Next.
func (r *Result) Plain(o PlainOptions) *Plain {
	if o.Loc == nil {
		o.Loc = time.UTC
	}
	how := results{collation: collationUTF8MB4, maxLen: 4, plain: true, tables: tableNames(r.run.stmt)}
	return &Plain{res: r, enc: newRowEncoder(r.run.ctx, r.Schema, how), o: o}
}

// Columns describes the columns.
func (p *Plain) Columns() []Column {
	out := make([]Column, len(p.enc.cols))
	for i, c := range p.enc.cols {
		out[i] = Column{Name: c.name, Kind: c.kind, Flags: c.flags, Charset: c.charset, Length: c.length, Decimals: c.decimals}
	}
	return out
}

// Next returns the next row, one value a column, or io.EOF after the last one.
// The slice is reused by the next call; what is in it is the caller's.
func (p *Plain) Next() ([]any, error) {
	row, err := p.res.Next()
	if err != nil {
		return nil, err
	}
	if p.row == nil {
		p.row = make([]any, len(p.enc.cols))
	}
	err = p.res.s.guard(func() error {
		if len(row) != len(p.row) {
			return newError(erUnknown, "row of %d values for %d columns", len(row), len(p.row))
		}
		for i, v := range row {
			if p.row[i], err = p.value(i, v); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, p.res.fail(err)
	}
	return p.row, nil
}

// value converts the value of column i.
func (p *Plain) value(i int, v any) (any, error) {
	if v == nil {
		return nil, nil
	}
	switch p.enc.cols[i].kind {
	case typeTiny, typeShort, typeInt24, typeLong, typeLongLong, typeYear:
		return p.integer(i, v)
	case typeFloat:
		f, null, err := p.enc.float(i, v)
		if err != nil || null {
			return nil, err
		}
		return float32(f), nil
	case typeDouble:
		f, null, err := p.enc.float(i, v)
		if err != nil || null {
			return nil, err
		}
		return f, nil
	case typeDate, typeDatetime, typeTimestamp:
		if p.o.ParseTime {
			return p.time(i, v)
		}
	}
	raw, null, err := p.enc.text(i, v)
	if err != nil || null {
		return nil, err
	}
	if isBytes(p.enc.cols[i]) {
		return append([]byte{}, raw...), nil
	}
	return string(raw), nil
}

// isBytes: what has no text form of its own.
func isBytes(c column) bool {
	switch c.kind {
	case typeBit, typeJSON, typeGeometry, typeVector:
		return true
	case typeBlob, typeString, typeVarString:
		return c.charset == collationBinary
	}
	return false
}

func (p *Plain) integer(i int, v any) (any, error) {
	n, signed, ok := integer(v)
	if !ok {
		var null bool
		var err error
		if n, null, err = p.enc.parseInteger(i, v); err != nil || null {
			return nil, err
		}
		signed = p.enc.cols[i].flags&flagUnsigned == 0
	}
	if !signed && n > 1<<63-1 {
		return n, nil
	}
	return int64(n), nil
}

// time reads a date in the options' zone; '0000-00-00' is the zero time.
func (p *Plain) time(i int, v any) (any, error) {
	var c clock
	if t, ok := v.(time.Time); ok {
		c = clockOf(t, p.enc.cols[i].kind, p.enc.cols[i].decimals)
	} else {
		raw, null, err := p.enc.text(i, v)
		if err != nil || null {
			return nil, err
		}
		if c, ok = parseDatetime(raw); !ok {
			return nil, newError(erTruncatedWrongValue, "Incorrect datetime value: '%s' for column '%s'", raw, p.enc.cols[i].name)
		}
	}
	if c.year == 0 && c.month == 0 && c.day == 0 {
		return time.Time{}, nil
	}
	return time.Date(int(c.year), time.Month(c.month), int(c.day), int(c.hour), int(c.minute), int(c.second),
		int(c.micros)*1000, p.o.Loc), nil
}

// Literal makes an argument for Execute from a Go value: nil, integers, floats,
// bool, string and []byte. ok is false for other types.
func Literal(v any) (expr ast.Expr, ok bool) {
	switch v := v.(type) {
	case nil:
		return &ast.NullVal{}, true
	case string:
		return ast.NewStrVal([]byte(v)), true
	case []byte:
		if v == nil {
			return &ast.NullVal{}, true
		}
		e, err := stringParam(v, typeBlob, nil)
		return e, err == nil
	case float64:
		return floatParam(v, 64), true
	case float32:
		return floatParam(float64(v), 32), true
	}
	n, signed, ok := integer(v)
	if !ok {
		return nil, false
	}
	return intParam(n, 64, !signed), true
}

// DecimalLiteral makes an exact number from its digits; other texts become
// strings.
func DecimalLiteral(digits string) ast.Expr {
	if isDecimal([]byte(digits)) {
		return ast.NewFloatVal([]byte(digits))
	}
	return ast.NewStrVal([]byte(digits))
}
