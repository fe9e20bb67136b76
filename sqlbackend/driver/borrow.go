package driver

import "time"

// borrowed is a backend that belongs to somebody else.
type borrowed struct{ Backend }

// Close leaves the backend open.
func (borrowed) Close() error { return nil }

// NewBackendConnector returns a connector over a folder that is open already.
// cfg.Dir is not used, and closing the connector leaves the backend open.
func NewBackendConnector(b Backend, cfg Config) *Connector {
	if cfg.Loc == nil {
		cfg.Loc = time.UTC
	}
	return &Connector{cfg: cfg, folder: &folder{refs: 1, backend: borrowed{b}}}
}
