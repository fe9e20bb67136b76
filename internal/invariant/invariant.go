// Package invariant holds checks that cost too much for every run. They are on
// under the build tag invariants; the tests run both ways.
package invariant

import "fmt"

// Check panics with "BUG: …" if invariants are on and ok is false.
func Check(ok bool, format string, args ...any) {
	if Enabled && !ok {
		Failf(format, args...)
	}
}

// Failf panics with "BUG: …": the code, not the disk, is at fault.
func Failf(format string, args ...any) { panic("BUG: " + fmt.Sprintf(format, args...)) }
