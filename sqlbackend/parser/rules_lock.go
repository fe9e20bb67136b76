package parser

import "strings"

// lockClause rewrites lock clauses that the engine's grammar lacks: FOR SHARE
// becomes LOCK IN SHARE MODE; with OF, NOWAIT or SKIP LOCKED, or with more than
// one clause, everything travels as names of pseudo tables behind FOR UPDATE
// OF (see lockRequests). It also drops FOR … in index hints.
func (r *rewriter) lockClause(i int) {
	if r.is(i-1, "index") || r.is(i-1, "key") {
		r.hintPurpose(i)
		return
	}
	if r.oneOf(i+1, "share", "update") == "" || i > 0 && r.isLockTail(i) {
		return
	}
	if r.is(i+1, "share") && r.oneOf(i+2, "of", "nowait", "skip", "for") == "" {
		r.replace(i, i+2, "LOCK IN SHARE MODE")
		return
	}
	specs, end, clauses := r.lockClauses(i)
	if r.is(i+1, "update") && clauses == 1 {
		return // the grammar knows it
	}
	r.replace(i, end, "FOR UPDATE OF "+strings.Join(specs, ", "))
}

// isLockTail says whether the clause at token i follows another one, which has
// taken it along.
func (r *rewriter) isLockTail(i int) bool {
	for j := i - 1; j >= 0 && (r.isName(j) || r.isPunct(j, ',')); j-- {
		if r.is(j, "for") && r.oneOf(j+1, "share", "update") != "" {
			return true
		}
	}
	return false
}

// lockClauses reads all lock clauses from token i on.
func (r *rewriter) lockClauses(i int) (specs []string, end, clauses int) {
	for r.is(i, "for") && r.oneOf(i+1, "share", "update") != "" {
		mode := "x"
		if r.is(i+1, "share") {
			mode = "s"
		}
		i += 2
		var tables []string
		if r.is(i, "of") {
			for i++; r.isName(i); i++ {
				tables = append(tables, r.name(i))
				if i++; !r.isPunct(i, ',') {
					break
				}
			}
		}
		wait := "wait"
		switch {
		case r.is(i, "nowait"):
			wait = "nowait"
			i++
		case r.is(i, "skip", "locked"):
			wait = "skip"
			i += 2
		}
		head := lockTable + mode + ":" + wait
		for _, t := range tables {
			specs = append(specs, quoteName(head+":"+t))
		}
		if len(tables) == 0 {
			specs = append(specs, quoteName(head))
		}
		clauses++
	}
	return specs, i, clauses
}

// name returns the identifier at token i without quotes.
func (r *rewriter) name(i int) string {
	s := r.raw(i)
	if r.toks[i].kind == tokenQuoted && len(s) >= 2 {
		q := s[:1]
		return strings.ReplaceAll(s[1:len(s)-1], q+q, q)
	}
	return s
}

// definer resolves DEFINER=CURRENT_USER[()].
func (r *rewriter) definer(i int) {
	if !r.isPunct(i+1, '=') || !r.is(i+2, "current_user") {
		return
	}
	end := i + 3
	if r.isPunct(i+3, '(') && r.isPunct(i+4, ')') {
		end = i + 5
	}
	r.resolved.replace(r.toks[i+2].from, r.toks[end-1].to, quoteName(r.who.user)+"@"+quoteName(r.who.host))
}

// hintPurpose drops FOR JOIN, FOR ORDER BY and FOR GROUP BY of an index hint: an
// index is hinted for every purpose.
func (r *rewriter) hintPurpose(i int) {
	switch {
	case r.is(i+1, "join"):
		r.blank(i, i+2)
	case r.is(i+1, "order", "by"), r.is(i+1, "group", "by"):
		r.blank(i, i+3)
	}
}

// indexHint: the grammar knows USE INDEX but not USE KEY, and no empty list (which
// forbids indexes, and changes no answer).
func (r *rewriter) indexHint(i int) {
	if r.oneOf(i-1, "use", "force", "ignore") == "" {
		return
	}
	switch {
	case r.isPunct(i+1, '(') && r.isPunct(i+2, ')'):
		r.blank(i-1, i+3)
	case r.is(i, "key") && (r.isPunct(i+1, '(') || r.is(i+1, "for")):
		r.replace(i, i+1, "INDEX")
	}
}
