package parser

import "strings"

// show rewrites forms of SHOW that the grammar lacks.
func (r *rewriter) show(i int) {
	j := i + 1
	if r.is(j, "extended") {
		r.blank(j, j+1)
		j++
	}
	switch r.lower(j) {
	case "schemas":
		r.replace(j, j+1, "DATABASES")
	case "local", "session":
		if r.is(j, "local") {
			r.replace(j, j+1, "SESSION")
		}
		if r.oneOf(j+1, "variables", "status") == "" {
			r.bad(j + 1)
		}
	case "storage":
		if r.is(j+1, "engines") {
			r.blank(j, j+1)
		}
	case "full":
		if r.is(j+1, "triggers") {
			r.blank(j, j+1)
		}
		r.showFields(j + 1)
	case "fields", "columns", "index", "indexes", "keys":
		r.showFields(j)
	case "engine":
		r.refuse("SHOW ENGINE")
	case "profile":
		r.refuse("SHOW PROFILE")
	case "profiles": // profiling is never on
		r.all(i, "SELECT 0 AS Query_ID, 0.0 AS Duration, '' AS Query FROM DUAL WHERE FALSE")
	case "open":
		if r.is(j+1, "tables") { // no table is kept open between statements
			r.all(i, "SELECT '' AS `Database`, '' AS `Table`, 0 AS In_use, 0 AS Name_locked FROM DUAL WHERE FALSE")
		}
	case "create":
		r.showCreate(j + 1)
	case "procedure", "function":
		if r.is(j+1, "code") {
			r.err = errFeatureDisabled()
		}
	case "parse_tree", "binlog", "relaylog":
		r.refuse("SHOW " + strings.ToUpper(r.raw(j)))
	}
}

// showFields: SHOW FIELDS IN t is SHOW FIELDS FROM t.
func (r *rewriter) showFields(j int) {
	if r.oneOf(j, "fields", "columns", "index", "indexes", "keys") == "" {
		return
	}
	for k := j + 1; k <= j+5 && !r.ends(k); k++ {
		if r.is(k, "in") {
			r.replace(k, k+1, "FROM")
		}
		if r.oneOf(k, "like", "where") != "" {
			return
		}
	}
}

func (r *rewriter) showCreate(j int) {
	switch r.lower(j) {
	case "user":
		r.refuse("SHOW CREATE USER")
	case "function":
		r.err = errNoFunction(r.source(j+1, r.end(j)))
	}
}

// describe: DESCRIBE t column is SHOW COLUMNS FROM t LIKE 'column'.
func (r *rewriter) describe(i int) {
	j := i + 1
	if r.is(j, "for", "connection") {
		r.refuse("EXPLAIN FOR CONNECTION")
		return
	}
	if r.is(j, "format") && r.isPunct(j+1, '=') && r.is(j+2, "json") {
		r.refuse("EXPLAIN FORMAT=JSON")
		return
	}
	if !r.isName(j) || r.oneOf(j, "select", "insert", "update", "delete", "replace", "with", "table", "format", "analyze",
		"extended", "partitions", "for", "values", "into") != "" {
		return
	}
	end := j + 1
	if r.isPunct(end, '.') {
		end += 2
	}
	if r.ends(end) || !r.ends(end+1) {
		return
	}
	pattern := r.raw(end)
	if r.isName(end) {
		pattern = quoteString(r.name(end))
	} else if r.toks[end].kind != tokenString {
		return
	}
	r.all(i, "SHOW COLUMNS FROM "+r.source(j, end)+" LIKE "+pattern)
}
