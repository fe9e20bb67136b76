package wire

// Capability flags (CLIENT_*), see
// https://dev.mysql.com/doc/dev/mysql-server/latest/group__group__cs__capabilities__flags.html
const (
	capLongPassword   uint32 = 1 << 0
	capFoundRows      uint32 = 1 << 1
	capLongFlag       uint32 = 1 << 2
	capConnectWithDB  uint32 = 1 << 3
	capCompress       uint32 = 1 << 5
	capODBC           uint32 = 1 << 6
	capLocalFiles     uint32 = 1 << 7
	capIgnoreSpace    uint32 = 1 << 8
	capProtocol41     uint32 = 1 << 9
	capInteractive    uint32 = 1 << 10
	capSSL            uint32 = 1 << 11
	capTransactions   uint32 = 1 << 13
	capSecureConn     uint32 = 1 << 15
	capMultiStmts     uint32 = 1 << 16
	capMultiResults   uint32 = 1 << 17
	capPSMultiResults uint32 = 1 << 18
	capPluginAuth     uint32 = 1 << 19
	capConnectAttrs   uint32 = 1 << 20
	capAuthLenenc     uint32 = 1 << 21
	capDeprecateEOF   uint32 = 1 << 24
)

// serverCaps is what the greeting offers; SSL is added when TLS is configured.
const serverCaps = capLongPassword | capFoundRows | capLongFlag | capConnectWithDB |
	capCompress | capODBC | capLocalFiles | capIgnoreSpace | capProtocol41 | capInteractive |
	capTransactions | capSecureConn | capMultiStmts | capMultiResults | capPSMultiResults |
	capPluginAuth | capConnectAttrs | capAuthLenenc | capDeprecateEOF

// Server status flags (SERVER_STATUS_*).
const (
	statusInTrans         uint16 = 0x0001
	statusAutocommit      uint16 = 0x0002
	statusMoreResults     uint16 = 0x0008
	statusCursorExists    uint16 = 0x0040
	statusLastRowSent     uint16 = 0x0080
	statusInTransReadOnly uint16 = 0x2000
	// statusNoBackslashEscapes tells clients that write values into texts themselves
	// not to escape by backslash.
	statusNoBackslashEscapes uint16 = 0x0200
)

// Commands (COM_*).
const (
	comQuit            byte = 0x01
	comInitDB          byte = 0x02
	comQuery           byte = 0x03
	comFieldList       byte = 0x04
	comStatistics      byte = 0x09
	comProcessInfo     byte = 0x0a
	comProcessKill     byte = 0x0c
	comDebug           byte = 0x0d
	comPing            byte = 0x0e
	comChangeUser      byte = 0x11
	comStmtPrepare     byte = 0x16
	comStmtExecute     byte = 0x17
	comStmtSendLong    byte = 0x18
	comStmtClose       byte = 0x19
	comStmtReset       byte = 0x1a
	comSetOption       byte = 0x1b
	comStmtFetch       byte = 0x1c
	comResetConnection byte = 0x1f
)

// First bytes of response packets.
const (
	hdrOK     byte = 0x00
	hdrMore   byte = 0x01
	hdrInfile byte = 0xfb
	hdrNull   byte = 0xfb
	hdrEOF    byte = 0xfe
	hdrErr    byte = 0xff
)

// Column and parameter types (MYSQL_TYPE_*) as they travel in column
// definitions and COM_STMT_EXECUTE.
const (
	typeDecimal    byte = 0
	typeTiny       byte = 1
	typeShort      byte = 2
	typeLong       byte = 3
	typeFloat      byte = 4
	typeDouble     byte = 5
	typeNull       byte = 6
	typeTimestamp  byte = 7
	typeLongLong   byte = 8
	typeInt24      byte = 9
	typeDate       byte = 10
	typeTime       byte = 11
	typeDatetime   byte = 12
	typeYear       byte = 13
	typeVarchar    byte = 15
	typeBit        byte = 16
	typeVector     byte = 242
	typeJSON       byte = 245
	typeNewDecimal byte = 246
	typeEnum       byte = 247
	typeSet        byte = 248
	typeTinyBlob   byte = 249
	typeMediumBlob byte = 250
	typeLongBlob   byte = 251
	typeBlob       byte = 252
	typeVarString  byte = 253
	typeString     byte = 254
	typeGeometry   byte = 255
)

// Column flags (*_FLAG).
const (
	flagNotNull       uint16 = 1
	flagPrimaryKey    uint16 = 2
	flagUniqueKey     uint16 = 4
	flagMultipleKey   uint16 = 8
	flagBlob          uint16 = 16
	flagUnsigned      uint16 = 32
	flagZerofill      uint16 = 64
	flagBinary        uint16 = 128
	flagEnum          uint16 = 256
	flagAutoIncrement uint16 = 512
	flagTimestamp     uint16 = 1024
	flagSet           uint16 = 2048
	flagNoDefault     uint16 = 4096
)

// Cursor types in COM_STMT_EXECUTE.
const (
	cursorNone     byte = 0x00
	cursorReadOnly byte = 0x01
)

// collationBinary is the collation id that marks numbers, dates and bytes in
// column definitions.
const collationBinary = 63

// collationUTF8MB4 is utf8mb4_0900_ai_ci, MySQL's default.
const collationUTF8MB4 = 255

// Authentication plugins.
const (
	pluginCachingSha2 = "caching_sha2_password"
	pluginNative      = "mysql_native_password"
)
