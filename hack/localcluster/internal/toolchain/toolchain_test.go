package toolchain

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcall-dev/toolcall-operator/hack/localcluster/internal/progress"
)

func TestLinkerFlagsCarryTheVersion(t *testing.T) {
	got := Kubernetes().linkerFlags("v1.37.2")
	for _, want := range []string{
		"-X k8s.io/component-base/version.gitVersion=v1.37.2",
		"-X k8s.io/component-base/version.gitMajor=1",
		"-X k8s.io/client-go/pkg/version.gitMinor=37",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
	if got := Etcd().linkerFlags("v3.7.3"); got != "-s -w" {
		t.Errorf("etcd is linked with %s", got)
	}
}

func TestFollowCountsPackagesAndKeepsMessages(t *testing.T) {
	console := progress.New(io.Discard, false, 0, time.Now)
	c := &counter{step: console.Start("build"), total: 3}
	said := c.follow(strings.NewReader("go: downloading k8s.io/api v0.37.2\nfmt\nk8s.io/api/core/v1\n# k8s.io/api/core/v1\nfile.go:1:2: syntax error\n"))
	if c.done != 2 {
		t.Errorf("counted %d packages, want 2", c.done)
	}
	if want := "# k8s.io/api/core/v1\nfile.go:1:2: syntax error"; said != want {
		t.Errorf("kept %q, want %q", said, want)
	}
}

func TestUpToDate(t *testing.T) {
	b := Builder{Source: t.TempDir(), Bin: t.TempDir()}
	m := Module{Dir: "tool", Title: "Tool", Targets: []Target{{Package: ".", Output: "tool", Links: []string{"alias"}}}}
	write := func(path, content string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stamp := func(goVersion string) string {
		t.Helper()
		s, err := b.fingerprint(m, goVersion)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	write(filepath.Join(b.Source, "tool", "go.sum"), "one")
	first := stamp("go1")
	if b.upToDate(m, first) {
		t.Error("up to date before the first build")
	}
	write(filepath.Join(b.Bin, "tool"), "program")
	if err := b.link(m); err != nil {
		t.Fatal(err)
	}
	write(b.stampFile(m), first)
	if !b.upToDate(m, stamp("go1")) {
		t.Error("out of date after the build")
	}
	if b.upToDate(m, stamp("go2")) {
		t.Error("up to date with another Go")
	}
	write(filepath.Join(b.Source, "tool", "go.sum"), "two")
	if b.upToDate(m, stamp("go1")) {
		t.Error("up to date with other modules")
	}
	if err := os.Remove(filepath.Join(b.Bin, "alias")); err != nil {
		t.Fatal(err)
	}
	if b.upToDate(m, first) {
		t.Error("up to date without one of its names")
	}
}

func TestAbsentPackages(t *testing.T) {
	got := absent([]Package{
		{"here", func() bool { return true }},
		{"missing", func() bool { return false }},
	})
	if len(got) != 1 || got[0] != "missing" {
		t.Errorf("missing %v", got)
	}
}

func TestScriptIsNoStaticProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "busybox")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if isStatic(path) || isStatic(path+".missing") {
		t.Error("counts as static")
	}
}
