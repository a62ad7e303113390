//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
)

// checkout is the top of the checkout; tests run in their package's directory.
const checkout = "../.."

// kubeconfig is that of the environment, else that of the local cluster.
func kubeconfig() string {
	return fromEnvironment("KUBECONFIG", filepath.Join(checkout, ".cluster", "kubeconfig"))
}

// kubectlProgram is that of the environment, else the local cluster's.
func kubectlProgram() string {
	return fromEnvironment("KUBECTL", filepath.Join(checkout, ".cluster", "bin", "kubectl"))
}

// toolImage is what tools run: busybox.
func toolImage() string {
	return fromEnvironment("TOOL_IMAGE", "localhost/busybox:dev")
}

func fromEnvironment(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

func connect() {
	var err error
	config, err = clientcmd.BuildConfigFromFlags("", kubeconfig())
	Expect(err).NotTo(HaveOccurred(), "the specs need a cluster: `make cluster-up` starts one")
	config.QPS = -1

	scheme := runtime.NewScheme()
	Expect(errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme))).To(Succeed())
	k8s, err = client.NewWithWatch(config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	clientset, err = kubernetes.NewForConfig(config)
	Expect(err).NotTo(HaveOccurred())
}

// kubectl runs the real one and returns all it printed.
func kubectl(ctx context.Context, stdin string, args ...string) (string, error) {
	cmd := kubectlCommand(ctx, args...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("kubectl %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

func kubectlCommand(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, kubectlProgram(), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig(), "KUBECACHEDIR="+kubectlCache)
	return cmd
}
