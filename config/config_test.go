package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

func load(t *testing.T, environ, args []string) (*Config, error) {
	t.Helper()
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	AddFlags(fs)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	return Load(fs, environ)
}

func TestDefaults(t *testing.T) {
	c := Default()
	if c.Data != "./ksql-data" || c.Address != "127.0.0.1" || c.Port != 3306 || c.Socket != "ksql-data/ksql.sock" ||
		c.Sync != "full" || c.FlushBytes != 64<<20 || c.MemoryLimit != 0 || c.User != "root" || c.IsSet("port") {
		t.Fatalf("defaults: %+v", c)
	}
	l, err := Load(nil, nil)
	if err != nil || !reflect.DeepEqual(l, c) {
		t.Fatalf("an empty environment gives %+v, %v", l, err)
	}
}

// Every key has a field, a meaning, and no field is without a key.
func TestTableIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Keys {
		if seen[k.Name] || k.Meaning == "" || (&Config{}).field(k.Name) == nil {
			t.Errorf("key %s is there twice, has no meaning or no field", k.Name)
		}
		seen[k.Name] = true
	}
	fields := 0
	for f := range reflect.TypeFor[Config]().Fields() {
		if f.IsExported() {
			fields++
		}
	}
	if fields != len(Keys) {
		t.Errorf("%d fields, %d keys", fields, len(Keys))
	}
}

func TestFileEnvironmentFlags(t *testing.T) {
	file := writeFile(t, "k.yaml", "port: 1\nsync: off\nmemory_limit: 512MB\naddress: 10.0.0.1\nwait_timeout: 2h\ndata: db\ntls_cert: c.pem\ntls_key: /k.pem\n")
	c, err := load(t, []string{"KSQL_PORT=2", "KSQL_ADDRESS=10.0.0.2", "HOME=/x"}, []string{"--config", file, "--port=3", "--require-secure-transport"})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(file)
	if c.Port != 3 || c.Address != "10.0.0.2" || c.Sync != "off" || c.MemoryLimit != 512<<20 || c.WaitTimeout != 2*time.Hour || !c.RequireSecureTransport {
		t.Fatalf("values: %+v", c)
	}
	if c.Data != filepath.Join(dir, "db") || c.TLSCert != filepath.Join(dir, "c.pem") || c.TLSKey != "/k.pem" || c.Socket != filepath.Join(dir, "db", "ksql.sock") {
		t.Fatalf("paths: %+v", c)
	}
	for key, origin := range map[string]string{
		"port": "flag --port", "address": "environment KSQL_ADDRESS", "sync": "file " + file, "user": "default",
	} {
		if got := c.Lookup(key).Origin; got != origin {
			t.Errorf("%s comes from %q, want %q", key, got, origin)
		}
	}
	if !c.IsSet("sync") || c.IsSet("user") {
		t.Error("IsSet is wrong")
	}
}

