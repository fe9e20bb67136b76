// Package config reads the settings of the ksql program: built-in defaults, then a
// file, then the environment (KSQL_*), then flags, each overriding the one before.
//
// One table (Keys) says for every key its kind, unit, default and meaning; flags, the
// checks, `ksql config` and the table in the README come from it. A key that the
// table does not have is an error, wherever it stands, and the error names the
// nearest key. Every value remembers where it came from.
//
// It is the only package that knows viper. It opens no database and makes no folder.
package config
