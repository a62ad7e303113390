package cluster

import (
	"encoding/json"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"github.com/toolcall-dev/toolcall-operator/hack/localcluster/internal/layout"
	"github.com/toolcall-dev/toolcall-operator/hack/localcluster/internal/progress"
)

func sample(state string) *Cluster {
	launcher := Launcher{
		Layout:  layout.Layout{State: state},
		Console: progress.New(io.Discard, false, 0, time.Now),
	}
	return launcher.cluster(layout.Config{
		StateDir: state, ID: "0123abcd",
		PodSubnet: netip.MustParsePrefix("10.180.50.0/23"),
		Ports: layout.Ports{
			APIServer: 20001, EtcdClient: 20002, EtcdPeer: 20003, ControllerManager: 20004,
			Scheduler: 20005, Kubelet: 20006, KubeletHealth: 20007,
		},
	})
}

func TestKubeletConfig(t *testing.T) {
	raw, err := sample(`/state "quoted"`).kubeletConfig("/etc/resolv.conf")
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Kind           string `json:"kind"`
		Port           int    `json:"port"`
		HealthzPort    int    `json:"healthzPort"`
		CgroupRoot     string `json:"cgroupRoot"`
		FailCgroupV1   *bool  `json:"failCgroupV1"`
		Endpoint       string `json:"containerRuntimeEndpoint"`
		PodLogsDir     string `json:"podLogsDir"`
		Authentication struct {
			Anonymous struct {
				Enabled *bool `json:"enabled"`
			} `json:"anonymous"`
		} `json:"authentication"`
	}
	if err := yaml.Unmarshal(raw, &got); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	switch {
	case got.Kind != "KubeletConfiguration", got.Port != 20006, got.HealthzPort != 20007,
		got.CgroupRoot != "/tc-0123abcd", got.FailCgroupV1 == nil || *got.FailCgroupV1,
		got.Endpoint != "unix:///run/tc-0123abcd/containerd.sock",
		got.PodLogsDir != `/state "quoted"/logs/pods`,
		got.Authentication.Anonymous.Enabled == nil || *got.Authentication.Anonymous.Enabled:
		t.Errorf("rendered %s", raw)
	}
}

func TestContainerdConfigStaysInTheClustersDirectories(t *testing.T) {
	raw, err := sample("/state").containerdConfig("overlayfs")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		_, value, found := strings.Cut(strings.TrimSpace(line), ` = "/`)
		if found && !strings.HasPrefix(value, "state/") && !strings.HasPrefix(value, "run/tc-0123abcd/") {
			t.Errorf("leaves its directories: %s", line)
		}
	}
	if !strings.Contains(string(raw), `sandbox = "localhost/pause:dev"`) {
		t.Error("the sandbox image is not pinned")
	}
}

func TestNetworkConfig(t *testing.T) {
	raw, err := sample("/state").networkConfig()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Name    string `json:"name"`
		Plugins []struct {
			Bridge string `json:"bridge"`
			IPAM   struct {
				DataDir string `json:"dataDir"`
				Ranges  [][]struct {
					Subnet string `json:"subnet"`
				} `json:"ranges"`
			} `json:"ipam"`
		} `json:"plugins"`
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	plugin := got.Plugins[0]
	if got.Name != "tc-0123abcd" || plugin.Bridge != "tc-0123abcd" || plugin.IPAM.DataDir != "/state/cni" || plugin.IPAM.Ranges[0][0].Subnet != "10.180.50.0/23" {
		t.Errorf("rendered %s", raw)
	}
}

func TestComponents(t *testing.T) {
	c := sample("/state")
	for _, name := range ComponentNames() {
		component, err := c.component(name)
		if err != nil {
			t.Fatal(err)
		}
		if component.Command.Path != "/state/bin/"+name || component.Command.Log != "/state/logs/"+name+".log" {
			t.Errorf("%s runs %s, logs to %s", name, component.Command.Path, component.Command.Log)
		}
		if !slices.Contains(component.Command.Env, "LOCALCLUSTER_STATE=/state") {
			t.Errorf("%s is not marked: %v", name, component.Command.Env)
		}
		for _, arg := range component.Command.Args {
			if strings.Contains(arg, "0.0.0.0") {
				t.Errorf("%s listens beyond loopback: %s", name, arg)
			}
		}
	}
	if _, err := c.component("kube-proxy"); err == nil {
		t.Error("an unknown component is accepted")
	}
}

func TestKubeconfigLeadsToTheCluster(t *testing.T) {
	c := sample(t.TempDir())
	first := writtenKubeconfig(t, c)
	if first.Host != "https://127.0.0.1:20001" || len(first.CertData) == 0 || len(first.CAData) == 0 {
		t.Errorf("the kubeconfig leads to %s", first.Host)
	}
	if second := writtenKubeconfig(t, c); string(second.CAData) != string(first.CAData) {
		t.Error("the second start made another authority")
	}
}

