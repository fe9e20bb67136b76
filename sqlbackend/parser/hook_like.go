package parser

import (
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// LikeRangeFunction(column, pattern) becomes the range of the column that
// holds every match of a LIKE, or TRUE.
const LikeRangeFunction = "ksql_like_range"

// like gives a LIKE its escape character. Without one the engine replaces LIKE
// 'abc%' by a range that ends at 'abcÿ', before 'abcz', and that takes escaped
// wildcards literally.
func like(c *ast.ComparisonExpr) {
	switch strings.ToLower(c.Operator) {
	case ast.LikeStr, ast.NotLikeStr:
		if c.Escape == nil {
			c.Escape = ast.NewStrVal([]byte(`\`))
		}
	}
}

// likeRanges puts ranges beside the LIKEs that are parts of a condition's ANDs
// and ORs, so that indexes can be used.
func likeRanges(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.AndExpr:
		e.Left, e.Right = likeRanges(e.Left), likeRanges(e.Right)
	case *ast.OrExpr:
		e.Left, e.Right = likeRanges(e.Left), likeRanges(e.Right)
	case *ast.ParenExpr:
		e.Expr = likeRanges(e.Expr)
	case *ast.ComparisonExpr:
		column, isColumn := e.Left.(*ast.ColName)
		_, isValue := e.Right.(*ast.SQLVal)
		if isColumn && isValue && e.Escape == nil && strings.EqualFold(e.Operator, ast.LikeStr) {
			return &ast.ParenExpr{Expr: &ast.AndExpr{Left: e, Right: call(LikeRangeFunction, column, e.Right)}}
		}
	}
	return e
}
