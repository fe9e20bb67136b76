package tablet

import "context"

// Manager owns one data folder.
type Manager struct{}

// Open opens or creates the data folder and recovers what it holds.
func Open(dir string, o Options) (*Manager, error) { panic("skeleton") }

// Close flushes everything, frees the log and releases the folder. A second Close
// does nothing.
func (m *Manager) Close() error { panic("skeleton") }

// Begin starts a transaction.
func (m *Manager) Begin(o TxOptions) *Transaction { panic("skeleton") }

// Tablet finds a committed, live tablet.
func (m *Manager) Tablet(id TabletID) (*Tablet, bool) { panic("skeleton") }

// Published is the newest epoch that snapshots may read.
func (m *Manager) Published() Epoch { panic("skeleton") }

// WallTime is the commit time of an epoch in microseconds since 1970 UTC; false if
// it is not known any more.
func (m *Manager) WallTime(e Epoch) (int64, bool) { panic("skeleton") }

// Flush writes every tablet's memory to disk and frees the log behind it.
func (m *Manager) Flush(ctx context.Context) error { panic("skeleton") }

// Stats are the counters and gauges of now.
func (m *Manager) Stats() Stats { panic("skeleton") }

// Check walks the superblock, every file it names and every checksum in them, and
// reports each fault. The error is about running the check itself.
func (m *Manager) Check(ctx context.Context, report func(error)) error { panic("skeleton") }
