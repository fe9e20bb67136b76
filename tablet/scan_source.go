package tablet

import (
	"bytes"
	"slices"

	"ksql/tablet/cfile"
	"ksql/tablet/rowcodec"
)

// scanSources makes a source for each component that can hold rows of the scan.
func (v *version) scanSources(t *Tablet, spec *ScanSpec, e Epoch) []scanSource {
	var ss []scanSource
	mem := func(s *MemRowSet) {
		if !s.empty() {
			ss = append(ss, &memSource{set: s, lower: spec.Lower, upper: spec.Upper, reverse: spec.Reverse, epoch: e})
		}
	}
	v.memory(func(s *MemRowSet) bool { mem(s); return true })
	for _, g := range v.ghosts {
		if e < g.until {
			mem(g.MemRowSet)
		}
	}
	sets := v.tree.find(spec.Lower, spec.Upper, nil)
	t.m.counters.rowSetsPruned.Add(uint64(len(v.disk) - len(sets)))
	for _, d := range sets {
		ss = append(ss, &diskSource{d: d, spec: spec, epoch: e})
	}
	return ss
}

// memSource reads a MemRowSet in order, a slice of rows under the tree lock at a time.
type memSource struct {
	set          *MemRowSet
	lower, upper []byte
	reverse      bool
	epoch        Epoch
	slice        []*memRow
	at           int
	last         []byte // key that the next slice begins behind
	end          bool
	r            *memRow
	v            *rowVersion
}

func (s *memSource) fill() bool {
	if s.end {
		return false
	}
	if s.reverse {
		before := s.upper
		if s.last != nil {
			before = s.last
		}
		s.slice = s.set.descend(s.lower, before, s.slice[:0], memSliceRows)
	} else {
		from := s.lower
		if s.last != nil {
			from = s.last
		}
		s.slice = s.set.ascend(from, s.upper, s.last != nil, s.slice[:0], memSliceRows)
	}
	s.at = 0
	s.end = len(s.slice) < memSliceRows
	if len(s.slice) > 0 {
		s.last = s.slice[len(s.slice)-1].key
	}
	return len(s.slice) > 0
}

func (s *memSource) next() (bool, error) {
	for {
		if s.at == len(s.slice) && !s.fill() {
			return false, nil
		}
		r := s.slice[s.at]
		s.at++
		if v := r.newest().at(s.epoch); v.live() {
			s.r, s.v = r, v
			return true, nil
		}
	}
}

func (s *memSource) key() []byte { return s.r.key }

func (s *memSource) row() (Row, error) {
	return Row{Key: s.r.key, Value: s.v.row(), Ref: RowRef{rowset: s.set.id, row: s.r}, Epoch: s.v.epoch}, nil
}

// diskSource reads a DiskRowSet in order. Vectors whose zone maps exclude every row
// are skipped, if no row of the vector has a version of its own.
type diskSource struct {
	d     *DiskRowSet
	spec  *ScanSpec
	epoch Epoch

	r    *cfile.Reader
	runs [][2]int // ordinals still to read, [from, to), in scan order
	it   *cfile.Iterator
	v    *rowVersion
}

func (s *diskSource) begin() error {
	r, err := s.d.open()
	if err != nil {
		return err
	}
	s.r = r
	lo, hi := 0, r.Rows()
	if s.spec.Lower != nil {
		if lo, err = r.SeekGE(s.spec.Lower); err != nil {
			return s.fail(err)
		}
	}
	if s.spec.Upper != nil {
		if hi, err = r.SeekGE(s.spec.Upper); err != nil {
			return s.fail(err)
		}
	}
	s.plan(lo, hi)
	return nil
}

func (s *diskSource) fail(err error) error { return s.d.t.m.fileError(rowSetFileName(s.d.id), err) }

// plan cuts [lo, hi) into runs of vectors that must be read.
func (s *diskSource) plan(lo, hi int) {
	s.runs = [][2]int{}
	if lo >= hi {
		return
	}
	c := &s.d.t.m.counters
	for vec := lo / cfile.VectorRows; vec <= (hi-1)/cfile.VectorRows; vec++ {
		from, to := max(lo, vec*cfile.VectorRows), min(hi, (vec+1)*cfile.VectorRows)
		if len(s.spec.Predicates) > 0 && s.excluded(vec) && s.d.dms.pageClean(vec) {
			c.vectorsPruned.Add(1)
			continue
		}
		c.vectorsRead.Add(1)
		if n := len(s.runs); n > 0 && s.runs[n-1][1] == from {
			s.runs[n-1][1] = to
		} else {
			s.runs = append(s.runs, [2]int{from, to})
		}
	}
	if s.spec.Reverse {
		slices.Reverse(s.runs)
	}
}

// excluded tells whether a zone map proves that no base row of a vector satisfies the
// predicates.
func (s *diskSource) excluded(vec int) bool {
	for i := range s.spec.Predicates {
		p := &s.spec.Predicates[i]
		if p.Column < 0 || p.Column >= len(s.d.t.schema.Columns) {
			continue
		}
		if p.excludes(s.r.ZoneMap(p.Column, vec), s.d.t.schema.Columns[p.Column].Collation != 0) {
			return true
		}
	}
	return false
}

