package driver

import (
	"context"
	"database/sql/driver"

	"ksql/sqlbackend/wire"
)

// stmt is a prepared statement.
type stmt struct {
	c *conn
	p *wire.Prepared
}

var (
	_ driver.Stmt              = (*stmt)(nil)
	_ driver.StmtExecContext   = (*stmt)(nil)
	_ driver.StmtQueryContext  = (*stmt)(nil)
	_ driver.NamedValueChecker = (*stmt)(nil)
)

// Close implements driver.Stmt; nothing is held.
func (s *stmt) Close() error { return nil }

// NumInput implements driver.Stmt.
func (s *stmt) NumInput() int { return s.p.Params }

// CheckNamedValue implements driver.NamedValueChecker.
func (s *stmt) CheckNamedValue(v *driver.NamedValue) error { return s.c.CheckNamedValue(v) }

// Exec implements driver.Stmt.
func (s *stmt) Exec(args []driver.Value) (driver.Result, error) {
	return s.ExecContext(context.Background(), named(args))
}

// Query implements driver.Stmt.
func (s *stmt) Query(args []driver.Value) (driver.Rows, error) {
	return s.QueryContext(context.Background(), named(args))
}

func named(args []driver.Value) []driver.NamedValue {
	out := make([]driver.NamedValue, len(args))
	for i, a := range args {
		out[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
	return out
}

// ExecContext implements driver.StmtExecContext.
func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	res, err := s.run(ctx, args)
	if err != nil {
		return nil, err
	}
	if err := finish(res); err != nil {
		return nil, clientError(ctx, err)
	}
	return result{id: int64(res.InsertID), affected: int64(res.Affected)}, nil
}

// QueryContext implements driver.StmtQueryContext.
func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	res, err := s.run(ctx, args)
	if err != nil {
		return nil, err
	}
	return s.c.rows(ctx, res, "")
}

func (s *stmt) run(ctx context.Context, args []driver.NamedValue) (*wire.Result, error) {
	if err := s.c.usable(); err != nil {
		return nil, err
	}
	exprs, err := s.c.arguments(s.p.Params, args)
	if err != nil {
		return nil, err
	}
	res, err := s.c.sess.Execute(ctx, s.p, exprs)
	return res, clientError(ctx, err)
}

// result is what a statement without rows did.
type result struct{ id, affected int64 }

// LastInsertId is the first AUTO_INCREMENT value that the statement generated.
func (r result) LastInsertId() (int64, error) { return r.id, nil }

// RowsAffected implements driver.Result.
func (r result) RowsAffected() (int64, error) { return r.affected, nil }
