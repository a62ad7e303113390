package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"

	"github.com/toolcall-dev/toolcall-operator/hack/internal/cluster"
)

func (s settings) up(ctx context.Context) error {
	h, err := s.host()
	if err != nil {
		return err
	}
	if err := h.Check(); err != nil {
		return err
	}
	if s.cluster != cluster.Current {
		// Before the cluster: code that doesn't compile fails at once.
		if err := build(ctx); err != nil {
			return err
		}
	}
	access, err := h.Up(ctx)
	if err != nil {
		return err
	}
	laid, err := h.Deliver(ctx, access)
	if err != nil {
		return err
	}
	dir, err := laid.write(s.root)
	if err != nil {
		return err
	}
	err = step("Applying %s", laid.Base)(func() error {
		_, err := access.Run(ctx, "apply", "--server-side", "--force-conflicts", "--kustomize", dir)
		return err
	})
	if err != nil {
		return err
	}
	return step("Waiting for the operator")(func() error { return ready(ctx, access) })
}

// ready waits until the deployed version serves. Its error shows why it doesn't.
func ready(ctx context.Context, access cluster.Access) error {
	_, err := access.Run(ctx, "wait", "--for=condition=Established", "--timeout=1m",
		"crd/toolcalls.toolcall.dev", "crd/toolbatches.toolcall.dev")
	if err != nil {
		return err
	}
	inNamespace := func(args ...string) (string, error) {
		return access.Run(ctx, append(args, "--namespace", cluster.OperatorNamespace)...)
	}
	_, err = inNamespace("rollout", "status", "deployment/"+cluster.OperatorName, "--timeout=2m")
	if err == nil {
		return nil
	}
	pods, _ := inNamespace("get", "pods", "--output", "wide")
	events, _ := inNamespace("get", "events", "--sort-by", ".lastTimestamp", "--field-selector", "type=Warning")
	log, _ := inNamespace("logs", "deployment/"+cluster.OperatorName, "--tail", "20")
	return fmt.Errorf("the operator does not become ready: %w\n\nIts pods:\n%s\n\nWarnings:\n%s\n\nThe end of its log:\n%s", err, pods, events, log)
}

func (s settings) down(ctx context.Context) error {
	access, err := cluster.Open(s.cluster, s.root)
	if err != nil {
		return err
	}
	return undeploy(ctx, access)
}

func undeploy(ctx context.Context, access cluster.Access) error {
	// The kinds go first, and their objects with them, while the operator still
	// cleans up after them.
	return step("Removing the operator")(func() error {
		for _, part := range []string{"config/crd", "config/default"} {
			if _, err := access.Run(ctx, "delete", "--ignore-not-found", "--timeout=2m", "--kustomize", part); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s settings) purge(ctx context.Context) error {
	switch s.cluster {
	case cluster.Local:
		return cluster.Passthrough(exec.CommandContext(ctx, s.localcluster, "down"))
	case cluster.Kind:
		if done, err := (kind{s}).purge(ctx); done || err != nil {
			return err
		}
	}
	access, err := cluster.Open(s.cluster, s.root)
	if errors.Is(err, cluster.ErrNone) {
		return nil
	}
	if err != nil {
		return err
	}
	err = step("Removing the namespace %s", cluster.DemoNamespace)(func() error {
		_, err := access.Run(ctx, "delete", "namespace", cluster.DemoNamespace, "--ignore-not-found", "--timeout=2m")
		return err
	})
	return errors.Join(err, undeploy(ctx, access))
}
