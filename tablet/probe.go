package tablet

import (
	"bytes"
	"slices"

	"ksql/tablet/cfile"
	"ksql/tablet/rowcodec"
)

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

// probeKey is one distinct key of a batch that the overlay did not settle.
type probeKey struct {
	key   []byte
	hash  uint64
	bloom uint64
	at    int // its place in the answers
}

// hashKey is the hash that memory stores, locks and whole-key blooms share.
func hashKey(key []byte) uint64 { return cfile.HashKey(key) }

// probe finds the newest stored state of a batch of keys (engine-facts B5): memory
// first, where a row in any state settles its key, since no other rowset can hold
// it live; only the remainder is grouped per DiskRowSet with sorted keys, hottest
// rowset first. limit is maxEpoch, or the published epoch after the log failed.
func (v *version) probe(t *Tablet, keys []probeKey, out []Probe, limit Epoch, c *BatchCounters) error {
	c.Keys += uint64(len(keys))
	rest := keys[:0:0]
	for i := range keys {
		k := &keys[i]
		settled, err := v.probeMemory(k, &out[k.at], limit, c)
		if err != nil {
			return err
		}
		if !settled && len(v.disk) > 0 {
			rest = append(rest, *k)
		}
	}
	if len(rest) == 0 {
		return nil
	}
	for i := range rest {
		rest[i].bloom = t.bloomHash(rest[i].key, rest[i].hash)
	}
	byKey := func(a, b probeKey) int { return bytes.Compare(a.key, b.key) }
	if !slices.IsSortedFunc(rest, byKey) {
		slices.SortFunc(rest, byKey)
	}
	for _, d := range v.candidates(rest) {
		var err error
		if rest, err = d.probe(rest, out, limit, c); err != nil {
			return err
		}
		if len(rest) == 0 {
			break
		}
	}
	return nil
}

func (v *version) probeMemory(k *probeKey, out *Probe, limit Epoch, c *BatchCounters) (settled bool, err error) {
	v.memory(func(s *MemRowSet) bool {
		if s.empty() {
			return true
		}
		c.MemProbes++
		r := s.find(k.key, k.hash)
		if r == nil {
			return true
		}
		ver := r.newest().at(limit)
		if ver == nil {
			return true
		}
		settled = true
		c.MemHits++
		if ver.live() {
			*out = Probe{Found: true, Row: ver.row(), Ref: RowRef{rowset: s.id, row: r}, Epoch: ver.epoch}
		} else {
			out.Epoch = ver.epoch
		}
		return false
	})
	return settled, nil
}

// candidates are the rowsets whose key range meets the sorted keys, hottest first.
func (v *version) candidates(sorted []probeKey) []*DiskRowSet {
	var sets []*DiskRowSet
	if len(sorted) == 1 {
		sets = v.tree.findKey(sorted[0].key, nil)
	} else {
		last := sorted[len(sorted)-1].key
		sets = v.tree.find(sorted[0].key, append(slices.Clone(last), 0), nil)
	}
	if len(sets) > 1 {
		slices.SortStableFunc(sets, func(a, b *DiskRowSet) int {
			if h := int(b.heat.Load()) - int(a.heat.Load()); h != 0 {
				return h
			}
			return int(int64(b.id) - int64(a.id)) // the newest first
		})
	}
	return sets
}

// probe answers the keys that live in d and returns the others.
func (d *DiskRowSet) probe(keys []probeKey, out []Probe, limit Epoch, c *BatchCounters) ([]probeKey, error) {
	rest := keys[:0]
	for i := range keys {
		k := keys[i]
		if bytes.Compare(k.key, d.minKey) < 0 || bytes.Compare(k.key, d.maxKey) > 0 {
			rest = append(rest, k)
			continue
		}
		r, ordinal, found, err := d.findKey(k.key, k.bloom, c)
		if err != nil {
			return nil, err
		}
		if !found {
			rest = append(rest, k)
			continue
		}
		c.DeletedChecks++
		ver := d.dms.newest(ordinal).at(limit)
		if !ver.live() { // a ghost on disk settles nothing
			rest = append(rest, k)
			continue
		}
		d.touch()
		row, err := d.rowAt(r, ordinal, ver)
		if err != nil {
			return nil, err
		}
		out[k.at] = Probe{Found: true, Row: row, Ref: RowRef{rowset: d.id, ordinal: ordinal}, Epoch: ver.epoch}
	}
	return rest, nil
}

// get finds the version of one key at epoch e.
func (v *version) get(t *Tablet, key []byte, hash uint64, e Epoch, c *BatchCounters) (Row, bool, error) {
	var out Row
	found, settled := false, false
	look := func(s *MemRowSet) bool {
		if s.empty() {
			return true
		}
		c.MemProbes++
		r := s.find(key, hash)
		if r == nil {
			return true
		}
		ver := r.newest().at(e)
		if ver == nil { // not yet there at e: it may have lived elsewhere then
			return true
		}
		settled = true
		c.MemHits++
		if ver.live() {
			out = Row{Key: r.key, Value: ver.row(), Ref: RowRef{rowset: s.id, row: r}, Epoch: ver.epoch}
			found = true
		}
		return false
	}
	v.memory(look)
	for i := 0; i < len(v.ghosts) && !settled; i++ {
		if e < v.ghosts[i].until {
			look(v.ghosts[i].MemRowSet)
			settled = found // a key that was deleted there may have come back since
		}
	}
	if settled || len(v.disk) == 0 {
		return out, found, nil
	}
	var buf [8]*DiskRowSet
	sets := v.tree.findKey(key, buf[:0])
	if len(sets) == 0 {
		return out, false, nil
	}
	bloom := t.bloomHash(key, hash)
	for _, d := range sets {
		r, ordinal, hit, err := d.findKey(key, bloom, c)
		if err != nil {
			return Row{}, false, err
		}
		if !hit {
			continue
		}
		c.DeletedChecks++
		ver := d.dms.newest(ordinal).at(e)
		if !ver.live() {
			continue
		}
		row, err := d.rowAt(r, ordinal, ver)
		if err != nil {
			return Row{}, false, err
		}
		return Row{Key: key, Value: row, Ref: RowRef{rowset: d.id, ordinal: ordinal}, Epoch: ver.epoch}, true, nil
	}
	return out, false, nil
}
