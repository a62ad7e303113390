//go:build apiserver

package v1alpha1_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/testkit"
)

var (
	server  *envtest.Environment
	config  *rest.Config
	api     client.Client
	kubectl testkit.Kubectl
)

func TestAPIServer(t *testing.T) {
	testkit.RequireAssets(t)
	RegisterFailHandler(Fail)
	RunSpecs(t, "API")
}

var _ = SynchronizedBeforeSuite(func() []byte {
	var err error
	server, err = testkit.StartAPIServer()
	Expect(err).NotTo(HaveOccurred())
	return server.KubeConfig
}, func(kubeconfig []byte) {
	SetDefaultEventuallyTimeout(20 * time.Second)
	var err error
	config, err = testkit.Config(kubeconfig)
	Expect(err).NotTo(HaveOccurred())
	scheme, err := testkit.Scheme()
	Expect(err).NotTo(HaveOccurred())
	api, err = client.New(config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	kubectl.Kubeconfig = filepath.Join(GinkgoT().TempDir(), "kubeconfig")
	Expect(os.WriteFile(kubectl.Kubeconfig, kubeconfig, 0o600)).To(Succeed())
})

var _ = SynchronizedAfterSuite(func() {}, func() {
	if server != nil {
		Expect(server.Stop()).To(Succeed())
	}
})

// newNamespace makes a namespace for one spec.
func newNamespace(ctx context.Context) string {
	GinkgoHelper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "spec-"}}
	Expect(api.Create(ctx, ns)).To(Succeed())
	return ns.Name
}

// edit is one operation of a JSON patch.
type edit struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// set sets a field, whether or not it is there.
func set(path string, value any) edit { return edit{Op: "add", Path: path, Value: value} }

// remove removes a field.
func remove(path string) edit { return edit{Op: "remove", Path: path} }

// edited is an object as a user would send it, with some edits applied.
func edited(obj client.Object, edits ...edit) *unstructured.Unstructured {
	GinkgoHelper()
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	Expect(err).NotTo(HaveOccurred())
	delete(fields, "status")
	plain, err := json.Marshal(fields)
	Expect(err).NotTo(HaveOccurred())
	if len(edits) > 0 {
		patch, err := jsonpatch.DecodePatch(encoded(edits))
		Expect(err).NotTo(HaveOccurred())
		plain, err = patch.Apply(plain)
		Expect(err).NotTo(HaveOccurred())
	}
	result := &unstructured.Unstructured{}
	Expect(json.Unmarshal(plain, &result.Object)).To(Succeed())
	kind := "ToolCall"
	if _, isBatch := obj.(*v1alpha1.ToolBatch); isBatch {
		kind = "ToolBatch"
	}
	result.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
	return result
}

// patched sends edits to an object that exists.
func patched(ctx context.Context, obj client.Object, edits ...edit) error {
	return api.Patch(ctx, obj, client.RawPatch(types.JSONPatchType, encoded(edits)))
}

func encoded(edits []edit) []byte {
	GinkgoHelper()
	patch, err := json.Marshal(edits)
	Expect(err).NotTo(HaveOccurred())
	return patch
}

// run runs kubectl in a namespace and expects it to succeed.
func run(ctx context.Context, namespace, stdin string, args ...string) string {
	GinkgoHelper()
	out, err := kubectl.Run(ctx, stdin, append([]string{"--namespace", namespace}, args...)...)
	Expect(err).NotTo(HaveOccurred())
	return out
}
