package catalog

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"ksql/tablet"
)

// StatusVariables returns the rows of SHOW STATUS LIKE 'ksql_%': counters
// since the folder was opened and gauges of now.
func (p *Provider) StatusVariables() map[string]sql.StatusVarValue {
	s := p.manager.Stats()
	out := map[string]sql.StatusVarValue{}
	add := func(name string, v uint64) {
		name = "Ksql_" + name
		out[name] = statusValue{name: name, value: v}
	}
	add("commits", s.Commits)
	add("rollbacks", s.Rollbacks)
	add("rows_inserted", s.Ops[tablet.OpInsert])
	add("rows_updated", s.Ops[tablet.OpUpdate])
	add("rows_deleted", s.Ops[tablet.OpDelete])
	add("rows_upserted", s.Ops[tablet.OpUpsert])
	add("batches", s.ProbeBatches)
	add("probe_keys", s.Probe.Keys)
	add("probe_overlay_hits", s.Probe.OverlayHits)
	add("probe_memory", s.Probe.MemProbes)
	add("probe_memory_hits", s.Probe.MemHits)
	add("bloom_checks", s.Probe.BloomChecks)
	add("bloom_negatives", s.Probe.BloomNegatives)
	add("bloom_false_positives", s.Probe.BloomFalsePositives)
	add("key_seeks", s.Probe.KeySeeks)
	add("deleted_checks", s.Probe.DeletedChecks)
	add("gets", s.Gets)
	add("scans", s.Scans)
	add("rows_scanned", s.RowsScanned)
	add("vectors_read", s.VectorsRead)
	add("vectors_pruned", s.VectorsPruned)
	add("rowsets_pruned", s.RowSetsPruned)
	add("syncs", s.Syncs)
	add("flushes", s.Flushes)
	add("flush_errors", s.FlushErrors)
	add("log_bytes", unsigned(s.LogBytes))
	add("lock_waits", s.LockWaits)
	add("lock_timeouts", s.LockTimeouts)
	add("locks_held", unsigned(s.LocksHeld))
	add("tablets", unsigned(int64(s.Tablets)))
	add("memrowset_bytes", unsigned(s.MemRowSetBytes))
	add("memrowset_rows", unsigned(s.MemRowSetRows))
	add("disk_rowsets", unsigned(int64(s.DiskRowSets)))
	add("disk_bytes", unsigned(s.DiskBytes))
	add("cache_bytes", unsigned(s.CacheBytes))
	add("open_snapshots", unsigned(int64(s.OpenSnapshots)))
	add("published_epoch", uint64(s.PublishedEpoch))
	add("replayed", s.Replayed)
	return out
}

func unsigned(n int64) uint64 { return uint64(max(n, 0)) }

// statusValue is one status variable, read-only.
type statusValue struct {
	name  string
	value uint64
}

// Increment does nothing: the storage engine counts.
func (v statusValue) Increment(uint64) error { return nil }

// Set does nothing: the storage engine counts.
func (v statusValue) Set(any) error { return nil }

// Value returns the number.
func (v statusValue) Value() any { return v.value }

// Variable describes the variable.
func (v statusValue) Variable() sql.StatusVariable {
	return &sql.MySQLStatusVariable{Name: v.name, Scope: sql.StatusVariableScope_Global, Type: types.Uint64, Default: uint64(0)}
}

// Copy returns the value itself.
func (v statusValue) Copy() sql.StatusVarValue { return v }

// GetAllStatusVariables adds the storage engine's numbers to SHOW STATUS.
func (s *Session) GetAllStatusVariables(ctx *sql.Context) map[string]sql.StatusVarValue {
	all := s.BaseSession.GetAllStatusVariables(ctx)
	out := make(map[string]sql.StatusVarValue, len(all)+48)
	for name, v := range all {
		out[name] = v
	}
	for name, v := range s.provider.StatusVariables() {
		out[name] = v
	}
	return out
}
