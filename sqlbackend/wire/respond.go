package wire

import (
	"encoding/binary"

	"github.com/dolthub/vitess/go/mysql"
)

// status are the flags for the next OK or EOF packet.
func (c *conn) status(more bool) uint16 {
	st := c.sess.Status()
	if more {
		st |= statusMoreResults
	}
	return st
}

// sendOK writes an OK packet.
func (c *conn) sendOK(affected, insertID uint64, info string, more bool) error {
	return c.pc.write(c.okPacket(hdrOK, affected, insertID, info, c.status(more), c.sess.Warnings()))
}

func (c *conn) okPacket(header byte, affected, insertID uint64, info string, status, warnings uint16) []byte {
	b := append(c.out[:0], header)
	b = appendLenenc(b, affected)
	b = appendLenenc(b, insertID)
	b = binary.LittleEndian.AppendUint16(b, status)
	b = binary.LittleEndian.AppendUint16(b, warnings)
	if info != "" {
		b = appendLenencString(b, info)
	}
	c.out = b
	return b
}

// sendEOF ends a list: an EOF packet, or its successor for clients that said
// so.
func (c *conn) sendEOF(status, warnings uint16) error {
	if c.caps&capDeprecateEOF != 0 {
		return c.pc.write(c.okPacket(hdrEOF, 0, 0, "", status, warnings))
	}
	return c.pc.write(c.eofPacket(status, warnings))
}

func (c *conn) eofPacket(status, warnings uint16) []byte {
	b := append(c.out[:0], hdrEOF)
	b = binary.LittleEndian.AppendUint16(b, warnings)
	b = binary.LittleEndian.AppendUint16(b, status)
	c.out = b
	return b
}

// sendError writes an error packet. Before the client has said that it speaks
// the 4.1 protocol the packet has no SQLSTATE, as MySQL sends it.
func (c *conn) sendError(e *mysql.SQLError) error {
	b := append(c.out[:0], hdrErr)
	b = binary.LittleEndian.AppendUint16(b, uint16(e.Num))
	if c.caps != 0 {
		state := e.State
		if len(state) != 5 {
			state = mysql.SSUnknownSQLState
		}
		b = append(append(b, '#'), state...)
	}
	msg := e.Message
	if len(msg) > maxMessage {
		msg = msg[:maxMessage]
	}
	b = append(b, msg...)
	c.out = b
	return c.pc.write(b)
}

// maxMessage is MySQL's limit for error messages, in bytes.
const maxMessage = 512 << 2

// answer sends err if there is one, mapped, or OK.
func (c *conn) answer(err error) error {
	if err != nil {
		return c.sendFailure(err)
	}
	return c.sendOK(0, 0, "", false)
}

// sendFailure sends any error as an error packet.
func (c *conn) sendFailure(err error) error {
	se, ok := MapErr(err).(*mysql.SQLError)
	if !ok {
		se = newError(erUnknown, "%s", err.Error())
	}
	return c.sendError(se)
}