func TestFormats(t *testing.T) {
	for name, text := range map[string]string{
		"a.yml": "port: 77\nsync: interval\n", "a.toml": "port = 77\nsync = \"interval\"\n", "a.json": `{"port": 77, "sync": "interval"}`,
	} {
		c, err := load(t, []string{"KSQL_CONFIG=" + writeFile(t, name, text)}, nil)
		if err != nil || c.Port != 77 || c.Sync != "interval" {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
}

func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		env, args  []string
		want       string
	}{
		"unknown in file":   {file: "a.yaml", text: "memory_limt: 1GB\n", want: "unknown key memory_limt; did you mean memory_limit?"},
		"nested in file":    {file: "a.yaml", text: "tls:\n  cert: x\n", want: "unknown key tls.cert; did you mean tls_cert?"},
		"list in file":      {file: "a.yaml", text: "port: [1, 2]\n", want: "port must be one value"},
		"syntax":            {file: "a.yaml", text: "port: [1\n", want: "a.yaml: "},
		"format":            {file: "a.ini", text: "port=1\n", want: "must end in .yaml"},
		"missing file":      {args: []string{"--config=/nosuch/k.yaml"}, want: "/nosuch/k.yaml does not exist"},
		"folder":            {args: []string{"--config=/"}, want: "is a folder"},
		"unknown variable":  {env: []string{"KSQL_PROT=1"}, want: "unknown variable KSQL_PROT in the environment; did you mean KSQL_PORT?"},
		"case of variable":  {env: []string{"KSQL_port=1"}, want: "unknown variable KSQL_port"},
		"number":            {env: []string{"KSQL_PORT=abc"}, want: `port (environment KSQL_PORT): "abc" is not a whole number`},
		"port range":        {args: []string{"--port=65536"}, want: "port (flag --port): 65536 is not between 0 and 65535"},
		"choice":            {args: []string{"--sync=maybe"}, want: `"maybe" is not one of full, interval, off`},
		"size":              {args: []string{"--memory-limit=lots"}, want: `"lots" is not a size`},
		"small memory":      {args: []string{"--memory-limit=1MB"}, want: "1MiB is less than 16MiB"},
		"duration":          {args: []string{"--wait-timeout=-3s"}, want: "is negative"},
		"tls pair":          {args: []string{"--tls-cert=x"}, want: "tls_cert and tls_key go together"},
		"bool":              {args: []string{"--require-secure-transport=perhaps"}, want: "neither true nor false"},
		"no folder":         {args: []string{"--data="}, want: "a folder is needed"},
		"socket path":       {args: []string{"--socket=/" + strings.Repeat("x", 120)}, want: "a unix socket can have 107"},
		"connections":       {args: []string{"--max-connections=0"}, want: "0 is not between 1"},
		"packet":            {args: []string{"--max-allowed-packet=2GB"}, want: "2GiB is not between"},
		"two faults at one": {args: []string{"--port=-1", "--flush-bytes=1"}, want: "flush_bytes (flag --flush-bytes): 1 is less than"},
	} {
		t.Run(name, func(t *testing.T) {
			args := c.args
			if c.file != "" {
				args = append(args, "--config="+writeFile(t, c.file, c.text))
			}
			_, err := load(t, c.env, args)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want %q in it", err, c.want)
			}
		})
	}
}

func TestShowHidesSecrets(t *testing.T) {
	c, err := load(t, []string{"KSQL_PASSWORD=hunter2"}, []string{"-P", "3307"})
	if err != nil || c.Password != "hunter2" {
		t.Fatalf("%+v, %v", c, err)
	}
	var b strings.Builder
	if err := c.Show(&b); err != nil {
		t.Fatal(err)
	}
	out := b.String()
	if strings.Contains(out, "hunter2") || !strings.Contains(out, "********") || !strings.Contains(out, "environment KSQL_PASSWORD") {
		t.Errorf("the secret or its origin is wrong in\n%s", out)
	}
	for _, k := range Keys {
		if !strings.Contains(out, "\n"+k.Name+" ") {
			t.Errorf("%s is not shown", k.Name)
		}
	}
}

func TestUnits(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1048576": 1 << 20, "64k": 64 << 10, "512MB": 512 << 20, "1.5GiB": 3 << 29, "4 gb": 4 << 30, "7b": 7, "2T": 2 << 40,
	} {
		if n, err := ParseSize(text); err != nil || n != want {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", text, n, err, want)
		}
	}
	for _, text := range []string{"", "x", "-1", "1e30GB", "99999999999TB", "NaN", "MB", "1 2"} {
		if n, err := ParseSize(text); err == nil {
			t.Errorf("ParseSize(%q) = %d", text, n)
		}
	}
	for n, want := range map[int64]string{0: "0", 1: "1", 1024: "1KiB", 1 << 30: "1GiB", 1<<20 + 1: "1048577", 3 << 29: "1536MiB"} {
		if got := FormatSize(n); got != want {
			t.Errorf("FormatSize(%d) = %s, want %s", n, got, want)
		}
		if back, err := ParseSize(want); err != nil || back != n {
			t.Errorf("%s reads as %d, %v", want, back, err)
		}
	}
	for text, want := range map[string]time.Duration{"15m": 15 * time.Minute, "2": 2 * time.Second, "0.5": time.Second / 2, "500ms": time.Second / 2} {
		if d, err := parseDuration(text); err != nil || d != want {
			t.Errorf("parseDuration(%q) = %s, %v", text, d, err)
		}
	}
}

// The README's table of settings is the one that the keys give.
func TestReadmeTable(t *testing.T) {
	var b strings.Builder
	if err := Markdown(&b); err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), b.String()) {
		t.Errorf("README.md must contain this table:\n%s", b.String())
	}
}
