package driver

import "ksql/sqlbackend"

// openBackend opens a folder. Tests put another one in its place.
var openBackend = func(dir string, readOnly bool) (Backend, error) {
	return sqlbackend.Open(dir, sqlbackend.Options{ReadOnly: readOnly})
}
