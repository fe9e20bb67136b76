package wire

import (
	"encoding/binary"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
)

// column is what a client is told about a result column
// (Protocol::ColumnDefinition41).
type column struct {
	database, name string
	// table is the alias, orgTable the table behind it.
	table, orgTable string
	charset         uint16
	length          uint32
	kind            byte
	flags           uint16
	decimals        byte
}

// floatDecimals marks numbers without a fixed number of decimals.
const floatDecimals = 31

// numberShape is type, display width and flags of the types that need nothing
// but a look-up.
var numberShapes = map[querypb.Type]struct {
	kind   byte
	length uint32
	flags  uint16
}{
	sqltypes.Int8:    {typeTiny, 4, 0},
	sqltypes.Uint8:   {typeTiny, 3, flagUnsigned},
	sqltypes.Int16:   {typeShort, 6, 0},
	sqltypes.Uint16:  {typeShort, 5, flagUnsigned},
	sqltypes.Int24:   {typeInt24, 9, 0},
	sqltypes.Uint24:  {typeInt24, 8, flagUnsigned},
	sqltypes.Int32:   {typeLong, 11, 0},
	sqltypes.Uint32:  {typeLong, 10, flagUnsigned},
	sqltypes.Int64:   {typeLongLong, 20, 0},
	sqltypes.Uint64:  {typeLongLong, 20, flagUnsigned},
	sqltypes.Float32: {typeFloat, 12, 0},
	sqltypes.Float64: {typeDouble, 22, 0},
	sqltypes.Year:    {typeYear, 4, flagUnsigned | flagZerofill},
	sqltypes.Null:    {typeNull, 0, flagBinary},
}

// results is how the session wants text: the collation id announced for it and
// the most bytes a character takes.
type results struct {
	collation uint16
	maxLen    uint32
	// plain: text needs no conversion from UTF-8.
	plain bool
	// tables gives the statement's own spelling of its tables, by lower-case
	// alias: the engine folds them.
	tables map[string]tableName
}

// sessionResults reads character_set_results. A client that asked for a
// collation of that character set in its handshake gets that id back.
func sessionResults(ctx *sql.Context, asked uint16) results {
	cs := ctx.GetCharacterSetResults()
	if cs == sql.CharacterSet_Unspecified || cs == sql.CharacterSet_binary {
		return results{collation: collationUTF8MB4, maxLen: 4, plain: true}
	}
	out := results{collation: uint16(cs.DefaultCollation()), maxLen: uint32(cs.MaxLength())}
	if cs == sql.CharacterSet_utf8mb4 {
		out.collation = collationUTF8MB4 // the engine's own default is a binary one
	}
	if known(asked) && sql.CollationID(asked).CharacterSet() == cs {
		out.collation = asked
	}
	switch cs {
	case sql.CharacterSet_utf8mb4, sql.CharacterSet_utf8mb3:
		out.plain = true
	}
	return out
}

// describe works out the definition of a column.
func describe(ctx *sql.Context, col *sql.Column, res results) column {
	c := column{database: col.DatabaseSource, table: col.Source, orgTable: col.Source, name: shortName(col.Name), charset: collationBinary}
	if n, ok := res.tables[strings.ToLower(col.Source)]; ok {
		c.table, c.orgTable = n.alias, n.table
	}
	t := col.Type
	if n, ok := numberShapes[t.Type()]; ok {
		c.kind, c.length, c.flags = n.kind, n.length, n.flags|flagBinary
		if t.Type() == sqltypes.Float32 || t.Type() == sqltypes.Float64 {
			c.decimals = floatDecimals
		}
		if w, ok := t.(interface{ DisplayWidth() int }); ok && w.DisplayWidth() == 1 {
			c.length = 1 // TINYINT(1), the only display width that clients read
		}
	} else {
		c.describeOther(ctx, t, res)
	}
	c.describeRole(col)
	if res.tables[strings.ToLower(col.Source)].recursive {
		c.flags &^= flagNotNull | flagNoDefault
	}
	return c
}

// maxColumnName is how many bytes of a column's name clients get. MySQL cuts names that
// it makes from expressions at 256 characters too; a client may refuse a longer one.
const maxColumnName = 256

func shortName(name string) string {
	if len(name) <= maxColumnName {
		return name
	}
	cut := maxColumnName
	for cut > 0 && !utf8.RuneStart(name[cut]) {
		cut--
	}
	return name[:cut]
}

