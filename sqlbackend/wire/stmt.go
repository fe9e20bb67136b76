package wire

import (
	"encoding/binary"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// stmt is a prepared statement of one connection.
type stmt struct {
	id   uint32
	prep *Prepared
	// types are the parameter types of the last execution; clients send them
	// only when they change.
	types []paramType
	// long holds parameter data sent ahead by COM_STMT_SEND_LONG_DATA.
	long map[uint16][]byte
	// longSize is the sum of long, bounded by max_allowed_packet.
	longSize int
	// longErr is reported by the next execution: COM_STMT_SEND_LONG_DATA has
	// no answer.
	longErr error
	cursor  *cursor
}

// prepare answers COM_STMT_PREPARE.
func (c *conn) prepare(text string) error {
	limit := int(globalInt("max_prepared_stmt_count", 16382))
	if len(c.stmts) >= limit {
		return c.sendError(newError(1461, "Can't create more than max_prepared_stmt_count statements (current value: %d)", limit))
	}
	prep, err := c.sess.Prepare(c.ctx, text)
	if err != nil {
		return c.sendFailure(err)
	}
	for {
		c.lastID++
		if _, taken := c.stmts[c.lastID]; !taken && c.lastID != 0 {
			break
		}
	}
	st := &stmt{id: c.lastID, prep: prep}
	c.stmts[st.id] = st
	ctx := c.sess.newContext(c.ctx, "", 0)
	how := sessionResults(ctx, c.collate)
	how.tables = tableNames(prep.stmt)
	cols := newRowEncoder(ctx, prep.Schema, how).cols
	b := append(c.out[:0], hdrOK)
	b = binary.LittleEndian.AppendUint32(b, st.id)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(cols)))
	b = binary.LittleEndian.AppendUint16(b, uint16(prep.Params))
	b = append(b, 0)
	c.out = binary.LittleEndian.AppendUint16(b, c.sess.Warnings())
	if err := c.pc.write(c.out); err != nil {
		return err
	}
	params := make([]column, prep.Params)
	for i := range params {
		params[i] = column{name: "?", charset: collationBinary, kind: typeVarString, flags: flagBinary}
	}
	if err := c.sendDefinitions(params, c.status(false)); err != nil {
		return err
	}
	return c.sendDefinitions(cols, c.status(false))
}

// execute answers COM_STMT_EXECUTE.
func (c *conn) execute(p []byte) error {
	d := decoder{b: p}
	id, flags, _ := d.u32(), d.u8(), d.u32()
	if d.bad {
		return c.malformed()
	}
	st := c.stmts[id]
	if st == nil {
		return c.unknownStatement(id, "mysqld_stmt_execute")
	}
	st.closeCursor()
	args, err := c.parameters(st, &d)
	if err != nil {
		return c.sendFailure(err)
	}
	res, err := c.sess.Execute(c.ctx, st.prep, args)
	if err != nil {
		return c.statementFailed(err)
	}
	if flags&cursorReadOnly != 0 && res.HasRows() {
		return c.openCursor(st, res)
	}
	if err := c.sendResult(res, false, true); err != nil {
		if closeErr := res.Close(); closeErr != nil {
			c.srv.cfg.Logf("connection %d: %v", c.sess.ID(), closeErr)
		}
		return err
	}
	return nil
}

func (c *conn) unknownStatement(id uint32, command string) error {
	return c.sendError(newError(erUnknownStmtHandler, "Unknown prepared statement handler (%d) given to %s", id, command))
}

// parameters decodes the arguments of an execution and forgets the long data.
func (c *conn) parameters(st *stmt, d *decoder) ([]ast.Expr, error) {
	defer st.forgetLong()
	if st.longErr != nil {
		return nil, st.longErr
	}
	n := st.prep.Params
	if n == 0 {
		return nil, nil
	}
	nulls := d.take((n + 7) / 8)
	fresh := d.u8()
	if d.bad {
		return nil, errBadParams()
	}
	if fresh == 1 {
		types := make([]paramType, n)
		for i := range types {
			types[i] = paramType{kind: d.u8(), unsigned: d.u8()&0x80 != 0}
		}
		if d.bad {
			return nil, errBadParams()
		}
		st.types = types
	}
	if len(st.types) != n {
		return nil, errBadParams()
	}
	dec, err := clientEncoder(c.sess.newContext(c.ctx, "", 0))
	if err != nil {
		return nil, err
	}
	args := make([]ast.Expr, n)
	for i := range args {
		switch long, sent := st.long[uint16(i)]; {
		case sent:
			args[i], err = stringParam(long, st.types[i].kind, dec)
		case nulls[i/8]&(1<<(i%8)) != 0:
			args[i] = &ast.NullVal{}
		default:
			args[i], err = decodeParam(d, st.types[i], dec)
		}
		if err != nil {
			return nil, err
		}
	}
	return args, nil
}

func errBadParams() error {
	return newError(erWrongArguments, "Incorrect arguments to mysqld_stmt_execute")
}

func (st *stmt) forgetLong() { st.long, st.longSize, st.longErr = nil, 0, nil }

// sendLongData answers COM_STMT_SEND_LONG_DATA, with nothing: errors wait for
// the execution.
func (c *conn) sendLongData(p []byte) error {
	d := decoder{b: p}
	id, index := d.u32(), d.u16()
	st := c.stmts[id]
	if d.bad || st == nil {
		return nil
	}
	if int(index) >= st.prep.Params {
		st.longErr = errBadParams()
		return nil
	}
	if st.longSize+len(d.b) > c.pc.limit {
		st.long, st.longSize = nil, 0
		st.longErr = newError(erPacketTooLarge, "Parameter of prepared statement which is set through mysql_send_long_data() is longer than 'max_allowed_packet' bytes")
		return nil
	}
	if st.longErr != nil {
		return nil
	}
	if st.long == nil {
		st.long = map[uint16][]byte{}
	}
	st.long[index] = append(st.long[index], d.b...)
	st.longSize += len(d.b)
	return nil
}

// resetStatement answers COM_STMT_RESET: long data and cursor are dropped.
func (c *conn) resetStatement(p []byte) error {
	d := decoder{b: p}
	id := d.u32()
	st := c.stmts[id]
	if d.bad || st == nil {
		return c.unknownStatement(id, "mysqld_stmt_reset")
	}
	st.forgetLong()
	st.closeCursor()
	return c.sendOK(0, 0, "", false)
}

// closeStatement handles COM_STMT_CLOSE, which has no answer.
func (c *conn) closeStatement(p []byte) {
	d := decoder{b: p}
	id := d.u32()
	if st := c.stmts[id]; st != nil && !d.bad {
		st.closeCursor()
		delete(c.stmts, id)
	}
}

// closeStatements forgets all statements of the connection.
func (c *conn) closeStatements() {
	for _, st := range c.stmts {
		st.closeCursor()
	}
	clear(c.stmts)
}

func (st *stmt) closeCursor() {
	if st.cursor != nil {
		st.cursor.close()
		st.cursor = nil
	}
}
