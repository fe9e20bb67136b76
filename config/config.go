package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Config is a checked set of values. Zero values of the fields marked "0: unset" leave
// the choice to the database.
type Config struct {
	Data                   string
	Address                string
	Port                   int
	Socket                 string // never empty after Load
	Sync                   string // full, interval or off
	SyncInterval           time.Duration
	MemoryLimit            int64         // bytes; 0: unset
	FlushBytes             int64         // bytes
	MaxConnections         int           // 0: unset
	MaxAllowedPacket       int64         // bytes; 0: unset
	WaitTimeout            time.Duration // 0: unset
	TLSCert, TLSKey, TLSCA string
	RequireSecureTransport bool
	LogLevel               string // info or error
	User, Password         string

	values map[string]Value
}

// Value is the text of a setting and where it came from.
type Value struct {
	Text   string
	Origin string // "default", "file /etc/ksql.yaml", "environment KSQL_PORT", "flag --port"
}

// Lookup returns the text of a key and its origin.
func (c *Config) Lookup(name string) Value { return c.values[name] }

// IsSet tells whether a key was given in a file, the environment or a flag.
func (c *Config) IsSet(name string) bool {
	origin := c.values[name].Origin
	return origin != "" && origin != originDefault
}

const originDefault = "default"

// Default is the configuration of an empty environment.
func Default() *Config {
	c, err := build(defaults())
	if err != nil {
		panic("BUG: the defaults are not valid: " + err.Error())
	}
	return c
}

func defaults() map[string]Value {
	values := map[string]Value{}
	for _, k := range Keys {
		values[k.Name] = Value{Text: k.Default, Origin: originDefault}
	}
	return values
}

// build parses every value and checks the whole.
func build(values map[string]Value) (*Config, error) {
	c := &Config{values: values}
	for _, k := range Keys {
		v := values[k.Name]
		if err := c.set(k, v.Text); err != nil {
			return nil, fmt.Errorf("%s (%s): %w", k.Name, v.Origin, err)
		}
	}
	if c.Socket == "" && c.Data != "" {
		c.Socket = filepath.Join(c.Data, "ksql.sock")
	}
	return c, c.Validate()
}

// set parses the text of one key into its field.
func (c *Config) set(k Key, text string) (err error) {
	if text == "" && (k.Unset != "" || k.Default == "") {
		return nil
	}
	if k.Kind == KindChoice && !slices.Contains(k.Choices, strings.ToLower(text)) {
		return fmt.Errorf("%q is not one of %s", text, strings.Join(k.Choices, ", "))
	}
	switch f := c.field(k.Name).(type) {
	case *string:
		*f = text
		if k.Kind == KindChoice {
			*f = strings.ToLower(text)
		}
	case *int:
		if *f, err = strconv.Atoi(text); err != nil {
			return fmt.Errorf("%q is not a whole number", text)
		}
	case *int64:
		*f, err = ParseSize(text)
	case *time.Duration:
		*f, err = parseDuration(text)
	case *bool:
		*f, err = parseBool(text)
	default:
		panic("BUG: no field for the key " + k.Name)
	}
	return err
}

func parseBool(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "true", "on", "yes", "1":
		return true, nil
	case "false", "off", "no", "0":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither true nor false", text)
}

func (c *Config) field(name string) any {
	return map[string]any{
		"data": &c.Data, "address": &c.Address, "port": &c.Port, "socket": &c.Socket, "sync": &c.Sync,
		"sync_interval": &c.SyncInterval, "memory_limit": &c.MemoryLimit, "flush_bytes": &c.FlushBytes,
		"max_connections": &c.MaxConnections, "max_allowed_packet": &c.MaxAllowedPacket, "wait_timeout": &c.WaitTimeout,
		"tls_cert": &c.TLSCert, "tls_key": &c.TLSKey, "tls_ca": &c.TLSCA,
		"require_secure_transport": &c.RequireSecureTransport, "log_level": &c.LogLevel,
		"user": &c.User, "password": &c.Password,
	}[name]
}
