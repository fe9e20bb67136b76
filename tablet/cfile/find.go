package cfile

import (
	"fmt"

	"ksql/tablet/rowcodec"
)

// Find returns the ordinal of a key: one search of the resident key index and
// one in the vector's keys. A miss is no error and allocates nothing when the
// vector is cached. It doesn't ask the blooms; MayContain does.
func (r *Reader) Find(key []byte) (ordinal int, found bool, err error) {
	vec := r.index.first.floor(key)
	if vec < 0 {
		return 0, false, nil
	}
	keys, err := r.keyVector(vec)
	if err != nil {
		return 0, false, err
	}
	slot, exact := keys.seek(key)
	return vec<<vectorShift + slot, exact, nil
}

// SeekGE returns the first ordinal whose key is ≥ key, Rows() if there is none.
func (r *Reader) SeekGE(key []byte) (ordinal int, err error) {
	ordinal, _, err = r.Find(key)
	return ordinal, err
}

// Key returns a copy of the key of an ordinal.
func (r *Reader) Key(ordinal int) ([]byte, error) { return r.AppendKey(nil, ordinal) }

// AppendKey appends the key of an ordinal to dst.
func (r *Reader) AppendKey(dst []byte, ordinal int) ([]byte, error) {
	if err := r.checkOrdinal(ordinal); err != nil {
		return dst, err
	}
	keys, err := r.keyVector(ordinal >> vectorShift)
	if err != nil {
		return dst, err
	}
	return keys.appendKey(dst, ordinal&slotMask), nil
}

// Row appends the packed row of an ordinal to dst and returns the extended
// slice (with an empty dst that is the row). Each column is read in O(1) from its vector.
func (r *Reader) Row(ordinal int, dst []byte) (rowcodec.Row, error) {
	if err := r.checkOrdinal(ordinal); err != nil {
		return dst, err
	}
	var buf [24]rowcodec.Datum
	vals := buf[:0]
	for col := range r.schema.Columns {
		v, err := r.Vector(col, ordinal>>vectorShift)
		if err != nil {
			return dst, err
		}
		d, err := v.Datum(ordinal & slotMask)
		if err != nil {
			return dst, err
		}
		vals = append(vals, d)
	}
	return rowcodec.AppendProjected(dst, r.schema, vals)
}

func (r *Reader) checkOrdinal(ordinal int) error {
	if ordinal < 0 || ordinal >= r.rows {
		return fmt.Errorf("read %s: ordinal %d of %d rows", r.name, ordinal, r.rows)
	}
	return nil
}
