package rowcodec

import (
	"bytes"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestKeyOrderIsDatumOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cols := drawKeyColumns(t)
		a, b := drawKeyValues(t, cols), drawKeyValues(t, cols)
		ka, kb := AppendKey(nil, cols, a), AppendKey(nil, cols, b)
		if got, want := bytes.Compare(ka, kb), compareAll(a, b); got != want {
			t.Fatalf("keys of %v and %v compare %d, values %d\n%x\n%x", a, b, got, want, ka, kb)
		}
	})
}

// Every pair of edge values of every kind, both as a whole key and followed by
// another column (an escape that isn't self-delimiting shows only there).
func TestKeyOrderOfEdgePairs(t *testing.T) {
	all := map[Kind][]Datum{}
	for _, v := range edgeInts {
		all[KindInt64] = append(all[KindInt64], Int(v))
	}
	for _, v := range edgeUints {
		all[KindUint64] = append(all[KindUint64], Uint(v))
	}
	for _, v := range edgeFloats {
		all[KindFloat32] = append(all[KindFloat32], F32(float32(v)))
		all[KindFloat64] = append(all[KindFloat64], F64(v))
	}
	for _, v := range edgeBytes {
		all[KindBytes] = append(all[KindBytes], String(v))
	}
	tails := []Datum{Uint(0), Uint(math.MaxUint64)}
	for k, vals := range all {
		cols := []KeyColumn{{Kind: k, Nullable: true}, {Kind: KindUint64}}
		vals = append(vals, Null())
		for _, a := range vals {
			for _, b := range vals {
				for _, ta := range tails {
					for _, tb := range tails {
						va, vb := []Datum{a, ta}, []Datum{b, tb}
						got := bytes.Compare(AppendKey(nil, cols, va), AppendKey(nil, cols, vb))
						if want := compareAll(va, vb); got != want {
							t.Errorf("%v: %v against %v: keys %d, values %d", k, va, vb, got, want)
						}
					}
				}
			}
		}
	}
}

func TestKeyRoundTripAndPrefixes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cols := drawKeyColumns(t)
		vals := drawKeyValues(t, cols)
		tail := rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, "tail")
		key := append(AppendKey([]byte("head"), cols, vals), tail...)[4:]
		got, rest, err := DecodeKey(key, cols, nil)
		if err != nil || !bytes.Equal(rest, tail) {
			t.Fatalf("decode %x: rest %x, err %v", key, rest, err)
		}
		if compareAll(got, vals) != 0 {
			t.Fatalf("decoded %v, want %v", got, vals)
		}
		for n := range len(cols) + 1 {
			size, err := KeyPrefixLen(key, cols, n)
			if want := len(AppendKey(nil, cols[:n], vals[:n])); err != nil || size != want {
				t.Fatalf("prefix of %d columns is %d bytes, want %d, err %v", n, size, want, err)
			}
		}
		// Cut anywhere inside: an error from both, no panic.
		for n := range len(key) - len(tail) {
			_, _, err := DecodeKey(key[:n], cols, nil)
			_, err2 := KeyPrefixLen(key[:n], cols, len(cols))
			if err == nil || err2 == nil {
				t.Fatalf("%d of %d bytes decode: %v, %v", n, len(key), err, err2)
			}
		}
	})
}

func TestKeyRejectsWhatIsNeverWritten(t *testing.T) {
	f64 := []KeyColumn{{Kind: KindFloat64}}
	for name, c := range map[string]struct {
		cols []KeyColumn
		key  []byte
	}{
		"minus zero":     {f64, []byte{0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}},
		"other NaN":      {f64, []byte{0xFF, 0xF8, 0, 0, 0, 0, 0, 0}},
		"null marker 2":  {[]KeyColumn{{Kind: KindUint64, Nullable: true}}, []byte{2, 0, 0, 0, 0, 0, 0, 0, 0}},
		"bad escape":     {[]KeyColumn{{Kind: KindBytes}}, []byte{'a', 0, 2, 0, 1}},
		"no terminator":  {[]KeyColumn{{Kind: KindBytes}}, []byte{'a', 0}},
		"unknown kind":   {[]KeyColumn{{Kind: 9}}, make([]byte, 8)},
		"ends in column": {[]KeyColumn{{Kind: KindFloat32}}, make([]byte, 3)},
	} {
		if vals, _, err := DecodeKey(c.key, c.cols, nil); err == nil {
			t.Errorf("%s: decoded to %v", name, vals)
		}
	}
}

func TestPrefixSuccessor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 0xFE, 0xFF}), 0, 4)
		prefix, tail, other := b.Draw(t, "prefix"), b.Draw(t, "tail"), b.Draw(t, "other")
		succ := PrefixSuccessor(prefix)
		inside := append(bytes.Clone(prefix), tail...)
		if succ != nil && bytes.Compare(inside, succ) >= 0 {
			t.Fatalf("%x is not below the successor %x of %x", inside, succ, prefix)
		}
		above := bytes.Compare(other, prefix) > 0 && !bytes.HasPrefix(other, prefix)
		if above && (succ == nil || bytes.Compare(other, succ) < 0) {
			t.Fatalf("%x lies between the keys of prefix %x and its successor %x", other, prefix, succ)
		}
	})
}

func TestAppendKeyPanicsOnBugs(t *testing.T) {
	for name, vals := range map[string][]Datum{"kind": {Int(1)}, "null": {Null()}, "count": {}} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			AppendKey(nil, []KeyColumn{{Kind: KindUint64}}, vals)
		})
	}
}

func FuzzKeyOrder(f *testing.F) {
	f.Add([]byte{4, 0x80}, []byte("a\x00\x01\x00"), []byte("a\x00\xff\x00\x01\x00"))
	f.Add([]byte{0x80}, []byte{1, 0x7F, 0xF0, 0, 0, 0, 0, 0, 0}, []byte{1, 0, 7, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, spec, ka, kb []byte) {
		cols := fuzzSchema(spec).Key
		a, restA, errA := DecodeKey(ka, cols, nil)
		n, errLen := KeyPrefixLen(ka, cols, len(cols))
		if errA != nil {
			return
		}
		if again := AppendKey(nil, cols, a); !bytes.Equal(again, ka[:len(ka)-len(restA)]) || errLen != nil || n != len(again) {
			t.Fatalf("%x decodes to %v, which encodes to %x (prefix length %d, %v)", ka, a, again, n, errLen)
		}
		b, restB, errB := DecodeKey(kb, cols, nil)
		if errB != nil {
			return
		}
		got := bytes.Compare(ka[:len(ka)-len(restA)], kb[:len(kb)-len(restB)])
		if want := compareAll(a, b); got != want {
			t.Fatalf("%v against %v: keys %d, values %d", a, b, got, want)
		}
	})
}
