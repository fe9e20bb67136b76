package parser

import (
	"errors"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/dolthub/vitess/go/mysql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// checkText asserts what must hold for any text: no panic, edits that map back,
// progress, and errors with a MySQL number.
func checkText(t *testing.T, text string) {
	t.Helper()
	for _, m := range []mode{{}, {ansiQuotes: true}, {noBackslashEscapes: true}} {
		s := cut(text, m, ';')
		if len(s.text)+len(s.rest) > len(text) || s.restAt < 0 || text[s.restAt:] != s.rest {
			t.Fatalf("%q: text %q rest %q", text, s.text, s.rest)
		}
		if text[s.at:s.at+len(s.text)] != s.text {
			t.Fatalf("%q: %q is not at %d", text, s.text, s.at)
		}
		if s.text == "" || s.open {
			continue
		}
		out, resolved, eds, res, err := s.rewrite(account{user: "u", host: "h"})
		if err != nil {
			continue
		}
		checkEdits(t, resolved, out, eds)
		if len(res) == 0 && resolved != s.text {
			t.Fatalf("%q became %q without an edit", s.text, resolved)
		}
	}
	_, err := New().ParseSimple(text)
	var se *mysql.SQLError
	if err != nil && !errors.Is(err, ast.ErrEmpty) && !errors.As(err, &se) {
		t.Fatalf("%q: %T %v", text, err, err)
	}
}

var seeds = []string{
	"select 1", "select N'a' 'b', 1--1, a$b /*!50000 + 1 */ /*!99999 - 1 */ from t for share of t skip locked",
	"create table t (a int, watermark for a as a - 1 with ttl, key (a)) partition by key (a) partitions 4 as select 1",
	"create definer=current_user procedure p() begin do 1; select @a := 1; end; select 2",
	"insert into t set a = 1 as n on duplicate key update a = n.a", "delete from t as x where x.a = all (select 1)",
	"alter table t add column (a int, b year(4)), order by a", "select {d '2020-01-01'} member of ('[]')",
	"select sum(a) over (w rows 1 preceding) from t window w as (order by a)", "set names x collate y", "do 1, (2)",
	"optimize table a.b, c", "desc t 'a%'", "select 'a\\'b' \"c\" `d``e` @'f' # g\n-- h\n/* i */", "/*!50000 /*!50000 select */ 1 */",
	"select 1 from t as of ?, u as of 'x' for update", "kill connection_id()", "select a regexp b not regexp c", "\xff\xfe$é",
}

func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) < 4096 {
			checkText(t, text)
		}
	})
}

// TestMutations is a small fuzz run with the seeds' own pieces.
func TestMutations(t *testing.T) {
	seed := time.Now().UnixNano()
	rng := rand.New(rand.NewSource(seed))
	defer func() {
		if t.Failed() {
			t.Logf("seed=%d", seed)
		}
	}()
	var pieces []string
	for _, s := range seeds {
		l := lexer{text: s}
		at := 0
		for {
			k, ok := l.next()
			if !ok {
				break
			}
			pieces = append(pieces, s[at:k.to], s[k.from:k.to])
			at = k.to
		}
	}
	n := 4000
	if testing.Short() {
		n = 400
	}
	for range n {
		var b strings.Builder
		for range 1 + rng.Intn(12) {
			b.WriteString(pieces[rng.Intn(len(pieces))])
			if rng.Intn(3) == 0 {
				b.WriteByte(" \n;(),'/*"[rng.Intn(9)])
			}
		}
		checkText(t, b.String())
	}
}

// Words of the language in texts without any trigger change nothing.
func TestPlainTextIsIdentical(t *testing.T) {
	for _, q := range []string{
		"select a, b from t where a = 1 and b in (2, 3) order by c limit 5",
		"insert into t (a, b) values (1, 'x'), (2, 'it''s; -- no')",
		"update t set a = a + 1 where b like '%x\\'y' and c <> \"z\"",
		"select a -- comment\n, b # other\n/* third */ from t",
	} {
		s := cut(q, mode{}, ';')
		out, _, eds, _, err := s.rewrite(account{})
		if err != nil || out != q || len(eds) != 0 {
			t.Errorf("%q became %q (%v)", q, out, err)
		}
	}
}

func BenchmarkPointSelect(b *testing.B) {
	const q = "SELECT c FROM sbtest1 WHERE id=12345"
	b.Run("cut", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s := cut(q, mode{}, ';')
			if _, _, _, _, err := s.rewrite(account{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	p := New()
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := p.ParseSimple(q); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("grammar alone", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := ast.Parse(q); err != nil {
				b.Fatal(err)
			}
		}
	})
}
