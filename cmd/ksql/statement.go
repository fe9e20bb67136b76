package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"ksql/sqlbackend/parser"
)

// outputStyle says how results are written.
type outputStyle struct {
	batch    bool // tab separated instead of tables
	footer   bool // "2 rows in set (0.00 sec)" after each statement
	hexBytes bool // bytes that are no text as 0x…
}

// executor runs statements one after another on one connection.
type executor struct {
	conn  *sql.Conn
	out   io.Writer
	style outputStyle
}

// firstWord finds what a statement begins with, behind parentheses and the opening of
// version comments.
var firstWord = regexp.MustCompile(`^(?:[\s(]|/\*!(?:\d{5,6})?)*([A-Za-z]+)`)

// returnsRows are the words that begin statements with results. Others are run for
// their counts.
var returnsRows = map[string]bool{
	"select": true, "with": true, "table": true, "values": true, "show": true, "describe": true, "desc": true, "explain": true,
	"call": true, "execute": true, "check": true, "checksum": true, "analyze": true, "optimize": true, "repair": true, "help": true,
}

func wordOf(statement string) string {
	if m := firstWord.FindStringSubmatch(statement); m != nil {
		return strings.ToLower(m[1])
	}
	return ""
}

// run executes a statement and writes its results.
func (e *executor) run(ctx context.Context, st parser.Statement) error {
	start := time.Now()
	if returnsRows[wordOf(st.Text)] {
		return e.query(ctx, st, start)
	}
	res, err := e.conn.ExecContext(ctx, st.Text)
	if err != nil {
		return err
	}
	if !e.style.footer {
		return nil
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.out, "Query OK, %d row%s affected%s (%s)\n\n", n, plural(int(n)), e.warnings(ctx), elapsed(time.Since(start)))
	return err
}

func (e *executor) query(ctx context.Context, st parser.Statement, start time.Time) (err error) {
	rows, err := e.conn.QueryContext(ctx, st.Text)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for {
		if err := e.result(rows, st.Vertical, start); err != nil {
			return err
		}
		if !rows.NextResultSet() {
			return rows.Err()
		}
	}
}

// result writes one result.
func (e *executor) result(rows *sql.Rows, vertical bool, start time.Time) error {
	s, err := newScanner(rows, e.style.hexBytes)
	if err != nil {
		return err
	}
	if len(s.columns) == 0 { // a statement without a result, such as CALL
		if _, _, err := s.next(); err != nil || !e.style.footer {
			return err
		}
		_, err := fmt.Fprintf(e.out, "Query OK (%s)\n\n", elapsed(time.Since(start)))
		return err
	}
	if e.style.batch && !vertical {
		_, err := writeBatch(e.out, s)
		return err
	}
	set, err := s.readAll()
	if err != nil {
		return err
	}
	took := time.Since(start)
	switch {
	case len(set.rows) == 0: // as the mysql client: no frame around nothing
	case vertical:
		err = writeVertical(e.out, set)
	default:
		err = writeTable(e.out, set)
	}
	if err != nil || !e.style.footer {
		return err
	}
	if len(set.rows) == 0 {
		_, err = fmt.Fprintf(e.out, "Empty set (%s)\n\n", elapsed(took))
	} else {
		_, err = fmt.Fprintf(e.out, "%d row%s in set (%s)\n\n", len(set.rows), plural(len(set.rows)), elapsed(took))
	}
	return err
}

// warnings counts the warnings of the last statement: ", 2 warnings" or "".
func (e *executor) warnings(ctx context.Context) string {
	rows, err := e.conn.QueryContext(ctx, "SHOW WARNINGS")
	if err != nil {
		return "" // the statement itself has succeeded
	}
	n := 0
	for rows.Next() {
		n++
	}
	if err := rows.Close(); err != nil || n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d warning%s", n, plural(n))
}

// describeError writes an error as the mysql client does: ERROR 1146 (42S02): Table ….
func describeError(err error) string {
	var me *mysql.MySQLError
	if !errors.As(err, &me) {
		return "ERROR: " + err.Error()
	}
	return fmt.Sprintf("ERROR %d (%s): %s", me.Number, me.SQLState[:], me.Message)
}
