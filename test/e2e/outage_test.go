//go:build e2e

package e2e

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
)

// kubeletLag is how long after a deadline the kubelet may come to end a tool
// while the operator is away, its grace aside.
const kubeletLag = 4 * time.Second

var _ = Describe("While the operator is away", Serial, func() {
	It("the kubelet stops a call on time, and its verdict tells the true times (B006)", func(ctx SpecContext) {
		const grace = time.Second
		s := newSpace(ctx)
		c := s.bounded(ctx, s.run(ctx, call(beating()).timeout("6s")))
		deadline := *c.Status.Deadline
		pod := s.podOf(ctx, c)
		heartbeat := s.listen(ctx, pod)

		killOperator(ctx)
		Expect(processesOf(pod.UID)).NotTo(BeEmpty(), "the call outlived the operator")
		Eventually(ctx, processesOf).WithArguments(pod.UID).Should(BeEmpty())
		Eventually(ctx, heartbeat.silent).Should(BeTrue())
		Expect(heartbeat.last().At).To(BeTemporally("<", deadline.DeadlineAt.Add(kubeletLag+grace)))
		Eventually(ctx, func() string { return s.podOf(ctx, c).Status.Reason }).Should(Equal("DeadlineExceeded"), "the kubelet's own limit ended the pod")
		Expect(s.toolEndedAt(c)).To(BeTemporally("<=", deadline.DeadlineAt.Add(kubeletLag+grace)))

		startOperator(ctx)
		c = s.finished(ctx, c)
		Expect(c).To(haveTimedOut())
		Expect(c.Status.Deadline).To(HaveValue(Equal(deadline)), "the deadline does not move")
		Expect(c.Status.CompletionTime.Time).To(And(
			BeTemporally(">=", deadline.DeadlineAt.Time),
			BeTemporally("<", deadline.DeadlineAt.Add(kubeletLag+grace+time.Second)),
		), "the end is when the tool ended, not when the operator came back")
		s.released(ctx, c)
		s.expectOneVerdict(ctx, c)
	})

	It("a call that ends before its deadline keeps its real result (C11)", func(ctx SpecContext) {
		s := newSpace(ctx)
		c := s.bounded(ctx, s.run(ctx, call(shell("sleep 6; echo finished; exit 0")).timeout("10s")))
		deadline := *c.Status.Deadline

		killOperator(ctx)
		Expect(processesOf(s.podOf(ctx, c).UID)).NotTo(BeEmpty(), "the call outlived the operator")
		Eventually(time.Now).WithTimeout(usually).Should(BeTemporally(">", deadline.DeadlineAt.Time))
		startOperator(ctx)
		c = s.finished(ctx, c)
		Expect(c).To(And(haveSucceeded(), haveOutput("finished\n")))
		Expect(c.Status.CompletionTime.Time).To(BeTemporally("<", deadline.DeadlineAt.Time))
		Expect(c.Status.Deadline).To(HaveValue(Equal(deadline)))
		s.expectOneVerdict(ctx, c)
	})

	It("calls and batches wait for it, and a batch goes on where it was", func(ctx SpecContext) {
		s := newSpace(ctx)
		b := s.runBatch(ctx, sequential(
			member("hung", hung()).timeout("5s"),
			member("next", shell("echo done")),
		))
		hung := s.bounded(ctx, s.member(ctx, b, 0))

		killOperator(ctx)
		waiting := s.run(ctx, call(shell("echo done")).named("waiting"))
		Eventually(ctx, processesOf).WithArguments(s.podOf(ctx, hung).UID).Should(BeEmpty())
		startOperator(ctx)

		s.finishedBatch(ctx, b)
		Expect(phases(b)).To(Equal([]v1alpha1.ToolCallPhase{v1alpha1.ToolCallTimedOut, v1alpha1.ToolCallSucceeded}))
		for _, c := range append(s.members(ctx, b), s.finished(ctx, waiting)) {
			s.expectOneVerdict(ctx, c)
		}
	})
})

var _ = Describe("When the operator is restarted", Serial, func() {
	It("a running call keeps its deadline and its pod (C97)", func(ctx SpecContext) {
		s := newSpace(ctx)
		c := s.bounded(ctx, s.run(ctx, call(hung()).timeout("10s")))
		deadline := *c.Status.Deadline

		restartOperator(ctx)
		c = s.released(ctx, c)
		Expect(c).To(And(haveTimedOut(), s.haveEndedOnTime(10*time.Second)))
		Expect(c.Status.Deadline).To(HaveValue(Equal(deadline)))
		s.expectOneVerdict(ctx, c)
	})

	It("finished calls stay as they are, and nothing is told of them again (C98)", func(ctx SpecContext) {
		s := newSpace(ctx)
		good := s.finished(ctx, s.run(ctx, call(shell("echo done")).named("good")))
		bad := s.released(ctx, s.run(ctx, call(hung()).named("bad").timeout("1s")))

		restartOperator(ctx)
		// Its first call after the restart shows that it has looked at all others.
		Expect(s.finished(ctx, s.run(ctx, call(shell("echo done")).named("new")))).To(haveSucceeded())
		Expect(s.metrics(ctx)).To(And(
			ContainSubstring(`toolcall_verdicts_total{kind="",reason="Succeeded"} 1`+"\n"),
			Not(ContainSubstring(`reason="DeadlineExceeded"`)),
		), "what was counted before is not counted again")
		for _, c := range []*v1alpha1.ToolCall{good, bad} {
			version := c.ResourceVersion
			Expect(s.finished(ctx, c).ResourceVersion).To(Equal(version))
			s.expectOneVerdict(ctx, c)
		}
	})
})

var _ = Describe("The operator", Serial, func() {
	It("shuts down promptly with hung pods about (C101)", func(ctx SpecContext) {
		s := newSpace(ctx)
		terminating := s.finished(ctx, s.run(ctx, call(hung().withGrace(30)).named("terminating").timeout("1s")))
		Expect(terminating).To(haveTimedOut())
		open := s.bounded(ctx, s.run(ctx, call(hung()).named("open").timeout("20s")))
		pods := follow[*corev1.Pod](ctx, operatorNamespace, &corev1.PodList{})
		old := operatorPod(ctx)

		stopOperator(ctx)
		Eventually(ctx, pods.goneAt).WithArguments(old.UID).ShouldNot(BeZero())
		versions := pods.of(old.UID)
		last := versions[len(versions)-1].Object
		Expect(last.Status.ContainerStatuses).To(ConsistOf(HaveField("State.Terminated", HaveValue(HaveField("ExitCode", BeZero())))),
			"it ended by itself, within its grace period")
		asked := last.DeletionTimestamp.Add(-time.Duration(*last.DeletionGracePeriodSeconds) * time.Second)
		ended := last.Status.ContainerStatuses[0].State.Terminated.FinishedAt
		Expect(ended.Time).To(BeTemporally("<=", asked.Add(6*time.Second)))

		startOperator(ctx)
		Expect(s.finished(ctx, open)).To(haveTimedOut())
		s.expectOneVerdict(ctx, open)
	})
})

// bounded waits until a call runs and the kubelet's own limit is that of the
// call, which comes right after.
func (s *space) bounded(ctx context.Context, c *v1alpha1.ToolCall) *v1alpha1.ToolCall {
	GinkgoHelper()
	s.running(ctx, c)
	Eventually(ctx, func() int64 { return *s.podOf(ctx, c).Spec.ActiveDeadlineSeconds }).Should(BeNumerically("<", 60))
	return c
}
