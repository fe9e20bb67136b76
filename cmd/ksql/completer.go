package main

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// completer completes keywords and the names of databases, tables and columns.
type completer struct {
	conn   *sql.Conn
	loaded bool
	names  []string            // databases, tables and columns, sorted
	tables map[string][]string // lower-case table name: its columns
}

// completionTime bounds the look-up of names behind a Tab.
const completionTime = 2 * time.Second

// forget makes the next Tab read the names again.
func (c *completer) forget() { c.loaded = false }

// complete is liner's word completer; pos counts characters.
func (c *completer) complete(line string, pos int) (head string, completions []string, tail string) {
	runes := []rune(line)
	before, tail := string(runes[:pos]), string(runes[pos:])
	start := wordStart(before)
	head, word := before[:start], before[start:]
	c.load()
	if table, ok := strings.CutSuffix(head, "."); ok {
		table = strings.TrimSuffix(table, "`")
		table = table[wordStart(table):]
		return head, matching(c.tables[strings.ToLower(table)], word), tail
	}
	if word == "" {
		return head, nil, tail
	}
	found := matching(c.names, word)
	for _, k := range keywords {
		if len(k) >= len(word) && strings.EqualFold(k[:len(word)], word) {
			if unicode.IsLower(firstRune(word)) {
				k = strings.ToLower(k)
			}
			found = append(found, k)
		}
	}
	return head, found, tail
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// wordStart is where the last word of text begins.
func wordStart(text string) int {
	return strings.LastIndexFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '$'
	}) + 1
}

// matching are the names that begin with a prefix in any case.
func matching(names []string, prefix string) []string {
	var found []string
	for _, n := range names {
		if len(n) >= len(prefix) && strings.EqualFold(n[:len(prefix)], prefix) {
			found = append(found, n)
		}
	}
	return found
}

// load reads the names. Completion is a comfort: if they can't be read there are none.
func (c *completer) load() {
	if c.loaded || c.conn == nil {
		return
	}
	c.loaded = true
	ctx, cancel := context.WithTimeout(context.Background(), completionTime)
	defer cancel()
	c.names, c.tables = nil, map[string][]string{}
	seen := map[string]bool{}
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			c.names = append(c.names, name)
		}
	}
	c.each(ctx, "SHOW DATABASES", func(v []string) { add(v[0]) })
	c.each(ctx, "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = DATABASE() ORDER BY table_name, ordinal_position",
		func(v []string) {
			add(v[0])
			add(v[1])
			c.tables[strings.ToLower(v[0])] = append(c.tables[strings.ToLower(v[0])], v[1])
		})
	slices.Sort(c.names)
}

func (c *completer) each(ctx context.Context, query string, do func([]string)) {
	rows, err := c.conn.QueryContext(ctx, query)
	if err != nil {
		return
	}
	defer rows.Close() // what could be read is used
	s, err := newScanner(rows, false)
	if err != nil {
		return
	}
	for {
		row, ok, err := s.next()
		if !ok || err != nil {
			return
		}
		texts := make([]string, len(row))
		for i, v := range row {
			texts[i] = string(v)
		}
		do(texts)
	}
}

// keywords are what people type most.
var keywords = strings.Fields(`ADD ALL ALTER ANALYZE AND AS ASC AUTO_INCREMENT AVG BEGIN BETWEEN BIGINT BLOB BY CALL CASCADE CASE CHAR CHARACTER
CHECK COLLATE COLUMN COLUMNS COMMIT CONSTRAINT COUNT CREATE CROSS CURRENT_TIMESTAMP DATABASE DATABASES DATE DATETIME DECIMAL DEFAULT DELETE
DESC DESCRIBE DISTINCT DOUBLE DROP DUPLICATE ELSE END ENUM EXISTS EXPLAIN FALSE FLOAT FOR FOREIGN FROM FULL GRANT GRANTS GROUP HAVING IDENTIFIED
IF IGNORE IN INDEX INNER INSERT INT INTERVAL INTO IS JOIN JSON KEY KEYS KILL LEFT LIKE LIMIT LOAD LONGTEXT MAX MIN MODIFY NOT NULL OFFSET
ON OR ORDER OUTER OVER PARTITION PRIMARY PRIVILEGES PROCEDURE PROCESSLIST READ REFERENCES RELEASE RENAME REPLACE RESTRICT REVOKE RIGHT
ROLLBACK ROW SAVEPOINT SELECT SESSION SET SHOW SMALLINT START STATUS SUM TABLE TABLES TEXT THEN TIME TIMESTAMP TINYINT TO TRANSACTION TRIGGER
TRUE TRUNCATE UNION UNIQUE UNSIGNED UPDATE USE USER USING VALUES VARBINARY VARCHAR VARIABLES VIEW WARNINGS WHEN WHERE WITH WORK WRITE`)
