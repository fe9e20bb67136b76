package parser

import "strings"

// alter looks at ALTER statements.
func (r *rewriter) alter(i int) {
	j := i + 1
	switch r.lower(j) {
	case "table":
		r.alterTable(j + 1)
	case "view", "algorithm", "sql":
		if r.is(r.objectKind(j), "view") {
			r.replace(i, i+1, "CREATE OR REPLACE")
		}
	case "definer":
		if r.is(r.objectKind(j), "view") {
			r.replace(i, i+1, "CREATE OR REPLACE")
		}
	case "procedure", "function":
		r.refuse("ALTER " + strings.ToUpper(r.raw(j)))
	case "server", "tablespace", "undo", "logfile", "resource", "instance":
		r.refuse("ALTER " + strings.ToUpper(r.raw(j)))
	case "database", "schema":
		if k := r.clauseEnd(j, "read"); r.is(k, "read", "only") {
			r.refuse("ALTER DATABASE … READ ONLY")
		}
	case "user":
		r.alterUser(j + 1)
	}
}

// alterTable repairs the list of changes; i is the table's name.
func (r *rewriter) alterTable(i int) {
	if !r.isName(i) {
		return
	}
	if i++; r.isPunct(i, '.') {
		i += 2
	}
	end := r.end(i)
	r.buildOptions(i, end)
	from, depth := i, 0
	for j := i; j <= end && r.err == nil; j++ {
		switch {
		case j < end && r.isPunct(j, '('):
			depth++
		case j < end && r.isPunct(j, ')'):
			depth--
		case j == end || depth == 0 && r.isPunct(j, ','):
			r.alterChange(from, j)
			from = j + 1
		}
	}
}

// alterChange repairs one change, tokens from up to but without to.
func (r *rewriter) alterChange(from, to int) {
	if from >= to {
		return
	}
	switch r.lower(from) {
	case "add":
		r.alterAdd(from, to)
	case "modify", "change":
		j := from + 1
		if r.is(j, "column") {
			j++
		}
		if r.is(from, "change") {
			j++
		}
		r.columnDefinition(j+1, to)
	case "alter":
		if r.is(from+1, "watermark") {
			r.refuse("ALTER TABLE … ALTER WATERMARK")
		}
		for j := from; j < to; j++ {
			if r.is(j, "set", "visible") || r.is(j, "set", "invisible") {
				r.refuse("INVISIBLE column")
			}
		}
	case "drop":
		if r.oneOf(from+1, "partition", "watermark") != "" && !r.ends(from+2) {
			r.refuse("ALTER TABLE … DROP " + strings.ToUpper(r.raw(from+1)))
		} else if r.is(from+1, "watermark") {
			r.refuse("ALTER TABLE … DROP WATERMARK")
		}
	case "partition", "coalesce", "reorganize", "remove", "truncate", "rebuild", "exchange", "optimize", "analyze",
		"check", "repair":
		if r.oneOf(from, "partition") != "" || r.oneOf(from+1, "partition", "partitioning") != "" {
			r.refuse("ALTER TABLE … PARTITION")
		}
	case "discard", "import":
		if r.is(from+1, "tablespace") {
			r.refuse("ALTER TABLE … TABLESPACE")
		}
	case "order":
		r.dropChange(from, to) // rows are kept in primary key order
	case "force":
		r.dropChange(from, to)
	}
}

// dropChange drops a change from the list, or makes a list of one change do
// nothing.
func (r *rewriter) dropChange(from, to int) {
	switch {
	case r.isPunct(from-1, ','):
		r.blank(from-1, to)
	case r.isPunct(to, ','):
		r.blank(from, to+1)
	default:
		r.replace(from, to, "ENGINE=InnoDB")
	}
}

// alterAdd repairs ADD …; ADD COLUMN (a …, b …) becomes one change a column.
func (r *rewriter) alterAdd(from, to int) {
	j := from + 1
	if r.oneOf(j, "partition", "watermark") != "" {
		r.refuse("ALTER TABLE … ADD " + strings.ToUpper(r.raw(j)))
		return
	}
	column := r.is(j, "column")
	if column {
		j++
	}
	if !r.isPunct(j, '(') {
		if column {
			r.columnDefinition(j+1, to)
		} else {
			r.definition(j, to)
		}
		return
	}
	end := r.closing(j)
	if end >= len(r.toks) {
		return
	}
	r.blank(j, j+1)
	r.blank(end, end+1)
	start, depth := j+1, 0
	for k := j + 1; k <= end; k++ {
		switch {
		case k < end && r.isPunct(k, '('):
			depth++
		case k < end && r.isPunct(k, ')'):
			depth--
		case k == end || depth == 0 && r.isPunct(k, ','):
			r.definition(start, k)
			if k < end {
				r.after(k, " ADD ")
			}
			start = k + 1
		}
	}
}

// alterUser resolves USER() and refuses what the engine can't change.
func (r *rewriter) alterUser(i int) {
	if r.is(i, "if", "exists") {
		i += 2
	}
	if r.oneOf(i, "user", "current_user") != "" {
		end := i + 1
		if r.isPunct(end, '(') && r.isPunct(end+1, ')') {
			end += 2
		}
		r.resolved.replace(r.toks[i].from, r.toks[end-1].to, quoteString(r.who.user)+"@"+quoteString(r.who.host))
	}
	for j := i; !r.ends(j); j++ {
		switch {
		case r.is(j, "account", "lock"), r.is(j, "account", "unlock"):
			r.refuse("ALTER USER … ACCOUNT")
		case r.is(j, "password", "expire"):
			r.refuse("ALTER USER … PASSWORD EXPIRE")
		case r.is(j, "default", "role"):
			r.refuse("ALTER USER … DEFAULT ROLE")
		}
	}
}

// drop looks at DROP statements.
func (r *rewriter) drop(i int) {
	j := i + 1
	switch r.lower(j) {
	case "tables":
		r.replace(j, j+1, "TABLE")
		r.dropTail(j)
	case "table", "view":
		r.dropTail(j)
	case "temporary":
		if r.is(j+1, "tables") {
			r.replace(j+1, j+2, "TABLE")
		}
		r.dropTail(j)
	case "index":
		r.buildOptions(j, r.end(j))
	case "function":
		r.dropFunction(i, j+1)
	case "server", "tablespace", "undo", "logfile", "resource", "spatial":
		r.refuse("DROP " + strings.ToUpper(r.raw(j)))
	}
}

// dropTail drops RESTRICT and CASCADE, which do nothing in MySQL.
func (r *rewriter) dropTail(j int) {
	if end := r.end(j); r.oneOf(end-1, "restrict", "cascade") != "" && end-1 > j+1 && !r.isPunct(end-2, '.') && !r.isPunct(end-2, ',') {
		r.blank(end-1, end)
	}
}

// dropFunction: there are no stored functions, so IF EXISTS does nothing.
func (r *rewriter) dropFunction(i, j int) {
	if r.is(j, "if", "exists") {
		r.all(i, nothing)
		return
	}
	if r.err == nil {
		r.err = errNoFunction(r.source(j, r.end(j)))
	}
}

// nothing is a statement that the engine runs without any effect that a client
// can see.
const nothing = "SET @`ksql nothing` = NULL"

// rename: RENAME TABLES is RENAME TABLE.
func (r *rewriter) rename(i int) {
	if r.is(i+1, "tables") {
		r.replace(i+1, i+2, "TABLE")
	}
}
