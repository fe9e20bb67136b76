package scan

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// The engine builds SPACE by appending one blank at a time, which takes quadratic time
// that nothing can interrupt, and REPEAT without any bound. MySQL gives NULL and
// warning 1301 for a result larger than max_allowed_packet
// (https://dev.mysql.com/doc/refman/8.4/en/string-functions.html).
func init() {
	registerScalar(&definition{name: "space", least: 1, most: 1, resultType: longText,
		eval: func(ctx *sql.Context, _ []sql.Expression, v []any) (any, error) {
			return repeated(ctx, "space", " ", v[0])
		}})
	registerScalar(&definition{name: "repeat", least: 2, most: 2, resultType: longText,
		eval: func(ctx *sql.Context, _ []sql.Expression, v []any) (any, error) {
			text, _, err := types.LongText.Convert(ctx, v[0])
			if err != nil {
				return nil, err
			}
			s, _, err := sql.Unwrap[string](ctx, text)
			if err != nil {
				return nil, err
			}
			return repeated(ctx, "repeat", s, v[1])
		}})
}

func longText(*sql.Context, []sql.Expression) sql.Type { return types.LongText }

// repeated is s, count times.
func repeated(ctx *sql.Context, name, s string, count any) (any, error) {
	c, _, err := types.Int64.Convert(ctx, count)
	if err != nil {
		return nil, err
	}
	n, ok := c.(int64)
	if !ok || n <= 0 || s == "" {
		return "", nil
	}
	limit := int64(64 << 20)
	if v, err := ctx.GetSessionVariable(ctx, "max_allowed_packet"); err == nil {
		if l, _, err := types.Int64.Convert(ctx, v); err == nil {
			limit = l.(int64)
		}
	}
	if n > limit/int64(len(s)) {
		ctx.Warn(1301, "Result of %s() was larger than max_allowed_packet (%d) - truncated", name, limit)
		return nil, nil
	}
	return strings.Repeat(s, int(n)), nil
}
