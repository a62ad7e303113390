package layout

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
)

// Config is what a cluster was given at its first start and keeps until it is
// taken down.
type Config struct {
	StateDir  string       `json:"stateDir"`
	ID        string       `json:"id"`
	PodSubnet netip.Prefix `json:"podSubnet"`
	Ports     Ports        `json:"ports"`
}

// Ports are the loopback ports of one cluster.
type Ports struct {
	APIServer         int `json:"apiServer"`
	EtcdClient        int `json:"etcdClient"`
	EtcdPeer          int `json:"etcdPeer"`
	ControllerManager int `json:"controllerManager"`
	Scheduler         int `json:"scheduler"`
	Kubelet           int `json:"kubelet"`
	KubeletHealth     int `json:"kubeletHealth"`
}

func (p *Ports) all() []*int {
	return []*int{&p.APIServer, &p.EtcdClient, &p.EtcdPeer, &p.ControllerManager, &p.Scheduler, &p.Kubelet, &p.KubeletHealth}
}

// NodeName is the same in every cluster: each has one node of its own.
const NodeName = "localcluster"

// name is what the cluster's things on the host are called. A network
// interface's name has at most 15 characters.
func (c Config) name() string { return "tc-" + c.ID }

// RunDir holds the sockets, which need short paths, and containerd's state.
func (c Config) RunDir() string { return filepath.Join(runDirs, c.name()) }

// ContainerdSocket is where containerd serves.
func (c Config) ContainerdSocket() string { return filepath.Join(c.RunDir(), "containerd.sock") }

// Bridge is the pod network's interface on the host.
func (c Config) Bridge() string { return c.name() }

// Network is the pod network's name.
func (c Config) Network() string { return c.name() }

// Cgroup is the root of all pods, relative to each hierarchy.
func (c Config) Cgroup() string { return c.name() }

// Marker is an entry in the environment of every process of this cluster.
func (c Config) Marker() string { return "LOCALCLUSTER_STATE=" + c.StateDir }

// Server is the API server's address.
func (c Config) Server() string { return fmt.Sprintf("https://127.0.0.1:%d", c.Ports.APIServer) }

// Load reads the persisted config; os.ErrNotExist when there is no cluster.
func Load(l Layout) (Config, error) {
	raw, err := os.ReadFile(l.ConfigFile())
	if errors.Is(err, os.ErrNotExist) {
		return Config{}, err
	}
	if err != nil {
		return Config{}, fmt.Errorf("read the cluster's configuration: %w", err)
	}
	var c Config
	if err := json.Unmarshal(raw, &c); err != nil {
		return Config{}, fmt.Errorf("%s is damaged: %w", l.ConfigFile(), err)
	}
	if c.StateDir != l.State {
		return Config{}, fmt.Errorf("%s belongs to the cluster of %s: a copied state directory must be deleted, a moved one moved back", l.ConfigFile(), c.StateDir)
	}
	return c, nil
}

// Save persists the config in one step.
func (c Config) Save(l Layout) error {
	raw, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the cluster's configuration: %w", err)
	}
	temporary := l.ConfigFile() + ".new"
	if err := os.WriteFile(temporary, append(raw, '\n'), 0o644); err != nil {
		return fmt.Errorf("save the cluster's configuration: %w", err)
	}
	if err := os.Rename(temporary, l.ConfigFile()); err != nil {
		return fmt.Errorf("save the cluster's configuration: %w", err)
	}
	return nil
}
