package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcall-dev/toolcall-operator/hack/internal/cluster"
)

// kind is a cluster that the program kind runs in a container engine.
type kind struct{ settings }

// made marks a kind cluster that was made here, and so may be deleted.
func (k kind) made() string { return filepath.Join(k.root, "bin/kind/made-"+k.kindName) }

func (k kind) Check() error {
	for _, program := range []string{"kind", k.engine, "kubectl"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("CLUSTER=kind needs the program %s, which is not on PATH", program)
		}
	}
	return nil
}

func (k kind) Up(ctx context.Context) (cluster.Access, error) {
	names, err := cluster.Output(exec.CommandContext(ctx, "kind", "get", "clusters"))
	if err != nil {
		return cluster.Access{}, err
	}
	kubeconfig := filepath.Join(k.root, cluster.KindKubeconfig)
	if err := os.MkdirAll(filepath.Dir(kubeconfig), 0o755); err != nil {
		return cluster.Access{}, fmt.Errorf("make room for the kubeconfig: %w", err)
	}
	if slices.Contains(strings.Fields(names), k.kindName) {
		_, err = cluster.Output(exec.CommandContext(ctx, "kind", "export", "kubeconfig", "--name", k.kindName, "--kubeconfig", kubeconfig))
	} else {
		err = k.create(ctx, kubeconfig)
	}
	if err != nil {
		return cluster.Access{}, err
	}
	return cluster.Open(cluster.Kind, k.root)
}

func (k kind) create(ctx context.Context, kubeconfig string) error {
	if err := os.WriteFile(k.made(), nil, 0o644); err != nil {
		return fmt.Errorf("note that the kind cluster is ours: %w", err)
	}
	return cluster.Passthrough(exec.CommandContext(ctx, "kind", "create", "cluster", "--name", k.kindName, "--kubeconfig", kubeconfig, "--wait", "2m"))
}

func (k kind) Deliver(ctx context.Context, _ cluster.Access) (overlay, error) {
	program, err := checksum(k.program())
	if err != nil {
		return overlay{}, err
	}
	err = step("Building the image %s", k.image)(func() error {
		_, err := cluster.Output(exec.CommandContext(ctx, "make", "image", "IMG="+k.image, "CONTAINER_TOOL="+k.engine))
		return err
	})
	if err != nil {
		return overlay{}, err
	}
	archive := filepath.Join(k.root, "bin/kind/image.tar")
	err = step("Loading %s into the kind cluster %s", k.image, k.kindName)(func() error {
		if _, err := cluster.Output(exec.CommandContext(ctx, k.engine, "save", "--output", archive, k.image)); err != nil {
			return err
		}
		_, err := cluster.Output(exec.CommandContext(ctx, "kind", "load", "image-archive", archive, "--name", k.kindName))
		return errors.Join(err, os.Remove(archive))
	})
	return overlay{Base: "config/default", Image: k.image, Program: program}, err
}

// purge deletes the kind cluster if it was made here.
func (k kind) purge(ctx context.Context) (done bool, err error) {
	if _, err := os.Stat(k.made()); errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err := cluster.Passthrough(exec.CommandContext(ctx, "kind", "delete", "cluster", "--name", k.kindName)); err != nil {
		return false, err
	}
	return true, errors.Join(os.Remove(k.made()), os.Remove(filepath.Join(k.root, cluster.KindKubeconfig)))
}
