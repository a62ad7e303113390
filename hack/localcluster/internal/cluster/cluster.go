// Package cluster runs a one-node Kubernetes cluster out of one state directory.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/toolcall-dev/toolcall-operator/hack/localcluster/internal/layout"
	"github.com/toolcall-dev/toolcall-operator/hack/localcluster/internal/process"
	"github.com/toolcall-dev/toolcall-operator/hack/localcluster/internal/progress"
	"github.com/toolcall-dev/toolcall-operator/hack/localcluster/internal/toolchain"
)

// ErrNoCluster is returned by what needs a cluster that was brought up.
var ErrNoCluster = errors.New("there is no cluster: bring one up with \"localcluster up\"")

// Launcher brings clusters up and down.
type Launcher struct {
	Layout  layout.Layout
	Console *progress.Console
}

func (l Launcher) builder() toolchain.Builder {
	return toolchain.Builder{Source: l.Layout.Source, Bin: l.Layout.Bin(), Console: l.Console}
}

// Assets builds what tests against a bare API server need, and returns the
// directory it is in.
func (l Launcher) Assets(ctx context.Context) (string, error) {
	return l.Layout.Bin(), l.build(ctx, toolchain.Kubernetes(), toolchain.Etcd())
}

// Kwok builds the simulator of nodes, and returns its path.
func (l Launcher) Kwok(ctx context.Context) (string, error) {
	return l.Layout.Program("kwok"), l.build(ctx, toolchain.Kwok())
}

func (l Launcher) build(ctx context.Context, modules ...toolchain.Module) error {
	unlock, err := l.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return l.builder().Build(ctx, modules...)
}

// Open returns the cluster of the state directory, or ErrNoCluster.
func (l Launcher) Open() (*Cluster, error) {
	config, err := layout.Load(l.Layout)
	if errors.Is(err, os.ErrNotExist) {
		return nil, ErrNoCluster
	}
	if err != nil {
		return nil, err
	}
	return l.cluster(config), nil
}

func (l Launcher) cluster(config layout.Config) *Cluster {
	return &Cluster{
		Layout: l.Layout, Config: config, console: l.Console,
		records: process.Records{Dir: l.Layout.Records()},
	}
}

// lock keeps two commands from changing one cluster at the same time.
func (l Launcher) lock(ctx context.Context) (unlock func(), err error) {
	if err := l.claimState(); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(l.Layout.Lock(), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock the state directory: %w", err)
	}
	for waited := false; ; waited = true {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock the state directory: %w", err)
		}
		if !waited {
			l.Console.Printf("Waiting for another localcluster command on %s…", l.Layout.State)
		}
		if err := sleep(ctx, 100*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// claimState creates the state directory. One that holds someone else's files
// is refused: taking a cluster down deletes in there.
func (l Launcher) claimState() error {
	if err := os.MkdirAll(l.Layout.State, 0o755); err != nil {
		return fmt.Errorf("create the state directory: %w", err)
	}
	entries, err := os.ReadDir(l.Layout.State)
	if err != nil {
		return fmt.Errorf("read the state directory: %w", err)
	}
	for _, entry := range entries {
		if entry.Name() == filepath.Base(l.Layout.Lock()) {
			return nil
		}
	}
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return e.Name() == filepath.Base(l.Layout.Bin()) })
	if len(entries) > 0 && len(layout.Abandoned(l.Layout)) == 0 {
		return fmt.Errorf("%s is not a cluster's state directory, and not empty: choose another with --state", l.Layout.State)
	}
	return nil
}

// Cluster is one cluster, running or not.
type Cluster struct {
	Layout  layout.Layout
	Config  layout.Config
	console *progress.Console
	records process.Records
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
