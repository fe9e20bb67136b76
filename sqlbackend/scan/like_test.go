package scan

import (
	"testing"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
)

// TestTopRune checks that every character of every collation is within the
// range of its LIKE prefix.
func TestTopRune(t *testing.T) {
	for id := range sql.CollationID(324) {
		if id.CharacterSet() != sql.CharacterSet_utf8mb4 || id.Sorter() == nil {
			continue
		}
		sorter := id.Sorter()
		top := sorter(topRune(id))
		for r := rune(0); r < utf8.MaxRune; r++ {
			if r == 0xD800 {
				r = 0xE000 // surrogates are no characters
			}
			if r > 0xFFFF {
				r = min(r+16, utf8.MaxRune) // a sample of the planes behind the first
			}
			if sorter(r) > top {
				t.Fatalf("%s: %U sorts behind %U", id.Name(), r, topRune(id))
			}
		}
	}
}

func TestLikePrefix(t *testing.T) {
	for _, c := range []struct {
		pattern, prefix string
		wild            bool
	}{
		{"", "", false}, {"%", "", true}, {"ab%", "ab", true}, {"a_c%", "a", true}, {`a\_c%d`, "a_c", true},
		{`10\%`, "10%", false}, {`a\\%`, `a\`, true}, {`a\`, `a\`, false}, {`\xy`, "xy", false},
	} {
		if prefix, wild := likePrefix(c.pattern); prefix != c.prefix || wild != c.wild {
			t.Errorf("%s: %s, %v", c.pattern, prefix, wild)
		}
	}
}
