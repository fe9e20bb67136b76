// Package parser turns MySQL 8.4 statements into syntax trees that the SQL
// engine understands.
//
// The engine's own grammar lacks parts of MySQL's syntax and reads other parts
// wrongly. Parser therefore works in three steps. A token scanner (lexer.go)
// cuts the first statement off the text and repairs what the engine's lexer
// misreads: national strings, version comments, "1--1", names with $ or
// letters beyond ASCII. Statement rules (rules_*.go) then exchange syntax that
// the grammar lacks for syntax that it has; what can't be expressed travels
// in-band: the WATERMARK and PARTITION BY clauses of CREATE TABLE as a table
// option, lock clauses as table names. Last, a walk over the tree (walk.go)
// moves such things to where the backend finds them.
//
// Callers always see the text as the client wrote it: statement texts,
// positions inside of trees, remainders and error messages refer to it, never
// to what was handed to the engine's grammar.
//
// Splitter cuts scripts into statements the way the mysql client does.
package parser
