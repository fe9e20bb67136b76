package parser

import (
	"strconv"
	"strings"
)

// create looks at CREATE statements.
func (r *rewriter) create(i int) {
	j := i + 1
	if r.is(j, "or", "replace") {
		j += 2
	}
	if r.is(j, "temporary") {
		j++
	}
	switch r.lower(j) {
	case "table":
		r.createTable(j + 1)
	case "unique", "fulltext", "spatial", "index":
		r.createIndex(j)
	case "aggregate", "function":
		r.refuse("CREATE FUNCTION")
	case "procedure", "trigger":
		if r.is(j+1, "if", "not", "exists") {
			r.refuse("CREATE " + strings.ToUpper(r.raw(j)) + " IF NOT EXISTS")
		}
	case "definer":
		if k := r.objectKind(j); r.is(k, "function") {
			r.refuse("CREATE FUNCTION")
		}
	case "server", "tablespace", "undo", "logfile", "resource":
		r.refuse("CREATE " + strings.ToUpper(r.raw(j)))
	}
}

// objectKind finds the word that says what CREATE DEFINER = account … creates.
func (r *rewriter) objectKind(j int) int {
	for ; j < len(r.toks); j++ {
		if r.oneOf(j, "view", "procedure", "function", "trigger", "event") != "" {
			return j
		}
	}
	return j
}

// createTable cuts WATERMARK and PARTITION BY out and repairs the definitions;
// i is the token behind TABLE.
func (r *rewriter) createTable(i int) {
	if r.is(i, "if", "not", "exists") {
		i += 3
	}
	if !r.isName(i) {
		return
	}
	if i++; r.isPunct(i, '.') {
		i += 2
	}
	if r.isPunct(i, '(') && r.is(i+1, "like") { // CREATE TABLE t (LIKE u)
		if end := r.closing(i); end < len(r.toks) {
			r.blank(i, i+1)
			r.blank(end, end+1)
		}
		return
	}
	if !r.isPunct(i, '(') || r.oneOf(i+1, "select", "with", "table", "values") != "" {
		return
	}
	end := r.closing(i)
	if end >= len(r.toks) {
		return
	}
	var c Clauses
	r.elements(i, end, &c)
	r.tableOptions(end+1, &c)
	if r.err == nil && c != (Clauses{}) {
		if strings.Contains(c.Watermark+c.Partition, "/*") || strings.Contains(c.Watermark, "*/") {
			r.refuse("comment in a WATERMARK or PARTITION BY clause")
			return
		}
		r.after(end, " SECONDARY_ENGINE_ATTRIBUTE='"+c.encode()+"' ")
	}
}

// elements goes through the comma separated definitions between the
// parentheses open and end.
func (r *rewriter) elements(open, end int, c *Clauses) {
	from, depth := open+1, 0
	for j := open + 1; j <= end; j++ {
		switch {
		case j < end && r.isPunct(j, '('):
			depth++
		case j < end && r.isPunct(j, ')'):
			depth--
		case j == end || depth == 0 && r.isPunct(j, ','):
			if r.is(from, "watermark", "for") {
				r.cutWatermark(open, from, j, end, c)
			} else {
				r.definition(from, j)
			}
			from = j + 1
		}
	}
}

// cutWatermark cuts the watermark element from up to but without to, with one
// of the commas around it.
func (r *rewriter) cutWatermark(open, from, to, end int, c *Clauses) {
	if c.Watermark != "" {
		r.bad(from)
		return
	}
	c.Watermark = r.source(from, to)
	switch {
	case from-1 > open:
		r.blank(from-1, to)
	case to < end:
		r.blank(from, to+1)
	default:
		r.bad(end) // a table without columns
	}
}

// definition repairs one column or key definition, tokens from up to but
// without to.
func (r *rewriter) definition(from, to int) {
	switch r.oneOf(from, "constraint", "primary", "unique", "key", "index", "check", "fulltext", "spatial", "foreign") {
	case "":
		r.columnDefinition(from+1, to)
	default:
		r.keyDefinition(from, to)
	}
}

// keyDefinition drops what decides nothing here: the kind of index and MATCH.
func (r *rewriter) keyDefinition(from, to int) {
	for j := from; j < to; j++ {
		if r.isPunct(j, '(') && r.isPunct(j+1, '(') && !r.is(from, "check") && r.lower(j-1) != "check" {
			r.refuse("functional index")
			return
		}
		switch r.lower(j) {
		case "using":
			if r.oneOf(j+1, "btree", "hash", "rtree") != "" {
				r.blank(j, j+2)
			}
		case "match":
			if r.oneOf(j+1, "full", "partial", "simple") != "" {
				r.blank(j, j+2)
			}
		case "with":
			if r.is(j+1, "parser") {
				r.blank(j, j+3)
			}
		}
	}
}

