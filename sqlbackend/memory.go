package sqlbackend

import "golang.org/x/sys/unix"

// mostMemory bounds the default of Options.MemoryLimit.
const mostMemory = 4 << 30

// defaultMemoryLimit is a quarter of the machine's memory, at most 4 GiB.
func defaultMemoryLimit() int64 {
	var i unix.Sysinfo_t
	if err := unix.Sysinfo(&i); err != nil {
		return 512 << 20 // unknown: what a small machine can give
	}
	return min(int64(i.Totalram)*int64(i.Unit)/4, mostMemory)
}
