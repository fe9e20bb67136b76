package cfile

import (
	"bytes"
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"ksql/internal/vfs"
)

var rewrite = flag.Bool("rewrite", false, "rewrite golden files (a format change needs a new version directory)")

// TestGoldenBytes pins the layout: what is written today is, byte for byte, what
// was written when the version was made. Compressed bytes may change with the
// zstd library, so there only reading is pinned.
func TestGoldenBytes(t *testing.T) {
	dir := filepath.Join("testdata", "golden", "v0")
	m := smallModel(t, 20)
	fs := vfs.NewMem()
	m.write(t, fs, "plain", WriterOptions{NoCompression: true})
	m.write(t, fs, "zstd", WriterOptions{})
	plain := []byte(hex.Dump(fileBytes(t, fs, "plain")))
	if *rewrite {
		for name, b := range map[string][]byte{"plain.hex": plain, "zstd.cfile": fileBytes(t, fs, "zstd")} {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	want, err := os.ReadFile(filepath.Join(dir, "plain.hex"))
	if err != nil || !bytes.Equal(want, plain) {
		t.Errorf("bytes differ from plain.hex (%v):\n%s", err, plain)
	}
	old, err := os.ReadFile(filepath.Join(dir, "zstd.cfile"))
	if err != nil {
		t.Fatal(err)
	}
	putFile(t, fs, "file", old)
	r, err := Open(fs, "file", m.s, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	m.verify(t, r)
}
