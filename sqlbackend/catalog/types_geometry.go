package catalog

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/dolthub/go-mysql-server/sql/types"

	"ksql/tablet/rowcodec"
)

// A geometry is stored as the EWKB that go-mysql-server's Serialize writes:
// u32 SRID, then WKB: u8 byte order (1), u32 type, content. Collections nest
// whole WKB values. The decoder is our own because the engine's trusts counts.

var errMalformedGeometry = errors.New("stored geometry is malformed")

// maxGeometryDepth bounds the nesting of geometry collections.
const maxGeometryDepth = 100

func geometryConverter() converter {
	return converter{
		kind: rowcodec.KindBytes,
		encode: func(_ *rowEnv, v any) (rowcodec.Datum, bool, error) {
			g, ok := v.(types.GeometryValue)
			if !ok {
				return rowcodec.Datum{}, false, nil
			}
			return rowcodec.Bytes(g.Serialize()), true, nil
		},
		decode: func(_ *rowEnv, d rowcodec.Datum) (any, error) { return parseGeometry(d.Bytes()) },
		place:  func(*rowEnv, any) bound { return bound{pos: unknown} },
	}
}

// parseGeometry decodes EWKB; any bytes may be given.
func parseGeometry(b []byte) (types.GeometryValue, error) {
	if len(b) < types.SRIDSize {
		return nil, errMalformedGeometry
	}
	d := geometryDecoder{b: b[types.SRIDSize:], srid: binary.LittleEndian.Uint32(b)}
	g := d.geometry(0)
	if d.bad || len(d.b) != 0 {
		return nil, errMalformedGeometry
	}
	return g, nil
}

// geometryDecoder consumes b; bad is set once something is wrong, and stays set.
type geometryDecoder struct {
	b    []byte
	srid uint32
	bad  bool
}

func (d *geometryDecoder) take(n int) []byte {
	if len(d.b) < n {
		d.bad, d.b = true, nil
		return nil
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

// header reads a WKB header and returns the geometry's type; only the byte
// order that Serialize writes is known.
func (d *geometryDecoder) header() uint32 {
	b := d.take(types.WKBHeaderSize)
	if b == nil || b[0] != 1 {
		d.bad = true
		return types.WKBUnknown
	}
	return binary.LittleEndian.Uint32(b[types.EndianSize:])
}

// count reads a number of elements, each of which takes at least size bytes.
func (d *geometryDecoder) count(size int) int {
	b := d.take(types.CountSize)
	if b == nil {
		return 0
	}
	n := binary.LittleEndian.Uint32(b)
	if uint64(n) > uint64(len(d.b)/size) {
		d.bad, d.b = true, nil
		return 0
	}
	return int(n)
}

func (d *geometryDecoder) geometry(depth int) types.GeometryValue {
	if depth > maxGeometryDepth {
		d.bad, d.b = true, nil
		return nil
	}
	switch d.header() {
	case types.WKBPointID:
		return d.point()
	case types.WKBLineID:
		return d.line()
	case types.WKBPolyID:
		return d.polygon()
	case types.WKBMultiPointID:
		points := make([]types.Point, d.count(types.WKBHeaderSize+types.PointSize))
		for i := range points {
			d.expect(types.WKBPointID)
			points[i] = d.point()
		}
		return types.MultiPoint{SRID: d.srid, Points: points}
	case types.WKBMultiLineID:
		lines := make([]types.LineString, d.count(types.WKBHeaderSize+types.CountSize))
		for i := range lines {
			d.expect(types.WKBLineID)
			lines[i] = d.line()
		}
		return types.MultiLineString{SRID: d.srid, Lines: lines}
	case types.WKBMultiPolyID:
		polygons := make([]types.Polygon, d.count(types.WKBHeaderSize+types.CountSize))
		for i := range polygons {
			d.expect(types.WKBPolyID)
			polygons[i] = d.polygon()
		}
		return types.MultiPolygon{SRID: d.srid, Polygons: polygons}
	case types.WKBGeomCollID:
		geoms := make([]types.GeometryValue, d.count(types.WKBHeaderSize+types.CountSize))
		for i := range geoms {
			geoms[i] = d.geometry(depth + 1)
		}
		return types.GeomColl{SRID: d.srid, Geoms: geoms}
	}
	d.bad = true
	return nil
}

func (d *geometryDecoder) expect(id uint32) {
	if d.header() != id {
		d.bad = true
	}
}

func (d *geometryDecoder) point() types.Point {
	b := d.take(types.PointSize)
	if b == nil {
		return types.Point{}
	}
	return types.Point{
		SRID: d.srid,
		X:    math.Float64frombits(binary.LittleEndian.Uint64(b)),
		Y:    math.Float64frombits(binary.LittleEndian.Uint64(b[8:])),
	}
}

func (d *geometryDecoder) line() types.LineString {
	points := make([]types.Point, d.count(types.PointSize))
	for i := range points {
		points[i] = d.point()
	}
	return types.LineString{SRID: d.srid, Points: points}
}

func (d *geometryDecoder) polygon() types.Polygon {
	lines := make([]types.LineString, d.count(types.CountSize))
	for i := range lines {
		lines[i] = d.line()
	}
	return types.Polygon{SRID: d.srid, Lines: lines}
}
