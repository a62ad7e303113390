package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/toolcall-dev/toolcall-operator/hack/localcluster/internal/cgroup"
	"github.com/toolcall-dev/toolcall-operator/hack/localcluster/internal/layout"
	"github.com/toolcall-dev/toolcall-operator/hack/localcluster/internal/toolchain"
)

// Up brings the cluster to the state "every component serves, the node is
// ready", from wherever it is: absent, complete, or with parts missing.
func (l Launcher) Up(ctx context.Context) (*Cluster, error) {
	if err := checkHost(); err != nil {
		return nil, err
	}
	unlock, err := l.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := toolchain.Ensure(ctx, l.Console, toolchain.RuntimePackages()); err != nil {
		return nil, err
	}
	// Pause and containerd are built first: they fail fast.
	if err := l.builder().Build(ctx, toolchain.Pause(), toolchain.Containerd(), toolchain.Etcd(), toolchain.Kubernetes()); err != nil {
		return nil, err
	}
	c, err := l.openOrCreate(ctx)
	if err != nil {
		return nil, err
	}
	return c, c.up(ctx)
}

func checkHost() error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("the local cluster runs on Linux only, not on %s", runtime.GOOS)
	}
	if os.Geteuid() != 0 {
		return errors.New("the local cluster needs root: it runs containers, mounts and a network bridge")
	}
	return nil
}

func (l Launcher) openOrCreate(ctx context.Context) (*Cluster, error) {
	c, err := l.Open()
	if !errors.Is(err, ErrNoCluster) {
		return c, err
	}
	if err := l.removeAbandoned(ctx); err != nil {
		return nil, err
	}
	// A new cluster must not find the data of one whose keys are gone.
	if err := l.deleteFiles(false); err != nil {
		return nil, err
	}
	taken, err := layout.HostUsage(l.Layout)
	if err != nil {
		return nil, err
	}
	config, err := layout.Allocate(l.Layout.State, taken)
	if err != nil {
		return nil, err
	}
	if err := config.Save(l.Layout); err != nil {
		return nil, err
	}
	return l.cluster(config), nil
}

func (c *Cluster) up(ctx context.Context) error {
	if err := c.Config.Claim(); err != nil {
		return err
	}
	if err := c.writeFiles(); err != nil {
		return err
	}
	if err := c.createCgroup(); err != nil {
		return err
	}
	if err := c.stopStrays("kubernetes", "etcd", "containerd"); err != nil {
		return err
	}
	if err := c.startControlPlane(ctx); err != nil {
		return err
	}
	return c.startNode(ctx)
}

func (c *Cluster) createCgroup() error {
	host, err := cgroup.Detect()
	if err != nil {
		return err
	}
	return host.Create(c.Config.Cgroup())
}

// startControlPlane starts what the kubelet needs: the API server with its
// database, and beside them the container runtime with its images.
func (c *Cluster) startControlPlane(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		if _, err := c.ensure(ctx, etcd); err != nil {
			return err
		}
		_, err := c.ensure(ctx, apiServer)
		return err
	})
	group.Go(func() error {
		if _, err := c.ensure(ctx, containerd); err != nil {
			return err
		}
		return c.loadBaseImages(ctx)
	})
	return group.Wait()
}

// startNode starts the rest at once and waits until pods can run.
func (c *Cluster) startNode(ctx context.Context) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	if err := ensureNode(ctx, client.Nodes()); err != nil {
		return err
	}
	var readySince time.Time
	group, groupCtx := errgroup.WithContext(ctx)
	for _, name := range []string{controllerManager, scheduler} {
		group.Go(func() error {
			_, err := c.ensure(groupCtx, name)
			return err
		})
	}
	group.Go(func() error {
		began := time.Now()
		started, err := c.ensure(groupCtx, kubelet)
		if started {
			readySince = began
		}
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	return c.awaitReady(ctx, client, readySince)
}
