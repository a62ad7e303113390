//go:build e2e

package e2e

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var _ = Describe("The deployed operator", func() {
	const operatorUser = "system:serviceaccount:" + operatorNamespace + ":" + operatorName

	DescribeTable("may do what it must and no more",
		func(ctx SpecContext, answer string, question ...string) {
			// "no" comes with an exit code of its own.
			out, _ := kubectl(ctx, "", append([]string{"auth", "can-i", "--all-namespaces", "--as", operatorUser}, question...)...)
			Expect(strings.Split(strings.TrimSpace(out), "\n")).To(ContainElement(answer), out)
			Expect(operatorPod(ctx).Spec.ServiceAccountName).To(Equal(operatorName))
		},
		Entry(nil, "no", "get", "secrets"),
		Entry(nil, "no", "list", "secrets"),
		Entry(nil, "no", "get", "configmaps"),
		Entry(nil, "no", "create", "pods"),
		Entry(nil, "no", "create", "pods", "--subresource=exec"),
		Entry(nil, "no", "update", "toolcalls.toolcall.dev"),
		Entry(nil, "no", "delete", "namespaces"),
		Entry(nil, "no", "escalate", "clusterroles"),
		Entry(nil, "no", "*", "*"),
		Entry(nil, "yes", "create", "jobs"),
		Entry(nil, "yes", "delete", "pods"),
		Entry(nil, "yes", "get", "pods", "--subresource=log"),
		Entry(nil, "yes", "patch", "toolcalls.toolcall.dev", "--subresource=status"),
	)

	It("answers its probes", func(ctx SpecContext) {
		for _, path := range []string{"/healthz", "/readyz"} {
			code, body := get(ctx, "http", "probes", path, "")
			Expect(code).To(Equal(http.StatusOK), path)
			Expect(body).To(Equal("ok"))
		}
	})

	It("shows its metrics only to who may read them", func(ctx SpecContext) {
		s := newSpace(ctx)
		s.finished(ctx, s.run(ctx, call(command("true"))))
		answer := func(token string) int {
			code, _ := get(ctx, "https", "metrics", "/metrics", token)
			return code
		}
		Expect(answer("")).To(Equal(http.StatusUnauthorized), "nobody")
		Expect(answer(s.account(ctx, "stranger"))).To(Equal(http.StatusForbidden), "who has no right to")
		Expect(s.metrics(ctx)).To(ContainSubstring(`toolcall_verdicts_total{kind="",reason="Succeeded"}`))
	})

	It("runs without privileges", func(ctx SpecContext) {
		pod := operatorPod(ctx)
		Expect(pod.Spec.SecurityContext).To(HaveValue(And(
			HaveField("RunAsNonRoot", HaveValue(BeTrue())),
			HaveField("SeccompProfile.Type", corev1.SeccompProfileTypeRuntimeDefault),
		)))
		Expect(pod.Spec.Containers).To(HaveEach(HaveField("SecurityContext", HaveValue(And(
			HaveField("ReadOnlyRootFilesystem", HaveValue(BeTrue())),
			HaveField("AllowPrivilegeEscalation", HaveValue(BeFalse())),
			HaveField("Capabilities.Drop", ConsistOf(corev1.Capability("ALL"))),
		)))))
		Expect(operatorProcess(pod).uid).NotTo(Equal("0"))
	})

	It("fits a namespace that enforces the restricted Pod Security standard", func(ctx SpecContext) {
		s := newSpace(ctx, restricted)
		s.account(ctx, operatorName)
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: operatorName}}
		pod.Spec = *operatorTemplate(ctx)
		// What only a cluster without a service network needs.
		pod.Spec.HostNetwork = false
		for i := range pod.Spec.Containers {
			for j := range pod.Spec.Containers[i].Ports {
				pod.Spec.Containers[i].Ports[j].HostPort = 0
			}
		}
		Expect(k8s.Create(ctx, pod, client.DryRunAll)).To(Succeed())
	})
})

var _ = Describe("A namespace that enforces the restricted Pod Security standard", func() {
	It("runs a plain call", func(ctx SpecContext) {
		s := newSpace(ctx, restricted)
		c := s.finished(ctx, s.run(ctx, call(shell("id -u; echo $HOME"))))
		Expect(c).To(And(haveSucceeded(), haveOutput("65532\n/tmp\n")))
	})
})

// restricted are the labels of a namespace that takes no other pods.
var restricted = map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}

func operatorTemplate(ctx context.Context) *corev1.PodSpec {
	GinkgoHelper()
	deployment, err := operatorDeployment(ctx)
	Expect(err).NotTo(HaveOccurred())
	return &deployment.Spec.Template.Spec
}

// account makes a service account, and returns a token for it.
func (s *space) account(ctx context.Context, name string) string {
	GinkgoHelper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: name}}
	Expect(k8s.Create(ctx, account)).To(Succeed())
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](600)}}
	Expect(k8s.SubResource("token").Create(ctx, account, request)).To(Succeed())
	return request.Status.Token
}

// allowMetrics lets a service account read the operator's metrics.
func (s *space) allowMetrics(ctx context.Context, account string) {
	GinkgoHelper()
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: s.name + "-" + account},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "toolcall-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: s.name, Name: account}},
	}
	Expect(k8s.Create(ctx, binding)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) error { return k8s.Delete(ctx, binding) })
}

// metrics reads the operator's metrics.
func (s *space) metrics(ctx context.Context) string {
	GinkgoHelper()
	token := s.account(ctx, "scraper")
	s.allowMetrics(ctx, "scraper")
	var body string
	Eventually(ctx, func(ctx context.Context) (code int) {
		code, body = get(ctx, "https", "metrics", "/metrics", token)
		return code
	}).Should(Equal(http.StatusOK))
	return body
}

// forward makes a named port of the operator's pod reachable, and returns its
// address.
func forward(ctx context.Context, port string) string {
	GinkgoHelper()
	command := kubectlCommand(context.WithoutCancel(ctx), "--namespace", operatorNamespace,
		"port-forward", "pod/"+operatorPod(ctx).Name, ":"+port)
	session, err := gexec.Start(command, nil, GinkgoWriter)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { session.Kill().Wait() })
	Eventually(ctx, session.Out).Should(gbytes.Say(`Forwarding from 127\.0\.0\.1:\d+ ->`))
	address, _, _ := strings.Cut(strings.TrimPrefix(string(session.Out.Contents()), "Forwarding from "), " ")
	return address
}

// get asks a port of the operator, with a bearer token if there is one. Every
// request has a forwarded port of its own: kubectl gives one up when the other
// side closes a connection.
func get(ctx context.Context, scheme, port, path, token string) (code int, body string) {
	GinkgoHelper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+forward(ctx, port)+path, nil)
	Expect(err).NotTo(HaveOccurred())
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	// The operator signs its certificate itself.
	insecure := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	response, err := insecure.Do(request)
	Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close() //nolint:errcheck // only read
	content, err := io.ReadAll(response.Body)
	Expect(err).NotTo(HaveOccurred())
	return response.StatusCode, string(content)
}
