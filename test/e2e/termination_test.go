//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	apitypes "k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
)

// slack is how long a pod may take to go beside its grace period.
const slack = 10 * time.Second

var _ = Describe("The pod of a call that timed out", func() {
	It("is told to be alive for as long as its process is (B043)", func(ctx SpecContext) {
		const grace = 8 * time.Second
		s := newSpace(ctx)
		c := s.run(ctx, call(beating().withGrace(8)).timeout("2s"))
		pod := s.podOf(ctx, c)
		heartbeat := s.listen(ctx, pod)

		c = s.finished(ctx, c)
		Expect(c).To(And(haveTimedOut(), s.haveEndedOnTime(2*time.Second), haveCondition(v1alpha1.ConditionPodReleased, false)))
		verdict := c.Status.CompletionTime.Time
		Eventually(ctx, heartbeat.last).Should(HaveField("At", BeTemporally(">", verdict.Add(time.Second))), "the tool beats on after the verdict")
		Expect(s.finished(ctx, c)).To(haveCondition(v1alpha1.ConditionPodReleased, false))
		Expect(processesOf(pod.UID)).NotTo(BeEmpty())

		c = s.released(ctx, c)
		Expect(processesOf(pod.UID)).To(BeEmpty(), "the status said that the pod is gone")
		Eventually(ctx, heartbeat.silent).Should(BeTrue())
		last := heartbeat.last().At
		Expect(last).To(BeTemporally("<", s.releasedAt(c)), "the tool beat after the status said that the pod is gone")
		Expect(last).To(BeTemporally("<", verdict.Add(grace+slack)))
		Expect(c).To(And(haveTimedOut(), HaveField("Status.CompletionTime.Time", BeTemporally("==", verdict))))
	})

	It("stops its heartbeat within the grace period (B080)", func(ctx SpecContext) {
		const grace = 2 * time.Second
		s := newSpace(ctx)
		c := s.run(ctx, call(beating().withGrace(2)).timeout("3s"))
		heartbeat := s.listen(ctx, s.podOf(ctx, c))

		c = s.released(ctx, c)
		Eventually(ctx, heartbeat.silent).Should(BeTrue())
		Expect(heartbeat.last().At).To(BeTemporally("<", c.Status.CompletionTime.Add(grace+slack)))
		Expect(processesOf(s.podOf(ctx, c).UID)).To(BeEmpty())
	})

	It("holds nothing once it is dead, whoever keeps the object (B045)", func(ctx SpecContext) {
		s := newSpace(ctx)
		b := s.runBatch(ctx, sequential(
			member("held", hung()).timeout("4s"),
			member("next", shell("echo done")),
		))
		held := s.member(ctx, b, 0)
		pod := s.podOf(ctx, held).DeepCopy()
		setFinalizer(ctx, pod, `["example.com/hold", "batch.kubernetes.io/job-tracking"]`)
		DeferCleanup(setFinalizer, pod, `null`)

		Expect(s.finished(ctx, held)).To(And(haveTimedOut(), s.haveEndedOnTime(4*time.Second)))
		s.finishedBatch(ctx, b)
		Expect(s.member(ctx, b, 1)).To(haveSucceeded())
		held = s.released(ctx, held)
		Expect(processesOf(pod.UID)).To(BeEmpty())
		Expect(k8s.Get(ctx, client.ObjectKeyFromObject(pod), pod)).To(Succeed(), "we remove nobody's finalizer")
		Expect(pod.Finalizers).To(ContainElement("example.com/hold"))

		setFinalizer(ctx, pod, `null`)
		Eventually(ctx, s.pods.goneAt).WithArguments(pod.UID).ShouldNot(BeZero())
		s.expectOneVerdict(ctx, held)
	})

	It("takes its detached grandchildren with it (C8, B160)", func(ctx SpecContext) {
		s := newSpace(ctx)
		detached := shell(`setsid sh -c 'trap "" TERM; while :; do sleep 1; done' & trap "" TERM; while :; do sleep 1; done`).withGrace(1)
		c := s.run(ctx, call(detached).timeout("4s"))
		pod := s.podOf(ctx, c)
		shells := func(p process) bool { return strings.HasPrefix(p.command, "sh -c") }
		Eventually(ctx, func() []process { return those(processesOf(pod.UID), shells) }).Should(HaveLen(2))

		c = s.released(ctx, c)
		Expect(c).To(And(haveTimedOut(), s.haveEndedOnTime(4*time.Second)))
		Expect(processesOf(pod.UID)).To(BeEmpty())
	})

	It("goes although it is full of zombies (B162)", func(ctx SpecContext) {
		s := newSpace(ctx)
		zombies := shell(`i=0; while [ $i -lt 500 ]; do sleep 3 & i=$((i+1)); done; exec sleep 600`).withGrace(1)
		c := s.run(ctx, call(zombies).timeout("12s"))
		pod := s.podOf(ctx, c)
		dead := func(p process) bool { return p.state == "Z" }
		Eventually(ctx, func() int { return len(those(processesOf(pod.UID), dead)) }).Should(BeNumerically(">=", 500))

		c = s.released(ctx, c)
		Expect(c).To(And(haveTimedOut(), s.haveEndedOnTime(12*time.Second)))
		Eventually(ctx, s.pods.goneAt).WithArguments(pod.UID).ShouldNot(BeZero())
		Expect(s.toolEndedAt(c)).To(BeTemporally("<", c.Status.CompletionTime.Add(time.Second+slack)))
		Expect(processesOf(pod.UID)).To(BeEmpty())
	})

	It("takes its whole grace period and holds up no other (B163)", func(ctx SpecContext) {
		const (
			calls = 10
			grace = 6 * time.Second
		)
		s := newSpace(ctx)
		var shells []memberBuilder
		for i := range calls {
			shells = append(shells, member(fmt.Sprintf("call-%d", i), shell("sleep 1000; true").withGrace(6)))
		}
		b := s.finishedBatch(ctx, s.runBatch(ctx, concurrent(shells...).callTimeout("3s")))

		for _, c := range s.members(ctx, b) {
			c = s.released(ctx, c)
			Expect(c).To(And(haveTimedOut(), s.haveEndedOnTime(3*time.Second)))
			Eventually(ctx, s.pods.goneAt).WithArguments(s.podOf(ctx, c).UID).ShouldNot(BeZero())
			Expect(s.toolEndedAt(c)).To(BeTemporally("<", c.Status.CompletionTime.Add(grace+slack)))
		}
	})
})

