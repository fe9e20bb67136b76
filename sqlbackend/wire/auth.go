package wire

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1" //nolint:gosec // both uses are fixed by the protocol
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"
	"sync"

	"github.com/dolthub/vitess/go/mysql"
)

// Bytes of the caching_sha2_password exchange.
const (
	sha2RequestKey  byte = 2
	sha2FastSuccess byte = 3
	sha2FullAuth    byte = 4
)

// maxPassword is MySQL's limit for a clear password, in bytes.
const maxPassword = 256

// Login is what a login rule may judge.
type Login struct {
	Account Account
	// Host is the client's host, as in error 1045.
	Host string
	// Local is true for unix sockets and loopback addresses.
	Local bool
	// TLS is true on encrypted connections.
	TLS bool
}

// PasswordlessOnlyLocal is the default login rule: an account without a
// password works on the unix socket and loopback addresses only.
func PasswordlessOnlyLocal(l Login) bool { return l.Account.AuthString != "" || l.Local }

// shaCache remembers, per account, the double hash of the password that last
// passed a full authentication, so that later logins take the fast path. An
// entry is void once the account's stored hash has changed.
type shaCache struct {
	mu sync.Mutex
	m  map[[2]string]shaEntry
}

type shaEntry struct {
	authString string
	digest     [sha256.Size]byte
}

func (c *shaCache) get(a Account) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.m[[2]string{a.User, a.Host}]
	if !ok || e.authString != a.AuthString {
		return nil, false
	}
	return e.digest[:], true
}

func (c *shaCache) put(a Account, password string) {
	once := sha256.Sum256([]byte(password))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil {
		c.m = map[[2]string]shaEntry{}
	}
	c.m[[2]string{a.User, a.Host}] = shaEntry{a.AuthString, sha256.Sum256(once[:])}
}

// rsaKey is the server's key pair for passwords on unencrypted connections. It
// is made when first needed and lives as long as the server.
type rsaKey struct {
	once sync.Once
	key  *rsa.PrivateKey
	pem  []byte
	err  error
}

func (k *rsaKey) get() (*rsa.PrivateKey, []byte, error) {
	k.once.Do(func() {
		k.key, k.err = rsa.GenerateKey(rand.Reader, 2048)
		if k.err != nil {
			return
		}
		var der []byte
		if der, k.err = x509.MarshalPKIXPublicKey(&k.key.PublicKey); k.err == nil {
			k.pem = pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
		}
	})
	return k.key, k.pem, k.err
}

// authenticate runs the exchange for l and returns the account. Errors are
// ready for the client.
func (c *conn) authenticate(l loginPacket) (Account, error) {
	accounts := c.srv.cfg.Accounts
	if accounts == nil || !accounts.Enabled() {
		return Account{User: l.user, Host: "%"}, nil
	}
	acct, known := findAccount(accounts, l.user, c.peer)
	if !known {
		// the exchange goes on as if the account existed, so that its absence
		// can't be told from a wrong password
		acct = Account{User: l.user, Host: "%", Plugin: pluginCachingSha2, AuthString: decoyAuthString, Locked: true}
	}
	if acct.Plugin == "" {
		acct.Plugin = pluginNative
	}
	using := !emptyAuth(l.auth)
	ok, err := c.checkPassword(acct, l, &using)
	if err != nil {
		return acct, err
	}
	if !ok || !known {
		return acct, c.denied(l.user, using)
	}
	if acct.Locked {
		return acct, newError(3118, "Access denied for user '%s'@'%s'. Account is locked.", l.user, c.peer.host())
	}
	if !c.transportAllowed(acct) || !c.srv.cfg.AllowLogin(Login{Account: acct, Host: c.peer.host(), Local: c.peer.local(), TLS: c.tls != nil}) {
		return acct, c.denied(l.user, using)
	}
	return acct, nil
}

// decoyAuthString is a well-formed stored hash that no password has.
var decoyAuthString = "$A$005$" + strings.Repeat("x", 20) + strings.Repeat(".", 43)

func (c *conn) denied(user string, usingPassword bool) error {
	word := "NO"
	if usingPassword {
		word = "YES"
	}
	return newError(erAccessDenied, "Access denied for user '%s'@'%s' (using password: %s)", user, c.peer.host(), word)
}

// emptyAuth: clients answer for an empty password with nothing or a zero byte.
func emptyAuth(p []byte) bool { return len(p) == 0 || len(p) == 1 && p[0] == 0 }

// checkPassword compares what the client sends with the account, after
// switching the client to the account's plugin if it began with another.
func (c *conn) checkPassword(a Account, l loginPacket, using *bool) (bool, error) {
	if a.Plugin != pluginNative && a.Plugin != pluginCachingSha2 {
		return false, newError(1524, "Plugin '%s' is not loaded", a.Plugin)
	}
	plugin := l.plugin
	if plugin == "" {
		plugin = pluginNative
	}
	auth := l.auth
	if plugin != a.Plugin {
		var err error
		if auth, err = c.switchPlugin(a.Plugin); err != nil {
			return false, err
		}
		*using = !emptyAuth(auth)
	}
	if a.AuthString == "" || emptyAuth(auth) {
		return a.AuthString == "" && emptyAuth(auth), nil
	}
	if a.Plugin == pluginNative {
		return checkNative(auth, c.salt, a.AuthString), nil
	}
	return c.checkSha2(a, auth)
}

