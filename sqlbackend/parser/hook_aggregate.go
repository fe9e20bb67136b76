package parser

import ast "github.com/dolthub/vitess/go/vt/sqlparser"

// Names of the aggregates that stand for MySQL's in trees, because the engine
// forces the type of everything called sum or avg to DOUBLE.
const (
	SumFunction = "ksql_sum"
	AvgFunction = "ksql_avg"
)

// renameAggregate exchanges SUM and AVG. Window functions keep their names: the
// engine asks them for their types.
func renameAggregate(f *ast.FuncExpr) {
	if f.Over != nil || !f.Qualifier.IsEmpty() {
		return
	}
	switch f.Name.Lowered() {
	case "sum":
		f.Name = ast.NewColIdent(SumFunction)
	case "avg":
		f.Name = ast.NewColIdent(AvgFunction)
	}
}
