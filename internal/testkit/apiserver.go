//go:build apiserver

// Package testkit starts an API server for tests and makes the objects that
// they use.
package testkit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
)

// assetsVariable names the directory of kube-apiserver, etcd and kubectl.
const assetsVariable = "KUBEBUILDER_ASSETS"

// RequireAssets fails a test at once if there is no API server to run it on.
func RequireAssets(t *testing.T) {
	t.Helper()
	if os.Getenv(assetsVariable) == "" {
		t.Fatalf("%s is not set: it names the directory of kube-apiserver, etcd and kubectl. `make test-api` builds them and sets it.", assetsVariable)
	}
}

// StartAPIServer starts an API server that knows this module's kinds. The
// caller stops it.
func StartAPIServer() (*envtest.Environment, error) {
	root, err := ModuleRoot()
	if err != nil {
		return nil, err
	}
	env := &envtest.Environment{
		CRDDirectoryPaths:     []string{filepath.Join(root, "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
	}
	if _, err := env.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("API server: %w", err), env.Stop())
	}
	return env, nil
}

// Config is how to reach the API server of a kubeconfig, without a limit on the
// client's side.
func Config(kubeconfig []byte) (*rest.Config, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	config.QPS = -1
	return config, nil
}

// Scheme knows the built-in kinds and this module's own.
func Scheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme))
}

// Kubectl runs the real kubectl.
type Kubectl struct {
	// Kubeconfig is the path of the kubeconfig.
	Kubeconfig string
}

// Run runs kubectl with some standard input. Its standard error is in the error.
func (k Kubectl) Run(ctx context.Context, stdin string, args ...string) (string, error) {
	path := filepath.Join(os.Getenv(assetsVariable), "kubectl")
	cmd := exec.CommandContext(ctx, path, append([]string{"--kubeconfig", k.Kubeconfig}, args...)...)
	cmd.Stdin = bytes.NewBufferString(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("kubectl: %w: %s", err, stderr.String())
	}
	return stdout.String() + stderr.String(), nil
}

// ModuleRoot is the directory of go.mod.
func ModuleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("working directory: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod above the working directory")
		}
		dir = parent
	}
}
