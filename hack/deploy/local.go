package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"github.com/toolcall-dev/toolcall-operator/hack/internal/cluster"
)

// local is the cluster of hack/localcluster.
type local struct{ settings }

func (l local) Check() error {
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		return errors.New("the local cluster needs Linux and root; without, take a kind cluster (CLUSTER=kind) or your own (CLUSTER=current IMG=…)")
	}
	return nil
}

func (l local) Up(ctx context.Context) (cluster.Access, error) {
	if err := cluster.Passthrough(exec.CommandContext(ctx, l.localcluster, "up")); err != nil {
		return cluster.Access{}, err
	}
	return cluster.Open(cluster.Local, l.root)
}

func (l local) Deliver(ctx context.Context, access cluster.Access) (overlay, error) {
	if err := cluster.Passthrough(exec.CommandContext(ctx, l.localcluster, "build-image", "--tag", l.image)); err != nil {
		return overlay{}, err
	}
	program, err := checksum(l.program())
	if err != nil {
		return overlay{}, err
	}
	o := overlay{Base: "config/local", Image: l.image, Program: program, Local: &localValues{}}
	o.Local.APIPort, err = apiPort(ctx, access)
	if err != nil {
		return overlay{}, err
	}
	o.Local.MetricsPort, o.Local.ProbePort, err = operatorPorts(ctx, access, o.Local.APIPort)
	return o, err
}

func apiPort(ctx context.Context, access cluster.Access) (int, error) {
	server, err := access.Run(ctx, "config", "view", "--output", "jsonpath={.clusters[0].cluster.server}")
	if err != nil {
		return 0, err
	}
	parsed, err := url.Parse(server)
	if err != nil {
		return 0, fmt.Errorf("the kubeconfig's server: %w", err)
	}
	port, err := strconv.Atoi(parsed.Port())
	if err != nil {
		return 0, fmt.Errorf("the port of the kubeconfig's server %s: %w", server, err)
	}
	return port, nil
}

// operatorPorts chooses two ports of the host's loopback address: the ones of
// the operator that runs already, or free ones. They begin far below the API
// server's port, so that the operators of two clusters rarely meet.
func operatorPorts(ctx context.Context, access cluster.Access, apiPort int) (metrics, probe int, err error) {
	const ports = `jsonpath={range .spec.template.spec.containers[0].ports[*]}{.containerPort}{" "}{end}`
	deployed, err := access.Run(ctx, "get", "deployment", cluster.OperatorName, "--namespace", cluster.OperatorNamespace,
		"--ignore-not-found", "--output", ports)
	if err != nil {
		return 0, 0, err
	}
	if _, err := fmt.Sscan(strings.TrimSpace(deployed), &metrics, &probe); err == nil {
		return metrics, probe, nil
	}
	const distance = 10000
	if metrics, err = freePort(apiPort - distance); err != nil {
		return 0, 0, err
	}
	probe, err = freePort(metrics + 1)
	return metrics, probe, err
}

func freePort(first int) (int, error) {
	const attempts = 1000
	for port := first; port < first+attempts; port++ {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return port, listener.Close()
		}
	}
	return 0, fmt.Errorf("no port of 127.0.0.1 is free from %d to %d", first, first+attempts-1)
}
