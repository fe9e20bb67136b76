package catalog

import (
	"strings"
	"time"

	"ksql/tablet"
)

// lockRequest says how a locking read locks the rows that it returns.
type lockRequest struct {
	active bool
	mode   tablet.LockMode
	// nowait: error 3572 instead of waiting; skip: rows locked by others are left out.
	nowait, skip bool
}

// parseLockMarker reads ksql-lock:<x|s>:<wait|skip|nowait>.
func parseLockMarker(text string) (lockRequest, error) {
	parts := strings.Split(strings.TrimPrefix(text, lockMarker), ":")
	r := lockRequest{active: true}
	if len(parts) != 2 {
		return r, errNotSupported("locking clause " + text)
	}
	switch parts[0] {
	case "x":
		r.mode = tablet.LockExclusive
	case "s":
		r.mode = tablet.LockShared
	default:
		return r, errNotSupported("locking clause " + text)
	}
	switch parts[1] {
	case "wait":
	case "skip":
		r.skip = true
	case "nowait":
		r.nowait = true
	default:
		return r, errNotSupported("locking clause " + text)
	}
	return r, nil
}

// wait is how long a lock is waited for.
func (r lockRequest) wait(s *Session) time.Duration {
	if r.nowait || r.skip {
		return 0
	}
	return s.lockWait()
}