// describeOther fills in type, length, character set and flags of everything
// but plain numbers.
func (c *column) describeOther(ctx *sql.Context, t sql.Type, res results) {
	switch t.Type() {
	case sqltypes.Decimal:
		c.kind, c.flags = typeNewDecimal, flagBinary
		c.length = 12
		if d, ok := t.(sql.DecimalType); ok {
			c.decimals = d.Scale()
			c.length = uint32(d.Precision()) + 1
			if d.Scale() > 0 {
				c.length++
			}
		}
	case sqltypes.Date:
		c.kind, c.length, c.flags = typeDate, 10, flagBinary
	case sqltypes.Datetime:
		c.kind, c.flags = typeDatetime, flagBinary
		c.fraction(19, precisionOf(t))
	case sqltypes.Timestamp:
		c.kind, c.flags = typeTimestamp, flagBinary
		c.fraction(19, precisionOf(t))
	case sqltypes.Time:
		c.kind, c.flags = typeTime, flagBinary
		c.fraction(10, timePrecision(t, c.table != ""))
	case sqltypes.Bit:
		c.kind, c.flags = typeBit, flagUnsigned
		if b, ok := t.(interface{ NumberOfBits() uint8 }); ok {
			c.length = uint32(b.NumberOfBits())
		}
	case sqltypes.TypeJSON:
		c.kind, c.length, c.flags = typeJSON, math.MaxUint32, flagBlob|flagBinary
	case sqltypes.Geometry:
		c.kind, c.length, c.flags = typeGeometry, math.MaxUint32, flagBlob|flagBinary
	case sqltypes.Vector:
		c.kind, c.length, c.flags = typeVector, t.MaxTextResponseByteLength(ctx), flagBlob|flagBinary
	default:
		c.describeString(ctx, t, res)
	}
}

func (c *column) describeString(ctx *sql.Context, t sql.Type, res results) {
	c.length = t.MaxTextResponseByteLength(ctx)
	if !types.IsBinaryType(t) {
		c.charset = res.collation
	}
	switch t.Type() {
	case sqltypes.Char:
		c.kind = typeString
	case sqltypes.Binary:
		c.kind, c.flags = typeString, flagBinary
	case sqltypes.VarBinary:
		c.kind, c.flags = typeVarString, flagBinary
	case sqltypes.Text:
		c.kind, c.flags = typeBlob, flagBlob
	case sqltypes.Blob:
		c.kind, c.flags = typeBlob, flagBlob|flagBinary
	case sqltypes.Enum:
		c.kind, c.flags = typeString, flagEnum
	case sqltypes.Set:
		c.kind, c.flags = typeString, flagSet
	default:
		c.kind = typeVarString
	}
	if st, ok := t.(sql.StringType); ok && c.charset != collationBinary {
		if n := st.MaxCharacterLength() * int64(res.maxLen); n > 0 && n <= math.MaxUint32 && c.kind != typeBlob {
			c.length = uint32(n)
		}
	}
}

// fraction sets length and decimals of a temporal type.
func (c *column) fraction(base uint32, digits int) {
	c.length, c.decimals = base, byte(digits)
	if digits > 0 {
		c.length += 1 + uint32(digits)
	}
}

// precisionOf is the number of fractional digits.
func precisionOf(t sql.Type) int {
	if p, ok := t.(interface{ Precision() int }); ok {
		return min(max(p.Precision(), 0), 6)
	}
	return 0
}

// timePrecision: the engine's TIME does not know its precision. Columns of
// tables are TIME(0) unless their type says more, expressions TIME(6).
func timePrecision(t sql.Type, inTable bool) int {
	if _, knows := t.(interface{ Precision() int }); knows || inTable {
		return precisionOf(t)
	}
	return 6
}

// describeRole adds what the column is in its table.
func (c *column) describeRole(col *sql.Column) {
	if !col.Nullable {
		c.flags |= flagNotNull
		if col.Source != "" && col.Default == nil && col.Generated == nil && !col.AutoIncrement {
			c.flags |= flagNoDefault
		}
	}
	if col.PrimaryKey {
		c.flags |= flagPrimaryKey
	}
	if col.AutoIncrement {
		c.flags |= flagAutoIncrement
	}
	if c.kind == typeTimestamp && col.OnUpdate != nil {
		c.flags |= flagTimestamp
	}
}

// append writes the definition.
func (c *column) append(b []byte) []byte {
	b = appendLenencString(b, "def")
	for _, s := range [...]string{c.database, c.table, c.orgTable, c.name, c.name} {
		b = appendLenencString(b, s)
	}
	b = append(b, 0x0c)
	b = binary.LittleEndian.AppendUint16(b, c.charset)
	b = binary.LittleEndian.AppendUint32(b, c.length)
	b = append(b, c.kind)
	b = binary.LittleEndian.AppendUint16(b, c.flags)
	return append(b, c.decimals, 0, 0)
}

// known says whether the engine has a collation with this id and can use it.
func known(id uint16) (ok bool) {
	defer func() {
		if recover() != nil { // beyond the engine's table of collations
			ok = false
		}
	}()
	c := sql.CollationID(id)
	return id != 0 && c.Name() != "" && c.Sorter() != nil
}
