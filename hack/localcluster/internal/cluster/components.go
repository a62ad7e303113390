package cluster

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolcall-dev/toolcall-operator/hack/localcluster/internal/layout"
	"github.com/toolcall-dev/toolcall-operator/hack/localcluster/internal/process"
)

// The components, named like their programs.
const (
	etcd              = "etcd"
	apiServer         = "kube-apiserver"
	controllerManager = "kube-controller-manager"
	scheduler         = "kube-scheduler"
	containerd        = "containerd"
	kubelet           = "kubelet"
)

// searchPath is where components look for runc, mount and the like; the
// program directory comes first, for containerd's shim.
const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// serviceRange is where Services get their addresses. Nothing routes them:
// there is no service proxy.
const serviceRange = "10.96.0.0/16"

// Component is one program of the cluster.
type Component struct {
	Name    string
	Command process.Command
	// Files are read by the component at its start only.
	Files []string
	// Check returns nil when the component serves.
	Check func(ctx context.Context) error
	// Grace is how long it may take to end by itself.
	Grace time.Duration
}

// ComponentNames lists the components in the order of their start.
func ComponentNames() []string {
	return []string{etcd, containerd, apiServer, controllerManager, scheduler, kubelet}
}

func (c *Cluster) component(name string) (Component, error) {
	var args, files []string
	var check func(context.Context) error
	ports := c.Config.Ports
	switch name {
	case etcd:
		args, check = c.etcdArgs(), c.checkURL(fmt.Sprintf("https://127.0.0.1:%d/readyz", ports.EtcdClient), "etcd-ca", "etcd-client")
	case apiServer:
		args, check = c.apiServerArgs(), c.checkURL(c.Config.Server()+"/readyz", "ca", "admin")
	case controllerManager:
		args, check = c.controllerManagerArgs(), c.checkURL(fmt.Sprintf("https://127.0.0.1:%d/healthz", ports.ControllerManager), "ca", "admin")
	case scheduler:
		args, check = c.schedulerArgs(), c.checkURL(fmt.Sprintf("https://127.0.0.1:%d/healthz", ports.Scheduler), "ca", "admin")
	case containerd:
		files = []string{c.Layout.Config("containerd.toml")}
		args, check = []string{"--config", files[0]}, c.checkContainerd
	case kubelet:
		files = []string{c.Layout.Config("kubelet.yaml")}
		args, check = c.kubeletArgs(), c.checkURL(fmt.Sprintf("http://127.0.0.1:%d/healthz", ports.KubeletHealth), "ca", "admin")
	default:
		return Component{}, fmt.Errorf("no component %q; there are %s", name, strings.Join(ComponentNames(), ", "))
	}
	return Component{
		Name: name, Files: files, Check: check, Grace: 10 * time.Second,
		Command: process.Command{
			Path: c.Layout.Program(name), Args: args, Dir: c.Layout.State, Log: c.Layout.Log(name),
			Env: []string{"PATH=" + c.Layout.Bin() + ":" + searchPath, "HOME=/root", c.Config.Marker()},
		},
	}, nil
}

// flags writes --name=value for each pair, sorted.
func flags(values map[string]string) []string {
	args := make([]string, 0, len(values))
	for name, value := range values {
		args = append(args, "--"+name+"="+value)
	}
	slices.Sort(args)
	return args
}

func (c *Cluster) etcdArgs() []string {
	client := fmt.Sprintf("https://127.0.0.1:%d", c.Config.Ports.EtcdClient)
	peer := fmt.Sprintf("https://127.0.0.1:%d", c.Config.Ports.EtcdPeer)
	return flags(map[string]string{
		"name":                        layout.NodeName,
		"data-dir":                    c.Layout.Data("etcd"),
		"listen-client-urls":          client,
		"advertise-client-urls":       client,
		"listen-peer-urls":            peer,
		"initial-advertise-peer-urls": peer,
		"initial-cluster":             layout.NodeName + "=" + peer,
		"client-cert-auth":            "true",
		"trusted-ca-file":             c.certificate("etcd-ca"),
		"cert-file":                   c.certificate("etcd"),
		"key-file":                    c.key("etcd"),
		"peer-client-cert-auth":       "true",
		"peer-trusted-ca-file":        c.certificate("etcd-ca"),
		"peer-cert-file":              c.certificate("etcd"),
		"peer-key-file":               c.key("etcd"),
		// Writes need not survive a crash of the machine: this cluster is thrown
		// away, and waiting for the disk is most of a write's time.
		"unsafe-no-fsync": "true",
		"logger":          "zap",
		"log-level":       "warn",
	})
}

