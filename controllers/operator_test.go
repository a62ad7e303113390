//go:build apiserver

package controllers_test

import (
	"context"
	"errors"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/toolcall-dev/toolcall-operator/controllers"
	"github.com/toolcall-dev/toolcall-operator/internal/metrics"
)

// shutdownLimit is how long an operator may take to end.
const shutdownLimit = 5 * time.Second

// operator is a manager in this process, set up as the command sets it up, for
// one namespace.
type operator struct {
	// wire is what it sends to the API server.
	wire     *wire
	registry *prometheus.Registry
	cancel   context.CancelFunc
	ended    chan error
}

// startOperator starts an operator that ends with the spec at the latest.
func (w *world) startOperator() *operator { return w.startOperatorWithLogs(nodeLogs{w.kubelet}) }

func (w *world) startOperatorWithLogs(logs controllers.LogReader) *operator {
	GinkgoHelper()
	o := &operator{wire: newWire(), registry: prometheus.NewRegistry(), ended: make(chan error, 1)}
	wrapped := rest.CopyConfig(config)
	wrapped.Wrap(o.wire.wrap)
	caches := controllers.CacheOptions()
	caches.DefaultNamespaces = map[string]cache.Config{w.ns: {}}
	mgr, err := ctrl.NewManager(wrapped, ctrl.Options{
		Scheme:                  scheme,
		Logger:                  GinkgoLogr,
		Cache:                   caches,
		NewClient:               controllers.NewClient,
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		GracefulShutdownTimeout: ptr.To(shutdownLimit),
		// Several managers of this process have controllers of one name.
		Controller: ctrlconfig.Controller{SkipNameValidation: ptr.To(true)},
	})
	Expect(err).NotTo(HaveOccurred())
	ctx, cancel := context.WithCancel(context.Background())
	o.cancel = cancel
	shell := controllers.Shell{Logs: logs, Metrics: metrics.New(o.registry), Clock: w.clock, Workers: 32}
	Expect(shell.SetupWithManager(ctx, mgr)).To(Succeed())
	go func() { o.ended <- mgr.Start(ctx) }()
	DeferCleanup(o.stop)
	Expect(mgr.GetCache().WaitForCacheSync(ctx)).To(BeTrue())
	return o
}

// stop lets the operator end in an orderly way. It may be called again.
func (o *operator) stop() {
	GinkgoHelper()
	o.cancel()
	if o.ended == nil {
		return
	}
	Eventually(o.ended, 2*shutdownLimit).Should(Receive(Succeed()))
	o.ended = nil
}

// kill ends the operator as SIGKILL does: from now on nothing it sends arrives.
func (o *operator) kill() {
	GinkgoHelper()
	o.wire.cut()
	o.cancel()
	if o.ended == nil {
		return
	}
	Eventually(o.ended, 2*shutdownLimit).Should(Receive())
	o.ended = nil
}

// verdicts counts the verdicts that the operator reports in its metrics, by reason.
func (o *operator) verdicts() map[string]int {
	GinkgoHelper()
	families, err := o.registry.Gather()
	Expect(err).NotTo(HaveOccurred())
	counts := map[string]int{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() == "reason" {
					counts[label.GetValue()] += int(metric.GetCounter().GetValue())
				}
			}
		}
	}
	return counts
}

// nodeLogs reads what tools printed from the kubelet's stand-in.
type nodeLogs struct{ kubelet *kubelet }

func (l nodeLogs) Head(_ context.Context, pod types.NamespacedName, _ string, limit int64) ([]byte, error) {
	log, ok := l.kubelet.logOf(pod)
	if !ok {
		return nil, errors.New("the container has not run")
	}
	return []byte(log[:min(int64(len(log)), limit)]), nil
}

// hungLogs never answer.
type hungLogs struct{}

func (hungLogs) Head(ctx context.Context, _ types.NamespacedName, _ string, _ int64) ([]byte, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
