package rowcodec

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestDiffApply(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchema(t)
		oldVals := drawRowValues(t, s)
		newVals := bytesSafeCopy(oldVals)
		changed := map[int]bool{}
		for i, c := range s.Columns {
			if rapid.Bool().Draw(t, "change") {
				newVals[i] = drawDatum(t, c.Kind, c.Nullable)
				changed[i] = !Equal(oldVals[i], newVals[i])
			}
		}
		oldRow, newRow := mustRow(t, s, oldVals), mustRow(t, s, newVals)
		cl := Diff(s, oldRow, newRow)
		if err := ValidateChangeList(s, cl); err != nil {
			t.Fatalf("%v", err)
		}
		c := cl.Changes(s)
		for i := range s.Columns {
			if !changed[i] {
				continue
			}
			if !c.Next() || c.Column() != i || !Equal(c.Value(), newVals[i]) {
				t.Fatalf("column %d is missing: at %d %v, err %v", i, c.Column(), c.Value(), c.Err())
			}
		}
		if c.Next() {
			t.Fatalf("unchanged column %d is in the list", c.Column())
		}
		got, err := Apply(nil, s, oldRow, cl)
		if err != nil || !bytes.Equal(got, newRow) {
			t.Fatalf("applied %v, want %v (%v)", got.Datums(s, nil), newVals, err)
		}
	})
}

func bytesSafeCopy(v []Datum) []Datum { return append([]Datum(nil), v...) }

func TestMergeIsApplyTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchema(t)
		a, b, c := mustRow(t, s, drawRowValues(t, s)), mustRow(t, s, drawRowValues(t, s)), mustRow(t, s, drawRowValues(t, s))
		ab, bc := Diff(s, a, b), Diff(s, b, c)
		merged, err := AppendMerge(nil, s, ab, bc)
		if err != nil || ValidateChangeList(s, merged) != nil {
			t.Fatalf("merge: %v", err)
		}
		got, err := Apply(nil, s, a, merged)
		if err != nil || !bytes.Equal(got, c) {
			t.Fatalf("merged list gives %v, want %v (%v)", got.Datums(s, nil), c.Datums(s, nil), err)
		}
	})
}

func TestChangeListRefuses(t *testing.T) {
	s := &Schema{Columns: []Column{{Kind: KindInt64}, {Kind: KindBytes, Nullable: true}}}
	for name, cl := range map[string]ChangeList{
		"column past the end": {4, 0},
		"NULL in NOT NULL":    {1},
		"long varint":         {0, 0x80, 0x00},
		"short bytes":         {2, 5, 'a'},
		"huge bytes":          {2, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01},
		"no value":            {0},
	} {
		if err := ValidateChangeList(s, cl); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
		row := mustRow(t, s, []Datum{Int(1), Null()})
		if _, err := Apply(nil, s, row, cl); !errors.Is(err, ErrMalformed) {
			t.Errorf("apply %s: %v", name, err)
		}
		if _, err := AppendMerge(nil, s, cl, nil); !errors.Is(err, ErrMalformed) {
			t.Errorf("merge %s: %v", name, err)
		}
	}
	if cl := AppendChange(AppendChange(nil, -1, 0, Int(math.MinInt64)), 0, 1, Null()); ValidateChangeList(s, cl) != nil {
		t.Error("a list built by hand is refused")
	}
}

func FuzzChangeList(f *testing.F) {
	spec := []byte{0, 0x81, 2, 0x80, 1}
	s := fuzzSchema(spec)
	row, err := AppendRow(nil, s, []Datum{Int(1), Bytes([]byte("abc")), F32(1.5), Null(), Uint(7)})
	if err != nil {
		f.Fatal(err)
	}
	next, err := AppendRow(nil, s, []Datum{Int(-1), Null(), F32(1.5), F64(2), Uint(8)})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(spec, []byte(row), []byte(Diff(s, row, next)))
	f.Fuzz(func(t *testing.T, spec, raw, list []byte) {
		s := fuzzSchema(spec)
		errList := ValidateChangeList(s, list)
		if ValidateRow(s, raw) != nil {
			return
		}
		got, err := Apply(nil, s, raw, list)
		if (err == nil) != (errList == nil) {
			t.Fatalf("validate says %v, apply %v", errList, err)
		}
		if err != nil {
			return
		}
		if err := ValidateRow(s, got); err != nil {
			t.Fatalf("applied row: %v", err)
		}
		again, err := Apply(nil, s, raw, Diff(s, raw, got))
		if err != nil || !bytes.Equal(again, got) {
			t.Fatalf("the diff of an applied list gives another row (%v)", err)
		}
	})
}
