package tablet

// LockMode of a row lock.
type LockMode uint8

const (
	LockShared LockMode = iota
	LockExclusive
)
