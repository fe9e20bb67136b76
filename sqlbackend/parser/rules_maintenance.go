package parser

import "strings"

// optimizeTable answers OPTIMIZE TABLE: there is nothing to do, background
// maintenance keeps tables in shape.
func (r *rewriter) optimizeTable(i int) {
	r.tableAnswers(i, "optimize", "'status'", "'OK'")
}

// repairTable answers REPAIR TABLE as MySQL does for InnoDB.
func (r *rewriter) repairTable(i int) {
	r.tableAnswers(i, "repair", "'note'", "'The storage engine for the table doesn''t support repair'")
}

// tableAnswers turns OPTIMIZE or REPAIR TABLE into a query with one row for
// each table, an error row for those that do not exist.
func (r *rewriter) tableAnswers(i int, op, kind, text string) {
	var rows []string
	for _, t := range r.tableList(i) {
		exists := "(SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = " + t.database + " AND table_name = " + quoteString(t.name) + ") > 0"
		full := "CONCAT(" + t.database + ", " + quoteString("."+t.name) + ")"
		rows = append(rows, "SELECT "+full+" AS `Table`, "+quoteString(op)+" AS Op, IF("+exists+", "+kind+", 'Error') AS Msg_type, IF("+
			exists+", "+text+", CONCAT('Table ''', "+full+", ''' doesn''t exist')) AS Msg_text")
	}
	if r.err == nil {
		r.all(i, strings.Join(rows, " UNION ALL "))
	}
}

// checkTable turns CHECK TABLE into a query that reads every row of each table,
// which verifies every checksum.
func (r *rewriter) checkTable(i int) {
	var rows []string
	for _, t := range r.tableList(i) {
		full := "CONCAT(" + t.database + ", " + quoteString("."+t.name) + ")"
		rows = append(rows, "SELECT "+full+" AS `Table`, 'check' AS Op, 'status' AS Msg_type, IF(COUNT(*) < 0, 'Corrupt', 'OK') AS Msg_text FROM "+t.source)
	}
	if r.err == nil {
		r.all(i, strings.Join(rows, " UNION ALL "))
	}
}

// listedTable is a table named in a list.
type listedTable struct {
	database string // as an expression
	name     string
	source   string // as written
}

// tableList reads VERB [LOCAL | NO_WRITE_TO_BINLOG] TABLE[S] t, … [options].
func (r *rewriter) tableList(i int) []listedTable {
	j := i + 1
	if r.oneOf(j, "local", "no_write_to_binlog") != "" {
		j++
	}
	if r.oneOf(j, "table", "tables") == "" {
		r.bad(j)
		return nil
	}
	var out []listedTable
	for {
		j++
		if !r.isName(j) {
			r.bad(j)
			return nil
		}
		t := listedTable{database: "DATABASE()", name: r.name(j)}
		from := j
		if r.isPunct(j+1, '.') && r.isName(j+2) {
			t.database, t.name = quoteString(t.name), r.name(j+2)
			j += 2
		}
		t.source = r.source(from, j+1)
		out = append(out, t)
		if j++; !r.isPunct(j, ',') {
			break
		}
	}
	for ; !r.ends(j); j++ {
		if r.oneOf(j, "for", "upgrade", "quick", "fast", "medium", "extended", "changed", "use_frm") == "" {
			r.bad(j)
			return nil
		}
	}
	return out
}
