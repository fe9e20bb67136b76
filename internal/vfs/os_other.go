//go:build !linux

package vfs

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncData asks for more than fdatasync does: on macOS only F_FULLFSYNC, which
// os.File.Sync uses, reaches the medium.
func syncData(f *os.File) error { return f.Sync() }

// allocate leaves it to Preallocate to write zeros.
func allocate(*os.File, int64, int64) error { return unix.EOPNOTSUPP }
