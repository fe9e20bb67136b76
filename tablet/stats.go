package tablet

// BatchCounters say what finding rows has cost, so that tests can assert costs
// and not only results (engine-facts B5, step 10).
type BatchCounters struct {
	Keys                uint64 // keys asked for
	OverlayHits         uint64 // settled by the transaction's own overlay: no probe
	MemProbes           uint64 // look-ups in MemRowSet hash tables
	MemHits             uint64 // keys settled in memory, live or ghost
	BloomChecks         uint64
	BloomNegatives      uint64 // checks that spared a key seek
	BloomFalsePositives uint64 // key seeks that found nothing after the bloom said maybe
	KeySeeks            uint64 // key index look-ups in DiskRowSets
	DeletedChecks       uint64 // DeltaMemStore look-ups after a key seek hit
}

func (c *BatchCounters) add(o BatchCounters) {
	c.Keys += o.Keys
	c.OverlayHits += o.OverlayHits
	c.MemProbes += o.MemProbes
	c.MemHits += o.MemHits
	c.BloomChecks += o.BloomChecks
	c.BloomNegatives += o.BloomNegatives
	c.BloomFalsePositives += o.BloomFalsePositives
	c.KeySeeks += o.KeySeeks
	c.DeletedChecks += o.DeletedChecks
}

// Stats are counters since Open and gauges of now.
type Stats struct {
	Probe         BatchCounters
	ProbeBatches  uint64
	Gets          uint64
	Scans         uint64
	RowsScanned   uint64
	VectorsRead   uint64 // vectors of rows that scans went through
	VectorsPruned uint64 // skipped by zone maps
	RowSetsPruned uint64 // DiskRowSets that a scan skipped by key range

	Commits      uint64
	Rollbacks    uint64
	Ops          [5]uint64 // committed row operations by RowOpType (an upsert counts as what it became)
	LogBytes     int64     // log kept for a restart
	Syncs        uint64    // log syncs
	Flushes      uint64    // tablets flushed
	FlushErrors  uint64
	LockWaits    uint64
	LockTimeouts uint64

	Tablets                  int
	MemRowSetBytes           int64 // MemRowSets and DeltaMemStores
	MemRowSetRows            int64
	DiskRowSets              int
	DiskBytes                int64
	OpenSnapshots            int
	LocksHeld                int64
	Assigned, PublishedEpoch Epoch
	Replayed                 uint64 // row operations replayed by Open
	CacheBytes               int64
}
