package catalog

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// textCollations returns every collation in which the engine can compare text.
func textCollations() []sql.Collation {
	var out []sql.Collation
	for it := sql.NewCollationsIterator(); ; {
		c, ok := it.Next()
		if !ok {
			return out
		}
		if c.Sorter != nil && c.CharacterSet.Encoder() != nil && c.ID != sql.Collation_binary {
			out = append(out, c)
		}
	}
}

// TestCollatorOrder: under every collation the order and equality of weight
// strings, of Compare and of hashes are those of the engine's Type.Compare.
func TestCollatorOrder(t *testing.T) {
	r, ctx := codecRand(t), codecContext(t, "+00:00")
	collations := textCollations()
	if len(collations) < 180 {
		t.Fatalf("only %d collations", len(collations))
	}
	equal := 0
	for _, coll := range collations {
		c, err := collatorOf(coll.ID)
		if err != nil {
			t.Fatal(err)
		}
		typ := types.MustCreateString(sqltypes.Text, 1<<20, coll.ID)
		pairs := 60
		if coll.ID == sql.Collation_utf8mb4_0900_ai_ci || coll.ID == sql.Collation_utf8mb4_bin {
			pairs = 3000
		}
		for range pairs {
			a := randomText(r, 6)
			b := similarText(r.IntN, a, randomText(r, 6))
			want, err := typ.Compare(ctx, a, b)
			if err != nil {
				t.Fatal(err)
			}
			if want == 0 && a != b {
				equal++
			}
			if got := bytes.Compare(c.AppendWeights(nil, a), c.AppendWeights(nil, b)); got != want {
				t.Fatalf("%s: weights of %q and %q compare %d, the engine says %d", coll.Name, a, b, got, want)
			}
			if got := c.Compare(a, b); got != want {
				t.Fatalf("%s: %q and %q compare %d, the engine says %d", coll.Name, a, b, got, want)
			}
			if (c.Hash(a) == c.Hash(b)) != (want == 0) {
				t.Fatalf("%s: hashes of %q and %q: %x, %x, compare %d", coll.Name, a, b, c.Hash(a), c.Hash(b), want)
			}
			if bytes.IndexByte(c.AppendWeights(nil, a), 0) >= 0 && !c.bytewise {
				t.Fatalf("%s: %q has a 00 in its weights", coll.Name, a)
			}
		}
	}
	if equal < 1000 {
		t.Errorf("only %d pairs of different but equal strings: the test is blind", equal)
	}
}

// similarText returns a string that often differs from a in case only, or behind a common prefix.
func similarText(intn func(int) int, a, other string) string {
	switch intn(5) {
	case 0:
		return strings.ToUpper(a)
	case 1:
		return strings.ToLower(a)
	case 2:
		return a + other
	case 3:
		return a + " "
	}
	return other
}

// TestCollatorBytewise: the two collations that are written as UTF-8 really
// order runes as UTF-8 does, for every rune.
func TestCollatorBytewise(t *testing.T) {
	for _, id := range []sql.CollationID{sql.Collation_utf8mb4_0900_bin, sql.Collation_utf8mb4_bin} {
		c, err := collatorOf(id)
		if err != nil || !c.bytewise {
			t.Fatal(id, err)
		}
		last := int32(math.MinInt32)
		for r := rune(0); r <= utf8.MaxRune; r++ {
			if !utf8.ValidRune(r) {
				continue
			}
			if w := id.Sorter()(r); w <= last {
				t.Fatalf("%s: weight %d of %U is not above %d", id, w, r, last)
			} else {
				last = w
			}
		}
	}
	if c, err := collatorOf(sql.Collation_binary); c != nil || err != nil {
		t.Errorf("binary: %v, %v", c, err)
	}
	if _, err := collatorOf(1); err == nil {
		t.Error("big5_chinese_ci has no weights but a collator")
	}
}

