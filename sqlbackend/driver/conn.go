package driver

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"ksql/sqlbackend/wire"
)

// conn is one session. database/sql uses it from one goroutine at a time.
type conn struct {
	cfg    Config
	sess   *wire.Session
	folder *folder
	parsed parseCache
	closer io.Closer // of a connection opened by Driver.Open
	closed bool
}

var (
	_ driver.Conn               = (*conn)(nil)
	_ driver.ConnBeginTx        = (*conn)(nil)
	_ driver.ConnPrepareContext = (*conn)(nil)
	_ driver.ExecerContext      = (*conn)(nil)
	_ driver.QueryerContext     = (*conn)(nil)
	_ driver.Pinger             = (*conn)(nil)
	_ driver.SessionResetter    = (*conn)(nil)
	_ driver.Validator          = (*conn)(nil)
	_ driver.NamedValueChecker  = (*conn)(nil)
)

// configure applies the options that are settings of the session.
func (c *conn) configure(ctx context.Context) error {
	if name := isolationNames[c.cfg.Isolation]; name != "" {
		if err := c.run(ctx, "SET SESSION TRANSACTION ISOLATION LEVEL "+name); err != nil {
			return err
		}
	}
	if c.cfg.ReadOnly {
		return c.run(ctx, "SET SESSION TRANSACTION READ ONLY")
	}
	return nil
}

// run executes a statement of the driver's own.
func (c *conn) run(ctx context.Context, q string) error {
	res, _, err := c.sess.Query(ctx, q, false)
	if err == nil {
		err = finish(res)
	}
	return clientError(ctx, err)
}

// finish runs a result to its end; what it gives is not wanted.
func finish(res *wire.Result) error {
	if !res.HasRows() {
		return res.Close()
	}
	for {
		if _, err := res.Next(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// Close ends the session; an open transaction is rolled back.
func (c *conn) Close() error {
	if c.closed {
		return nil
	}
	c.closed = true
	c.sess.Close()
	err := c.folder.release()
	if c.closer != nil {
		err = both(err, c.closer.Close())
	}
	return err
}

// usable is checked at the head of every call.
func (c *conn) usable() error {
	if c.closed || c.sess.Killed() {
		return driver.ErrBadConn
	}
	return nil
}

// Ping implements driver.Pinger.
func (c *conn) Ping(ctx context.Context) error {
	if err := c.usable(); err != nil {
		return err
	}
	return ctx.Err()
}

// IsValid implements driver.Validator.
func (c *conn) IsValid() bool { return c.usable() == nil }

// ResetSession implements driver.SessionResetter: what another user of the
// pool left behind is gone, be it a transaction, settings, variables, locks or
// temporary tables. Nothing is done for sessions that only ran plain
// statements.
func (c *conn) ResetSession(ctx context.Context) error {
	if err := c.usable(); err != nil {
		return err
	}
	if c.sess.Dirty() || c.database() != c.cfg.DB {
		return c.reset(ctx)
	}
	if c.sess.InTransaction() {
		return c.run(ctx, "ROLLBACK")
	}
	return nil
}

func (c *conn) reset(ctx context.Context) error {
	c.parsed = parseCache{}
	info := c.sess.Info()
	info.Database = c.cfg.DB
	if err := c.sess.Login(ctx, info); err != nil {
		return errors.Join(driver.ErrBadConn, err)
	}
	if err := c.configure(ctx); err != nil {
		return errors.Join(driver.ErrBadConn, err)
	}
	c.sess.MarkClean()
	return nil
}

func (c *conn) database() string { return c.sess.SQLSession().GetCurrentDatabase() }

// Prepare implements driver.Conn.
func (c *conn) Prepare(q string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), q)
}

// PrepareContext implements driver.ConnPrepareContext.
func (c *conn) PrepareContext(ctx context.Context, q string) (driver.Stmt, error) {
	if err := c.usable(); err != nil {
		return nil, err
	}
	p, err := c.sess.Prepare(ctx, q)
	if err != nil {
		return nil, clientError(ctx, err)
	}
	return &stmt{c: c, p: p}, nil
}

// ExecContext implements driver.ExecerContext. With several statements the
// result is that of the last one.
func (c *conn) ExecContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.usable(); err != nil {
		return nil, err
	}
	for {
		res, rest, err := c.start(ctx, q, args)
		if err != nil {
			return nil, clientError(ctx, err)
		}
		if err := finish(res); err != nil {
			return nil, clientError(ctx, err)
		}
		if rest == "" {
			return result{id: int64(res.InsertID), affected: int64(res.Affected)}, nil
		}
		q = rest
	}
}

// QueryContext implements driver.QueryerContext. With several statements the
// rows of each that has any are a result set.
func (c *conn) QueryContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.usable(); err != nil {
		return nil, err
	}
	res, rest, err := c.start(ctx, q, args)
	if err != nil {
		return nil, clientError(ctx, err)
	}
	return c.rows(ctx, res, rest)
}

// start runs the first statement of q. Arguments go with a single statement
// only.
func (c *conn) start(ctx context.Context, q string, args []driver.NamedValue) (*wire.Result, string, error) {
	if len(args) == 0 {
		return c.sess.Query(ctx, q, c.cfg.MultiStatements)
	}
	p, err := c.parse(ctx, q)
	if err != nil {
		return nil, "", err
	}
	exprs, err := c.arguments(p.Params, args)
	if err != nil {
		return nil, "", err
	}
	res, err := c.sess.Execute(ctx, p, exprs)
	return res, "", err
}

// arguments turns values into expressions, in the order of the placeholders.
func (c *conn) arguments(want int, args []driver.NamedValue) ([]ast.Expr, error) {
	if len(args) != want {
		return nil, fmt.Errorf("ksql: %d arguments for %d placeholders", len(args), want)
	}
	out := make([]ast.Expr, want)
	for _, a := range args {
		if a.Ordinal < 1 || a.Ordinal > want {
			return nil, fmt.Errorf("ksql: argument %d of %d", a.Ordinal, want)
		}
		e, err := c.argument(a.Value)
		if err != nil {
			return nil, err
		}
		out[a.Ordinal-1] = e
	}
	return out, nil
}