var _ = Describe("A call", func() {
	DescribeTable("ends with its tool, not with what runs beside it (B156, B159)",
		func(ctx SpecContext, t tool, verdict types.GomegaMatcher) {
			s := newSpace(ctx)
			accompanied := t.withGrace(1).with(func(spec *corev1.PodSpec) {
				spec.Containers = append(spec.Containers, corev1.Container{Name: "proxy", Image: toolImage(), Command: []string{"sleep", "600"}})
			})
			c := s.run(ctx, call(accompanied).timeout("2m"))

			Expect(s.finished(ctx, c)).To(verdict)
			s.released(ctx, c)
			Expect(processesOf(s.podOf(ctx, c).UID)).To(BeEmpty(), "the rest of the pod is ended")
			s.expectOneVerdict(ctx, c)
		},
		Entry("that succeeded", shell("echo done"), And(haveSucceeded(), haveOutput("done\n"))),
		Entry("that failed", shell("echo broken; exit 1"), And(haveFailed(v1alpha1.ReasonExitCode, ""), haveOutput("broken\n"))),
	)
})

// releasedAt is when the status was seen to say that the pod is gone.
func (s *space) releasedAt(c *v1alpha1.ToolCall) time.Time {
	GinkgoHelper()
	for _, seen := range s.calls.of(c.UID) {
		if meta.IsStatusConditionTrue(seen.Object.Status.Conditions, v1alpha1.ConditionPodReleased) {
			return seen.At
		}
	}
	Fail(c.Name + " was never seen to be released")
	return time.Time{}
}

// toolEndedAt is when the kubelet says that the tool of a call ended.
func (s *space) toolEndedAt(c *v1alpha1.ToolCall) time.Time {
	GinkgoHelper()
	pods := ofCall(s.pods, c)
	Expect(pods).To(HaveLen(1))
	Expect(pods[0].Status.ContainerStatuses).NotTo(BeEmpty())
	ended := pods[0].Status.ContainerStatuses[0].State.Terminated
	Expect(ended).NotTo(BeNil())
	return ended.FinishedAt.Time
}

// setFinalizer sets the finalizers of a pod, if it is there.
func setFinalizer(ctx context.Context, pod *corev1.Pod, finalizers string) {
	GinkgoHelper()
	patch := fmt.Appendf(nil, `{"metadata":{"finalizers":%s}}`, finalizers)
	Expect(client.IgnoreNotFound(k8s.Patch(ctx, pod, client.RawPatch(apitypes.MergePatchType, patch)))).To(Succeed())
}