// switchPlugin asks the client to start over with another plugin and a fresh
// challenge.
func (c *conn) switchPlugin(plugin string) ([]byte, error) {
	salt, err := newSalt()
	if err != nil {
		return nil, err
	}
	c.salt = salt
	b := append([]byte{hdrEOF}, plugin...)
	b = append(append(append(b, 0), salt...), 0)
	return c.ask(b)
}

// ask sends a packet of the authentication exchange and reads the answer.
func (c *conn) ask(p []byte) ([]byte, error) {
	if err := c.pc.write(p); err != nil {
		return nil, err
	}
	if err := c.pc.flush(); err != nil {
		return nil, err
	}
	answer, err := c.pc.read()
	if err != nil {
		return nil, err
	}
	return bytes.Clone(answer), nil
}

// checkNative verifies mysql_native_password: the client proves that it knows
// SHA1(password) without sending it.
func checkNative(auth, salt []byte, stored string) bool {
	hash, err := mysql.DecodeMysqlNativePasswordHex(stored)
	if err != nil || len(hash) != sha1.Size || len(auth) != sha1.Size {
		return false
	}
	return mysql.VerifyHashedMysqlNativePassword(auth, salt, hash)
}

// checkSha2 verifies caching_sha2_password: a hash compared with the cache, or
// else the password itself over a secure channel or under the server's key.
func (c *conn) checkSha2(a Account, auth []byte) (bool, error) {
	if digest, ok := c.srv.cache.get(a); ok && checkScramble(auth, c.salt, digest) {
		c.srv.fastAuths.Add(1)
		return true, c.pc.write([]byte{hdrMore, sha2FastSuccess})
	}
	answer, err := c.ask([]byte{hdrMore, sha2FullAuth})
	if err != nil {
		return false, err
	}
	password, ok, err := c.clearPassword(answer)
	if err != nil || !ok || len(password) > maxPassword {
		return false, err
	}
	if !strings.HasPrefix(a.AuthString, "$A$") || len(a.AuthString) < 8 {
		return false, nil
	}
	_, rounds, salt, _, err := mysql.DeserializeCachingSha2PasswordAuthString([]byte(a.AuthString))
	if err != nil {
		return false, nil // a stored value in another format: nobody gets in
	}
	want, err := mysql.SerializeCachingSha2PasswordAuthString(password, salt, rounds)
	if err != nil {
		return false, fmt.Errorf("hash password: %w", err)
	}
	if subtle.ConstantTimeCompare(want, []byte(a.AuthString)) != 1 {
		return false, nil
	}
	c.srv.fullAuths.Add(1)
	c.srv.cache.put(a, password)
	return true, nil
}

// checkScramble verifies the fast path: auth is
// XOR(SHA256(pw), SHA256(SHA256(SHA256(pw)) + salt)).
func checkScramble(auth, salt, digest []byte) bool {
	if len(auth) != sha256.Size {
		return false
	}
	h := sha256.New()
	h.Write(digest)
	h.Write(salt)
	once := h.Sum(nil)
	subtle.XORBytes(once, once, auth)
	twice := sha256.Sum256(once)
	return subtle.ConstantTimeCompare(twice[:], digest) == 1
}

// clearPassword gets the password out of the client's full answer; ok is false
// if it does not decrypt.
func (c *conn) clearPassword(answer []byte) (password string, ok bool, err error) {
	if c.tls != nil || c.peer.socket {
		return string(bytes.TrimSuffix(answer, []byte{0})), true, nil
	}
	key, public, err := c.srv.rsa.get()
	if err != nil {
		return "", false, fmt.Errorf("make RSA key: %w", err)
	}
	if len(answer) == 1 && answer[0] == sha2RequestKey {
		if answer, err = c.ask(append([]byte{hdrMore}, public...)); err != nil {
			return "", false, err
		}
	}
	plain, err := rsa.DecryptOAEP(sha1.New(), rand.Reader, key, answer, nil)
	if err != nil {
		return "", false, nil
	}
	for i := range plain {
		plain[i] ^= c.salt[i%len(c.salt)]
	}
	return string(bytes.TrimSuffix(plain, []byte{0})), true, nil
}

// transportAllowed checks REQUIRE SSL | X509 | SUBJECT, ISSUER, CIPHER.
func (c *conn) transportAllowed(a Account) bool {
	if a.SSLType == "" {
		return true
	}
	if c.tls == nil {
		return false
	}
	st := c.tls.ConnectionState()
	switch a.SSLType {
	case "ANY":
		return true
	case "X509":
		return len(st.PeerCertificates) > 0
	case "SPECIFIED":
		return specifiedTLS(a, st)
	}
	return false
}

func specifiedTLS(a Account, st tls.ConnectionState) bool {
	if a.SSLCipher != "" && tls.CipherSuiteName(st.CipherSuite) != a.SSLCipher {
		return false
	}
	if a.X509Issuer == "" && a.X509Subject == "" {
		return true
	}
	if len(st.PeerCertificates) == 0 {
		return false
	}
	cert := st.PeerCertificates[0]
	return (a.X509Issuer == "" || slashName(cert.Issuer.String()) == a.X509Issuer) &&
		(a.X509Subject == "" || slashName(cert.Subject.String()) == a.X509Subject)
}

// slashName turns Go's "CN=x,O=y" into OpenSSL's "/O=y/CN=x".
func slashName(name string) string {
	parts := strings.Split(name, ",")
	var b strings.Builder
	for i := len(parts) - 1; i >= 0; i-- {
		b.WriteString("/")
		b.WriteString(parts[i])
	}
	return b.String()
}
