package parser

// dropModifier drops words that change how MySQL schedules a statement, not
// what it does, where they can stand: behind the statement's first word or
// behind other modifiers.
func (r *rewriter) dropModifier(i int) {
	prev := r.lower(i - 1)
	switch r.lower(i) {
	case "low_priority", "delayed", "high_priority", "quick":
		switch prev {
		case "insert", "replace", "update", "delete", "select", "low_priority", "quick", "distinct", "all",
			"sql_buffer_result", "sql_small_result", "sql_big_result", "sql_no_cache", "high_priority", "straight_join":
			r.blank(i, i+1)
		case "data":
			if r.is(i-2, "load", "data") {
				r.blank(i, i+1)
			}
		default:
			if r.is(i+1, "write") && r.is(i, "low_priority") { // LOCK TABLES t LOW_PRIORITY WRITE
				r.blank(i, i+1)
			}
		}
	case "concurrent":
		if r.is(i-2, "load", "data") {
			r.blank(i, i+1)
		}
	case "distinctrow":
		if !r.isPunct(i-1, '.') {
			r.replace(i, i+1, "DISTINCT   ")
		}
	default: // options of SELECT
		switch prev {
		case "select", "distinct", "distinctrow", "all", "high_priority", "straight_join", "sql_buffer_result",
			"sql_small_result", "sql_big_result", "sql_no_cache", "sql_calc_found_rows":
			r.blank(i, i+1)
		}
	}
}

// refuseClause refuses clauses that the engine would drop without a word.
func (r *rewriter) refuseClause(i int) {
	switch r.lower(i) {
	case "rollup":
		if r.is(i-1, "with") {
			r.refuse("WITH ROLLUP")
		}
	case "partition":
		if r.isPunct(i+1, '(') && !r.isPunct(i-1, '.') { // SELECT … FROM t PARTITION (p0)
			r.refuse("PARTITION (…)")
		}
	case "outfile":
		if r.is(i-1, "into") {
			r.refuse("SELECT … INTO OUTFILE")
		}
	case "dumpfile":
		if r.is(i-1, "into") {
			r.refuse("SELECT … INTO DUMPFILE")
		}
	}
}
