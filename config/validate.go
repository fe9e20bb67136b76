package config

import (
	"errors"
	"fmt"
	"time"
)

// maxSocketPath is what sockaddr_un of Linux holds, less the closing zero.
const maxSocketPath = 107

// leastMemory is what recovery, a flush and a few sessions need.
const leastMemory = 16 << 20

// Validate checks what values mean together and their ranges. All faults are told.
func (c *Config) Validate() error {
	var errs []error
	fault := func(key, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s (%s): %s", key, c.values[key].Origin, fmt.Sprintf(format, args...)))
	}
	if c.Data == "" {
		fault("data", "a folder is needed")
	}
	if c.Port < 0 || c.Port > 65535 {
		fault("port", "%d is not between 0 and 65535", c.Port)
	}
	if len(c.Socket) > maxSocketPath {
		fault("socket", "the path %s has %d bytes, a unix socket can have %d: choose a shorter one", c.Socket, len(c.Socket), maxSocketPath)
	}
	if c.SyncInterval < time.Millisecond {
		fault("sync_interval", "%s is less than 1ms", c.SyncInterval)
	}
	if c.MemoryLimit != 0 && c.MemoryLimit < leastMemory {
		fault("memory_limit", "%s is less than %s", FormatSize(c.MemoryLimit), FormatSize(leastMemory))
	}
	if c.FlushBytes < 64<<10 {
		fault("flush_bytes", "%s is less than 64KiB", FormatSize(c.FlushBytes))
	}
	if c.IsSet("max_connections") && (c.MaxConnections < 1 || c.MaxConnections > 100000) {
		fault("max_connections", "%d is not between 1 and 100000", c.MaxConnections)
	}
	if c.IsSet("max_allowed_packet") && (c.MaxAllowedPacket < 1024 || c.MaxAllowedPacket > 1<<30) {
		fault("max_allowed_packet", "%s is not between 1KiB and 1GiB", FormatSize(c.MaxAllowedPacket))
	}
	if c.IsSet("wait_timeout") && c.WaitTimeout < time.Second {
		fault("wait_timeout", "%s is less than 1s", c.WaitTimeout)
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		fault("tls_cert", "tls_cert and tls_key go together")
	}
	return errors.Join(errs...)
}
