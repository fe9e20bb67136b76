package wire

import (
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// countParams counts the placeholders of a statement. text is what the tree
// was made from, give or take the parser's rewriting.
func countParams(ctx *sql.Context, stmt ast.Statement, text string) int {
	if strings.IndexByte(text, '?') < 0 {
		return 0
	}
	switch stmt.(type) {
	case ast.SelectStatement, *ast.Insert, *ast.Update, *ast.Delete, *ast.Set, *ast.Call, *ast.Explain:
		return lastParam(stmt)
	}
	return countTokens(ctx, text)
}

// lastParam is the highest number of a placeholder in the tree: the parser
// names them :v1, :v2 … in the order of the text.
func lastParam(stmt ast.Statement) int {
	last := 0
	var visit ast.Visit
	walk := func(n ast.SQLNode) {
		_ = ast.Walk(visit, n) // visit never fails
	}
	visit = func(n ast.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *ast.SQLVal:
			if n == nil || n.Type != ast.ValArg {
				break
			}
			if i, err := strconv.Atoi(strings.TrimPrefix(string(n.Val), ":v")); err == nil {
				last = max(last, i)
			}
		// what follows are parts where the grammar's own walk does not go
		case *ast.SetOp:
			walk(n.OrderBy)
			if n.Limit != nil {
				walk(n.Limit)
			}
		case *ast.Select:
			for _, w := range n.Window {
				walk(w)
			}
		case *ast.Explain:
			walk(n.Statement)
		}
		return true, nil
	}
	walk(stmt)
	return last
}

// countTokens counts placeholders by their tokens, for statements into which
// the grammar has no walk.
func countTokens(ctx *sql.Context, text string) int {
	tokens := ast.NewStringTokenizer(text)
	if sql.LoadSqlMode(ctx).AnsiQuotes() {
		tokens = ast.NewStringTokenizerForAnsiQuotes(text)
	}
	n := 0
	for {
		switch token, _ := tokens.Scan(); token {
		case 0, ast.LEX_ERROR:
			return n
		case ast.VALUE_ARG:
			n++
		}
	}
}