// excludes tells whether no value behind the zone map z can satisfy p. Bounds of
// collated columns are weights, which p does not have.
func (p *Predicate) excludes(z cfile.ZoneMap, collated bool) bool {
	switch p.Op {
	case PredIsNull:
		return !z.HasNull && !z.AllNull
	case PredIsNotNull:
		return z.AllNull
	case PredEqual, PredLess, PredLessEqual, PredGreater, PredGreaterEqual:
	}
	if z.AllNull || p.Value.IsNull() { // a comparison with NULL is never true
		return true
	}
	if !z.Valid || collated || z.Min.Kind() != p.Value.Kind() {
		return false
	}
	low, high := rowcodec.Compare(z.Min, p.Value), rowcodec.Compare(z.Max, p.Value)
	switch p.Op {
	case PredEqual:
		return low > 0 || high < 0
	case PredLess:
		return low >= 0
	case PredLessEqual:
		return low > 0
	case PredGreater:
		return high <= 0
	case PredGreaterEqual:
		return high < 0
	case PredIsNull, PredIsNotNull:
	}
	return false
}

func (s *diskSource) next() (bool, error) {
	if s.runs == nil {
		if err := s.begin(); err != nil {
			return false, err
		}
	}
	for {
		if s.it == nil {
			if len(s.runs) == 0 {
				return false, nil
			}
			s.it = s.r.NewIterator(s.runs[0][0], s.runs[0][1], s.spec.Projection, s.spec.Reverse)
			s.runs = s.runs[1:]
		}
		for s.it.Next() {
			if v := s.d.dms.newest(uint32(s.it.Ordinal())).at(s.epoch); v.live() {
				s.v = v
				return true, nil
			}
		}
		if err := s.it.Err(); err != nil {
			return false, s.fail(err)
		}
		s.it = nil
	}
}

func (s *diskSource) key() []byte { return s.it.Key() }

// row copies what the iterator's buffers hold: the merge moves the source before the
// row is read.
func (s *diskSource) row() (Row, error) {
	ordinal := uint32(s.it.Ordinal())
	out := Row{Key: bytes.Clone(s.it.Key()), Ref: RowRef{rowset: s.d.id, ordinal: ordinal}, Epoch: s.v.epoch}
	switch s.v.kind {
	case versionRow:
		out.Value = s.v.row()
	case versionBase:
		out.Value = rowcodec.Row(bytes.Clone(s.it.Row()))
	case versionChange: // the iterator's row may be a projection
		row, err := s.d.rowAt(s.r, ordinal, s.v)
		if err != nil {
			return Row{}, err
		}
		out.Value = row
	case versionDeleted:
		panic("BUG: a deleted row is visible")
	}
	return out, nil
}

// overlaySource reads a transaction's own rows in order. The overlay may grow while
// the scan runs (by the statement that scans), so it reads slices and seeks again.
type overlaySource struct {
	to           *tabletOverlay
	lower, upper []byte
	reverse      bool
	hide         uint32
	slice        []*overlayRow
	last         []byte
	end          bool
	r            *overlayRow
	w            *overlayWrite
}

const overlaySliceRows = 128

func newOverlaySource(to *tabletOverlay, spec *ScanSpec, hide uint32) *overlaySource {
	return &overlaySource{to: to, lower: spec.Lower, upper: spec.Upper, reverse: spec.Reverse, hide: hide}
}

func (s *overlaySource) fill() bool {
	if s.end {
		return false
	}
	s.slice = s.slice[:0]
	visit := func(i overlayItem) bool {
		k := i.row.key
		switch {
		case s.last != nil && bytes.Equal(k, s.last):
			return true
		case s.reverse && s.last == nil && s.upper != nil && bytes.Compare(k, s.upper) >= 0:
			return true
		case s.reverse && s.lower != nil && bytes.Compare(k, s.lower) < 0,
			!s.reverse && s.upper != nil && bytes.Compare(k, s.upper) >= 0:
			return false
		}
		s.slice = append(s.slice, i.row)
		return len(s.slice) < overlaySliceRows
	}
	tree := s.to.inOrder()
	start := s.lower
	if s.reverse {
		start = s.upper
	}
	if s.last != nil {
		start = s.last
	}
	pivot := overlayItem{keyPrefix(start), &overlayRow{key: start}}
	switch {
	case s.reverse && start == nil:
		tree.Descend(visit)
	case s.reverse:
		tree.DescendLessOrEqual(pivot, visit)
	case start == nil:
		tree.Ascend(visit)
	default:
		tree.AscendGreaterOrEqual(pivot, visit)
	}
	s.end = len(s.slice) < overlaySliceRows
	if n := len(s.slice); n > 0 {
		s.last = s.slice[n-1].key
	}
	return len(s.slice) > 0
}

// next moves to the next key that the transaction shows an own image of, deletes
// included.
func (s *overlaySource) next() (bool, error) {
	for {
		if len(s.slice) == 0 && !s.fill() {
			return false, nil
		}
		r := s.slice[0]
		s.slice = s.slice[1:]
		if w, ok := r.visible(s.hide); ok {
			s.r, s.w = r, w
			return true, nil
		}
	}
}

func (s *overlaySource) key() []byte { return s.r.key }

// take returns the current row.
func (s *overlaySource) take() (row Row, deleted bool) {
	return Row{Key: s.r.key, Value: s.w.row, Ref: s.r.ref, Epoch: s.r.epoch}, s.w.row == nil
}
