package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// sizeUnits are powers of 1024, with or without the i, as database people write them.
var sizeUnits = []struct {
	suffix string
	shift  uint
}{
	{"tib", 40}, {"gib", 30}, {"mib", 20}, {"kib", 10},
	{"tb", 40}, {"gb", 30}, {"mb", 20}, {"kb", 10},
	{"t", 40}, {"g", 30}, {"m", 20}, {"k", 10}, {"b", 0},
}

// ParseSize reads a number of bytes: 1048576, 64kb, 512MB, 1.5GiB.
func ParseSize(s string) (int64, error) {
	text, shift := strings.ToLower(strings.TrimSpace(s)), uint(0)
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(text, u.suffix); ok {
			text, shift = strings.TrimSpace(rest), u.shift
			break
		}
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		if n < 0 || n > math.MaxInt64>>shift {
			return 0, fmt.Errorf("size %q is out of range", s)
		}
		return n << shift, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) {
		return 0, fmt.Errorf("%q is not a size (write 1048576, 512MB or 4GiB)", s)
	}
	f *= float64(uint64(1) << shift)
	if f < 0 || f >= math.MaxInt64 {
		return 0, fmt.Errorf("size %q is out of range", s)
	}
	return int64(f), nil
}

// FormatSize writes bytes with the largest unit that divides them.
func FormatSize(n int64) string {
	for _, u := range sizeUnits[:4] {
		if n != 0 && n&(1<<u.shift-1) == 0 {
			return strconv.FormatInt(n>>u.shift, 10) + strings.ToUpper(u.suffix[:1]) + "iB"
		}
	}
	return strconv.FormatInt(n, 10)
}

// parseDuration reads 500ms, 15m, 8h; a bare number is seconds.
func parseDuration(s string) (time.Duration, error) {
	s = strings.TrimSpace(s)
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		if f < 0 || f > math.MaxInt64/float64(time.Second) || math.IsNaN(f) {
			return 0, fmt.Errorf("duration %q is out of range", s)
		}
		return time.Duration(f * float64(time.Second)), nil
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration (write 500ms, 15m or 8h)", s)
	}
	if d < 0 {
		return 0, fmt.Errorf("duration %q is negative", s)
	}
	return d, nil
}
