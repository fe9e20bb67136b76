package wire

import (
	"fmt"
	"strings"
)

// dispatch answers one command. An error ends the connection; what the client
// should hear has been written. p aliases the read buffer.
func (c *conn) dispatch(cmd byte, p []byte) error {
	switch cmd {
	case comQuery:
		return c.query(string(p))
	case comStmtPrepare:
		return c.prepare(string(p))
	case comStmtExecute:
		return c.execute(p)
	case comStmtSendLong:
		return c.sendLongData(p)
	case comStmtFetch:
		return c.fetch(p)
	case comStmtReset:
		return c.resetStatement(p)
	case comStmtClose:
		c.closeStatement(p)
		return nil
	case comPing:
		return c.sendOK(0, 0, "", false)
	case comInitDB:
		return c.answer(c.sess.UseDatabase(c.ctx, string(p)))
	case comFieldList:
		return c.fieldList(p)
	case comStatistics:
		return c.pc.write([]byte(c.statistics()))
	case comProcessInfo:
		return c.query("SHOW FULL PROCESSLIST")
	case comProcessKill:
		return c.processKill(p)
	case comDebug:
		return c.sendEOF(c.status(false), 0)
	case comSetOption:
		return c.setOption(p)
	case comChangeUser:
		return c.changeUser(p)
	case comResetConnection:
		c.closeStatements()
		c.multi = c.caps&capMultiStmts != 0
		err := c.sess.Reset(c.ctx)
		c.interactive()
		return c.answer(err)
	}
	return c.sendError(newError(erUnknownCom, "Unknown command"))
}

// statistics is the line that mysqladmin status prints.
func (c *conn) statistics() string {
	r := c.srv.cfg.Runner
	up := max(int64(r.Uptime().Seconds()), 1)
	n := r.Statements()
	return fmt.Sprintf("Uptime: %d  Threads: %d  Questions: %d  Slow queries: %d  Opens: 0  Flush tables: 0  Open tables: 0  Queries per second avg: %.3f",
		up, r.Connections(), n, r.slow.Load(), float64(n)/float64(up))
}

func (c *conn) processKill(p []byte) error {
	d := decoder{b: p}
	id := d.u32()
	if d.bad {
		return c.malformed()
	}
	return c.query(fmt.Sprintf("KILL CONNECTION %d", id))
}

// malformed answers a command whose fields are short; the connection goes on,
// because the packet's own length was right.
func (c *conn) malformed() error {
	return c.sendError(newError(erMalformedPacket, "Malformed communication packet."))
}

func (c *conn) setOption(p []byte) error {
	d := decoder{b: p}
	switch d.u16() {
	case 0:
		c.multi = !d.bad
	case 1:
		c.multi = false
	default:
		return c.sendError(newError(erUnknownCom, "Unknown command"))
	}
	if d.bad {
		return c.malformed()
	}
	return c.sendEOF(c.status(false), 0)
}

// changeUser logs in again on the same connection. A failure ends it.
func (c *conn) changeUser(p []byte) error {
	l, err := parseChangeUser(p, c.caps)
	if err != nil {
		return c.loginFailed(err)
	}
	l.auth = append([]byte(nil), l.auth...) // the read buffer is needed for the exchange
	acct, err := c.authenticate(l)
	if err != nil {
		return c.loginFailed(err)
	}
	c.closeStatements()
	if err := c.enterAs(l, acct); err != nil {
		return c.loginFailed(err)
	}
	return c.sendOK(0, 0, "", false)
}

// fieldList answers COM_FIELD_LIST, which old clients use for completion: the
// columns of a table with an empty default each.
func (c *conn) fieldList(p []byte) error {
	d := decoder{b: p}
	table, pattern := d.cstring(), strings.ToLower(string(d.b))
	res, _, err := c.sess.Query(c.ctx, "SELECT * FROM "+quoteID(table)+" LIMIT 0", false)
	if err != nil {
		return c.sendFailure(err)
	}
	defs := c.encoder(res).cols
	if err := res.Close(); err != nil {
		return c.sendFailure(err)
	}
	for i := range defs {
		if pattern != "" && !likeFold(pattern, strings.ToLower(defs[i].name)) {
			continue
		}
		c.out = append(defs[i].append(c.out[:0]), hdrNull)
		if err := c.pc.write(c.out); err != nil {
			return err
		}
	}
	return c.sendEOF(c.status(false), 0)
}
