package config

// Kind says how the text of a value is read.
type Kind string

// The kinds of values.
const (
	KindText     Kind = "text"
	KindPath     Kind = "path"
	KindChoice   Kind = "choice"
	KindSize     Kind = "size"     // bytes: 1048576, 512MB, 4GiB (both units are powers of 1024)
	KindDuration Kind = "duration" // 500ms, 15m, 8h; a bare number is seconds
	KindNumber   Kind = "number"
	KindBool     Kind = "bool"
)

// Key describes one setting.
type Key struct {
	Name    string
	Kind    Kind
	Choices []string // of KindChoice
	Default string   // as it would be written; "" is told by Unset
	Unset   string   // what an empty value means, for people
	Secret  bool     // the value is never printed
	Client  bool     // for shell and run when they connect to a server, not for the server
	Short   string   // one-letter flag, or ""
	Meaning string
}

// Keys is the table of all settings, in the order in which they are shown.
var Keys = []Key{
	{Name: "data", Kind: KindPath, Default: "./ksql-data", Short: "d", Meaning: "folder of the database"},
	{Name: "address", Kind: KindText, Default: "127.0.0.1", Meaning: "address to listen on; empty: no TCP"},
	{Name: "port", Kind: KindNumber, Default: "3306", Short: "P", Meaning: "TCP port; 0 picks a free one"},
	{Name: "socket", Kind: KindPath, Unset: "<data>/ksql.sock", Short: "S", Meaning: "unix socket to listen on"},
	{Name: "sync", Kind: KindChoice, Choices: []string{"full", "interval", "off"}, Default: "full",
		Meaning: "when a commit is acknowledged: after the log is on disk, every sync_interval, or never waiting"},
	{Name: "sync_interval", Kind: KindDuration, Default: "1s", Meaning: "time between syncs of the log with sync=interval"},
	{Name: "memory_limit", Kind: KindSize, Unset: "a quarter of the machine's memory, at most 4GiB",
		Meaning: "bound for rows in memory and caches"},
	{Name: "flush_bytes", Kind: KindSize, Default: "64MiB", Meaning: "unflushed rows of one table beyond which they go to a column file"},
	{Name: "max_connections", Kind: KindNumber, Unset: "the variable's value", Meaning: "global variable max_connections"},
	{Name: "max_allowed_packet", Kind: KindSize, Unset: "the variable's value", Meaning: "global variable max_allowed_packet"},
	{Name: "wait_timeout", Kind: KindDuration, Unset: "the variable's value", Meaning: "global variable wait_timeout: idle connections are closed after it"},
	{Name: "tls_cert", Kind: KindPath, Unset: "a certificate made by ksql in <data>/tls", Meaning: "certificate (PEM) for encrypted connections"},
	{Name: "tls_key", Kind: KindPath, Unset: "the key of that certificate", Meaning: "private key (PEM) of tls_cert"},
	{Name: "tls_ca", Kind: KindPath, Unset: "clients need no certificate", Meaning: "CA (PEM) that client certificates are checked against when a client sends one"},
	{Name: "require_secure_transport", Kind: KindBool, Default: "false", Meaning: "refuse TCP connections without TLS"},
	{Name: "log_level", Kind: KindChoice, Choices: []string{"info", "error"}, Default: "info", Meaning: "info: recovery, failed logins and flushes too; error: only what ends the program"},
	{Name: "user", Kind: KindText, Default: "root", Short: "u", Client: true, Meaning: "account for run and shell on a folder that another process has open"},
	{Name: "password", Kind: KindText, Secret: true, Client: true, Unset: "none", Short: "p", Meaning: "its password; better given as KSQL_PASSWORD than as a flag, which others can see"},
}

// reserved are variables with the prefix of settings that are none: the path of the
// configuration file, the shell's history file, and switches of the test scripts.
var reserved = map[string]bool{
	"KSQL_CONFIG": true, "KSQL_HISTFILE": true, "KSQL_SHARED": true, "KSQL_STRESS": true,
}

func keyNamed(name string) (Key, bool) {
	for _, k := range Keys {
		if k.Name == name {
			return k, true
		}
	}
	return Key{}, false
}
