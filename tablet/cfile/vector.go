package cfile

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"unsafe"

	"ksql/tablet/rowcodec"
)

// Vector is one column of VectorRows consecutive rows, decoded. It is immutable
// and may be shared between goroutines. Typed slices have one element a row; a
// NULL row holds 0.
type Vector struct {
	kind      rowcodec.Kind
	enc       byte
	ascii     bool
	rows      int
	nulls     []uint64 // bit set = NULL; nil if there are none
	nullCount int

	words  []uint64 // Int64, Uint64, Float64
	floats []float32

	// Bytes. Without codes, row i is data[offsets[i]:offsets[i+1]]; with them
	// that is dictionary entry i, and row i is entry codes[i].
	offsets []uint32
	data    []byte
	codes   []uint16
	long    *longValues // nil if all values are inline

	reader *Reader // for long values
	column int
	number int
}

// Len returns the number of rows.
func (v *Vector) Len() int { return v.rows }

// Kind returns the column's kind.
func (v *Vector) Kind() rowcodec.Kind { return v.kind }

// IsNull reports whether a row is NULL.
func (v *Vector) IsNull(row int) bool {
	return v.nulls != nil && v.nulls[row>>6]&(1<<(row&63)) != 0
}

// Nulls returns the bitmap of NULL rows (bit row%64 of word row/64), nil if there are none.
func (v *Vector) Nulls() []uint64 { return v.nulls }

// NullCount returns how many rows are NULL.
func (v *Vector) NullCount() int { return v.nullCount }

// Int64s returns the values of a KindInt64 vector.
func (v *Vector) Int64s() []int64 {
	return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(v.words))), len(v.words))
}

// Uint64s returns the values of a KindUint64 vector, the bits of a KindInt64 or KindFloat64 one.
func (v *Vector) Uint64s() []uint64 { return v.words }

// Float64s returns the values of a KindFloat64 vector.
func (v *Vector) Float64s() []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(v.words))), len(v.words))
}

// Float32s returns the values of a KindFloat32 vector.
func (v *Vector) Float32s() []float32 { return v.floats }

// ASCII reports that every value of a KindBytes vector, long ones included, is printable ASCII (20…7E).
func (v *Vector) ASCII() bool { return v.ascii }

// HasLong reports whether some values live outside the vector.
func (v *Vector) HasLong() bool { return v.long != nil }

// IsLong reports whether a row's value lives outside the vector, so that Bytes may read the file.
func (v *Vector) IsLong(row int) bool { return v.long != nil && v.long.index[row] != 0 }

// Codes returns the dictionary code of each row (0 for NULL), nil if the vector
// has no dictionary. Codes compare as the values do, bytewise. With HasLong, a
// long row has the code of the empty string.
func (v *Vector) Codes() []uint16 { return v.codes }

// DictLen returns the number of dictionary entries.
func (v *Vector) DictLen() int {
	if v.codes == nil {
		return 0
	}
	return len(v.offsets) - 1
}

// DictEntry returns a dictionary entry without copying.
func (v *Vector) DictEntry(code int) []byte {
	return v.data[v.offsets[code]:v.offsets[code+1]:v.offsets[code+1]]
}

// Strings returns offsets (rows+1) and contents of a KindBytes vector without a
// dictionary: row i is data[offsets[i]:offsets[i+1]], empty if NULL or long. Nil with a dictionary.
func (v *Vector) Strings() (offsets []uint32, data []byte) {
	if v.codes != nil {
		return nil, nil
	}
	return v.offsets, v.data
}

// Inline returns the bytes of a row that is not long, without copying; empty if NULL.
func (v *Vector) Inline(row int) []byte {
	if v.codes != nil {
		row = int(v.codes[row])
	}
	return v.data[v.offsets[row]:v.offsets[row+1]:v.offsets[row+1]]
}

// Bytes returns the value of a row of a KindBytes vector, empty if NULL. Only
// the read of a long value can fail or allocate. The result must not be written to.
func (v *Vector) Bytes(row int) ([]byte, error) { return v.bytes(row, nil) }

func (v *Vector) bytes(row int, memo *blobMemo) ([]byte, error) {
	if v.IsLong(row) {
		return v.reader.readLong(v, v.long.refs[v.long.index[row]-1], memo)
	}
	return v.Inline(row), nil
}

// Datum returns the value of a row; errors as for Bytes.
func (v *Vector) Datum(row int) (rowcodec.Datum, error) { return v.datum(row, nil) }

func (v *Vector) datum(row int, memo *blobMemo) (rowcodec.Datum, error) {
	if v.IsNull(row) {
		return rowcodec.Null(), nil
	}
	switch v.kind {
	case rowcodec.KindBytes:
		b, err := v.bytes(row, memo)
		return rowcodec.Bytes(b), err
	case rowcodec.KindFloat32:
		return rowcodec.F32(v.floats[row]), nil
	}
	return rowcodec.FromBits(v.kind, v.words[row]), nil
}

// size is the memory the vector takes.
func (v *Vector) size() int {
	n := 8*len(v.nulls) + 8*len(v.words) + 4*len(v.floats) + 4*len(v.offsets) + len(v.data) + 2*len(v.codes) + int(unsafe.Sizeof(*v))
	if v.long != nil {
		n += 2*len(v.long.index) + 12*len(v.long.refs) + 16*len(v.long.blobs) + 64
	}
	return n
}

