package parser

// declare refuses handlers that the engine does not run as written: a body of
// other statements than SET makes it start the procedure again, for ever, or
// leaves the body out. What works is SET of a local variable.
func (r *rewriter) declare(i int) {
	if r.oneOf(i+1, "continue", "exit", "undo") == "" || !r.is(i+2, "handler", "for") {
		return
	}
	j := i + 4
	for {
		switch {
		case r.is(j, "not", "found"), r.is(j, "sqlstate") && !r.is(j+1, "value"):
			j += 2
		case r.is(j, "sqlstate", "value"):
			j += 3
		default:
			j++
		}
		if !r.isPunct(j, ',') {
			break
		}
		j++
	}
	if !r.is(j, "set") || r.lower(j+1) == "" {
		r.refuse("DECLARE HANDLER with a statement that is not SET of a local variable")
	}
}
