package wal

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"ksql/internal/vfs"
)

var rewrite = flag.Bool("rewrite", false, "write golden files")

const goldenFile = "testdata/golden/v0/segment.hex"

// goldenRows names the parts of the segment that smallLog makes.
func goldenRows() (rows [][2]any) {
	row := func(n int, what string) { rows = append(rows, [2]any{n, what}) }
	header := func(what string) {
		for _, p := range []struct {
			n    int
			what string
		}{{4, "header crc"}, {4, "payload length"}, {4, "payload crc"}, {4, "type " + what}, {8, "first LSN of the commit"},
			{8, "durable LSN"}, {8, "epoch"}, {8, "wall time"}} {
			row(p.n, p.what)
		}
	}
	row(8, "magic")
	row(4, "version")
	row(4, "header crc")
	row(8, "first LSN")
	row(8, "log id")
	row(promiseOffset-32, "zeros")
	row(8, "promised durable LSN")
	row(4, "promise crc")
	row(pageSize-promiseOffset-promiseSize, "zeros")
	for _, r := range []struct {
		what string
		n    int
	}{{"full", 15}, {"full", 22}, {"full", 29}, {"begin", 10}, {"full", 11}, {"middle", 10}, {"end", 18}, {"full", 28}} {
		header(r.what)
		row(r.n, "payload")
		if pad := int(recordSize(r.n)) - headerSize - r.n; pad > 0 {
			row(pad, "padding")
		}
	}
	return rows
}

// annotate prints data row by row: offset, bytes, meaning.
func annotate(data []byte) string {
	var b strings.Builder
	off := 0
	for _, r := range goldenRows() {
		n, part := r[0].(int), data[off:off+r[0].(int)]
		text := hex.EncodeToString(part)
		if n > 40 && isZero(part) {
			text = fmt.Sprintf("00*%d", n)
		}
		fmt.Fprintf(&b, "%05x: %s # %s\n", off, text, r[1])
		off += n
	}
	return b.String()
}

// parseAnnotated is the reverse of annotate.
func parseAnnotated(t *testing.T, text string) (data []byte) {
	t.Helper()
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		_, line, _ = strings.Cut(line, ": ")
		bytesOf, _, _ := strings.Cut(line, " #")
		var n int
		if _, err := fmt.Sscanf(bytesOf, "00*%d", &n); err == nil {
			data = append(data, make([]byte, n)...)
			continue
		}
		b, err := hex.DecodeString(bytesOf)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		data = append(data, b...)
	}
	return data
}

// The format's bytes: a change needs a new version and a new directory here.
func TestGolden(t *testing.T) {
	m, all, _ := smallLog(t)
	data, err := vfs.ReadFile(m, m.Files()[0], 1<<20)
	must(t, err)
	data = data[:pageSize+int(all[5].end)]
	text := annotate(data)
	if *rewrite {
		must(t, os.WriteFile(goldenFile, []byte(text), 0o644))
	}
	golden, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(golden) {
		t.Errorf("the log writes other bytes than version %d has:\n%s", formatVersion, text)
	}
	old := vfs.NewMem()
	must(t, old.MkdirAll("wal"))
	f, err := old.Create("wal/" + segmentName(0))
	must(t, err)
	b := parseAnnotated(t, string(golden))
	if !bytes.Equal(b, data) {
		t.Error("the golden file is not what is written")
	}
	_, err = f.Write(b)
	must(t, err)
	l := checkAll(t, old, 0, all)
	mustAppend(t, l, 7, []byte("goes on"), true)
	mustClose(t, l)
}
