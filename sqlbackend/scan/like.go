package scan

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"ksql/sqlbackend/parser"
)

// maxLikeBound is the longest column that LIKE gives an upper bound for; keys
// of more characters don't exist.
const maxLikeBound = 768

func init() {
	register(sql.FunctionN{Name: parser.LikeRangeFunction, Fn: newLikeRange}, parser.LikeRangeFunction)
}

// newLikeRange makes the condition that stands beside column LIKE pattern: the
// range of all matches, which an index can look up, or TRUE.
func newLikeRange(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	if len(args) != 2 {
		return nil, sql.ErrInvalidArgumentNumber.New(parser.LikeRangeFunction, 2, len(args))
	}
	column, isColumn := args[0].(*expression.GetField)
	literal, isLiteral := args[1].(*expression.Literal)
	if !isColumn || !isLiteral {
		return expression.NewTrue(), nil
	}
	t, isText := column.Type(ctx).(sql.StringType)
	pattern, isString := literal.Value().(string)
	if !isText || !isString || !types.IsTextOnly(t) || t.Collation().CharacterSet() != sql.CharacterSet_utf8mb4 {
		return expression.NewTrue(), nil
	}
	if collation, _ := expression.NewLike(column, literal, nil).(*expression.Like).CollationCoercibility(ctx); collation != t.Collation() {
		return expression.NewTrue(), nil
	}
	prefix, wild := likePrefix(pattern)
	bound := func(s string) sql.Expression { return expression.NewLiteral(s, literal.Type(ctx)) }
	switch {
	case !wild:
		return expression.NewEquals(column, bound(prefix)), nil
	case prefix == "":
		return expression.NewTrue(), nil
	}
	lower := expression.NewGreaterThanOrEqual(column, bound(prefix))
	n := t.MaxCharacterLength()
	if n > maxLikeBound {
		return lower, nil
	}
	upper := prefix + strings.Repeat(string(topRune(t.Collation())), int(n))
	return expression.NewAnd(lower, expression.NewLessThanOrEqual(column, bound(upper))), nil
}

// likePrefix returns the text before the first wildcard of a pattern.
func likePrefix(pattern string) (prefix string, wild bool) {
	var b strings.Builder
	escaped := false
	for _, r := range pattern {
		switch {
		case escaped:
			escaped = false
		case r == '\\':
			escaped = true
			continue
		case r == '%' || r == '_':
			return b.String(), true
		}
		b.WriteRune(r)
	}
	if escaped {
		b.WriteByte('\\')
	}
	return b.String(), false
}

// topRune returns a character that no character sorts behind.
func topRune(c sql.CollationID) rune {
	sorter, top := c.Sorter(), '\U0010FFFF'
	for _, r := range []rune{'\uFFFD', '\uFFFF'} {
		if sorter(r) > sorter(top) {
			top = r
		}
	}
	return top
}
