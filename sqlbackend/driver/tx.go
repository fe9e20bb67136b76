package driver

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strings"
)

// tx is a transaction.
type tx struct {
	c *conn
	// restore sets the session's isolation level back; "" if it was not changed.
	restore string
}

// Begin implements driver.Conn.
func (c *conn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

// BeginTx implements driver.ConnBeginTx.
func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	if err := c.usable(); err != nil {
		return nil, err
	}
	t := &tx{c: c}
	if level := sql.IsolationLevel(o.Isolation); level != sql.LevelDefault {
		name := isolationNames[level]
		if name == "" {
			return nil, fmt.Errorf("ksql: isolation level %s is not supported", level)
		}
		if err := t.setIsolation(ctx, name); err != nil {
			return nil, err
		}
	}
	start := "START TRANSACTION"
	if o.ReadOnly || c.cfg.ReadOnly {
		start += " READ ONLY"
	}
	if err := c.run(ctx, start); err != nil {
		return nil, both(err, t.restoreIsolation(ctx))
	}
	return t, nil
}

// setIsolation changes the level for this transaction: the session's is put
// back at its end.
func (t *tx) setIsolation(ctx context.Context, name string) error {
	v, err := t.c.sess.SQLSession().GetSessionVariable(nil, "transaction_isolation")
	if err != nil {
		return fmt.Errorf("ksql: %w", err)
	}
	old, ok := v.(string)
	if !ok {
		return fmt.Errorf("ksql: transaction_isolation is %v", v)
	}
	old = strings.ReplaceAll(old, "-", " ")
	if strings.EqualFold(old, name) {
		return nil
	}
	clean := !t.c.sess.Dirty()
	if err := t.c.run(ctx, "SET SESSION TRANSACTION ISOLATION LEVEL "+name); err != nil {
		return err
	}
	t.restore = old
	if clean { // the end of the transaction sees to it
		t.c.sess.MarkClean()
	}
	return nil
}

func (t *tx) restoreIsolation(ctx context.Context) error {
	if t.restore == "" {
		return nil
	}
	clean := !t.c.sess.Dirty()
	err := t.c.run(ctx, "SET SESSION TRANSACTION ISOLATION LEVEL "+t.restore)
	t.restore = ""
	if clean && err == nil {
		t.c.sess.MarkClean()
	}
	return err
}

// Commit implements driver.Tx.
func (t *tx) Commit() error { return t.end("COMMIT") }

// Rollback implements driver.Tx.
func (t *tx) Rollback() error { return t.end("ROLLBACK") }

func (t *tx) end(how string) error {
	if err := t.c.usable(); err != nil {
		return err
	}
	ctx := context.Background()
	return both(t.c.run(ctx, how), t.restoreIsolation(ctx))
}
