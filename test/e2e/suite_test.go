//go:build e2e

// Package e2e tests the operator on a cluster with a real kubelet: what a call
// ends as, when, and what is left of its processes.
//
// The suite runs on the node itself, as root: it looks for the processes of
// pods in /proc, and kills the operator's. `make test-e2e` prepares all it needs.
//
// Every spec has a namespace of its own, so specs run side by side. Those that
// take the operator away are Serial.
package e2e

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/format"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Limits of what specs wait for. They only bound a failure: on a busy machine a
// pod may take long to start, and that is nobody's fault.
const (
	usually = 90 * time.Second
	// atScale is for dozens of pods at once.
	atScale = 3 * time.Minute
	polling = 200 * time.Millisecond
)

// tolerance is how late a status may be by its own times.
const tolerance = 5 * time.Second

// How to reach the cluster, set once before the first spec.
var (
	config    *rest.Config
	k8s       client.WithWatch
	clientset kubernetes.Interface
	// kubectlCache is where kubectl keeps what it knows of the API: an older one
	// may not know the kinds of now.
	kubectlCache string
)

func TestEndToEnd(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(usually)
	SetDefaultEventuallyPollingInterval(polling)
	SetDefaultConsistentlyPollingInterval(polling)
	EnforceDefaultTimeoutsWhenUsingContexts()
	format.RegisterCustomFormatter(showStatus)
	RunSpecs(t, "The operator on real pods")
}

var _ = SynchronizedBeforeSuite(func(ctx SpecContext) {
	connect()
	Expect(operatorAvailable(ctx)).To(Succeed(), "the specs need a running operator: `make deploy` puts it on the cluster")
}, func(context.Context) {
	connect()
	kubectlCache = GinkgoT().TempDir()
})
