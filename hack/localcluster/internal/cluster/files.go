package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/toolcall-dev/toolcall-operator/hack/localcluster/internal/layout"
	"github.com/toolcall-dev/toolcall-operator/hack/localcluster/internal/pki"
)

func (c *Cluster) certificate(name string) string { return filepath.Join(c.Layout.PKI(), name+".crt") }
func (c *Cluster) publicKey(name string) string   { return filepath.Join(c.Layout.PKI(), name+".pub") }
func (c *Cluster) key(name string) string         { return filepath.Join(c.Layout.PKI(), name+".key") }

// writeFiles brings keys, kubeconfigs and configuration files onto the disk.
func (c *Cluster) writeFiles() error {
	for _, dir := range []string{c.Layout.CNI(), c.Layout.Logs(), c.Layout.PodLogs(), c.Layout.Records(), c.Layout.Data("kubelet")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("create directories: %w", err)
		}
	}
	if err := c.writePKI(time.Now()); err != nil {
		return err
	}
	if err := c.writeKubeconfigs(); err != nil {
		return err
	}
	return c.writeConfigs()
}

func (c *Cluster) writeConfigs() error {
	containerdConfig, err1 := c.containerdConfig(snapshotter(c.Layout.State))
	kubeletConfig, err2 := c.kubeletConfig(resolvConf())
	networkConfig, err3 := c.networkConfig()
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	for path, content := range map[string][]byte{
		c.Layout.Config("containerd.toml"):                     containerdConfig,
		c.Layout.Config("kubelet.yaml"):                        kubeletConfig,
		filepath.Join(c.Layout.CNI(), "localcluster.conflist"): networkConfig,
	} {
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return fmt.Errorf("write %s: %w", filepath.Base(path), err)
		}
	}
	return nil
}

// identities are the certificates of the cluster's own authority. Etcd has
// another one: whoever may ask the API server may not ask its database.
func identities() map[string]pki.Subject {
	return map[string]pki.Subject{
		apiServer: {Name: apiServer, Hosts: []string{
			"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
			"kubernetes.default.svc.cluster.local", "127.0.0.1", "10.96.0.1",
		}},
		"loopback":        {Name: "localhost", Hosts: []string{"localhost", "127.0.0.1"}},
		"admin":           {Name: "kubernetes-admin", Group: "system:masters", Client: true},
		"kubelet-client":  {Name: "kube-apiserver-kubelet-client", Group: "system:masters", Client: true},
		controllerManager: {Name: "system:kube-controller-manager", Client: true},
		scheduler:         {Name: "system:kube-scheduler", Client: true},
		kubelet:           {Name: "system:node:" + layout.NodeName, Group: "system:nodes", Client: true},
	}
}

// writePKI makes all keys at once, and the directory appears when they are
// complete.
func (c *Cluster) writePKI(now time.Time) error {
	if _, err := os.Stat(c.Layout.PKI()); err == nil {
		return nil
	}
	dir := c.Layout.PKI() + ".new"
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return fmt.Errorf("create the key directory: %w", err)
	}
	loopback := []string{"localhost", "127.0.0.1"}
	authorities := map[string]map[string]pki.Subject{
		"ca": identities(),
		"etcd-ca": {
			"etcd":        {Name: "etcd", Hosts: loopback, Client: true},
			"etcd-client": {Name: "kube-apiserver-etcd-client", Client: true},
		},
		"front-proxy-ca": {"front-proxy-client": {Name: "front-proxy-client", Client: true}},
	}
	for name, subjects := range authorities {
		if err := writeAuthority(dir, name, subjects, now); err != nil {
			return err
		}
	}
	serviceAccounts, err := pki.NewKeyPair()
	if err != nil {
		return err
	}
	if err := serviceAccounts.Write(dir, "service-account", ".pub"); err != nil {
		return err
	}
	if err := os.Rename(dir, c.Layout.PKI()); err != nil {
		return fmt.Errorf("complete the key directory: %w", err)
	}
	return nil
}

func writeAuthority(dir, name string, subjects map[string]pki.Subject, now time.Time) error {
	authority, err := pki.NewAuthority("localcluster-"+name, now)
	if err != nil {
		return err
	}
	if err := authority.Write(dir, name, ".crt"); err != nil {
		return err
	}
	for file, subject := range subjects {
		pair, err := authority.Issue(subject, now)
		if err != nil {
			return err
		}
		if err := pair.Write(dir, file, ".crt"); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) writeKubeconfigs() error {
	for identity, path := range map[string]string{
		"admin":           c.Layout.Kubeconfig(),
		controllerManager: c.Layout.ComponentKubeconfig(controllerManager),
		scheduler:         c.Layout.ComponentKubeconfig(scheduler),
		kubelet:           c.Layout.ComponentKubeconfig(kubelet),
	} {
		if err := c.writeKubeconfig(identity, path); err != nil {
			return fmt.Errorf("write the kubeconfig of %s: %w", identity, err)
		}
	}
	return nil
}

// writeKubeconfig embeds everything, so that the file can be copied elsewhere.
func (c *Cluster) writeKubeconfig(identity, path string) error {
	authority, err1 := os.ReadFile(c.certificate("ca"))
	certificate, err2 := os.ReadFile(c.certificate(identity))
	key, err3 := os.ReadFile(c.key(identity))
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	name := c.Config.Network()
	return clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{name: {Server: c.Config.Server(), CertificateAuthorityData: authority}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{identity: {ClientCertificateData: certificate, ClientKeyData: key}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: identity}},
		CurrentContext: name,
	}, path)
}

// snapshotter falls back to plain copies where the kernel can't stack an
// overlay: on top of another overlay, as inside most containers.
func snapshotter(dir string) string {
	const overlayMagic = 0x794c7630
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err == nil && fs.Type == overlayMagic {
		return "native"
	}
	return "overlayfs"
}

// resolvConf avoids the stub of systemd-resolved, a loopback address that means
// nothing inside a pod.
func resolvConf() string {
	const upstream = "/run/systemd/resolve/resolv.conf"
	if _, err := os.Stat(upstream); err == nil {
		return upstream
	}
	return "/etc/resolv.conf"
}
