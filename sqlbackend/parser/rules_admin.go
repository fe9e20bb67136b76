package parser

import (
	"strconv"
	"strings"
)

// ConsistentSnapshot says whether a statement is START TRANSACTION … WITH CONSISTENT
// SNAPSHOT: the tree does not tell.
func ConsistentSnapshot(statement string) bool {
	l := lexer{text: statement}
	var words []string
	for len(words) < 16 {
		t, ok := l.next()
		if !ok {
			break
		}
		words = append(words, strings.ToLower(statement[t.from:t.to]))
		if len(words) == 2 && (words[0] != "start" || words[1] != "transaction") {
			return false
		}
	}
	return len(words) > 2 && strings.Contains(strings.Join(words, " "), "with consistent snapshot")
}

// startTransaction: the grammar knows one characteristic only. READ ONLY and
// READ WRITE win over WITH CONSISTENT SNAPSHOT (see ConsistentSnapshot).
func (r *rewriter) startTransaction(i int) {
	if !r.is(i, "start", "transaction") {
		if r.oneOf(i+1, "slave", "replica", "group_replication") != "" {
			r.refuse("START " + strings.ToUpper(r.raw(i+1)))
		}
		return
	}
	var access string
	snapshot := false
	for j := i + 2; !r.ends(j); j++ {
		switch {
		case r.is(j, "read", "only"), r.is(j, "read", "write"):
			if a := strings.ToUpper(r.source(j, j+2)); access != "" && access != a {
				r.bad(j)
				return
			}
			access = "READ " + strings.ToUpper(r.raw(j+1))
			j++
		case r.is(j, "with", "consistent", "snapshot"):
			snapshot = true
			j += 2
		case r.isPunct(j, ',') && j > i+2:
		default:
			r.bad(j)
			return
		}
	}
	if snapshot && access != "" {
		r.all(i, "START TRANSACTION "+access)
	}
}

// endTransaction refuses AND CHAIN and RELEASE, which the engine would drop.
func (r *rewriter) endTransaction(i int) {
	j := i + 1
	if r.is(j, "work") {
		j++
	}
	if r.is(j, "and", "chain") {
		r.refuse(strings.ToUpper(r.raw(i)) + " AND CHAIN")
	}
	if r.is(j, "and", "no", "chain") {
		j += 3
	}
	if r.is(j, "release") {
		r.refuse(strings.ToUpper(r.raw(i)) + " RELEASE")
	}
}

// set rewrites forms of SET that the grammar lacks.
func (r *rewriter) set(i int) {
	j := i + 1
	switch r.lower(j) {
	case "local":
		if r.is(j+1, "transaction") {
			r.replace(j, j+1, "SESSION")
		}
	case "names":
		r.setNames(i, j+1)
	case "role":
		r.refuse("SET ROLE")
	case "default":
		if r.is(j+1, "role") {
			r.refuse("SET DEFAULT ROLE")
		}
	case "resource":
		r.refuse("SET RESOURCE GROUP")
	case "password":
		r.setPassword(i, j+1)
	}
}

// setNames: SET NAMES charset COLLATE c sets the collation, which the engine
// forgets; SET NAMES DEFAULT is the server's character set.
func (r *rewriter) setNames(i, j int) {
	if r.is(j, "default") {
		r.replace(j, j+1, "utf8mb4")
		return
	}
	if r.is(j+1, "collate") && j+2 < len(r.toks) {
		collation := r.raw(j + 2)
		if r.toks[j+2].kind == tokenWord {
			collation = quoteString(collation)
		}
		r.replace(j+1, j+3, ", collation_connection = "+collation)
	}
}

// setPassword: SET PASSWORD [FOR account] = 'text' is ALTER USER.
func (r *rewriter) setPassword(i, j int) {
	user := quoteString(r.who.user) + "@" + quoteString(r.who.host)
	if r.is(j, "for") {
		from := j + 1
		for j = from; !r.ends(j) && !r.isPunct(j, '='); j++ {
		}
		user = r.source(from, j)
	}
	if r.isPunct(j, '=') && j+1 < len(r.toks) && r.toks[j+1].kind == tokenString && r.ends(j+2) {
		r.all(i, "ALTER USER "+user+" IDENTIFIED BY "+r.raw(j+1))
		return
	}
	r.bad(j)
}

// do: DO a, b evaluates expressions and returns nothing.
func (r *rewriter) do(i int) {
	if !r.program || r.beginsStatement(i) {
		r.replace(i, i+1, "SET @`ksql nothing` = (")
		depth, end := 0, i+1
		for ; !r.ends(end); end++ {
			switch {
			case r.isPunct(end, '('):
				depth++
			case r.isPunct(end, ')'):
				depth--
			case depth == 0 && r.isPunct(end, ','):
				r.replace(end, end+1, "), @`ksql nothing` = (")
			}
		}
		if end == i+1 {
			r.bad(end)
			return
		}
		r.after(end-1, ")")
	}
}

// lockTables: LOCK TABLE is LOCK TABLES; READ LOCAL is READ.
func (r *rewriter) lockTables(i int) {
	switch {
	case r.is(i+1, "table"):
		r.replace(i+1, i+2, "TABLES")
	case r.is(i+1, "instance"):
		r.refuse(strings.ToUpper(r.raw(i)) + " INSTANCE")
	}
}

// flush drops LOCAL and NO_WRITE_TO_BINLOG, there being no binary log, and
// keeps the first of several options.
func (r *rewriter) flush(i int) {
	j := i + 1
	if r.oneOf(j, "local", "no_write_to_binlog") != "" {
		r.blank(j, j+1)
		j++
	}
	if r.oneOf(j, "tables", "table") == "" {
		return
	}
	end := r.end(j)
	if r.is(end-2, "for", "export") {
		r.refuse("FLUSH TABLES … FOR EXPORT")
	}
}

// kill resolves KILL CONNECTION_ID(); the grammar knows numbers only.
func (r *rewriter) kill(i int) {
	j := i + 1
	if r.oneOf(j, "query", "connection") != "" {
		j++
	}
	if r.is(j, "connection_id") && r.isPunct(j+1, '(') && r.isPunct(j+2, ')') {
		r.replace(j, j+3, strconv.FormatUint(uint64(r.who.connection), 10))
	}
}

// analyzeTable drops what the grammar lacks.
func (r *rewriter) analyzeTable(i int) {
	if r.oneOf(i+1, "local", "no_write_to_binlog") != "" {
		r.blank(i+1, i+2)
	}
	for j := i; !r.ends(j); j++ {
		if r.is(j, "with") && r.is(j+2, "buckets") {
			r.blank(j, j+3)
		}
	}
}
