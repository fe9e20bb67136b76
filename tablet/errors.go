package tablet

import (
	"errors"
	"fmt"
)

// Errors that callers match with errors.Is.
var (
	// ErrFolderInUse: another process holds the folder. The chain holds a
	// *vfs.LockedError with the owner's bytes.
	ErrFolderInUse = errors.New("data folder is in use")
	// ErrClosed: the Manager was closed.
	ErrClosed = errors.New("storage is closed")
	// ErrReadOnly: the Manager was opened with Options.ReadOnly, or the
	// transaction with TxOptions.ReadOnly.
	ErrReadOnly = errors.New("storage is read-only")
	// ErrPoisoned: a write or sync of the log failed earlier. Reads are served,
	// writes are refused until the folder is opened again.
	ErrPoisoned = errors.New("log failed, writes are refused until the data folder is reopened")
	// ErrLockWaitTimeout: a row lock was not granted in time.
	ErrLockWaitTimeout = errors.New("lock wait timeout exceeded")
	// ErrLockNowait: a row lock is held by somebody else and the caller did not
	// want to wait.
	ErrLockNowait = errors.New("lock not available immediately")
	// ErrTabletNotFound: no such tablet at this transaction's snapshot.
	ErrTabletNotFound = errors.New("tablet not found")
	// ErrKeyExists: an OpInsert met a live key.
	ErrKeyExists = errors.New("key exists")
	// ErrKeyNotFound: an OpUpdate or OpDelete met no live key.
	ErrKeyNotFound = errors.New("key not found")
	// ErrKeyNotLocked: a write named a key that this transaction holds no
	// exclusive lock on; a fault of the caller.
	ErrKeyNotLocked = errors.New("key is not locked exclusively by this transaction")
	// ErrTransactionDone: the transaction was committed or rolled back.
	ErrTransactionDone = errors.New("transaction is finished")
	// ErrNoSpace: the device is full. The statement fails, nothing is lost, and
	// it clears by itself when space returns.
	ErrNoSpace = errors.New("no space left on device")
	// ErrTooLarge: a key, a row or a commit exceeds its limit.
	ErrTooLarge = errors.New("too large")
)

// CorruptionError says which file is damaged and where. It is never returned for
// anything but damage on disk.
type CorruptionError struct {
	File   string // name relative to the data folder
	Offset int64  // byte offset of the damaged part; -1 if the file as a whole
	Reason string
}

func (e *CorruptionError) Error() string {
	if e.Offset < 0 {
		return fmt.Sprintf("corruption in %s: %s", e.File, e.Reason)
	}
	return fmt.Sprintf("corruption in %s at offset %d: %s", e.File, e.Offset, e.Reason)
}
