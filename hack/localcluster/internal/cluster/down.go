package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/toolcall-dev/toolcall-operator/hack/localcluster/internal/cgroup"
	"github.com/toolcall-dev/toolcall-operator/hack/localcluster/internal/layout"
	"github.com/toolcall-dev/toolcall-operator/hack/localcluster/internal/process"
)

const (
	podsLimit  = 30 * time.Second // for killed pod processes to be gone
	shimsLimit = 3 * time.Second  // for containerd to clean up behind them
)

// Down ends the cluster and removes all it left on the host, and its data. The
// built programs stay, unless all is set. It needs no cluster to be there.
func (l Launcher) Down(ctx context.Context, all bool) error {
	if err := checkHost(); err != nil {
		return err
	}
	if _, err := os.Stat(l.Layout.State); errors.Is(err, os.ErrNotExist) {
		return l.removeAbandoned(ctx)
	}
	unlock, err := l.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	c, err := l.Open()
	if err != nil && !errors.Is(err, ErrNoCluster) {
		return err
	}
	if c != nil {
		if err := c.remove(ctx); err != nil {
			return err
		}
	}
	if err := l.removeAbandoned(ctx); err != nil {
		return err
	}
	return l.deleteFiles(all)
}

// removeAbandoned takes down what is left of clusters whose directory is gone.
func (l Launcher) removeAbandoned(ctx context.Context) error {
	for _, config := range layout.Abandoned(l.Layout) {
		l.Console.Printf("Removing what is left of the cluster %s", config.Network())
		if err := l.cluster(config).remove(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (l Launcher) deleteFiles(all bool) error {
	paths := l.Layout.Disposable()
	if all {
		paths = []string{l.Layout.State}
	}
	for _, path := range paths {
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("delete the cluster's files: %w", err)
		}
	}
	return nil
}

// remove ends every process and takes back every trace on the host. The order
// matters: who would restart something ends before it does.
func (c *Cluster) remove(ctx context.Context) error {
	step := c.console.Start("Taking the cluster down")
	cgroups, err := cgroup.Detect()
	if err != nil {
		return err
	}
	if err := c.stopAll(kubelet, controllerManager, scheduler, apiServer, etcd); err != nil {
		return err
	}
	if err := c.stopStrays("kubernetes", "etcd"); err != nil {
		return err
	}
	step.Update("ending pods")
	if err := cgroups.Kill(c.Config.Cgroup(), podsLimit); err != nil {
		return err
	}
	if err := c.stopRuntime(ctx); err != nil {
		return err
	}
	step.Update("cleaning up")
	err = errors.Join(
		c.removeShimSockets(),
		unmountBelow(c.Config.RunDir(), c.Layout.State),
		c.removeBridge(ctx),
		cgroups.Remove(c.Config.Cgroup()),
		c.removeHostFiles(),
	)
	if err != nil {
		return fmt.Errorf("clean up: %w", err)
	}
	// The run directory goes last: it says whose everything else was.
	if err := os.RemoveAll(c.Config.RunDir()); err != nil {
		return fmt.Errorf("clean up: %w", err)
	}
	step.Done("done")
	return nil
}

// stopAll kills the components: their data are about to be deleted.
func (c *Cluster) stopAll(names ...string) error {
	var group errgroup.Group
	for _, name := range names {
		group.Go(func() error { return c.stop(name, 0) })
	}
	return group.Wait()
}

func (c *Cluster) stop(name string, grace time.Duration) error {
	record, ok, err := c.records.Load(name)
	if err != nil || !ok {
		return err
	}
	if err := record.Stop(grace); err != nil {
		return fmt.Errorf("stop %s: %w", name, err)
	}
	return c.records.Remove(name)
}

// stopRuntime lets containerd, while it lives, clean up behind the killed pods;
// then it ends, and whatever else of this cluster still runs: shims, and
// components that no record names.
func (c *Cluster) stopRuntime(ctx context.Context) error {
	record, ok, err := c.records.Load(containerd)
	if err != nil {
		return err
	}
	if ok && record.Running() && !record.Stopped() {
		if err := c.awaitShims(ctx); err != nil {
			return err
		}
	}
	if err := c.stop(containerd, 5*time.Second); err != nil {
		return err
	}
	marked, err := process.WithEnvironment(c.Config.Marker())
	if err != nil {
		return err
	}
	for _, identity := range marked {
		if err := identity.Stop(0); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) awaitShims(ctx context.Context) error {
	for deadline := time.Now().Add(shimsLimit); time.Now().Before(deadline); {
		marked, err := process.WithEnvironment(c.Config.Marker())
		if err != nil {
			return err
		}
		if len(marked) <= 1 { // containerd itself
			return nil
		}
		if err := sleep(ctx, checkEvery); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) removeBridge(ctx context.Context) error {
	if _, err := net.InterfaceByName(c.Config.Bridge()); err != nil {
		return nil //nolint:nilerr // there is none
	}
	_, err := runProgram(ctx, "ip", "link", "delete", c.Config.Bridge())
	return err
}

// Where Kubernetes and its parts leave things outside of any directory that can
// be configured.
const (
	shimSockets      = "/run/containerd/s"
	networkResults   = "/var/lib/cni/results"
	containerLogs    = "/var/log/containers"
	devicePlugins    = "/var/lib/kubelet/device-plugins"
	deviceCheckpoint = "kubelet_internal_checkpoint"
)

// removeHostFiles deletes this cluster's files outside of its own directories,
// and directories that are empty without them.
func (c *Cluster) removeHostFiles() error {
	results, err := filepath.Glob(filepath.Join(networkResults, c.Config.Network()+"-*"))
	if err != nil {
		return err
	}
	logs, err := linksInto(containerLogs, c.Layout.PodLogs())
	if err != nil {
		return err
	}
	for _, path := range append(results, logs...) {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if !layout.OthersExist(c.Config) {
		removeDevicePlugins()
	}
	for _, dir := range []string{
		shimSockets, filepath.Dir(shimSockets), containerLogs,
		networkResults, filepath.Dir(networkResults),
		devicePlugins, filepath.Dir(devicePlugins),
	} {
		_ = os.Remove(dir) // refused unless it is empty, which is the point
	}
	return nil
}

// removeDevicePlugins deletes what every kubelet keeps at one fixed place,
// unless a kubelet that is not ours uses it: one that listens, or one whose
// files are beside it.
func removeDevicePlugins() {
	entries, err := os.ReadDir(filepath.Dir(devicePlugins))
	if err != nil || len(entries) != 1 {
		return
	}
	socket := filepath.Join(devicePlugins, "kubelet.sock")
	if connection, err := net.Dial("unix", socket); err == nil {
		_ = connection.Close()
		return
	}
	_ = os.Remove(socket) // best effort: the next kubelet would replace both
	_ = os.Remove(filepath.Join(devicePlugins, deviceCheckpoint))
}
