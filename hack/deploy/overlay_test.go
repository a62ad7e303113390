package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestImageIsSplitAsKustomizeWantsIt(t *testing.T) {
	cases := map[string]struct{ image, wantRepository, wantVersion string }{
		"tag":              {"localhost/operator:dev", "localhost/operator", `newTag: "dev"`},
		"no tag":           {"operator", "operator", `newTag: "latest"`},
		"port and tag":     {"host:5000/team/operator:v1", "host:5000/team/operator", `newTag: "v1"`},
		"port, no tag":     {"host:5000/operator", "host:5000/operator", `newTag: "latest"`},
		"digest":           {"host/operator@sha256:abc", "host/operator", "digest: sha256:abc"},
		"tag and digest":   {"host/operator:v1@sha256:abc", "host/operator", "digest: sha256:abc"},
		"tag like a float": {"operator:1.10", "operator", `newTag: "1.10"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := overlay{Image: tc.image}
			if got := o.Repository(); got != tc.wantRepository {
				t.Errorf("Repository() = %q, want %q", got, tc.wantRepository)
			}
			if got := o.Version(); got != tc.wantVersion {
				t.Errorf("Version() = %q, want %q", got, tc.wantVersion)
			}
		})
	}
}

func TestOverlayIsYAML(t *testing.T) {
	cases := map[string]struct {
		overlay     overlay
		wantPatches int
		want        string // in the patch
	}{
		"an image only":     {overlay{Base: "config/default", Image: "host/operator:v1"}, 0, ""},
		"with a checksum":   {overlay{Base: "config/default", Image: "operator:dev", Program: "abc"}, 1, "toolcall.dev/program: abc"},
		"for local cluster": {overlay{Base: "config/local", Image: "operator:dev", Program: "abc", Local: &localValues{1, 2, 3}}, 1, "containerPort: 3"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir, err := tc.overlay.write(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			raw, err := os.ReadFile(filepath.Join(dir, "kustomization.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Patches []struct{ Patch string }
			}
			if err := yaml.Unmarshal(raw, &got); err != nil {
				t.Fatalf("%v in\n%s", err, raw)
			}
			if len(got.Patches) != tc.wantPatches {
				t.Fatalf("%d patches, want %d, in\n%s", len(got.Patches), tc.wantPatches, raw)
			}
			for _, p := range got.Patches {
				if err := yaml.Unmarshal([]byte(p.Patch), &map[string]any{}); err != nil {
					t.Errorf("%v in the patch\n%s", err, p.Patch)
				}
				if !strings.Contains(p.Patch, tc.want) {
					t.Errorf("no %q in the patch\n%s", tc.want, p.Patch)
				}
			}
		})
	}
}
