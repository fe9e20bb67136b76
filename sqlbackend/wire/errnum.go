package wire

import "github.com/dolthub/vitess/go/mysql"

// MySQL server error numbers used in this package, see
// https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html
const (
	erConCount            = 1040
	erHandshake           = 1043
	erDBAccessDenied      = 1044
	erAccessDenied        = 1045
	erNoDB                = 1046
	erUnknownCom          = 1047
	erBadNull             = 1048
	erBadDB               = 1049
	erTableExists         = 1050
	erBadTable            = 1051
	erServerShutdown      = 1053
	erBadField            = 1054
	erParse               = 1064
	erEmptyQuery          = 1065
	erDupEntry            = 1062
	erCantDropFieldOrKey  = 1091
	erNoSuchThread        = 1094
	erUnknown             = 1105
	erTableAccessDenied   = 1142
	erNoSuchTable         = 1146
	erPacketTooLarge      = 1153
	erPacketsOutOfOrder   = 1156
	erWrongArguments      = 1210
	erLockDeadlock        = 1213
	erSpecificAccess      = 1227
	erDataOutOfRange      = 1264
	erUnknownStmtHandler  = 1243
	erUnsupportedPS       = 1295
	erInvalidCharString   = 1300
	erQueryInterrupted    = 1317
	erTruncatedWrongValue = 1292
	erWrongValueForField  = 1366
	erPSManyParam         = 1390
	erDataTooLong         = 1406
	erStmtHasNoCursor     = 1421
	erRowIsReferenced2    = 1451
	erNoReferencedRow2    = 1452
	erMalformedPacket     = 1835
	erQueryTimeout        = 3024
	erInsecureTransport   = 3159
	erLoadLocalDisabled   = 3948
	erClientTimeout       = 4031
	erOutOfResources      = 1041
	erCommandsOutOfSync   = 2014
)

// states are the SQLSTATEs of numbers that do not have HY000.
var states = map[int]string{
	erConCount: "08004", erHandshake: "08S01", erDBAccessDenied: "42000", erAccessDenied: "28000",
	erNoDB: "3D000", erUnknownCom: "08S01", erBadNull: "23000", erBadDB: "42000",
	erTableExists: "42S01", erBadTable: "42S02", erServerShutdown: "08S01", erBadField: "42S22",
	erParse: "42000", erEmptyQuery: "42000", erDupEntry: "23000", erCantDropFieldOrKey: "42000",
	erTableAccessDenied: "42000", erNoSuchTable: "42S02", erPacketTooLarge: "08S01",
	erPacketsOutOfOrder: "08S01", erLockDeadlock: "40001", erSpecificAccess: "42000",
	erDataOutOfRange: "22003", erQueryInterrupted: "70100", erTruncatedWrongValue: "22007",
	erDataTooLong: "22001", erRowIsReferenced2: "23000", erNoReferencedRow2: "23000",
}

// newError makes a client error with the SQLSTATE that belongs to its number.
func newError(num int, format string, args ...any) *mysql.SQLError {
	return mysql.NewSQLError(num, states[num], format, args...)
}

// errDeadlock tells the client to run its transaction again.
func errDeadlock() error {
	return newError(erLockDeadlock, "Deadlock found when trying to get lock; try restarting transaction")
}