func (c *Cluster) apiServerArgs() []string {
	return flags(map[string]string{
		"bind-address":      "127.0.0.1",
		"advertise-address": "127.0.0.1",
		"secure-port":       strconv.Itoa(c.Config.Ports.APIServer),
		// The default refuses to publish a loopback address as an endpoint.
		"endpoint-reconciler-type":           "none",
		"etcd-servers":                       fmt.Sprintf("https://127.0.0.1:%d", c.Config.Ports.EtcdClient),
		"etcd-cafile":                        c.certificate("etcd-ca"),
		"etcd-certfile":                      c.certificate("etcd-client"),
		"etcd-keyfile":                       c.key("etcd-client"),
		"tls-cert-file":                      c.certificate(apiServer),
		"tls-private-key-file":               c.key(apiServer),
		"client-ca-file":                     c.certificate("ca"),
		"authorization-mode":                 "Node,RBAC",
		"enable-admission-plugins":           "NodeRestriction",
		"allow-privileged":                   "true",
		"service-cluster-ip-range":           serviceRange,
		"service-account-issuer":             "https://kubernetes.default.svc.cluster.local",
		"service-account-key-file":           c.publicKey("service-account"),
		"service-account-signing-key-file":   c.key("service-account"),
		"kubelet-preferred-address-types":    "InternalIP",
		"kubelet-certificate-authority":      c.certificate("ca"),
		"kubelet-client-certificate":         c.certificate("kubelet-client"),
		"kubelet-client-key":                 c.key("kubelet-client"),
		"requestheader-client-ca-file":       c.certificate("front-proxy-ca"),
		"requestheader-allowed-names":        "front-proxy-client",
		"requestheader-username-headers":     "X-Remote-User",
		"requestheader-group-headers":        "X-Remote-Group",
		"requestheader-extra-headers-prefix": "X-Remote-Extra-",
		"proxy-client-cert-file":             c.certificate("front-proxy-client"),
		"proxy-client-key-file":              c.key("front-proxy-client"),
	})
}

func (c *Cluster) controllerManagerArgs() []string {
	kubeconfig := c.Layout.ComponentKubeconfig(controllerManager)
	return flags(map[string]string{
		"kubeconfig":                       kubeconfig,
		"authentication-kubeconfig":        kubeconfig,
		"authorization-kubeconfig":         kubeconfig,
		"bind-address":                     "127.0.0.1",
		"secure-port":                      strconv.Itoa(c.Config.Ports.ControllerManager),
		"tls-cert-file":                    c.certificate("loopback"),
		"tls-private-key-file":             c.key("loopback"),
		"leader-elect":                     "false", // there is one; a restart must not wait for a lease
		"use-service-account-credentials":  "true",
		"root-ca-file":                     c.certificate("ca"),
		"service-account-private-key-file": c.key("service-account"),
		"cluster-signing-cert-file":        c.certificate("ca"),
		"cluster-signing-key-file":         c.key("ca"),
	})
}

func (c *Cluster) schedulerArgs() []string {
	kubeconfig := c.Layout.ComponentKubeconfig(scheduler)
	return flags(map[string]string{
		"kubeconfig":                kubeconfig,
		"authentication-kubeconfig": kubeconfig,
		"authorization-kubeconfig":  kubeconfig,
		"bind-address":              "127.0.0.1",
		"secure-port":               strconv.Itoa(c.Config.Ports.Scheduler),
		"tls-cert-file":             c.certificate("loopback"),
		"tls-private-key-file":      c.key("loopback"),
		"leader-elect":              "false",
	})
}

func (c *Cluster) kubeletArgs() []string {
	return flags(map[string]string{
		"config":            c.Layout.Config("kubelet.yaml"),
		"kubeconfig":        c.Layout.ComponentKubeconfig(kubelet),
		"root-dir":          c.Layout.Data("kubelet"),
		"cert-dir":          c.Layout.Data("kubelet"),
		"hostname-override": layout.NodeName,
		// The launcher plays the cloud: it sets the node's address, which the
		// kubelet by itself refuses to be a loopback one.
		"cloud-provider": "external",
	})
}
