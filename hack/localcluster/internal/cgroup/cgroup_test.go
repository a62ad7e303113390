package cgroup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseMounts(t *testing.T) {
	tests := map[string]struct {
		mounts string
		want   []tree
	}{
		"v1 beside a v2 tree without controllers": {
			mounts: `22 27 0:21 / /proc rw - proc none rw
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup none rw,cpu,cpuacct
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 none rw`,
			want: []tree{{path: "/sys/fs/cgroup/cpu,cpuacct"}, {path: "/sys/fs/cgroup/unified", v2: true}},
		},
		"v2": {
			mounts: `30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 none rw,nsdelegate`,
			want:   []tree{{path: "/sys/fs/cgroup", v2: true}},
		},
		"someone's own mount elsewhere": {
			mounts: `30 23 0:26 / /mnt/cgroup rw - cgroup2 none rw`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseMounts(strings.NewReader(tt.mounts))
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("got %+v, error %v, want %+v", got, err, tt.want)
			}
		})
	}
}

// fakeV2 is a directory with the files of a v2 root.
func fakeV2(t *testing.T, controllers string) (Host, string) {
	t.Helper()
	root := t.TempDir()
	for file, content := range map[string]string{"cgroup.controllers": controllers, "cgroup.subtree_control": ""} {
		if err := os.WriteFile(filepath.Join(root, file), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Host{V2: true, trees: []tree{{path: root, v2: true}}}, root
}

func TestCreateAndRemoveOnV2(t *testing.T) {
	host, root := fakeV2(t, "cpuset cpu io memory pids rdma misc\n")
	for range 2 { // again is fine
		if err := host.Create("tc-1"); err != nil {
			t.Fatal(err)
		}
	}
	// A real cgroup file takes each write by itself; this one shows the last.
	got, err := os.ReadFile(filepath.Join(root, "cgroup.subtree_control"))
	if err != nil || !strings.HasPrefix(string(got), "+pids") {
		t.Errorf("enabled %q, error %v", got, err)
	}
	if err := os.MkdirAll(filepath.Join(root, "tc-1", "kubepods", "pod1"), 0o755); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := host.Kill("tc-1", time.Second); err != nil {
			t.Errorf("kill: %v", err)
		}
		if err := host.Remove("tc-1"); err != nil {
			t.Errorf("remove: %v", err)
		}
	}
	if _, err := os.Stat(filepath.Join(root, "tc-1")); !os.IsNotExist(err) {
		t.Errorf("the cgroup is still there: %v", err)
	}
}

func TestCreateCopiesTheCPUSetOnV1(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "tc-1")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for file, content := range map[string]string{"cpuset.cpus": "0-1\n", "cpuset.mems": "0\n", "tc-1/cpuset.cpus": "\n", "tc-1/cpuset.mems": "0\n"} {
		if err := os.WriteFile(filepath.Join(root, file), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := (Host{trees: []tree{{path: root}}}).Create("tc-1"); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "cpuset.cpus")); err != nil || string(got) != "0-1\n" {
		t.Errorf("the new cpuset has the CPUs %q, error %v", got, err)
	}
}
