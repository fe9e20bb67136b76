package parser

import "strings"

// isUnknown: IS [NOT] UNKNOWN is IS [NOT] NULL.
func (r *rewriter) isUnknown(i int) {
	if r.is(i-1, "is") || r.is(i-2, "is", "not") {
		r.replace(i, i+1, "NULL")
	}
}

// rowConstructor drops ROW before (a, b), unless it begins a row of VALUES.
func (r *rewriter) rowConstructor(i int) {
	if !r.isPunct(i+1, '(') || r.is(i-1, "values") || r.is(i-1, "value") || r.is(i-1, "each") {
		return
	}
	// a later row of VALUES ROW(…), ROW(…)
	for j := i - 1; r.isPunct(j, ',') && r.isPunct(j-1, ')'); {
		open := r.opening(j - 1)
		if !r.is(open-1, "row") {
			break
		}
		if r.is(open-2, "values") {
			return
		}
		j = open - 2
	}
	r.blank(i, i+1)
}

// opening returns the token that opens the parenthesis closed at token i, or -1.
func (r *rewriter) opening(i int) int {
	depth := 0
	for j := i; j >= 0; j-- {
		switch {
		case r.isPunct(j, ')'):
			depth++
		case r.isPunct(j, '('):
			if depth--; depth == 0 {
				return j
			}
		}
	}
	return -1
}

// IntervalFunction is INTERVAL(n, a, b, …), whose name is a keyword of the
// engine's grammar.
const IntervalFunction = "ksql_interval"

// interval renames the function INTERVAL(n, a, …) and makes composite units
// (DAY_HOUR) readable behind INTERVAL expr.
func (r *rewriter) interval(i int) {
	j := i + 1
	if r.isPunct(j, '(') {
		end := r.closing(j)
		depth := 0
		for k := j; k < end; k++ {
			switch {
			case r.isPunct(k, '('):
				depth++
			case r.isPunct(k, ')'):
				depth--
			case r.isPunct(k, ',') && depth == 1:
				r.replace(i, i+1, IntervalFunction)
				return
			}
		}
		j = end
	}
	// The unit is the first bare word of that kind at this depth.
	depth := 0
	for k := j; k < len(r.toks); k++ {
		switch {
		case r.isPunct(k, '('):
			depth++
		case r.isPunct(k, ')'):
			if depth--; depth < 0 {
				return
			}
		case depth == 0 && r.toks[k].kind == tokenWord && k > i+1:
			r.unit(k)
			if unitNames[r.lower(k)] || compositeUnits[r.lower(k)] {
				return
			}
		}
	}
}

var (
	unitNames = map[string]bool{"microsecond": true, "second": true, "minute": true, "hour": true, "day": true,
		"week": true, "month": true, "quarter": true, "year": true}
	compositeUnits = map[string]bool{"second_microsecond": true, "minute_microsecond": true, "minute_second": true,
		"hour_microsecond": true, "hour_second": true, "hour_minute": true, "day_microsecond": true, "day_second": true,
		"day_minute": true, "day_hour": true, "year_month": true}
)

// unit makes a unit readable: composite ones are keywords for the grammar, and
// SQL_TSI_ is an old prefix.
func (r *rewriter) unit(i int) {
	w := r.lower(i)
	if compositeUnits[w] {
		r.replace(i, i+1, "`"+strings.ToUpper(w)+"`")
	} else if u, ok := strings.CutPrefix(w, "sql_tsi_"); ok && unitNames[u] {
		r.replace(i, i+1, strings.ToUpper(u))
	}
}

// timestampUnit drops the prefix SQL_TSI_ of a unit.
func (r *rewriter) timestampUnit(i int) {
	if r.isPunct(i+1, '(') && strings.HasPrefix(r.lower(i+2), "sql_tsi_") {
		r.unit(i + 2)
	}
}

// MemberOfFunction carries the right side of MEMBER OF: the engine sees
// value REGEXP ksql_member_of(json).
const MemberOfFunction = "ksql_member_of"

