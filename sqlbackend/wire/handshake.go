package wire

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
)

const (
	saltSize = 20
	// maxAttributes bounds the connection attributes that are kept, in bytes;
	// MySQL's limit is 64 KiB.
	maxAttributes = 64 << 10
	// preAuthLimit is the largest packet taken before a client has proved who
	// it is.
	preAuthLimit = 128 << 10
)

// newSalt makes the challenge of a handshake: 20 bytes from 1 to 127, without
// the '$' that separates fields of stored hashes.
func newSalt() ([]byte, error) {
	salt := make([]byte, saltSize)
	if _, err := rand.Read(salt); err != nil {
		return nil, fmt.Errorf("make salt: %w", err)
	}
	for i, b := range salt {
		b &= 0x7f
		if b == 0 || b == '$' {
			b++
		}
		salt[i] = b
	}
	return salt, nil
}

// greeting is the server's first packet (Protocol::HandshakeV10).
func greeting(version string, id uint32, salt []byte, caps uint32, collation byte, status uint16) []byte {
	b := []byte{10}
	b = append(append(b, version...), 0)
	b = binary.LittleEndian.AppendUint32(b, id)
	b = append(append(b, salt[:8]...), 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(caps))
	b = append(b, collation)
	b = binary.LittleEndian.AppendUint16(b, status)
	b = binary.LittleEndian.AppendUint16(b, uint16(caps>>16))
	b = append(b, saltSize+1)
	b = append(b, make([]byte, 10)...)
	b = append(append(b, salt[8:]...), 0)
	return append(append(b, pluginCachingSha2...), 0)
}

// loginPacket is what a client answers (Protocol::HandshakeResponse41) or
// sends with COM_CHANGE_USER.
type loginPacket struct {
	caps      uint32
	collation uint16
	// sslRequest: the client wants TLS first and will say the rest then.
	sslRequest bool
	user       string
	auth       []byte
	database   string
	plugin     string
	attrs      map[string]string
}

// parseLogin reads a handshake response. offered is what the greeting said.
func parseLogin(p []byte, offered uint32) (loginPacket, error) {
	var l loginPacket
	d := decoder{b: p}
	caps := d.u32()
	if d.bad || caps&capProtocol41 == 0 {
		return l, errMalformed
	}
	l.caps = caps & offered
	d.u32() // the client's own packet limit
	l.collation = uint16(d.u8())
	d.take(23)
	if d.bad {
		return l, errMalformed
	}
	if d.empty() && caps&capSSL != 0 {
		l.sslRequest = true
		return l, nil
	}
	l.user = d.cstring()
	switch {
	case caps&capAuthLenenc != 0:
		l.auth = d.lenencBytes()
	case caps&capSecureConn != 0:
		l.auth = d.take(int(d.u8()))
	default:
		l.auth = []byte(d.cstring())
	}
	if caps&capConnectWithDB != 0 {
		l.database = d.cstring()
	}
	if caps&capPluginAuth != 0 {
		l.plugin = d.cstring()
	}
	if caps&capConnectAttrs != 0 && !d.empty() {
		l.attrs = parseAttributes(d.lenencBytes())
	}
	return l, d.err()
}

// parseAttributes reads the key/value list; what is malformed ends it, since
// attributes are for information only.
func parseAttributes(p []byte) map[string]string {
	if len(p) > maxAttributes {
		return nil
	}
	out := map[string]string{}
	for d := (decoder{b: p}); !d.empty(); {
		k, v := d.lenencBytes(), d.lenencBytes()
		if d.bad {
			break
		}
		out[string(k)] = string(v)
	}
	return out
}

// parseChangeUser reads the body of COM_CHANGE_USER.
func parseChangeUser(p []byte, caps uint32) (loginPacket, error) {
	l := loginPacket{caps: caps}
	d := decoder{b: p}
	l.user = d.cstring()
	if caps&capSecureConn != 0 {
		l.auth = d.take(int(d.u8()))
	} else {
		l.auth = []byte(d.cstring())
	}
	l.database = d.cstring()
	if d.empty() {
		return l, d.err()
	}
	l.collation = d.u16()
	if caps&capPluginAuth != 0 {
		l.plugin = d.cstring()
	}
	if caps&capConnectAttrs != 0 && !d.empty() {
		l.attrs = parseAttributes(d.lenencBytes())
	}
	return l, d.err()
}
