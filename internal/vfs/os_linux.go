package vfs

import (
	"os"

	"golang.org/x/sys/unix"
)

func syncData(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }

func allocate(f *os.File, off, n int64) error { return unix.Fallocate(int(f.Fd()), 0, off, n) }
