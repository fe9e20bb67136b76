package driver

import "ksql/sqlbackend/wire"

// Types and flags of the protocol (MYSQL_TYPE_*, *_FLAG) as wire.Column has
// them.
const (
	kindTiny      = 1
	kindShort     = 2
	kindLong      = 3
	kindFloat     = 4
	kindDouble    = 5
	kindNull      = 6
	kindTimestamp = 7
	kindLongLong  = 8
	kindInt24     = 9
	kindDate      = 10
	kindTime      = 11
	kindDatetime  = 12
	kindYear      = 13
	kindBit       = 16
	kindVector    = 242
	kindJSON      = 245
	kindDecimal   = 246
	kindBlob      = 252
	kindVarString = 253
	kindString    = 254
	kindGeometry  = 255

	flagNotNull  = 1
	flagUnsigned = 32
	flagEnum     = 256
	flagSet      = 2048

	collationBinary = 63
)

var plainNames = map[byte]string{
	kindFloat: "FLOAT", kindDouble: "DOUBLE", kindNull: "NULL", kindTimestamp: "TIMESTAMP",
	kindDate: "DATE", kindTime: "TIME", kindDatetime: "DATETIME", kindYear: "YEAR", kindBit: "BIT",
	kindVector: "VECTOR", kindJSON: "JSON", kindDecimal: "DECIMAL", kindGeometry: "GEOMETRY",
}

var integerNames = map[byte]string{
	kindTiny: "TINYINT", kindShort: "SMALLINT", kindInt24: "MEDIUMINT", kindLong: "INT", kindLongLong: "BIGINT",
}

// typeName names a column's type as github.com/go-sql-driver/mysql does.
func typeName(c wire.Column) string {
	if n := plainNames[c.Kind]; n != "" {
		return n
	}
	if n := integerNames[c.Kind]; n != "" {
		if c.Flags&flagUnsigned != 0 {
			return "UNSIGNED " + n
		}
		return n
	}
	binary := c.Charset == collationBinary
	switch {
	case c.Flags&flagEnum != 0:
		return "ENUM"
	case c.Flags&flagSet != 0:
		return "SET"
	case c.Kind == kindBlob && binary:
		return "BLOB"
	case c.Kind == kindBlob:
		return "TEXT"
	case c.Kind == kindString && binary:
		return "BINARY"
	case c.Kind == kindString:
		return "CHAR"
	case binary:
		return "VARBINARY"
	}
	return "VARCHAR"
}
