// Package layout names everything that belongs to one cluster: its paths, its
// ports and what it owns on the host. Clusters of two checkouts share nothing.
package layout

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// maxState is the longest usable state directory: the kubelet makes sockets
// below it, and the kernel takes at most 107 bytes for a socket's path.
const maxState = 107 - len("/kubelet/plugins_registry/xxxxxxxxxxxxxxxx.sock")

// Layout is where one cluster keeps its files.
type Layout struct {
	Source string // this module's directory, with the tool modules below it
	State  string // absolute
}

// New finds the sources from the working directory upwards. Without a state
// directory it uses .cluster at the top of the checkout.
func New(state string) (Layout, error) {
	source, sourceErr := findSource()
	if state == "" {
		if sourceErr != nil {
			return Layout{}, fmt.Errorf("choose the default state directory: %w", sourceErr)
		}
		state = filepath.Join(source, "..", "..", ".cluster")
	}
	state, err := filepath.Abs(state)
	if err != nil {
		return Layout{}, fmt.Errorf("state directory: %w", err)
	}
	if resolved, err := filepath.EvalSymlinks(state); err == nil {
		state = resolved
	}
	if len(state) > maxState {
		return Layout{}, fmt.Errorf("the state directory %s has %d bytes; sockets below it allow %d: choose a shorter one with --state", state, len(state), maxState)
	}
	return Layout{Source: source, State: state}, nil
}

func findSource() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("working directory: %w", err)
	}
	for ; ; dir = filepath.Dir(dir) {
		source := filepath.Join(dir, "hack", "localcluster")
		if _, err := os.Stat(filepath.Join(source, "go.mod")); err == nil {
			return source, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("not inside a checkout of the toolcall operator (no hack/localcluster/go.mod above the working directory)")
		}
	}
}

func (l Layout) in(elem ...string) string {
	return filepath.Join(append([]string{l.State}, elem...)...)
}

// Bin holds the programs; it is a cache and survives the cluster.
func (l Layout) Bin() string { return l.in("bin") }

// Program is the path of one program.
func (l Layout) Program(name string) string { return l.in("bin", name) }

// ConfigFile holds the cluster's Config.
func (l Layout) ConfigFile() string { return l.in("cluster.json") }

// Kubeconfig is the administrator's.
func (l Layout) Kubeconfig() string { return l.in("kubeconfig") }

// ComponentKubeconfig is the kubeconfig of one component.
func (l Layout) ComponentKubeconfig(name string) string { return l.in("config", name+".kubeconfig") }

// Config is a component's configuration file.
func (l Layout) Config(name string) string { return l.in("config", name) }

// CNI is the directory of the pod network's configuration.
func (l Layout) CNI() string { return l.in("config", "cni") }

// PKI holds keys and certificates.
func (l Layout) PKI() string { return l.in("pki") }

// Records holds one record for each running component.
func (l Layout) Records() string { return l.in("processes") }

// Logs holds one file a component.
func (l Layout) Logs() string { return l.in("logs") }

// Log is a component's log.
func (l Layout) Log(name string) string { return l.in("logs", name+".log") }

// PodLogs is where the kubelet keeps the containers' logs.
func (l Layout) PodLogs() string { return l.in("logs", "pods") }

// Data is a component's own data.
func (l Layout) Data(name string) string { return l.in(name) }

// Lock is held by every command that changes the cluster.
func (l Layout) Lock() string { return l.in("lock") }

// Disposable lists what ends with the cluster; the rest (programs, lock) stays.
func (l Layout) Disposable() []string {
	return []string{
		l.Kubeconfig(), l.ConfigFile(), l.in("config"), l.PKI(), l.Records(), l.Logs(), l.in("images"),
		l.Data("etcd"), l.Data("containerd"), l.Data("kubelet"), l.Data("cni"), l.Data("buildah"),
	}
}