func writtenKubeconfig(t *testing.T, c *Cluster) *rest.Config {
	t.Helper()
	if err := c.writeFiles(); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", c.Layout.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func TestChangedFilesMakeAnotherCommand(t *testing.T) {
	c := sample(t.TempDir())
	inputs := func() string {
		t.Helper()
		component, err := c.prepare(kubelet)
		if err != nil {
			t.Fatal(err)
		}
		return component.Command.Inputs
	}
	writtenKubeconfig(t, c)
	first := inputs()
	writtenKubeconfig(t, c)
	if inputs() != first {
		t.Error("unchanged files count as changed")
	}
	if err := os.WriteFile(c.Layout.Config("kubelet.yaml"), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if inputs() == first {
		t.Error("a changed file is not noticed")
	}
}

func TestReady(t *testing.T) {
	start := time.Unix(1000, 500_000_000)
	node := func(status corev1.ConditionStatus, heartbeat int64, taints ...string) *corev1.Node {
		n := &corev1.Node{}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status, LastHeartbeatTime: metav1.Unix(heartbeat, 0)}}
		for _, taint := range taints {
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: taint})
		}
		return n
	}
	for name, tt := range map[string]struct {
		node *corev1.Node
		want bool
	}{
		"no report":                         {node: &corev1.Node{}},
		"not ready":                         {node: node(corev1.ConditionFalse, 1001)},
		"ready":                             {node: node(corev1.ConditionTrue, 1001), want: true},
		"in the second of the start":        {node: node(corev1.ConditionTrue, 1000), want: true},
		"reported by an earlier kubelet":    {node: node(corev1.ConditionTrue, 999)},
		"still tainted":                     {node: node(corev1.ConditionTrue, 1001, corev1.TaintNodeNotReady)},
		"tainted by someone, for something": {node: node(corev1.ConditionTrue, 1001, "dedicated"), want: true},
	} {
		if got := ready(tt.node, start); got != tt.want {
			t.Errorf("%s: got %v, want %v", name, got, tt.want)
		}
	}
}

func TestNodePreparation(t *testing.T) {
	node := newNode()
	node.Spec.Taints = []corev1.Taint{{Key: uninitialized}, {Key: "dedicated"}}
	if !removeTaint(node, uninitialized) || removeTaint(node, uninitialized) || len(node.Spec.Taints) != 1 {
		t.Errorf("taints left: %v", node.Spec.Taints)
	}
	if !setAddresses(node) || setAddresses(node) {
		t.Error("addresses are set once, then left alone")
	}
	if node.Status.Addresses[0].Address != "127.0.0.1" {
		t.Errorf("addresses: %v", node.Status.Addresses)
	}
}

func TestUnnamedImages(t *testing.T) {
	images := parseImages(`REF                 TYPE       DIGEST      SIZE    PLATFORMS   LABELS
localhost/a:dev     manifest   sha256:new  1.9 MiB linux/amd64 -
sha256:config-new   manifest   sha256:new  1.9 MiB linux/amd64 -
sha256:config-old   manifest   sha256:old  1.9 MiB linux/amd64 -
`)
	if len(images) != 3 || images["localhost/a:dev"] != "sha256:new" {
		t.Errorf("parsed %v", images)
	}
	if got := unnamed(images); !slices.Equal(got, []string{"sha256:config-old"}) {
		t.Errorf("unnamed are %v", got)
	}
}

func TestMountPoints(t *testing.T) {
	mountinfo := `1 0 8:1 / / rw - ext4 /dev/sda rw
2 1 0:5 / /state/kubelet/pods/1/volumes/a\040b rw shared:1 - tmpfs none rw
3 1 0:5 / /run/tc-1/containerd/netns/x rw - nsfs none rw
4 1 0:5 / /state2/other rw - tmpfs none rw
5 1 0:5 / /state rw - tmpfs none rw
`
	got, err := mountPoints(strings.NewReader(mountinfo), []string{"/run/tc-1", "/state"})
	want := []string{"/state/kubelet/pods/1/volumes/a b", "/run/tc-1/containerd/netns/x"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, error %v, want %q", got, err, want)
	}
}

func TestUnescape(t *testing.T) {
	for escaped, want := range map[string]string{`/a\040b`: "/a b", `/a\134b`: `/a\b`, `/a\`: `/a\`, `/a\04`: `/a\04`, `/a\999`: `/a\999`} {
		if got := unescape(escaped); got != want {
			t.Errorf("%s: got %q, want %q", escaped, got, want)
		}
	}
}

func TestLinksInto(t *testing.T) {
	dir := t.TempDir()
	for name, to := range map[string]string{"ours": "/state/logs/pods/a", "other": "/state/logs/pods2/a"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := linksInto(dir, "/state/logs/pods")
	if err != nil || !slices.Equal(got, []string{filepath.Join(dir, "ours")}) {
		t.Errorf("got %v, error %v", got, err)
	}
	if got, err := linksInto(filepath.Join(dir, "missing"), "/"); err != nil || got != nil {
		t.Errorf("a missing directory gave %v, error %v", got, err)
	}
}

func TestBuildArgs(t *testing.T) {
	b := ImageBuild{File: "/f/Dockerfile", Context: "/c", Tag: "localhost/a:dev", Args: []string{"BASE=localhost/base:1"}}
	got := strings.Join(b.buildArgs(), " ")
	// Of two values for one name the later counts.
	if !strings.HasSuffix(got, "--build-arg BASE=scratch --build-arg BASE=localhost/base:1 /c") {
		t.Errorf("got %s", got)
	}
}

func TestForeignDirectoryIsRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		files   []string
		refused bool
	}{
		"empty":              {},
		"only programs":      {files: []string{"bin"}},
		"a cluster's":        {files: []string{"lock", "etcd"}},
		"someone's own":      {files: []string{"etcd"}, refused: true},
		"programs and files": {files: []string{"bin", "thesis.txt"}, refused: true},
	} {
		state := t.TempDir()
		for _, file := range tt.files {
			if err := os.WriteFile(filepath.Join(state, file), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		err := Launcher{Layout: layout.Layout{State: state}}.claimState()
		if (err != nil) != tt.refused {
			t.Errorf("%s: got error %v, want one: %v", name, err, tt.refused)
		}
	}
}
