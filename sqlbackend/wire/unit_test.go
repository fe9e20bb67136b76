package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand"
	"testing"
	"time"
)

func TestAppendFloat(t *testing.T) {
	// the wants are what MySQL and MariaDB print
	for _, c := range []struct {
		f    float64
		bits int
		want string
	}{
		{0, 64, "0"}, {math.Copysign(0, -1), 64, "0"}, {1, 64, "1"}, {-1.5, 64, "-1.5"}, {0.1, 64, "0.1"},
		{100000000.29, 64, "100000000.29"}, {1e14, 64, "100000000000000"}, {1e15, 64, "1e15"}, {-1e15, 64, "-1e15"},
		{123456789012345680, 64, "1.2345678901234568e17"}, {1e20, 64, "1e20"}, {1.5e300, 64, "1.5e300"},
		{0.0001, 64, "0.0001"}, {0.00001, 64, "0.00001"}, {1e-15, 64, "0.000000000000001"}, {1e-16, 64, "1e-16"},
		{123456.789, 64, "123456.789"}, {math.MaxFloat64, 64, "1.7976931348623157e308"}, {5e-324, 64, "5e-324"},
		{1.0 / 3, 64, "0.3333333333333333"}, {2.0 / 3, 64, "0.6666666666666666"},
		{1.23456789, 32, "1.23457"}, {123456789, 32, "123457000"}, {1.5, 32, "1.5"}, {1e10, 32, "10000000000"},
		{float64(float32(0.1)), 32, "0.1"}, {3.4028234663852886e38, 32, "3.40282e38"},
	} {
		if got := string(appendFloat(nil, c.f, c.bits)); got != c.want {
			t.Errorf("%v as %d bits: %s, want %s", c.f, c.bits, got, c.want)
		}
	}
}

func TestTemporalRoundTrip(t *testing.T) {
	for _, s := range []string{"2026-02-28", "0000-00-00", "9999-12-31 23:59:59.999999", "2026-01-01 00:00:00.5"} {
		if _, ok := parseDatetime([]byte(s)); !ok {
			t.Errorf("%s", s)
		}
	}
	for _, s := range []string{"", "x", "2026", "2026-13-01", "2026-01-32", "2026-01-01 25:00:00", "2026-01-01 1", "10000-01-01", "2026-01-01 00:00:00.1x"} {
		if _, ok := parseDatetime([]byte(s)); ok {
			t.Errorf("%q is taken for a date", s)
		}
	}
	for s, want := range map[string]string{
		"00:00:00": "\x00", "12:34:56": "\x08\x00\x00\x00\x00\x00\x0c\x22\x38",
		"-838:59:59": "\x08\x01\x22\x00\x00\x00\x16\x3b\x3b", "00:00:00.5": "\x0c\x00\x00\x00\x00\x00\x00\x00\x00\x20\xa1\x07\x00",
	} {
		c, ok := parseTime([]byte(s))
		if got := string(appendTime(nil, c)); !ok || got != want {
			t.Errorf("%s: %q, %v", s, got, ok)
		}
	}
	for _, s := range []string{"", "-", "1", "839:00:00", "1:60:00", "1:2:3:4"} {
		if _, ok := parseTime([]byte(s)); ok {
			t.Errorf("%q is taken for a time", s)
		}
	}
	c := clockOf(time.Date(2026, 1, 2, 3, 4, 5, 678901000, time.UTC), typeDatetime, 3)
	if c.micros != 678000 {
		t.Errorf("%+v", c)
	}
}

func TestLenenc(t *testing.T) {
	for _, n := range []uint64{0, 250, 251, 252, 1<<16 - 1, 1 << 16, 1<<24 - 1, 1 << 24, math.MaxUint64} {
		d := decoder{b: appendLenenc(nil, n)}
		if got := d.lenenc(); got != n || d.err() != nil || !d.empty() {
			t.Errorf("%d: %d, %v", n, got, d.err())
		}
	}
	for _, b := range []string{"", "\xfb", "\xff", "\xfc\x01", "\xfd\x01\x02", "\xfe1234567"} {
		d := decoder{b: []byte(b)}
		if d.lenenc(); d.err() == nil {
			t.Errorf("%q is accepted", b)
		}
	}
	d := decoder{b: []byte("\xfe\xff\xff\xff\xff\xff\xff\xff\xffx")}
	if b := d.lenencBytes(); b != nil || d.err() == nil {
		t.Errorf("%q, %v", b, d.err())
	}
}

func TestCompressorRoundTrip(t *testing.T) {
	seed := time.Now().UnixNano()
	rnd := rand.New(rand.NewSource(seed))
	t.Logf("seed=%d", seed)
	var wire bytes.Buffer
	w := newCompressor(nil, &wire)
	var want bytes.Buffer
	for i := 0; i < 60; i++ {
		b := bytes.Repeat([]byte{byte(i)}, rnd.Intn(1<<rnd.Intn(20)))
		if i%3 == 0 {
			rnd.Read(b)
		}
		want.Write(b)
		if _, err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	got, err := io.ReadAll(newCompressor(&wire, nil))
	if err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%d bytes of %d, %v", len(got), want.Len(), err)
	}
}

func TestCompressorRefusesLies(t *testing.T) {
	var good bytes.Buffer
	if _, err := newCompressor(nil, &good).Write(bytes.Repeat([]byte("abc"), 1000)); err != nil {
		t.Fatal(err)
	}
	tooMuch := bytes.Clone(good.Bytes())
	tooMuch[4] += 7 // announces more than is there
	for name, frame := range map[string][]byte{
		"announces more": tooMuch,
		"no zlib":        {5, 0, 0, 0, 200, 0, 0, 'h', 'e', 'l', 'l', 'o'},
		"cut":            good.Bytes()[:good.Len()/2],
	} {
		if _, err := io.ReadAll(newCompressor(bytes.NewReader(frame), nil)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestPacketChains(t *testing.T) {
	for _, n := range []int{0, 1, maxChunk - 1, maxChunk, maxChunk + 1} {
		var wire bytes.Buffer
		out := &packetConn{limit: 1 << 30}
		out.attach(nopConn{&wire})
		if err := out.write(make([]byte, n)); err != nil {
			t.Fatal(err)
		}
		if err := out.flush(); err != nil {
			t.Fatal(err)
		}
		in := &packetConn{limit: n}
		in.attach(nopConn{&wire})
		p, err := in.read()
		if err != nil || len(p) != n {
			t.Errorf("%d: %d bytes, %v", n, len(p), err)
		}
		if n > 0 {
			wire.Reset()
			out.startCommand()
			fmt.Fprint(&wire, "")
			if err := errors.Join(out.write(make([]byte, n)), out.flush()); err != nil {
				t.Fatal(err)
			}
			in := &packetConn{limit: n - 1}
			in.attach(nopConn{&wire})
			if _, err := in.read(); !errors.Is(err, errTooLarge) {
				t.Errorf("%d bytes pass a limit of %d: %v", n, n-1, err)
			}
		}
	}
}
