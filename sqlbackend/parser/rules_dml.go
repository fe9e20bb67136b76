package parser

import "strings"

// insert rewrites INSERT … SET a = 1 AS new ON DUPLICATE KEY UPDATE …: the
// grammar knows the row alias behind VALUES only.
func (r *rewriter) insert(i int) {
	set := r.clauseEnd(i, "set", "values", "value", "select", "table", "with")
	if !r.is(set, "set") {
		return
	}
	as := r.clauseEnd(set, "as", "on")
	if !r.is(as, "as") {
		return
	}
	var columns, values []string
	for j := set + 1; j < as; {
		eq := j
		for eq < as && !r.isPunct(eq, '=') {
			eq++
		}
		end := eq + 1
		for depth := 0; end < as; end++ {
			if r.isPunct(end, '(') {
				depth++
			} else if r.isPunct(end, ')') {
				depth--
			} else if depth == 0 && r.isPunct(end, ',') {
				break
			}
		}
		if eq >= as || end <= eq+1 {
			r.bad(j)
			return
		}
		columns = append(columns, r.source(j, eq))
		values = append(values, r.source(eq+1, end))
		j = end + 1
	}
	r.replace(set, as, "("+strings.Join(columns, ", ")+") VALUES ("+strings.Join(values, ", ")+")")
}

// deleteFrom rewrites DELETE FROM t [AS] x: the grammar knows aliases in the
// form DELETE x FROM t AS x only.
func (r *rewriter) deleteFrom(i int) {
	from := i + 1
	for r.oneOf(from, "low_priority", "quick", "ignore") != "" {
		from++
	}
	if !r.is(from, "from") || !r.isName(from+1) {
		return
	}
	j := from + 2
	if r.isPunct(j, '.') {
		j += 2
	}
	if r.isPunct(j, '.') || r.isPunct(j, ',') {
		return
	}
	if r.is(j, "as") {
		j++
	} else if !r.isName(j) || r.oneOf(j, "where", "order", "limit", "using", "partition", "returning", "join", "inner",
		"left", "right", "cross", "natural", "straight_join") != "" {
		return
	}
	if !r.isName(j) {
		return
	}
	if end := r.clauseEnd(j, "order", "limit"); !r.ends(end) {
		r.refuse("DELETE with a table alias and ORDER BY or LIMIT")
		return
	}
	r.before(from, r.raw(j)+" ")
}

// loadData refuses LOAD XML.
func (r *rewriter) loadData(i int) {
	switch r.lower(i + 1) {
	case "xml":
		r.refuse("LOAD XML")
	case "index":
		r.refuse("LOAD INDEX INTO CACHE")
	}
}