// columnDefinition repairs a column's type and attributes; i is the token
// behind the name.
func (r *rewriter) columnDefinition(i, to int) {
	depth := 0
	for j := i; j < to; j++ {
		switch {
		case r.isPunct(j, '('):
			depth++
			continue
		case r.isPunct(j, ')'):
			depth--
			continue
		case depth > 0:
			continue
		}
		switch r.lower(j) {
		case "visible":
			r.blank(j, j+1)
		case "invisible":
			r.refuse("INVISIBLE column")
		case "year":
			if j == i && r.isPunct(j+1, '(') {
				r.blank(j+1, j+4)
			}
		case "byte":
			if j == i+1 || r.isPunct(j-1, ')') {
				r.byteType(i, j)
			}
		case "blob":
			if j == i {
				r.blobLength(i)
			}
		case "ascii":
			r.replace(j, j+1, "CHARACTER SET latin1")
		case "unicode":
			r.replace(j, j+1, "CHARACTER SET ucs2")
		case "references":
			end := r.referencesEnd(j, to)
			r.blank(j, end) // MySQL ignores it: only FOREIGN KEY makes one
			j = end - 1
		case "default", "comment":
			j++ // its value
		}
	}
}

// blobLength: BLOB(n) is the smallest type for n bytes.
func (r *rewriter) blobLength(i int) {
	if !r.isPunct(i+1, '(') || !r.isPunct(i+3, ')') {
		return
	}
	n, err := strconv.ParseUint(r.raw(i+2), 10, 64)
	if err != nil {
		return
	}
	name := "longblob"
	switch {
	case n < 1<<8:
		name = "tinyblob"
	case n < 1<<16:
		name = "blob"
	case n < 1<<24:
		name = "mediumblob"
	}
	r.replace(i, i+4, name)
}

// byteType: CHAR(n) BYTE is BINARY(n); i is the type, j the word BYTE.
func (r *rewriter) byteType(i, j int) {
	switch r.lower(i) {
	case "char", "character":
		r.replace(i, i+1, "BINARY")
		r.blank(j, j+1)
	case "varchar":
		r.replace(i, i+1, "VARBINARY")
		r.blank(j, j+1)
	}
}

// referencesEnd returns the end of REFERENCES t (c) [MATCH m] [ON DELETE a] [ON UPDATE a].
func (r *rewriter) referencesEnd(j, to int) int {
	j += 2
	if r.isPunct(j, '.') {
		j += 2
	}
	if r.isPunct(j, '(') {
		j = r.closing(j) + 1
	}
	for j < to {
		switch {
		case r.is(j, "match"):
			j += 2
		case r.is(j, "on") && r.oneOf(j+1, "delete", "update") != "":
			j += 2
			if r.is(j, "set", "null") || r.is(j, "set", "default") || r.is(j, "no", "action") {
				j++
			}
			j++
		default:
			return min(j, to)
		}
	}
	return to
}

// tableOptions cuts the clauses behind the column list and repairs options.
func (r *rewriter) tableOptions(i int, c *Clauses) {
	depth := 0
	for j := i; !r.ends(j); j++ {
		switch {
		case r.isPunct(j, '('):
			depth++
			continue
		case r.isPunct(j, ')'):
			depth--
			continue
		case depth > 0:
			continue
		}
		switch r.lower(j) {
		case "as", "select", "with", "table", "values":
			return
		case "ignore", "replace":
			if r.oneOf(j+1, "as", "select") != "" {
				r.refuse("CREATE TABLE … " + strings.ToUpper(r.raw(j)) + " SELECT")
				return
			}
		case "autoextend_size":
			r.optionValue(j)
		case "watermark":
			if r.is(j+1, "for") {
				end := r.clauseEnd(j, "partition")
				r.cutClause(j, end, &c.Watermark)
				j = end - 1
			}
		case "partition":
			if r.is(j+1, "by") {
				end := r.clauseEnd(j, "as", "select", "ignore", "replace")
				r.cutClause(j, end, &c.Partition)
				j = end - 1
			}
		}
	}
}

// optionValue quotes the value of an option such as 4M.
func (r *rewriter) optionValue(j int) {
	if j++; r.isPunct(j, '=') {
		j++
	}
	if j < len(r.toks) && r.toks[j].kind == tokenWord {
		r.replace(j, j+1, quoteString(r.raw(j)))
	}
}

// cutClause moves tokens into dst.
func (r *rewriter) cutClause(from, to int, dst *string) {
	if *dst != "" {
		r.bad(from)
		return
	}
	*dst = r.source(from, to)
	r.blank(from, to)
}

// clauseEnd returns the first token behind from at the same depth that is one of
// the words, or the end of the statement.
func (r *rewriter) clauseEnd(from int, words ...string) int {
	depth := 0
	for j := from + 1; ; j++ {
		switch {
		case r.ends(j):
			return j
		case r.isPunct(j, '('):
			depth++
		case r.isPunct(j, ')'):
			depth--
		case depth == 0 && r.oneOf(j, words...) != "":
			return j
		}
	}
}

// createIndex drops index kinds and the options that say how to build.
func (r *rewriter) createIndex(i int) {
	end := r.end(i)
	r.keyDefinition(i, end)
	r.buildOptions(i, end)
}

// buildOptions drops ALGORITHM [=] x and LOCK [=] x.
func (r *rewriter) buildOptions(from, to int) {
	for j := from; j < to; j++ {
		word := r.oneOf(j, "algorithm", "lock")
		if word == "" || r.isPunct(j-1, '.') {
			continue
		}
		k := j + 1
		if r.isPunct(k, '=') {
			k++
		}
		switch r.oneOf(k, "default", "inplace", "copy", "instant", "none", "shared", "exclusive") {
		case "":
			continue
		}
		at := j
		if r.isPunct(j-1, ',') {
			at-- // the comma of an ALTER TABLE list
		} else if r.isPunct(k+1, ',') {
			k++
		}
		r.blank(at, k+1)
		j = k
	}
}
