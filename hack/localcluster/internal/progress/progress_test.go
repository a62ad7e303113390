package progress

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

type fakeClock struct{ now time.Time }

func (c *fakeClock) Now() time.Time { return c.now }

func TestQuietConsoleReportsEvery30Seconds(t *testing.T) {
	clock, out := &fakeClock{now: time.Unix(0, 0)}, &bytes.Buffer{}
	console := New(out, false, 0, clock.Now)
	step := console.Start("Building it")
	for i := range 70 {
		clock.now = clock.now.Add(time.Second)
		step.Update("%d/70 packages", i+1)
	}
	step.Done("done")
	want := "Building it…\n" +
		"Building it… 30/70 packages, 30s\n" +
		"Building it… 60/70 packages, 1m0s\n" +
		"Building it… done (1m10s)\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out, want)
	}
}

func TestTerminalRedrawsOneLine(t *testing.T) {
	clock, out := &fakeClock{now: time.Unix(0, 0)}, &bytes.Buffer{}
	console := New(out, true, 30, clock.Now)
	step := console.Start("Building")
	step.Update("%s", strings.Repeat("ö", 100))
	console.Printf("etcd is up")
	step.Done("done")
	const erase = "\r\x1b[K"
	cut := "Building… " + strings.Repeat("ö", 19)
	want := "Building…" + erase + cut + erase + "etcd is up\n" + cut + erase + "Building… done (0.0s)\n"
	if out.String() != want {
		t.Errorf("got  %q\nwant %q", out.String(), want)
	}
}

func TestElapsed(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                        "0.0s",
		1234 * time.Millisecond:  "1.2s",
		12400 * time.Millisecond: "12s",
		130 * time.Second:        "2m10s",
	} {
		if got := Elapsed(d); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
}
