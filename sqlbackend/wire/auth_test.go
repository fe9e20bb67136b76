package wire

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql/mysql_db"
)

// testTLS makes a certificate for 127.0.0.1.
func testTLS(t testing.TB) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}

func withTLS(t testing.TB) fixtureOption {
	cfg := testTLS(t)
	return func(_ *Options, c *Config) { c.TLS = cfg }
}

func TestAuthMatrix(t *testing.T) {
	f := start(t, withTLS(t))
	socket := f.listen("unix", filepath.Join(t.TempDir(), "s"))
	f.withUsers(
		"create user sha@localhost identified with caching_sha2_password by 'p1'",
		"create user nat@localhost identified with mysql_native_password by 'p2'",
		"create user '%any'@'%' identified with caching_sha2_password by 'p3'",
		"create user nopw@localhost",
		"create user elsewhere@'10.1.2.3' identified with caching_sha2_password by 'p'",
		"create user locked@localhost identified with caching_sha2_password by 'p'",
		"create user secure@localhost identified with caching_sha2_password by 'p' require ssl",
		"grant all on *.* to sha@localhost, nat@localhost, nopw@localhost, secure@localhost",
	)
	f.lock("locked", "localhost")
	tcp := "tcp(" + f.addr + ")"
	unix := "unix(" + socket + ")"
	for _, c := range []struct {
		user, password, where, params string
		denied                        string // "" = let in, else YES, NO or the message's rest
	}{
		{"sha", "p1", tcp, "", ""},
		{"sha", "p1", tcp, "", ""}, // again: the fast path
		{"sha", "p1", tcp, "tls=skip-verify", ""},
		{"sha", "p1", unix, "", ""},
		{"sha", "p1", tcp, "compress=true", ""},
		{"sha", "p1", tcp, "tls=skip-verify&compress=true", ""},
		{"sha", "wrong", tcp, "", "YES"},
		{"sha", "wrong", tcp, "tls=skip-verify", "YES"},
		{"sha", "wrong", unix, "", "YES"},
		{"sha", "", tcp, "", "NO"},
		{"nat", "p2", tcp, "", ""},
		{"nat", "p2", tcp, "tls=skip-verify", ""},
		{"nat", "p2", unix, "", ""},
		{"nat", "wrong", tcp, "", "YES"},
		{"nat", "", tcp, "", "NO"},
		{"%any", "p3", tcp, "", ""},
		{"nopw", "", tcp, "", ""},
		{"nopw", "x", tcp, "", "YES"},
		{"elsewhere", "p", tcp, "", "YES"},
		{"nobody", "p", tcp, "", "YES"},
		{"nobody", "", tcp, "", "NO"},
		{"nobody", "p", tcp, "tls=skip-verify", "YES"},
		{"locked", "p", tcp, "", "locked"},
		{"locked", "q", tcp, "", "YES"},
		{"secure", "p", tcp, "", "YES"},
		{"secure", "p", tcp, "tls=skip-verify", ""},
		{"root", "", tcp, "", ""},
	} {
		name := fmt.Sprintf("%s:%s@%s?%s", c.user, c.password, strings.SplitN(c.where, "(", 2)[0], c.params)
		_, err := f.open(c.user + ":" + c.password + "@" + c.where + "/?" + c.params).Exec("set @a = 1")
		if c.denied == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err == nil {
			t.Errorf("%s: let in", name)
			continue
		}
		me := sqlError(t, err)
		want := fmt.Sprintf("Error 1045 (28000): Access denied for user '%s'@'localhost' (using password: %s)", c.user, c.denied)
		if c.denied == "locked" {
			want = "Error 3118 (HY000): Access denied for user 'locked'@'localhost'. Account is locked."
		}
		if me.Error() != want {
			t.Errorf("%s: %v, want %s", name, me, want)
		}
	}
	if f.srv.fastAuths.Load() == 0 || f.srv.fullAuths.Load() == 0 {
		t.Errorf("%d fast, %d full", f.srv.fastAuths.Load(), f.srv.fullAuths.Load())
	}
}

