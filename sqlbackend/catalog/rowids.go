package catalog

import (
	"bytes"
	"hash/maphash"

	"github.com/dolthub/go-mysql-server/sql"

	"ksql/tablet"
	"ksql/tablet/rowcodec"
)

// rowIDs remembers, for one statement and one table without primary key, which
// stored rows it has read: the engine hands rows back by their values alone.
// Equal rows are interchangeable, so any of their keys will do.
type rowIDs struct {
	seed maphash.Seed
	keys map[uint64][][]byte // by the hash of the packed row
}

func (r *rowIDs) add(key []byte, packed rowcodec.Row) {
	if r.keys == nil {
		r.seed, r.keys = maphash.MakeSeed(), map[uint64][][]byte{}
	}
	h := maphash.Bytes(r.seed, packed)
	for _, k := range r.keys[h] {
		if bytes.Equal(k, key) {
			return
		}
	}
	r.keys[h] = append(r.keys[h], bytes.Clone(key))
}

// rememberRow notes a row that a scan has read for the statement's editor.
func (s *Session) rememberRow(def *tableDef, key []byte, packed rowcodec.Row) {
	e := s.statement.editors[def.tabletID]
	if e == nil {
		e = &statementEditor{session: s, tx: s.tx, def: def}
		s.statement.write(def.tabletID, e)
	}
	e.rows.add(key, packed)
}

// keyOf returns the key of a row that the engine hands back for a change. For
// a table without primary key that is a stored row of equal values.
func (e *statementEditor) keyOf(ctx *sql.Context, row sql.Row) ([]byte, error) {
	if e.def.codec.HasPrimaryKey() {
		return e.def.codec.PrimaryKey(ctx, row)
	}
	packed, err := e.def.codec.EncodeRow(ctx, nil, row)
	if err != nil {
		return nil, err
	}
	if e.rows.keys != nil {
		h := maphash.Bytes(e.rows.seed, packed)
		for _, key := range e.rows.keys[h] {
			found, err := e.probe(ctx, e.def.tabletID, key)
			if err != nil {
				return nil, err
			}
			if found.Found && bytes.Equal(found.Row, packed) {
				return key, nil
			}
		}
	}
	return e.searchRow(ctx, packed)
}

// searchRow finds a row without remembered key, one that the statement itself
// has written for instance, by reading the table.
func (e *statementEditor) searchRow(ctx *sql.Context, packed rowcodec.Row) ([]byte, error) {
	scan, err := e.tx.tablet.Scan(ctx, tablet.ScanSpec{
		Tablet: e.def.tabletID, Mode: tablet.ReadNewest, OwnStatement: true, Unordered: true,
	})
	if err != nil {
		return nil, err
	}
	defer scan.Close()
	for scan.Next(ctx) {
		if r := scan.Row(); bytes.Equal(r.Value, packed) {
			return bytes.Clone(r.Key), nil
		}
	}
	if err := scan.Err(); err != nil {
		return nil, err
	}
	return nil, e.restart(sql.ErrDeleteRowNotFound.New())
}
