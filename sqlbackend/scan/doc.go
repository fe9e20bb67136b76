// Package scan is the read side above the tables: it repairs, from outside, what
// the engine computes otherwise than MySQL (exact SUM and AVG of DECIMAL, window
// frames, DISTINCT, set operations and IN under a collation), and is the room for
// nodes that work on column vectors.
//
// Expressions come in through [Functions], nodes through [NewBuilder], which the
// engine asks before its own builder, and what is global to a process through
// [InstallGlobals].
//
// What this package does not do: it stores nothing, takes no locks and knows no
// tablet.
package scan
