package tablet

import "ksql/tablet/rowcodec"

// Probe is the answer for one key of Transaction.Probe.
type Probe struct {
	Found bool
	Row   rowcodec.Row // newest image, own writes included; must not be changed
	Ref   RowRef
	// Epoch of the newest committed version; 0 = older than every snapshot that
	// was open when the row was flushed. A row changed after statement epoch s was
	// chosen exactly if Epoch > s.
	Epoch Epoch
}
