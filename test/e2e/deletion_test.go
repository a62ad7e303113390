//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
)

var _ = Describe("Deleting", func() {
	It("calls that have not started leaves nothing, and none starts (C52)", func(ctx SpecContext) {
		s := newSpace(ctx)
		nowhere := shell("echo ran").with(func(spec *corev1.PodSpec) { spec.NodeSelector = map[string]string{"example.com/no-such": "node"} })
		b := s.runBatch(ctx, concurrent(member("a", nowhere), member("b", nowhere), member("c", nowhere)))
		for i := range b.Spec.Calls {
			s.podOf(ctx, s.member(ctx, b, i))
		}

		s.kubectl(ctx, "delete", "toolbatch", b.Name)
		Eventually(ctx, s.left).Should(BeEmpty())
		Expect(s.pods.ever()).To(HaveLen(len(b.Spec.Calls)))
		Expect(s.pods.ever()).To(HaveEach(HaveField("Spec.NodeName", BeEmpty())), "no pod ever had a node to run on")
	})

	It("a batch takes its calls, Jobs and pods with it (C60)", func(ctx SpecContext) {
		s := newSpace(ctx)
		b := s.runBatch(ctx, concurrent(
			member("hung", hung()), member("stuck", hung()), member("good", shell("echo done")),
		).callTimeout("2m"))
		s.running(ctx, s.member(ctx, b, 0))
		s.running(ctx, s.member(ctx, b, 1))
		s.finished(ctx, s.member(ctx, b, 2))

		s.kubectl(ctx, "delete", "toolbatch", b.Name)
		Eventually(ctx, s.left).Should(BeEmpty())
		s.expectNoProcesses(ctx)
		Expect(s.pods.ever()).To(HaveLen(3), "nothing was run again")
	})

	It("a sequential batch keeps its next call from ever being made (C60)", func(ctx SpecContext) {
		s := newSpace(ctx)
		b := s.runBatch(ctx, sequential(member("first", hung()), member("second", shell("echo ran"))).callTimeout("2m"))
		s.running(ctx, s.member(ctx, b, 0))

		s.kubectl(ctx, "delete", "toolbatch", b.Name)
		Eventually(ctx, s.left).Should(BeEmpty())
		Expect(s.calls.ever()).To(HaveLen(1))
		Expect(s.pods.ever()).To(HaveLen(1))
	})

	It("one call of a batch is a typed failure of that call, and it is not made again", func(ctx SpecContext) {
		s := newSpace(ctx)
		b := s.runBatch(ctx, sequential(member("first", hung()), member("second", shell("echo ran"))).callTimeout("2m"))
		first := s.running(ctx, s.member(ctx, b, 0))

		s.kubectl(ctx, "delete", "toolcalls", first.Name)
		s.finishedBatch(ctx, b)
		Expect(b.Status.Calls).To(HaveExactElements(
			And(HaveField("Reason", v1alpha1.ReasonCallDeleted), HaveField("EffectDisposition", v1alpha1.EffectUnknown)),
			HaveField("Phase", v1alpha1.ToolCallSucceeded),
		))
		Expect(s.calls.ever()).To(HaveLen(2))
		s.expectNoProcessesOf(ctx, s.podOf(ctx, first))
	})

	It("the namespace of running and waiting calls leaves nothing (B166)", func(ctx SpecContext) {
		s := newSpace(ctx)
		b := s.runBatch(ctx, sequential(member("running", hung()), member("waiting", shell("echo ran"))).callTimeout("2m"))
		s.running(ctx, s.member(ctx, b, 0))

		Expect(k8s.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.name}})).To(Succeed())
		Eventually(ctx, func(ctx context.Context) error {
			return k8s.Get(ctx, client.ObjectKey{Name: s.name}, &corev1.Namespace{})
		}).Should(Satisfy(apierrors.IsNotFound))
		s.expectNoProcesses(ctx)
	})

	It("a running call ends its tool with SIGTERM and leaves nothing (B082)", func(ctx SpecContext) {
		const grace = 5 * time.Second
		s := newSpace(ctx)
		polite := shell(`trap "echo terminated; exit 0" TERM; echo ready; sleep 600 & wait`).withGrace(5)
		c := s.running(ctx, s.run(ctx, call(polite).timeout("2m")))
		pod := s.podOf(ctx, c)
		output := s.listen(ctx, pod)
		Eventually(ctx, output.heard).Should(ContainElement(HaveField("Text", "ready")))

		asked := time.Now()
		s.kubectl(ctx, "delete", "toolcall", c.Name)
		Eventually(ctx, output.heard).Should(ContainElement(HaveField("Text", "terminated")))
		Eventually(ctx, s.left).Should(BeEmpty())
		Eventually(ctx, s.pods.goneAt).WithArguments(pod.UID).ShouldNot(BeZero())
		Expect(s.toolEndedAt(c)).To(BeTemporally("<", asked.Add(grace+slack)))
		s.expectNoProcesses(ctx)
	})

	It("a call three times in the foreground removes it once (B169)", func(ctx SpecContext) {
		s := newSpace(ctx)
		c := s.running(ctx, s.run(ctx, call(hung()).timeout("2m")))
		for range 3 {
			s.kubectl(ctx, "delete", "toolcall", c.Name, "--cascade=foreground", "--wait=false", "--ignore-not-found")
		}

		Eventually(ctx, s.left).Should(BeEmpty())
		s.expectNoProcesses(ctx)
		Expect(s.calls.ever()).To(HaveLen(1))
		Expect(s.pods.ever()).To(HaveLen(1))
	})

	DescribeTable("a Job, in any way that it can go, leaves no pod (B171)",
		func(ctx SpecContext, b callBuilder, remove func(ctx context.Context, s *space, c *v1alpha1.ToolCall)) {
			s := newSpace(ctx)
			c := s.run(ctx, b)
			remove(ctx, s, c)
			Eventually(ctx, func(ctx context.Context) (int, error) {
				pods := &corev1.PodList{}
				err := k8s.List(ctx, pods, callObjects(c)...)
				return len(pods.Items), err
			}).Should(BeZero())
			s.expectNoProcesses(ctx)
			Expect(s.pods.ever()).To(HaveLen(1))
		},
		Entry("timeout", call(hung()).timeout("1s"), func(ctx context.Context, s *space, c *v1alpha1.ToolCall) {
			s.released(ctx, c)
		}),
		Entry("time to live", call(shell("echo done")).ttl(0), func(ctx context.Context, s *space, c *v1alpha1.ToolCall) {
			s.podOf(ctx, c)
			Eventually(ctx, s.left).Should(BeEmpty())
		}),
		Entry("time to live of a call that timed out", call(hung()).timeout("1s").ttl(1), func(ctx context.Context, s *space, c *v1alpha1.ToolCall) {
			s.podOf(ctx, c)
			Eventually(ctx, s.left).Should(BeEmpty())
		}),
		Entry("deletion of the running call", call(hung()).timeout("2m"), func(ctx context.Context, s *space, c *v1alpha1.ToolCall) {
			s.running(ctx, c)
			s.kubectl(ctx, "delete", "toolcall", c.Name)
		}),
		Entry("deletion of the finished call", call(shell("echo done")), func(ctx context.Context, s *space, c *v1alpha1.ToolCall) {
			s.finished(ctx, c)
			s.kubectl(ctx, "delete", "toolcall", c.Name)
		}),
		Entry("deletion of the Job", call(hung()).timeout("2m"), func(ctx context.Context, s *space, c *v1alpha1.ToolCall) {
			s.running(ctx, c)
			s.kubectl(ctx, "delete", "job", c.Status.Attempts[0].JobName)
			Expect(s.released(ctx, c)).To(haveFailed(v1alpha1.ReasonPodLost, v1alpha1.EffectUnknown))
		}),
		Entry("deletion of the Job without its pod, which the deadline still bounds", call(hung()).timeout("8s"), func(ctx context.Context, s *space, c *v1alpha1.ToolCall) {
			s.kubectl(ctx, "delete", "job", s.podOf(ctx, c).Labels["batch.kubernetes.io/job-name"], "--cascade=orphan")
			Expect(s.released(ctx, c)).To(And(haveTimedOut(), s.haveEndedOnTime(8*time.Second)))
		}),
	)
})

// expectNoProcesses expects that nothing is left on the node of any pod that
// the namespace ever had.
func (s *space) expectNoProcesses(ctx context.Context) {
	GinkgoHelper()
	for _, pod := range s.pods.ever() {
		s.expectNoProcessesOf(ctx, pod)
	}
}

func (s *space) expectNoProcessesOf(ctx context.Context, pod *corev1.Pod) {
	GinkgoHelper()
	Eventually(ctx, processesOf).WithArguments(pod.UID).Should(BeEmpty(), fmt.Sprintf("processes of the pod %s", pod.Name))
}
