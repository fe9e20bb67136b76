package parser

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/dolthub/vitess/go/mysql"
)

// Error numbers of MySQL that statements get here.
const (
	erParse               = 1064
	erWrongOptions        = 1210
	erNotSupportedYet     = 1235
	erFeatureDisabled     = 1289
	erNoSuchRoutine       = 1305
	erReadOnlyTransaction = 1792
	erUnresolvedLock      = 3568
	erDuplicateLock       = 3569
	erNoSuchWindow        = 3579
	erCircularWindow      = 3580
	erWindowPartition     = 3581
	erWindowFrame         = 3582
	erWindowOrder         = 3583
	erDuplicateWindow     = 3591
)

// errNotSupported is error 1235.
func errNotSupported(what string) error {
	return mysql.NewSQLError(erNotSupportedYet, "42000", "%s", "This version of MySQL doesn't yet support '"+what+"'")
}

// nearLimit is how many bytes of a statement error 1064 quotes.
const nearLimit = 80

// errSyntax is error 1064 at a position of a statement that begins in line
// first of what the client sent (counted from 0).
func errSyntax(text string, at, first int) error {
	at = min(max(at, 0), len(text))
	near := text[at:]
	if len(near) > nearLimit {
		n := nearLimit
		for n > 0 && !utf8.RuneStart(near[n]) {
			n--
		}
		near = near[:n]
	}
	line := 1 + first + strings.Count(text[:at], "\n")
	return mysql.NewSQLError(erParse, "42000", "%s", fmt.Sprintf("You have an error in your SQL syntax; check the manual that "+
		"corresponds to your MySQL server version for the right syntax to use near '%s' at line %d", near, line))
}

// isMySQLError says whether err carries an error number of its own.
func isMySQLError(err error) bool {
	var se *mysql.SQLError
	return errors.As(err, &se)
}

// errNoFunction is error 1305 for a stored function.
func errNoFunction(name string) error {
	return mysql.NewSQLError(erNoSuchRoutine, "42000", "%s", "FUNCTION "+strings.NewReplacer("`", "", " ", "").Replace(name)+" does not exist")
}

// errFeatureDisabled is error 1289 of builds without debugging.
func errFeatureDisabled() error {
	return mysql.NewSQLError(erFeatureDisabled, "HY000", "%s", "The 'SHOW PROCEDURE|FUNCTION CODE' feature is disabled; "+
		"you need MySQL built with '--with-debug' to have it working")
}