// decodeVector decodes the payload of a column chunk with rows h.rows; a Bytes
// vector keeps payload. Blobs must end at limit.
func decodeVector(c rowcodec.Column, h chunkHeader, payload []byte, limit int64) (*Vector, error) {
	v := &Vector{kind: c.Kind, enc: h.enc, rows: int(h.rows), ascii: h.flags&flagASCII != 0}
	if h.flags&flagHasNull != 0 && !c.Nullable {
		return nil, fmt.Errorf("NULL in a column that is not nullable")
	}
	if h.flags&flagAllNull != 0 {
		if len(payload) > 0 || h.flags != flagAllNull|flagHasNull {
			return nil, fmt.Errorf("%d bytes and flags %#x in an all-NULL vector", len(payload), h.flags)
		}
		v.allNull()
		return v, nil
	}
	r := &byteReader{b: payload}
	if h.flags&flagHasNull != 0 {
		v.readNulls(r)
	}
	dense := v.rows - v.nullCount
	switch {
	case r.err != nil:
	case c.Kind == rowcodec.KindBytes:
		v.readBytes(r, dense, h.flags, limit)
	default:
		if h.flags&^flagHasNull != 0 {
			return nil, fmt.Errorf("flags %#x in a vector of %v", h.flags, c.Kind)
		}
		v.readFixed(r, dense)
	}
	return v, r.end()
}

func (v *Vector) allNull() {
	v.nullCount = v.rows
	v.nulls = make([]uint64, (v.rows+63)/64)
	for i := range v.rows {
		v.nulls[i>>6] |= 1 << (i & 63)
	}
	switch v.kind {
	case rowcodec.KindBytes:
		v.offsets = make([]uint32, v.rows+1)
	case rowcodec.KindFloat32:
		v.floats = make([]float32, v.rows)
	default:
		v.words = make([]uint64, v.rows)
	}
}

func (v *Vector) readNulls(r *byteReader) {
	raw := r.take(uint64((v.rows + 63) / 64 * 8))
	v.nulls = make([]uint64, len(raw)/8)
	for i := range v.nulls {
		v.nulls[i] = binary.LittleEndian.Uint64(raw[8*i:])
		v.nullCount += bits.OnesCount64(v.nulls[i])
	}
	if n := v.rows & 63; r.err == nil && n != 0 && v.nulls[v.rows>>6]>>n != 0 {
		r.fail(fmt.Errorf("NULL bits beyond row %d", v.rows))
	}
	if r.err == nil && (v.nullCount == 0 || v.nullCount == v.rows) {
		r.fail(fmt.Errorf("bitmap of %d NULLs in %d rows", v.nullCount, v.rows))
	}
}

func (v *Vector) readFixed(r *byteReader, dense int) {
	words := make([]uint64, v.rows)
	r.ints(words[:dense])
	if v.nulls != nil {
		spread(words, dense, v.IsNull)
	}
	if v.kind != rowcodec.KindFloat32 {
		v.words = words
		return
	}
	v.floats = make([]float32, v.rows)
	for i, w := range words {
		if w>>32 != 0 {
			r.fail(fmt.Errorf("float32 of %#x", w))
			return
		}
		v.floats[i] = math.Float32frombits(uint32(w))
	}
}

// spread moves the first dense elements to the rows that are not NULL; NULL rows become 0.
func spread[T uint16 | uint64](s []T, dense int, isNull func(int) bool) {
	for i := len(s) - 1; i >= 0; i-- {
		if isNull(i) {
			s[i] = 0
			continue
		}
		dense--
		s[i] = s[dense]
	}
}

func (v *Vector) readBytes(r *byteReader, dense int, flags byte, limit int64) {
	switch v.enc {
	case encPlain:
		v.offsets, v.data = stringList(r, dense)
		if v.nulls != nil && r.err == nil {
			v.offsets = spreadOffsets(v.offsets, v.rows, v.IsNull)
		}
	case encDict:
		entries := int(r.uvarint(uint64(dense)))
		v.offsets, v.data = stringList(r, entries)
		v.readCodes(r, dense, entries)
	default:
		r.fail(fmt.Errorf("strings of encoding %d", v.enc))
	}
	if flags&flagLong == 0 || r.err != nil {
		return
	}
	long, err := decodeLong(r, v.rows, limit)
	if err != nil {
		r.fail(err)
		return
	}
	for row, i := range long.index {
		if i != 0 && (v.IsNull(row) || len(v.Inline(row)) > 0) {
			r.fail(fmt.Errorf("row %d is long and NULL or inline", row))
			return
		}
	}
	v.long = long
}

func (v *Vector) readCodes(r *byteReader, dense, entries int) {
	words := make([]uint64, dense)
	r.ints(words)
	if r.err != nil {
		return
	}
	v.codes = make([]uint16, v.rows)
	for i, w := range words {
		if w >= uint64(entries) {
			r.fail(fmt.Errorf("code %d of a dictionary of %d", w, entries))
			return
		}
		v.codes[i] = uint16(w)
	}
	if v.nulls != nil {
		spread(v.codes, dense, v.IsNull)
	}
}

// spreadOffsets gives every NULL row an empty string.
func spreadOffsets(dense []uint32, rows int, isNull func(int) bool) []uint32 {
	out := make([]uint32, rows+1)
	k := 0
	for i := range rows {
		if !isNull(i) {
			k++
		}
		out[i+1] = dense[k]
	}
	return out
}
