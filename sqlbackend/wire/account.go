package wire

import (
	"bytes"
	"net"
	"net/netip"
	"sort"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql/mysql_db"
)

// Account is one row of mysql.user as far as logging in is concerned.
type Account struct {
	User, Host string
	// Plugin is the authentication plugin, "" meaning mysql_native_password.
	Plugin string
	// AuthString is the stored hash in the plugin's format; "" means that the
	// account has no password.
	AuthString string
	// Locked accounts and roles can't log in.
	Locked bool
	// SSLType is "", ANY, X509 or SPECIFIED; the other three apply to
	// SPECIFIED and are checked if not empty.
	SSLType, SSLCipher, X509Issuer, X509Subject string
}

// Accounts is where the server looks up who may log in.
type Accounts interface {
	// Enabled says whether accounts are checked at all; if not, everyone is
	// let in.
	Enabled() bool
	// Lookup returns the accounts of a user name, in any order.
	Lookup(user string) []Account
}

// MySQLAccounts reads accounts from the engine's grant tables.
func MySQLAccounts(db *mysql_db.MySQLDb) Accounts { return grantTables{db} }

type grantTables struct{ db *mysql_db.MySQLDb }

func (g grantTables) Enabled() bool { return g.db.Enabled() }

func (g grantTables) Lookup(user string) []Account {
	rd := g.db.Reader()
	defer rd.Close()
	var out []Account
	for _, u := range rd.GetUsersByUsername(user) {
		out = append(out, Account{
			User: u.User, Host: u.Host, Plugin: u.Plugin, AuthString: u.AuthString,
			Locked: u.Locked || u.IsRole, SSLType: u.SslType, SSLCipher: u.SslCipher,
			X509Issuer: u.X509Issuer, X509Subject: u.X509Subject,
		})
	}
	return out
}

// peer is the other end of a connection for the purpose of host matching.
type peer struct {
	ip       netip.Addr // invalid for unix sockets
	socket   bool
	loopback bool
}

func peerOf(nc net.Conn) peer {
	addr := nc.RemoteAddr()
	if addr == nil || addr.Network() == "unix" {
		return peer{socket: true}
	}
	ap, err := netip.ParseAddrPort(addr.String())
	if err != nil { // an in-memory pipe: as local as a socket
		return peer{socket: true}
	}
	ip := ap.Addr().Unmap().WithZone("")
	return peer{ip: ip, loopback: ip.IsLoopback()}
}

// local is true for unix sockets and loopback addresses.
func (p peer) local() bool { return p.socket || p.loopback }

// host is the name under which MySQL shows the peer.
func (p peer) host() string {
	if p.local() {
		return "localhost"
	}
	return p.ip.String()
}

// names are what an account's host may be compared with, best first.
func (p peer) names() []string {
	switch {
	case p.socket:
		return []string{"localhost"}
	case p.loopback:
		return []string{"localhost", p.ip.String()}
	}
	return []string{p.ip.String()}
}

// findAccount picks the account for a user from a peer by MySQL's rule: the
// most specific host first, then a named user before the anonymous one.
// https://dev.mysql.com/doc/refman/8.4/en/connection-access.html
func findAccount(a Accounts, user string, p peer) (Account, bool) {
	var found []Account
	candidates := a.Lookup(user)
	if user != "" {
		candidates = append(candidates, a.Lookup("")...)
	}
	for _, c := range candidates {
		if hostMatches(c.Host, p) {
			found = append(found, c)
		}
	}
	sort.SliceStable(found, func(i, j int) bool {
		if si, sj := specificity(found[i].Host), specificity(found[j].Host); si != sj {
			return si > sj
		}
		return found[i].User != "" && found[j].User == ""
	})
	if len(found) == 0 {
		return Account{}, false
	}
	return found[0], true
}

// specificity orders host values: literals, then networks by length of the
// mask, then patterns by how late the first wildcard comes, '%', and ”.
func specificity(host string) int {
	if host == "" {
		return 0
	}
	if host == "%" {
		return 1
	}
	if n, ok := parseNetwork(host); ok {
		return 2000 + n.Bits()
	}
	if i := strings.IndexAny(host, "%_"); i >= 0 {
		return 2 + min(i, 1000)
	}
	if strings.EqualFold(host, "localhost") {
		return 4001
	}
	return 4000
}

func hostMatches(host string, p peer) bool {
	if host == "" || host == "%" {
		return true
	}
	if n, ok := parseNetwork(host); ok {
		return p.ip.IsValid() && n.Contains(p.ip)
	}
	for _, name := range p.names() {
		if likeFold(strings.ToLower(host), strings.ToLower(name)) {
			return true
		}
	}
	return false
}

// parseNetwork reads a.b.c.d/mask and a.b.c.d/bits.
func parseNetwork(host string) (netip.Prefix, bool) {
	base, mask, ok := strings.Cut(host, "/")
	if !ok {
		return netip.Prefix{}, false
	}
	ip, err := netip.ParseAddr(base)
	if err != nil {
		return netip.Prefix{}, false
	}
	bits, err := strconv.Atoi(mask)
	if err != nil {
		m := net.ParseIP(mask).To4()
		if m == nil || !ip.Is4() {
			return netip.Prefix{}, false
		}
		ones, size := net.IPMask(m).Size()
		if size == 0 {
			return netip.Prefix{}, false
		}
		bits = ones
	}
	n, err := ip.Prefix(bits)
	return n, err == nil
}

// likeFold is LIKE for host patterns: % is any run, _ any byte, \ escapes.
// Both sides are already in lower case.
func likeFold(pattern, s string) bool {
	p, t := []byte(pattern), []byte(s)
	for len(p) > 0 {
		switch p[0] {
		case '%':
			p = bytes.TrimLeft(p, "%")
			for i := len(t); i >= 0; i-- {
				if likeFold(string(p), string(t[i:])) {
					return true
				}
			}
			return false
		case '_':
			if len(t) == 0 {
				return false
			}
		case '\\':
			if len(p) > 1 {
				p = p[1:]
			}
			fallthrough
		default:
			if len(t) == 0 || t[0] != p[0] {
				return false
			}
		}
		p, t = p[1:], t[1:]
	}
	return len(t) == 0
}
