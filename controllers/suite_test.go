//go:build apiserver

package controllers_test

import (
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/toolcall-dev/toolcall-operator/internal/testkit"
)

var (
	server *envtest.Environment
	config *rest.Config
	scheme *runtime.Scheme
)

func TestControllers(t *testing.T) {
	testkit.RequireAssets(t)
	RegisterFailHandler(Fail)
	RunSpecs(t, "Controllers")
}

var _ = SynchronizedBeforeSuite(func() []byte {
	var err error
	server, err = testkit.StartAPIServer()
	Expect(err).NotTo(HaveOccurred())
	return server.KubeConfig
}, func(kubeconfig []byte) {
	ctrl.SetLogger(GinkgoLogr)
	klog.SetLogger(GinkgoLogr)
	SetDefaultEventuallyTimeout(30 * time.Second)
	SetDefaultEventuallyPollingInterval(20 * time.Millisecond)
	var err error
	config, err = testkit.Config(kubeconfig)
	Expect(err).NotTo(HaveOccurred())
	scheme, err = testkit.Scheme()
	Expect(err).NotTo(HaveOccurred())
})

var _ = SynchronizedAfterSuite(func() {}, func() {
	if server != nil {
		Expect(server.Stop()).To(Succeed())
	}
})
