package main

import (
	"context"
	"errors"

	"github.com/toolcall-dev/toolcall-operator/hack/internal/cluster"
)

// host is a kind of cluster and the way into it.
type host interface {
	// Check says what is missing on this machine before anything is made.
	Check() error
	// Up makes sure that there is a cluster, and returns the access to it.
	Up(ctx context.Context) (cluster.Access, error)
	// Deliver puts the image where the cluster finds it, and returns what
	// differs from the configuration that all clusters share.
	Deliver(ctx context.Context, access cluster.Access) (overlay, error)
}

func (s settings) host() (host, error) {
	switch s.cluster {
	case cluster.Local:
		return local{s}, nil
	case cluster.Kind:
		return kind{s}, nil
	default:
		if s.image == "" {
			return nil, errors.New("CLUSTER=current needs IMG=REGISTRY/NAME:TAG, an image that your cluster can pull; `make image IMG=…` builds it, pushing it is up to you")
		}
		return current{s}, nil
	}
}

// current is the cluster of the user's kubeconfig, to which the user brings the
// image.
type current struct{ settings }

func (c current) Check() error {
	_, err := cluster.Open(cluster.Current, c.root)
	return err
}

func (c current) Up(ctx context.Context) (cluster.Access, error) {
	access, err := cluster.Open(cluster.Current, c.root)
	if err != nil {
		return cluster.Access{}, err
	}
	_, err = access.Run(ctx, "version", "--request-timeout=10s")
	return access, err
}

func (c current) Deliver(context.Context, cluster.Access) (overlay, error) {
	return overlay{Base: "config/default", Image: c.image}, nil
}
