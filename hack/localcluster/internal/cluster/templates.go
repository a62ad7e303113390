package cluster

import (
	"bytes"
	"encoding/json"
	"fmt"
	"text/template"

	"github.com/toolcall-dev/toolcall-operator/hack/localcluster/internal/oci"
	"github.com/toolcall-dev/toolcall-operator/hack/localcluster/internal/toolchain"
)

// containerdTemplate keeps all that containerd would put below /run, /opt and
// /var inside this cluster's own directories.
const containerdTemplate = `version = 4
root = {{quote .Root}}
state = {{quote .State}}
disabled_plugins = [
  'io.containerd.nri.v1.nri',
  'io.containerd.image-verifier.v1.bindir',
  'io.containerd.snapshotter.v1.blockfile',
  'io.containerd.snapshotter.v1.erofs',
]

[plugins.'io.containerd.server.v1.grpc']
  address = {{quote .Socket}}

[plugins.'io.containerd.server.v1.ttrpc']
  address = {{quote .ShimSocket}}

[plugins.'io.containerd.internal.v1.opt']
  path = {{quote .Opt}}

[plugins.'io.containerd.grpc.v1.cri']
  disable_tcp_service = true
  stream_server_address = '127.0.0.1'
  stream_server_port = '0'

[plugins.'io.containerd.cri.v1.images']
  snapshotter = {{quote .Snapshotter}}

  [plugins.'io.containerd.cri.v1.images'.pinned_images]
    sandbox = {{quote .Sandbox}}

[plugins.'io.containerd.cri.v1.runtime']
  # The host may be a container itself, with limits of its own.
  restrict_oom_score_adj = true
  disable_apparmor = true
  netns_mounts_under_state_dir = true

  [plugins.'io.containerd.cri.v1.runtime'.containerd]
    default_runtime_name = 'runc'

    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
      runtime_type = 'io.containerd.runc.v2'

      [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
        SystemdCgroup = false
        Root = {{quote .RuncRoot}}

  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = [{{quote .CNIBin}}]
    conf_dir = {{quote .CNIConf}}
    use_internal_loopback = true
`

// kubeletTemplate: images are never collected, for they can't be pulled again;
// firewall rules are left alone, for nothing here needs them.
const kubeletTemplate = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: 127.0.0.1
port: {{.Port}}
readOnlyPort: 0
healthzBindAddress: 127.0.0.1
healthzPort: {{.HealthPort}}
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true}
  x509: {clientCAFile: {{quote .ClientCA}}}
authorization: {mode: Webhook}
tlsCertFile: {{quote .Certificate}}
tlsPrivateKeyFile: {{quote .Key}}
containerRuntimeEndpoint: {{quote .Endpoint}}
cgroupDriver: cgroupfs
cgroupRoot: {{quote .CgroupRoot}}
failCgroupV1: false
failSwapOn: false
maxPods: 250
podLogsDir: {{quote .PodLogs}}
volumePluginDir: {{quote .VolumePlugins}}
resolvConf: {{quote .ResolvConf}}
clusterDomain: cluster.local
makeIPTablesUtilChains: false
imageGCHighThresholdPercent: 100
evictionHard:
  memory.available: 50Mi
  nodefs.available: 1%
  nodefs.inodesFree: 1%
  imagefs.available: 1%
  imagefs.inodesFree: 1%
`

func (c *Cluster) containerdConfig(snapshotter string) ([]byte, error) {
	return render("containerd.toml", containerdTemplate, map[string]any{
		"Root":        c.Layout.Data("containerd"),
		"State":       c.Config.RunDir() + "/containerd",
		"Socket":      c.Config.ContainerdSocket(),
		"ShimSocket":  c.Config.ContainerdSocket() + ".ttrpc",
		"Opt":         c.Layout.Data("containerd") + "/opt",
		"Snapshotter": snapshotter,
		"Sandbox":     oci.PauseName,
		"RuncRoot":    c.Config.RunDir() + "/runc",
		"CNIBin":      toolchain.CNIDir(),
		"CNIConf":     c.Layout.CNI(),
	})
}

func (c *Cluster) kubeletConfig(resolvConf string) ([]byte, error) {
	return render("kubelet.yaml", kubeletTemplate, map[string]any{
		"Port":          c.Config.Ports.Kubelet,
		"HealthPort":    c.Config.Ports.KubeletHealth,
		"ClientCA":      c.certificate("ca"),
		"Certificate":   c.certificate("loopback"),
		"Key":           c.key("loopback"),
		"Endpoint":      "unix://" + c.Config.ContainerdSocket(),
		"CgroupRoot":    "/" + c.Config.Cgroup(),
		"PodLogs":       c.Layout.PodLogs(),
		"VolumePlugins": c.Layout.Data("kubelet") + "/volume-plugins",
		"ResolvConf":    resolvConf,
	})
}

// networkConfig has no default route and no masquerade: a pod reaches the host
// and other pods, and everything else fails at once instead of hanging.
func (c *Cluster) networkConfig() ([]byte, error) {
	raw, err := json.MarshalIndent(map[string]any{
		"cniVersion": "1.0.0",
		"name":       c.Config.Network(),
		"plugins": []any{map[string]any{
			"type":      "bridge",
			"bridge":    c.Config.Bridge(),
			"isGateway": true,
			"ipMasq":    false,
			"ipam": map[string]any{
				"type":    "host-local",
				"dataDir": c.Layout.Data("cni"),
				"ranges":  [][]map[string]string{{{"subnet": c.Config.PodSubnet.String()}}},
			},
		}},
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("render the network configuration: %w", err)
	}
	return raw, nil
}

func render(name, text string, values map[string]any) ([]byte, error) {
	// A JSON string is a string in TOML and in YAML, too.
	quote := func(s string) (string, error) {
		raw, err := json.Marshal(s)
		return string(raw), err
	}
	t, err := template.New(name).Option("missingkey=error").Funcs(template.FuncMap{"quote": quote}).Parse(text)
	if err != nil {
		return nil, fmt.Errorf("render %s: %w", name, err)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, values); err != nil {
		return nil, fmt.Errorf("render %s: %w", name, err)
	}
	return out.Bytes(), nil
}
