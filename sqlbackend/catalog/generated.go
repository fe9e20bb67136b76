package catalog

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// generatedColumn is a generated column with its expression, ready to run.
type generatedColumn struct {
	ordinal int
	value   sql.Expression
}

// generatedColumns resolves the table's generated columns, once.
func (d *tableDef) generatedColumns(ctx *sql.Context) ([]generatedColumn, error) {
	if known := d.generated.Load(); known != nil {
		return *known, nil
	}
	out := []generatedColumn{}
	for _, c := range d.schema.Schema {
		if c.Generated != nil {
			var err error
			if out, err = d.resolveGenerated(ctx); err != nil {
				return nil, fmt.Errorf("table %s: %w", d.name(), err)
			}
			break
		}
	}
	d.generated.Store(&out)
	return out, nil
}

func (d *tableDef) resolveGenerated(ctx *sql.Context) (out []generatedColumn, err error) {
	defer func() {
		// The engine's builder reports by panics.
		if r := recover(); r != nil {
			err = fmt.Errorf("resolve generated columns: %v", r)
		}
	}()
	b := planbuilder.NewBuilderForColumnDefaultResolution(ctx, sql.EngineOverrides{})
	for i, c := range b.ResolveSchemaDefaults(d.record.Database, d.record.Name, d.schema.Schema) {
		if c.Generated == nil {
			continue
		}
		value, _, err := transform.Expr(ctx, c.Generated, d.columnPositions)
		if err != nil {
			return nil, err
		}
		out = append(out, generatedColumn{i, value})
	}
	return out, nil
}

// columnPositions makes column references point into the table's rows.
func (d *tableDef) columnPositions(_ *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	f, ok := e.(*expression.GetField)
	if !ok {
		return e, transform.SameTree, nil
	}
	i := d.schema.Schema.IndexOfColName(f.Name())
	if i < 0 {
		return nil, transform.SameTree, sql.ErrTableColumnNotFound.New(d.record.Name, f.Name())
	}
	return f.WithIndex(i), transform.NewTree, nil
}

// regenerate computes the generated columns of a row again where a BEFORE
// trigger may have changed the columns that they depend on: the engine
// computes them before the trigger runs. It returns row itself or a copy.
func (e *statementEditor) regenerate(ctx *sql.Context, row sql.Row) (sql.Row, error) {
	db := e.session.definitions().database(e.def.record.Database)
	if db == nil || len(db.triggers) == 0 {
		return row, nil
	}
	columns, err := e.def.generatedColumns(ctx)
	if err != nil || len(columns) == 0 {
		return row, err
	}
	row = row.Copy()
	for _, c := range columns {
		v, err := c.value.Eval(ctx, row)
		if err != nil {
			return nil, err
		}
		row[c.ordinal] = v
	}
	return row, nil
}