// TestWeightCode: codes are ordered, free of 00, and no code is a prefix of another.
func TestWeightCode(t *testing.T) {
	var weights []int32
	for _, edge := range []int32{math.MinInt32, -1 << 28, -1, 0, weights1, weights2, weights3, 1 << 28, math.MaxInt32} {
		for d := int64(-300); d <= 300; d++ {
			if w := int64(edge) + d; w >= math.MinInt32 && w <= math.MaxInt32 {
				weights = append(weights, int32(w))
			}
		}
	}
	for w := int32(0); w < 70000; w += 7 {
		weights = append(weights, w)
	}
	codes := make([][]byte, len(weights))
	for i, w := range weights {
		codes[i] = appendWeight(nil, w)
		if bytes.IndexByte(codes[i], 0) >= 0 {
			t.Fatalf("%d: %x holds 00", w, codes[i])
		}
	}
	for i := 1; i < len(weights); i++ {
		for _, j := range []int{i - 1, i / 2, i * 7 % len(weights)} {
			if got, want := bytes.Compare(codes[i], codes[j]), cmp.Compare(weights[i], weights[j]); got != want {
				t.Fatalf("%d and %d: %x and %x compare %d", weights[i], weights[j], codes[i], codes[j], got)
			}
			if weights[i] != weights[j] && bytes.HasPrefix(codes[i], codes[j]) {
				t.Fatalf("%x is a prefix of %x", codes[j], codes[i])
			}
		}
	}
}

// TestGoldenKeys pins the key bytes of the default collation: they are on disk.
func TestGoldenKeys(t *testing.T) {
	c, err := collatorOf(sql.Collation_utf8mb4_0900_ai_ci)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, s := range []string{"", "a", "A", "á", "Z", "zz", "0", "9", " ", "a b", "Müller", "mueller", "ß", "ss", "日本", "あア", "가", "😀", "\u0301", "\u00ad", "\x00", "\x7f", "O'Brien-Smith_1", "Ω", "я"} {
		fmt.Fprintf(&got, "%q %s\n", s, hex.EncodeToString(c.AppendWeights(nil, s)))
	}
	compareGolden(t, "testdata/keys_utf8mb4_0900_ai_ci.golden", got.String())
}

// TestGoldenWeights pins a fingerprint of the weights of every collation. If it
// fails after an upgrade of go-mysql-server, keys on disk are in another order:
// raise weightVersion, then rewrite the file with KSQL_REWRITE=1.
func TestGoldenWeights(t *testing.T) {
	var got strings.Builder
	fmt.Fprintf(&got, "version %d\n", weightVersion)
	buf := make([]byte, 0, 1<<17)
	for _, coll := range textCollations() {
		buf = buf[:0]
		for r := rune(0); r < 0x20000; r++ {
			if r >= 0x600 && r%11 != 0 {
				continue // a sample of the rest
			}
			buf = binary.LittleEndian.AppendUint32(buf, uint32(coll.Sorter(r)))
		}
		fmt.Fprintf(&got, "%d %s %016x\n", coll.ID, coll.Name, xxhash.Sum64(buf))
	}
	compareGolden(t, "testdata/weights.golden", got.String())
}

func compareGolden(t *testing.T, file, got string) {
	t.Helper()
	if os.Getenv("KSQL_REWRITE") != "" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) || g[i] != w[i] {
			t.Fatalf("%s:%d: got %q, want %q", file, i+1, g[min(i, len(g)-1)], w[min(i, len(w)-1)])
		}
	}
}

func TestCharPrefix(t *testing.T) {
	for _, c := range []struct {
		s    string
		n    int
		want string
		cut  bool
	}{
		{"", 3, "", false}, {"abc", 3, "abc", false}, {"abcd", 3, "abc", true}, {"äöü", 3, "äöü", false},
		{"äöüß", 3, "äöü", true}, {"a😀b", 2, "a😀", true}, {"日本", 1, "日", true}, {"abc", 1, "a", true},
	} {
		if got, cut := charPrefix(c.s, c.n); got != c.want || cut != c.cut {
			t.Errorf("%q, %d: %q, %v", c.s, c.n, got, cut)
		}
	}
}

func BenchmarkWeights(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"ascii", "The quick brown fox jumps over"}, {"latin", "Ein größerer Änderungswunsch ü"}, {"cjk", "日本語のテキストを並べ替える"}, {"emoji", "😀😁😂🤣😃😄😅"},
	} {
		coll, err := collatorOf(sql.Collation_utf8mb4_0900_ai_ci)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("text="+c.name, func(b *testing.B) {
			buf := make([]byte, 0, 256)
			b.SetBytes(int64(len(c.text)))
			for b.Loop() {
				buf = coll.AppendWeights(buf[:0], c.text)
			}
		})
	}
}
