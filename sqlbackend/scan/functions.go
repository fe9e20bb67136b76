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
	for k, names := range map[kind][]string{
		sum: {"sum", sumName}, average: {"avg", avgName},
		deviation: {"std", "stddev", "stddev_pop"}, sampleDeviation: {"stddev_samp"},
		variance: {"variance", "var_pop"}, sampleVariance: {"var_samp"},
	} {
		register(sql.Function1{Name: string(k), Fn: func(_ *sql.Context, e sql.Expression) sql.Expression { return newAggregate(k, e) }}, names...)
	}
	register(sql.FunctionN{Name: parser.WindowFunction, Fn: newWindowCall}, parser.WindowFunction)
}
