// Package dml runs INSERT, REPLACE, INSERT … ON DUPLICATE KEY UPDATE, UPDATE
// and DELETE as batches: rows are taken from the statement's source in chunks
// of up to 1024, all keys of a chunk are locked and probed together, and each
// row then becomes the row operation that its key's state asks for.
//
// InstallRule puts a rule at the end of the engine's analysis that replaces a
// statement's top node by a batch node, which keeps the original node as its
// child. Statements that need the engine's row-at-a-time protocol stay as they
// are and go through the catalog's shared editors, which are always right:
// those with triggers, foreign key actions or RETURNING, UPDATE IGNORE, and
// joins as targets.
//
// Results equal those of the row-at-a-time path, row by row in source order:
// a later row of a chunk sees what an earlier one has written, and the error
// of a failed statement is that of its first failing row.
package dml
