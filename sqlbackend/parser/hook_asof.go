package parser

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// UnboundAsOf is the AS OF text that tables see while a statement is prepared
// whose AS OF is a parameter: the value is not known yet.
const UnboundAsOf = "ksql-unbound"

// asOf wraps AS OF values other than string literals, so that parameters, user
// variables and functions reach the backend as a string or a time.
func (w *walker) asOf(t *ast.AliasedTableExpr) {
	if t.AsOf == nil || t.AsOf.Time == nil {
		return
	}
	switch v := t.AsOf.Time.(type) {
	case ast.InjectedExpr:
		return
	case *ast.SQLVal:
		if v.Type == ast.StrVal {
			return
		}
	case *ast.ColName:
		if strings.HasPrefix(v.Name.String(), "@") {
			break
		}
		w.err = mysql.NewSQLError(erWrongOptions, "HY000", "Incorrect arguments to AS OF")
		return
	}
	t.AsOf.Time = ast.InjectedExpr{Expression: asOfValue{}, Children: ast.Exprs{t.AsOf.Time}}
}

// asOfValue computes an AS OF value when a statement is bound.
type asOfValue struct{}

// WithResolvedChildren implements the engine's injected expressions.
func (asOfValue) WithResolvedChildren(c context.Context, children []any) (any, error) {
	e, ok := children[0].(sql.Expression)
	if !ok {
		return nil, fmt.Errorf("AS OF %T", children[0])
	}
	if _, ok := e.(*expression.BindVar); ok {
		return expression.NewLiteral(UnboundAsOf, types.LongText), nil
	}
	ctx, ok := c.(*sql.Context)
	if !ok {
		ctx = sql.NewContext(c)
	}
	v, err := e.Eval(ctx, nil)
	if err != nil {
		return nil, err
	}
	switch x := v.(type) {
	case nil:
		return nil, mysql.NewSQLError(erWrongOptions, "HY000", "Incorrect arguments to AS OF")
	case time.Time:
		return expression.NewLiteral(x, types.Datetime), nil
	case int8, int16, int32, int64, uint8, uint16, uint32, uint64:
		return expression.NewLiteral(fmt.Sprintf("epoch:%d", x), types.LongText), nil
	case []byte:
		return expression.NewLiteral(string(x), types.LongText), nil
	default:
		return expression.NewLiteral(fmt.Sprint(x), types.LongText), nil
	}
}
