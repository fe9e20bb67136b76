// Package driver is the database/sql driver "ksql": a database in a folder,
// opened in this process.
//
//	db, err := sql.Open("ksql", "/path/dir?db=shop&parseTime=true")
//
// All handles of a process on one folder share it; the last Close releases it.
// Statements take the same path as those of clients over the wire, so results,
// counts and errors (*mysql.MySQLError of github.com/go-sql-driver/mysql) are
// the same.
//
// Values come as int64 (uint64 beyond its range), float32, float64, string for
// text, DECIMAL, ENUM, SET and TIME, []byte for binary strings, BIT, JSON and
// GEOMETRY, and with parseTime time.Time for dates.
package driver
