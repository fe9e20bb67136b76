package scan

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/information_schema"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// showColumns is SHOW [FULL] COLUMNS and DESCRIBE. The engine prints collations as a
// part of types, one fixed collation for every text column, and quotes defaults.
func showColumns(ctx *sql.Context, n *plan.ShowColumns) (sql.RowIter, error) {
	keys, err := columnKeys(ctx, n)
	if err != nil {
		return nil, err
	}
	var rows []sql.Row
	for _, col := range n.TargetSchema() {
		if col.HiddenSystem && !n.Extended {
			continue
		}
		typ, collation := col.Type.String(), any(nil)
		if t, ok := col.Type.(sql.TypeWithCollation); ok {
			typ = t.StringWithTableCollation(t.Collation())
			if t.Collation() != sql.Collation_binary {
				collation = t.Collation().Name()
			}
		}
		null := "NO"
		if col.Nullable {
			null = "YES"
		}
		row := sql.Row{col.Name, typ}
		if n.Full {
			row = append(row, collation)
		}
		row = append(row, null, keys[strings.ToLower(col.Name)], information_schema.GetColumnDefault(ctx, col.Default), col.Extra)
		if n.Full {
			row = append(row, "select,insert,update,references", col.Comment)
		}
		rows = append(rows, row)
	}
	return sql.RowsToRowIter(rows...), nil
}

// columnKeys says PRI, UNI or MUL for the columns of a table that an index begins with
// or a key consists of (https://dev.mysql.com/doc/refman/8.4/en/show-columns.html).
func columnKeys(ctx *sql.Context, n *plan.ShowColumns) (map[string]string, error) {
	keys := map[string]string{}
	rt, ok := n.Child.(*plan.ResolvedTable)
	if !ok {
		return keys, nil // a view
	}
	for _, col := range n.TargetSchema() {
		if col.PrimaryKey {
			keys[strings.ToLower(col.Name)] = "PRI"
		}
	}
	table, ok := sql.GetUnderlyingTable(rt.Table).(sql.IndexAddressable)
	if !ok {
		return keys, nil
	}
	indexes, err := table.GetIndexes(ctx)
	if err != nil {
		return nil, err
	}
	for _, x := range indexes {
		columns := x.Expressions()
		if len(columns) == 0 {
			continue
		}
		first := strings.ToLower(columns[0][strings.LastIndexByte(columns[0], '.')+1:])
		switch {
		case keys[first] == "PRI", keys[first] == "UNI":
		case x.IsUnique() && len(columns) == 1:
			keys[first] = "UNI"
		default:
			keys[first] = "MUL"
		}
	}
	return keys, nil
}
