package main

import (
	"bufio"
	"slices"
	"strings"
	"testing"
)

func TestBuildReportsPackagesAndKeepsComplaints(t *testing.T) {
	said := strings.Join([]string{
		"go: downloading k8s.io/api v0.37.2",
		"k8s.io/api/core/v1",
		"github.com/toolcall-dev/toolcall-operator/cmd/manager",
		"# github.com/toolcall-dev/toolcall-operator/cmd/manager",
		"cmd/manager/main.go:12:2: undefined: nothing",
	}, "\n")
	var reports []string
	complaints := watchBuild(bufio.NewScanner(strings.NewReader(said)), func(r string) { reports = append(reports, r) })
	want := []string{"downloading k8s.io/api v0.37.2", "1 packages compiled", "2 packages compiled"}
	if !slices.Equal(reports, want) {
		t.Errorf("reports %q, want %q", reports, want)
	}
	if !strings.Contains(complaints, "undefined: nothing") || strings.Contains(complaints, "downloading") {
		t.Errorf("complaints:\n%s", complaints)
	}
}
