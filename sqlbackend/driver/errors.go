package driver

import (
	"context"
	"database/sql/driver"
	"errors"

	vitess "github.com/dolthub/vitess/go/mysql"
	"github.com/go-sql-driver/mysql"

	"ksql/sqlbackend/wire"
)

// clientError gives an error the form that callers know: the context's error
// if the context has ended, driver.ErrBadConn for a session that is gone, and
// *mysql.MySQLError for what the database says.
func clientError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if cerr := ctx.Err(); cerr != nil {
		return cerr
	}
	if errors.Is(err, wire.ErrSessionClosed) {
		return driver.ErrBadConn
	}
	var se *vitess.SQLError
	if !errors.As(err, &se) {
		return err
	}
	me := &mysql.MySQLError{Number: uint16(se.Num), Message: se.Message}
	copy(me.SQLState[:], se.State)
	return me
}

// both is errors.Join that leaves a single error as it is: callers may look at
// its type without unwrapping.
func both(a, b error) error {
	switch {
	case b == nil:
		return a
	case a == nil:
		return b
	}
	return errors.Join(a, b)
}