// lock locks an account; the engine's ALTER USER does not.
func (f *fixture) lock(user, host string) {
	db := f.r.engine.Analyzer.Catalog.MySQLDb
	ed := db.Editor()
	defer ed.Close()
	u, ok := ed.GetUser(mysql_db.UserPrimaryKey{User: user, Host: host})
	if !ok {
		f.t.Fatalf("no account %s@%s", user, host)
	}
	u.Locked = true
	ed.PutUser(u)
}

func TestAuthCacheFollowsPasswordChange(t *testing.T) {
	f := start(t)
	f.withUsers("create user u@localhost identified with caching_sha2_password by 'old'")
	try := func(pw string) error {
		_, err := f.open("u:" + pw + "@tcp(" + f.addr + ")/").Exec("set @a = 1")
		return err
	}
	if err := try("old"); err != nil {
		t.Fatal(err)
	}
	f.exec(f.open("root@tcp("+f.addr+")/"), "alter user u@localhost identified with caching_sha2_password by 'new'")
	if err := try("old"); err == nil {
		t.Error("the old password still works")
	}
	if err := try("new"); err != nil {
		t.Error(err)
	}
}

func TestRequireSecureTransport(t *testing.T) {
	f := start(t, withTLS(t), func(_ *Options, c *Config) { c.RequireSecureTransport = func() bool { return true } })
	socket := f.listen("unix", filepath.Join(t.TempDir(), "s"))
	_, err := f.db("").Exec("set @a = 1")
	if me := sqlError(t, err); me.Number != 3159 {
		t.Error(me)
	}
	f.exec(f.db("tls=skip-verify"), "set @a = 1")
	f.exec(f.open("root@unix("+socket+")/"), "set @a = 1")
}

func TestLoginRule(t *testing.T) {
	var seen []Login
	f := start(t, func(_ *Options, c *Config) {
		c.AllowLogin = func(l Login) bool { seen = append(seen, l); return l.Account.AuthString != "" }
	})
	f.r.engine.Analyzer.Catalog.MySQLDb.AddRootAccount()
	_, err := f.db("").Exec("set @a = 1")
	if me := sqlError(t, err); me.Message != "Access denied for user 'root'@'localhost' (using password: NO)" {
		t.Error(me)
	}
	if len(seen) != 1 || !seen[0].Local || seen[0].TLS || seen[0].Account.User != "root" {
		t.Errorf("%+v", seen)
	}
	for _, c := range []struct {
		l    Login
		want bool
	}{
		{Login{}, false},
		{Login{Local: true}, true},
		{Login{Account: Account{AuthString: "x"}}, true},
	} {
		if got := PasswordlessOnlyLocal(c.l); got != c.want {
			t.Errorf("%+v: %v", c.l, got)
		}
	}
}

func TestTLSGarbage(t *testing.T) {
	f := start(t, withTLS(t))
	c := f.dial()
	c.read()
	b := append(le32(rawCaps|capSSL), le32(1<<24)...)
	b = append(b, collationUTF8MB4)
	c.send(append(b, make([]byte, 23)...))
	if _, err := c.nc.Write([]byte("not a TLS hello at all, just text")); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return f.srv.Connections() == 0 })
}

func TestMariadbClientTLSAndSha2(t *testing.T) {
	f := start(t, withTLS(t))
	f.withUsers("create user sha@localhost identified with caching_sha2_password by 'p1'",
		"create user nat@localhost identified with mysql_native_password by 'p2'")
	for _, args := range [][]string{
		{"-usha", "-pp1", "--skip-ssl"}, {"-usha", "-pp1", "--ssl"}, {"-usha", "-pp1", "--ssl", "--compress"},
		{"-unat", "-pp2", "--skip-ssl"}, {"-unat", "-pp2", "--ssl"}, {"-unat", "-pp2", "--skip-ssl", "--compress"},
	} {
		out := f.client("select concat('user ', current_user())", append(args, "-N")...)
		if !strings.Contains(out, "user "+args[0][2:]+"@localhost") {
			t.Errorf("%v: %s", args, out)
		}
	}
	out := f.client("select 1", "-usha", "-pwrong", "--skip-ssl")
	if !strings.Contains(out, "ERROR 1045 (28000): Access denied for user 'sha'@'localhost' (using password: YES)") {
		t.Error(out)
	}
}