// memberOf rewrites value MEMBER OF (json).
func (r *rewriter) memberOf(i int) {
	if r.is(i+1, "of") && r.isPunct(i+2, '(') {
		r.replace(i, i+2, "REGEXP "+MemberOfFunction)
	}
}

// nullTreatment: RESPECT NULLS is the default of window functions, IGNORE NULLS
// is not supported (nor is it in MySQL).
func (r *rewriter) nullTreatment(i int) {
	switch {
	case r.is(i, "respect", "nulls") && r.isPunct(i-1, ')'):
		r.blank(i, i+2)
	case r.is(i-1, "ignore", "nulls") && r.isPunct(i-2, ')'):
		r.refuse("IGNORE NULLS")
	}
}

// trimDefault: TRIM(LEADING FROM s) removes spaces.
func (r *rewriter) trimDefault(i int) {
	if r.is(i+1, "from") && r.isPunct(i-1, '(') && r.is(i-2, "trim") {
		r.after(i, " ' '")
	}
}

// punct looks at braces and assignments.
func (r *rewriter) punct(i int) {
	switch {
	case r.isPunct(i, '{'):
		r.escape(i)
	case r.isPunct(i, ':') && r.isPunct(i+1, '=') && r.toks[i+1].from == r.toks[i].to:
		r.assignment(i)
	}
}

// escape rewrites the ODBC escapes {d '…'}, {t '…'}, {ts '…'}, {fn f()}, {oj …}.
func (r *rewriter) escape(i int) {
	depth, end := 0, -1
	for j := i; j < len(r.toks) && end < 0; j++ {
		if r.isPunct(j, '{') {
			depth++
		} else if r.isPunct(j, '}') {
			if depth--; depth == 0 {
				end = j
			}
		}
	}
	if end < 0 || !r.isName(i+1) {
		r.bad(i)
		return
	}
	switch r.lower(i + 1) {
	case "d":
		r.replace(i, i+2, "DATE")
	case "t":
		r.replace(i, i+2, "TIME")
	case "ts":
		r.replace(i, i+2, "TIMESTAMP")
	default:
		r.blank(i, i+2)
	}
	r.blank(end, end+1)
}

// AssignFunction is @name := expression inside of an expression.
const AssignFunction = "ksql_assign"

// assignment rewrites @v := expr outside of SET to a function call. The
// expression reaches as far to the right as it can.
func (r *rewriter) assignment(i int) {
	v := i - 1
	if v < 0 || r.toks[v].kind != tokenVariable || strings.HasPrefix(r.raw(v), "@@") || r.inSet(v) {
		return
	}
	end := r.expressionEnd(i + 2)
	if end <= i+2 {
		r.bad(i + 2)
		return
	}
	name := strings.Trim(r.raw(v)[1:], "'\"`")
	r.edits.replace(r.toks[v].from, r.toks[i+1].to, AssignFunction+"("+quoteString(strings.ToLower(name))+", ")
	r.after(end-1, ")")
}

// inSet says whether the assignment to token v belongs to a SET statement.
func (r *rewriter) inSet(v int) bool {
	depth := 0
	for j := v - 1; j >= 0; j-- {
		switch {
		case r.isPunct(j, ')'):
			depth++
		case r.isPunct(j, '('):
			if depth--; depth < 0 {
				return false
			}
		case depth == 0 && r.isPunct(j, ';'):
			return false
		case depth == 0 && r.is(j, "set"):
			return j == 0 || r.program && r.beginsStatement(j)
		}
	}
	return false
}

