package catalog

import (
	"context"
	"errors"

	"github.com/dolthub/vitess/go/mysql"
)

// ErrStatementRestart says that a row which the running DML statement was
// about to change had been changed by somebody else since the statement
// began. The statement's changes are undone and its row locks are kept: the
// statement path must call Session.RestartStatement and run the statement
// again. It never reaches a client.
var ErrStatementRestart = errors.New("statement must be restarted: a row changed since the statement began")

// MySQL error numbers that vitess does not name.
const (
	erLockNowait              = 3572
	erTableDefChanged         = 1412
	erSavepointDoesNotExist   = 1305
	erReadOnlyTransaction     = 1792
	erGetErrno                = 1030
	erDiskFull                = 1021
	erErrorOnWrite            = 1026
	erLockTableFull           = 1206
	erIndexCorrupt            = 1712
	erNotSupportedYet         = 1235
	erQueryInterrupted        = 1317
	erCantDropFieldOrKey      = 1091
	erTruncateIllegalFK       = 1701
	erNonUniqueTableOption    = 1112
	erFkCannotDropParent      = 3730
	erRowIsReferenced         = 1451
	erNoReferencedRow         = 1452
	erOptionPreventsStatement = 1290
	erGeneratedDependency     = 3108
	erDefaultDependency       = 3766
)

// errNotSupported is MySQL error 1235: feature names what was asked for.
func errNotSupported(feature string) error {
	return mysql.NewSQLError(erNotSupportedYet, "42000",
		"This version of MySQL doesn't yet support '%s'", feature)
}

// errLockWaitTimeout is MySQL error 1205. The statement is undone, the
// transaction goes on.
func errLockWaitTimeout() error {
	return mysql.NewSQLError(mysql.ERLockWaitTimeout, "HY000",
		"Lock wait timeout exceeded; try restarting transaction")
}

// errLockNowait is MySQL error 3572: NOWAIT was asked for and a row is locked.
func errLockNowait() error {
	return mysql.NewSQLError(erLockNowait, "HY000",
		"Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set.")
}

// errDeadlock is MySQL error 1213. The whole transaction has been rolled back.
func errDeadlock() error {
	return mysql.NewSQLError(mysql.ERLockDeadlock, "40001",
		"Deadlock found when trying to get lock; try restarting transaction")
}

// errLockTableFull is MySQL error 1206.
func errLockTableFull() error {
	return mysql.NewSQLError(erLockTableFull, "HY000",
		"The total number of locks exceeds the lock table size")
}

// errTableDefinitionChanged is MySQL error 1412: the transaction's snapshot is
// older than the table's last rewrite.
func errTableDefinitionChanged() error {
	return mysql.NewSQLError(erTableDefChanged, "HY000",
		"Table definition has changed, please retry transaction")
}

// errSavepointNotFound is MySQL error 1305 for ROLLBACK TO and RELEASE.
func errSavepointNotFound(name string) error {
	return mysql.NewSQLError(erSavepointDoesNotExist, "42000", "SAVEPOINT %s does not exist", name)
}

// errReadOnlyTx is MySQL error 1792.
func errReadOnlyTx() error {
	return mysql.NewSQLError(erReadOnlyTransaction, "25006",
		"Cannot execute statement in a READ ONLY transaction.")
}

// errStorage is MySQL error 1030: a storage fault that has no number of its
// own. The text keeps the cause, which names file and offset of damage.
func errStorage(cause error) error {
	return mysql.NewSQLError(erGetErrno, "HY000", "Got error 168 - '%s' from storage engine", cause.Error())
}

// errDiskIsFull is MySQL error 1021. The statement or transaction changed
// nothing; it can be repeated when there is space again.
func errDiskIsFull(cause error) error {
	return mysql.NewSQLError(erDiskFull, "HY000", "Disk full (%s); nothing was changed", cause.Error())
}

// errWritesRefused is MySQL error 1026: a failed write or sync has poisoned
// the log, reads go on, and the folder must be opened again.
func errWritesRefused(cause error) error {
	return mysql.NewSQLError(erErrorOnWrite, "HY000",
		"Error writing the log (%s); writes are refused until the server is restarted", cause.Error())
}

// errInterrupted is MySQL error 1317.
func errInterrupted() error {
	return mysql.NewSQLError(erQueryInterrupted, "70100", "Query execution was interrupted")
}

// ContextError returns the cause for which a statement's context has ended,
// nil while it has not.
func ContextError(ctx context.Context) error { return contextError(ctx) }

// contextError returns the cause for which ctx ended: the statement path
// cancels with a cause (killed, timed out) that its error map knows.
func contextError(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return context.Cause(ctx)
}

// errReadOnlyStorage is MySQL error 1290: the folder was opened read-only.
func errReadOnlyStorage() error {
	return mysql.NewSQLError(erOptionPreventsStatement, "HY000",
		"The MySQL server is running with the --read-only option so it cannot execute this statement")
}

// errForeignKeyParentDrop is MySQL error 3730.
func errForeignKeyParentDrop(parent, constraint, child string) error {
	return mysql.NewSQLError(erFkCannotDropParent, "HY000",
		"Cannot drop table '%s' referenced by a foreign key constraint '%s' on table '%s'.", parent, constraint, child)
}

// errIndexDamaged is MySQL error 1712: an index entry names a row that is not there.
func errIndexDamaged(table, index string) error {
	return mysql.NewSQLError(erIndexCorrupt, "HY000", "Index %s is corrupted (table %s)", index, table)
}

// errDuplicateCheck is MySQL error 3822.
func errDuplicateCheck(name string) error {
	return mysql.NewSQLError(3822, "HY000", "Duplicate check constraint name '%s'.", name)
}

// errCheckNotFound is MySQL error 3821.
func errCheckNotFound(name string) error {
	return mysql.NewSQLError(3821, "HY000", "Check constraint '%s' is not found in the table.", name)
}

// errTriggerExists is MySQL error 1359.
func errTriggerExists() error {
	return mysql.NewSQLError(1359, "HY000", "Trigger already exists")
}

// errKeyNotFound is MySQL error 1176.
func errKeyNotFound(name, table string) error {
	return mysql.NewSQLError(1176, "42000", "Key '%s' doesn't exist in table '%s'", name, table)
}

// errRowTooLarge is MySQL error 1118.
func errRowTooLarge() error {
	return mysql.NewSQLError(1118, "42000", "Row size too large. The maximum row size for the used table type, "+
		"not counting BLOBs, is 65535. This includes storage overhead, check the manual. "+
		"You have to change some columns to TEXT or BLOBs")
}