type accountList []Account

func (accountList) Enabled() bool { return true }

func (l accountList) Lookup(user string) []Account {
	var out []Account
	for _, a := range l {
		if a.User == user {
			out = append(out, a)
		}
	}
	return out
}

func TestFindAccount(t *testing.T) {
	list := accountList{
		{User: "u", Host: "%"}, {User: "u", Host: "localhost"}, {User: "u", Host: "192.168.1.%"},
		{User: "u", Host: "192.168.1.7"}, {User: "u", Host: "10.0.0.0/255.0.0.0"}, {User: "u", Host: "10.1.0.0/16"},
		{User: "v", Host: "127.0.0.1"}, {User: "w", Host: "::1"}, {User: "x", Host: "192.168.1._"},
		{User: "", Host: "localhost"}, {User: "y", Host: "%"}, {User: "z", Host: ""}, {User: "z", Host: "%.9"},
	}
	at := func(ip string) peer {
		a := netip.MustParseAddr(ip)
		return peer{ip: a, loopback: a.IsLoopback()}
	}
	for _, c := range []struct {
		user string
		p    peer
		want string
	}{
		{"u", peer{socket: true}, "u@localhost"},
		{"u", at("127.0.0.1"), "u@localhost"},
		{"u", at("::1"), "u@localhost"},
		{"u", at("192.168.1.7"), "u@192.168.1.7"},
		{"u", at("192.168.1.8"), "u@192.168.1.%"},
		{"u", at("10.1.9.9"), "u@10.1.0.0/16"},
		{"u", at("10.2.9.9"), "u@10.0.0.0/255.0.0.0"},
		{"u", at("8.8.8.8"), "u@%"},
		{"v", at("127.0.0.1"), "@localhost"}, // the more specific host wins, even for nobody in particular
		{"v", peer{socket: true}, "@localhost"},
		{"w", at("::1"), "@localhost"},
		{"w", at("8.8.8.8"), "none"},
		{"x", at("192.168.1.4"), "x@192.168.1._"},
		{"x", at("192.168.1.44"), "none"},
		{"y", peer{socket: true}, "@localhost"},
		{"y", at("8.8.8.8"), "y@%"},
		{"z", at("8.8.8.9"), "z@%.9"},
		{"z", at("8.8.8.8"), "z@"},
		{"nobody", at("8.8.8.8"), "none"},
	} {
		got := "none"
		if a, ok := findAccount(list, c.user, c.p); ok {
			got = a.User + "@" + a.Host
		}
		if got != c.want {
			t.Errorf("%s from %s: %s, want %s", c.user, c.p.host(), got, c.want)
		}
	}
}

func TestTransportAllowed(t *testing.T) {
	cert := &x509.Certificate{Subject: pkix.Name{CommonName: "me", Organization: []string{"us"}}, Issuer: pkix.Name{CommonName: "ca"}}
	st := tls.ConnectionState{CipherSuite: tls.TLS_AES_128_GCM_SHA256, PeerCertificates: []*x509.Certificate{cert}}
	for _, c := range []struct {
		a    Account
		want bool
	}{
		{Account{}, true},
		{Account{SSLCipher: "TLS_AES_128_GCM_SHA256"}, true},
		{Account{SSLCipher: "other"}, false},
		{Account{X509Subject: "/O=us/CN=me"}, true},
		{Account{X509Subject: "/CN=me"}, false},
		{Account{X509Issuer: "/CN=ca"}, true},
		{Account{X509Issuer: "/CN=cb"}, false},
	} {
		if got := specifiedTLS(c.a, st); got != c.want {
			t.Errorf("%+v: %v", c.a, got)
		}
	}
	if specifiedTLS(Account{X509Issuer: "/CN=ca"}, tls.ConnectionState{}) {
		t.Error("no certificate, but its issuer is accepted")
	}
}
