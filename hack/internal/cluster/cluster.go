// Package cluster knows the three clusters that the project's commands work on.
package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Name is the value of make's CLUSTER variable.
type Name string

// The clusters.
const (
	// Local is the cluster of hack/localcluster, in .cluster.
	Local Name = "local"
	// Kind is a cluster that kind runs in a container engine.
	Kind Name = "kind"
	// Current is the cluster of the user's kubeconfig.
	Current Name = "current"
)

// Where the operator and the demo are put.
const (
	OperatorNamespace = "toolcall-system"
	OperatorName      = "toolcall-operator"
	DemoNamespace     = "toolcall-demo"
)

// Paths below the top of the checkout.
const (
	LocalState     = ".cluster"
	KindKubeconfig = "bin/kind/kubeconfig"
)

// Set is for flag.Func.
func (n *Name) Set(value string) error {
	switch v := Name(value); v {
	case Local, Kind, Current:
		*n = v
		return nil
	default:
		return fmt.Errorf("want %s, %s or %s", Local, Kind, Current)
	}
}

// String is for flag.Value.
func (n *Name) String() string { return string(*n) }

// ErrNone says that there is no cluster to work on.
var ErrNone = errors.New("there is no cluster yet")

// Access is how to reach a cluster.
type Access struct {
	// Kubeconfig is an absolute path; empty means what kubectl would use.
	Kubeconfig string
	// Kubectl is the program to call.
	Kubectl string
}

// Open finds the access to a cluster that is there already. root is the top of
// the checkout.
func Open(name Name, root string) (Access, error) {
	switch name {
	case Local:
		a := Access{
			Kubeconfig: filepath.Join(root, LocalState, "kubeconfig"),
			Kubectl:    filepath.Join(root, LocalState, "bin", "kubectl"),
		}
		return a, a.exists("`make cluster-up` starts a local one")
	case Kind:
		a := Access{Kubeconfig: filepath.Join(root, KindKubeconfig)}
		if err := a.exists("`make deploy CLUSTER=kind` takes or makes one"); err != nil {
			return Access{}, err
		}
		return a.withKubectl()
	default:
		return Access{}.withKubectl()
	}
}

func (a Access) exists(remedy string) error {
	_, err := os.Stat(a.Kubeconfig)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w: %s", ErrNone, remedy)
	}
	return err
}

// withKubectl takes the kubectl on PATH, which for these clusters is the user's.
func (a Access) withKubectl() (Access, error) {
	path, err := exec.LookPath("kubectl")
	if err != nil {
		return Access{}, fmt.Errorf("the program kubectl is missing: install it (https://kubernetes.io/docs/tasks/tools), or use CLUSTER=%s, which builds its own", Local)
	}
	a.Kubectl = path
	return a, nil
}
