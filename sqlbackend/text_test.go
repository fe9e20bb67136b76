package sqlbackend

import (
	"testing"
	"time"

	"ksql/internal/vfs"
)

// Long texts are made at once or not at all.
func TestLongRepetitions(t *testing.T) {
	c := connect(t, openMem(t, vfs.NewMem()), "")
	start := time.Now()
	c.want("SELECT LENGTH(SPACE(1000000)), SPACE(-1) = '', SPACE(NULL), SPACE(2) = '  '", "1000000|1|NULL|1")
	c.want("SELECT REPEAT('ab', 3), REPEAT('a', 0), REPEAT(NULL, 2), REPEAT('a', NULL), REPEAT(7, 2), LENGTH(REPEAT('é', 1000000))",
		"ababab||NULL|NULL|77|2000000")
	c.want("SELECT REPEAT('a', 1000000000)", "NULL")
	c.want("SHOW WARNINGS", "Warning|1301|Result of repeat() was larger than max_allowed_packet (67108864) - truncated")
	c.want("SELECT SPACE(9223372036854775807)", "NULL")
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("it took %v", d)
	}
}
