package main

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"ksql/sqlbackend"
)

// The exit codes, see the package comment.
const (
	exitFailed  = 1
	exitUsage   = 2
	exitInUse   = 3
	exitFolder  = 4
	exitAddress = 5
)

// errReported says that the command has told its failure already.
var errReported = errors.New("the failure was reported")

// codedError is an error with an exit code.
type codedError struct {
	code int
	err  error
}

func (e *codedError) Error() string { return e.err.Error() }
func (e *codedError) Unwrap() error { return e.err }

// failure makes an error with an exit code.
func failure(code int, format string, args ...any) error {
	return &codedError{code: code, err: fmt.Errorf(format, args...)}
}

// exitCode chooses the exit code of an error.
func exitCode(err error) int {
	var coded *codedError
	switch {
	case errors.As(err, &coded):
		return coded.code
	case errors.Is(err, sqlbackend.ErrFolderInUse):
		return exitInUse
	case errors.Is(err, sqlbackend.ErrRootWithoutPassword), errors.Is(err, syscall.EADDRINUSE), errors.Is(err, syscall.EADDRNOTAVAIL):
		return exitAddress
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.ENOTDIR):
		return exitFolder
	}
	return exitFailed
}

// explain adds to an error what to do about it.
func explain(err error) string {
	text := err.Error()
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return text + "\nAnother program listens there: stop it, or choose another --port (0 picks a free one) or --address."
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return text + "\nThe folder must be writable for the user that runs ksql."
	case errors.Is(err, syscall.ENOTDIR):
		return text + "\nThe --data path must name a folder."
	}
	return text
}