// expressionEnd returns the first token behind the expression at token i.
func (r *rewriter) expressionEnd(i int) int {
	depth, cases := 0, 0
	for ; i < len(r.toks); i++ {
		switch {
		case r.isPunct(i, '('):
			depth++
			continue
		case r.isPunct(i, ')'):
			if depth--; depth < 0 {
				return i
			}
			continue
		case depth > 0:
			continue
		case r.isPunct(i, ',') || r.isPunct(i, ';'):
			return i
		}
		switch w := r.lower(i); w {
		case "case":
			cases++
		case "end":
			if cases--; cases < 0 {
				return i
			}
		case "when", "then", "else":
			if cases == 0 {
				return i
			}
		case "as", "from", "where", "group", "having", "order", "limit", "union", "into", "for", "lock", "except", "intersect", "window", "asc", "desc", "on":
			return i
		default:
			if i > 0 && r.isName(i) && r.endsOperand(i-1) && !operatorWords[w] {
				return i // an alias without AS
			}
		}
	}
	return i
}

// endsOperand says whether an operand can end with token i.
func (r *rewriter) endsOperand(i int) bool {
	switch r.toks[i].kind {
	case tokenPunct:
		return r.isPunct(i, ')')
	case tokenWord:
		return !operatorWords[r.lower(i)]
	}
	return true
}

// operatorWords are words between operands.
var operatorWords = map[string]bool{"and": true, "or": true, "xor": true, "not": true, "div": true, "mod": true, "is": true,
	"in": true, "like": true, "rlike": true, "regexp": true, "between": true, "collate": true, "binary": true, "interval": true,
	"escape": true, "sounds": true, "member": true, "of": true, "exists": true, "case": true, "over": true, "distinct": true,
	"when": true, "then": true, "else": true}

// QuantifiedFunction is a comparison with ALL or ANY of a subquery's values; its
// arguments are the operator, "all" or "any", the left side and the subquery. In
// the text that the grammar reads, the quantifier is a function named after it.
const QuantifiedFunction = "ksql_quantified"

// quantifiers are the functions that carry ALL and ANY through the grammar.
var quantifiers = map[string]string{"ksql_all": "all", "ksql_any": "any"}

// quantifier rewrites the quantifier of a comparison with a subquery: = ANY is IN,
// <> ALL is NOT IN, and others become functions.
func (r *rewriter) quantifier(i int) {
	if !r.isPunct(i+1, '(') || r.oneOf(i+2, "select", "with", "table", "values") == "" && !r.isPunct(i+2, '(') {
		return
	}
	from := i - 1
	for r.isPunct(from, '=') || r.isPunct(from, '<') || r.isPunct(from, '>') || r.isPunct(from, '!') {
		from--
	}
	from++
	name := "all"
	if !r.is(i, "all") {
		name = "any"
	}
	switch op := strings.ReplaceAll(r.source(from, i), " ", ""); op {
	case "":
		return
	case "=":
		if name == "any" {
			r.replace(from, i+1, "IN")
			return
		}
	case "<>", "!=":
		if name == "all" {
			r.replace(from, i+1, "NOT IN")
			return
		}
	}
	end := r.closing(i + 1)
	if end >= len(r.toks) {
		return
	}
	r.replace(i, i+1, "ksql_"+name+"(")
	r.after(end, ")")
}

// frameUnit is the unit, told by its spelling, of the interval as which a window
// frame's distance travels that the grammar does not read as a number.
const frameUnit = "mICROSECOND"

// frameBound: the grammar knows whole numbers and intervals as distances of window
// frames, not parameters and fractions.
func (r *rewriter) frameBound(i int) {
	from := i - 1
	switch {
	case r.isPunct(from, '?'):
	case r.isDigits(from) && r.isPunct(from-1, '.'):
		if from--; r.isDigits(from - 1) {
			from--
		}
	default:
		return
	}
	r.before(from, "INTERVAL ")
	r.after(i-1, " "+frameUnit)
}

// isDigits says whether token i is a whole number.
func (r *rewriter) isDigits(i int) bool {
	if i < 0 || i >= len(r.toks) || r.toks[i].kind != tokenWord {
		return false
	}
	return strings.Trim(r.raw(i), "0123456789") == ""
}
