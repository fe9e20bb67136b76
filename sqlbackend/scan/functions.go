package scan

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"ksql/sqlbackend/parser"
)

// Functions finds the functions that ksql adds to the engine's or replaces.
func Functions(_ *sql.Context, name string) (sql.Function, bool) {
	f, ok := functions[strings.ToLower(name)]
	return f, ok
}

var functions = map[string]sql.Function{}

func register(f sql.Function, names ...string) {
	for _, n := range names {
		functions[n] = f
	}
}

func init() {
	register(sql.Function1{Name: "sum", Fn: func(_ *sql.Context, e sql.Expression) sql.Expression { return &Sum{child: e} }}, "sum", sumName)
	register(sql.Function1{Name: "avg", Fn: func(_ *sql.Context, e sql.Expression) sql.Expression { return &Sum{child: e, average: true} }}, "avg", avgName)
	register(sql.FunctionN{Name: parser.WindowFunction, Fn: newWindowCall}, parser.WindowFunction)
}
