package tablet

import (
	"bytes"

	"github.com/google/btree"

	"ksql/tablet/rowcodec"
)

// overlay holds a transaction's writes until it commits: per key a stack of
// images, and one undo list over all keys whose length is a Mark.
type overlay struct {
	tablets map[TabletID]*tabletOverlay
	undo    []undoItem
	marked  int   // length of undo at the last Mark: younger images may be overwritten
	bytes   int64 // keys and images
	writes  int   // keys that have an image
}

// undoItem takes back one step; exactly one field is set.
type undoItem struct {
	row     *overlayRow
	created *Tablet
	dropped *tabletOverlay
	counter *counterSet
}

// counterSet is a SetCounter that waits for the commit.
type counterSet struct {
	t     *Tablet
	slot  int
	value uint64
}

// tabletOverlay is what a transaction knows and wants of one tablet.
type tabletOverlay struct {
	t       *Tablet
	created bool // by this transaction
	dropped bool // by this transaction
	rows    map[uint64]*overlayRow
	list    []*overlayRow // in order of appearance
	ordered *btree.BTreeG[overlayItem]
}

type overlayItem struct {
	prefix uint64
	row    *overlayRow
}

func overlayItemLess(a, b overlayItem) bool {
	if a.prefix != b.prefix {
		return a.prefix < b.prefix
	}
	return bytes.Compare(a.row.key, b.row.key) < 0
}

type baseState uint8

const (
	baseUnknown baseState = iota
	baseAbsent
	basePresent
)

// overlayRow is one key. The base is what is stored under it; it can't change while
// the transaction holds the key's lock, so a known base is never probed again.
type overlayRow struct {
	key   []byte
	hash  uint64
	next  *overlayRow // same hash
	base  baseState
	ref   RowRef       // of a present base; may be zero
	image rowcodec.Row // of a present base; nil = not read yet
	epoch Epoch        // of a present base
	head  *overlayWrite
}

// overlayWrite is one image that the transaction gave to a key.
type overlayWrite struct {
	row  rowcodec.Row // nil = deleted
	op   RowOpType
	stmt uint32
	undo int // its place in the undo list
	prev *overlayWrite
}

func newOverlay() overlay { return overlay{} }

// tablet returns the overlay of t, made if need be.
func (o *overlay) tablet(t *Tablet) *tabletOverlay {
	if to := o.tablets[t.id]; to != nil {
		return to
	}
	if o.tablets == nil {
		o.tablets = make(map[TabletID]*tabletOverlay)
	}
	to := &tabletOverlay{t: t, rows: make(map[uint64]*overlayRow)}
	o.tablets[t.id] = to
	return to
}

// find returns the row of a key, nil if the transaction knows nothing of it.
func (to *tabletOverlay) find(key []byte, hash uint64) *overlayRow {
	if to == nil {
		return nil
	}
	r := to.rows[hash]
	for r != nil && !bytes.Equal(r.key, key) {
		r = r.next
	}
	return r
}

// add makes the row of a key that find did not find. The key is kept.
func (to *tabletOverlay) add(key []byte, hash uint64) *overlayRow {
	r := &overlayRow{key: key, hash: hash, next: to.rows[hash]}
	to.rows[hash] = r
	to.list = append(to.list, r)
	if to.ordered != nil {
		to.ordered.ReplaceOrInsert(overlayItem{keyPrefix(key), r})
	}
	return r
}

// inOrder returns the rows by key; the order is built at the first scan and kept.
func (to *tabletOverlay) inOrder() *btree.BTreeG[overlayItem] {
	if to.ordered == nil {
		to.ordered = btree.NewG(memTreeDegree, overlayItemLess)
		for _, r := range to.list {
			to.ordered.ReplaceOrInsert(overlayItem{keyPrefix(r.key), r})
		}
	}
	return to.ordered
}

// push gives a key a new image. An image of the same statement that no Mark can
// bring back is overwritten, so that a hot key costs no memory per write.
func (o *overlay) push(r *overlayRow, op RowOpType, image rowcodec.Row, stmt uint32) {
	if h := r.head; h != nil && h.stmt == stmt && h.undo >= o.marked {
		o.bytes += int64(len(image) - len(h.row))
		h.row = image
		return
	}
	if r.head == nil {
		o.writes++
	}
	r.head = &overlayWrite{row: image, op: op, stmt: stmt, undo: len(o.undo), prev: r.head}
	o.undo = append(o.undo, undoItem{row: r})
	o.bytes += int64(len(image)+len(r.key)) + 96
}

func (o *overlay) mark() Mark {
	o.marked = len(o.undo)
	return Mark{undo: len(o.undo)}
}

// undoTo pops the undo list down to a mark and returns the tablets whose creation
// was taken back.
func (o *overlay) undoTo(m Mark) {
	for len(o.undo) > m.undo {
		u := o.undo[len(o.undo)-1]
		o.undo[len(o.undo)-1] = undoItem{}
		o.undo = o.undo[:len(o.undo)-1]
		switch {
		case u.row != nil:
			h := u.row.head
			u.row.head = h.prev
			o.bytes -= int64(len(h.row)+len(u.row.key)) + 96
			if h.prev == nil {
				o.writes--
			}
		case u.created != nil:
			delete(o.tablets, u.created.id)
		case u.dropped != nil:
			u.dropped.dropped = false
		}
	}
	o.marked = min(o.marked, m.undo)
}

// visible returns the image that a read sees; ok false = the transaction shows
// nothing of its own there, the base counts. Writes of statement hide are ignored
// (0 = none).
func (r *overlayRow) visible(hide uint32) (w *overlayWrite, ok bool) {
	w = r.head
	for w != nil && hide != 0 && w.stmt == hide {
		w = w.prev
	}
	return w, w != nil
}

// present tells what the key's state is now; known false = it takes a probe.
func (r *overlayRow) present() (present, known bool) {
	if r.head != nil {
		return r.head.row != nil, true
	}
	return r.base == basePresent, r.base != baseUnknown
}

// setBase records what is stored under the key.
func (r *overlayRow) setBase(p *Probe) {
	if !p.Found {
		r.base = baseAbsent
		return
	}
	r.base, r.ref, r.image, r.epoch = basePresent, p.Ref, p.Row, p.Epoch
}

// firstOp is the operation that the oldest image was made by: it says what the base
// must be.
func (r *overlayRow) firstOp() RowOpType {
	w := r.head
	for w.prev != nil {
		w = w.prev
	}
	return w.op
}
