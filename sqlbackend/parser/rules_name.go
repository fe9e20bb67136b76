package parser

// plainName quotes words that MySQL allows as names and the engine's grammar
// takes for keywords, where only a name can stand: behind AS, behind a dot, and
// as column of a CREATE TABLE list.
func (r *rewriter) plainName(i int) {
	if r.isPunct(i+1, '(') && !r.isPunct(i-1, '.') {
		return // a function call, or a key's column list
	}
	switch {
	case r.isPunct(i-1, '.'), r.is(i-1, "as") && !r.isCast(i):
	default:
		switch r.lower(i) {
		case "now", "returning", "substr", "std", "stddev", "variance", "group_concat", "bit_and", "bit_or", "bit_xor",
			"json_arrayagg", "json_objectagg", "stddev_pop", "stddev_samp", "var_pop", "var_samp", "next", "off":
			// never followed by anything but "(" as a keyword
			if r.lower(i) == "returning" && !r.isPunct(i+1, ',') && !r.isPunct(i+1, ')') && !r.isPunct(i+1, '=') {
				return
			}
			if r.lower(i) == "next" && r.oneOf(i+1, "value", "values", "row", "rows") != "" {
				return
			}
			if r.is(i, "off") && r.isPunct(i-1, '=') { // SET x = OFF
				return
			}
		default:
			return
		}
	}
	r.replace(i, i+1, quoteName(r.raw(i)))
}

// isCast says whether token i stands where CAST(… AS type) has its type.
func (r *rewriter) isCast(i int) bool {
	depth := 0
	for j := i - 1; j >= 0; j-- {
		switch {
		case r.isPunct(j, ')'):
			depth++
		case r.isPunct(j, '('):
			if depth--; depth < 0 {
				return r.oneOf(j-1, "cast", "weight_string") != ""
			}
		}
	}
	return false
}
