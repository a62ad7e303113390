//go:build e2e

package e2e

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
)

var _ = Describe("A sequential batch", func() {
	const (
		succeeded = v1alpha1.ToolCallSucceeded
		failed    = v1alpha1.ToolCallFailed
		timedOut  = v1alpha1.ToolCallTimedOut
	)

	It("goes on after a hung call (C1)", func(ctx SpecContext) {
		s := newSpace(ctx)
		b := s.finishedBatch(ctx, s.runBatch(ctx, sequential(
			member("hung", hung()).timeout("500ms"),
			member("next", shell("echo done")),
		)))

		Expect(phases(b)).To(Equal([]v1alpha1.ToolCallPhase{timedOut, succeeded}))
		calls := s.members(ctx, b)
		Expect(calls[0]).To(And(haveTimedOut(), s.haveEndedOnTime(500*time.Millisecond)))
		Expect(calls[1]).To(And(haveSucceeded(), haveOutput("done\n")))
		for _, c := range calls {
			s.expectOneVerdict(ctx, c)
		}
	})

	It("never takes a late success for a result (C2, B064)", func(ctx SpecContext) {
		s := newSpace(ctx)
		late := shell(`trap "sleep 3; echo LATE; exit 0" TERM; echo early; sleep 600 & wait`).withGrace(15)
		b := s.finishedBatch(ctx, s.runBatch(ctx, sequential(
			member("hung", late).timeout("1s"),
			member("next", shell("echo done")),
		)))

		calls := s.members(ctx, b)
		hung := s.released(ctx, calls[0])
		tools := s.podOf(ctx, hung).Status.ContainerStatuses
		Expect(tools).To(HaveLen(1))
		Expect(tools[0].State.Terminated).To(HaveField("ExitCode", BeZero()), "the tool did succeed, late")
		Expect(hung).To(And(haveTimedOut(), s.haveEndedOnTime(time.Second), haveOutput("early\n")))
		Expect(phases(b)).To(Equal([]v1alpha1.ToolCallPhase{timedOut, succeeded}))
		s.expectOneVerdict(ctx, hung)
		s.expectOneVerdict(ctx, calls[1])
		Expect(s.verdictEvents(ctx, hung)).To(ConsistOf(HaveField("Reason", v1alpha1.ReasonDeadlineExceeded)))
		Expect(s.verdictEvents(ctx, calls[1])).To(ConsistOf(HaveField("Reason", v1alpha1.ReasonSucceeded)))
	})

	It("gives every hung call its own full timeout (C6)", func(ctx SpecContext) {
		s := newSpace(ctx)
		b := s.finishedBatch(ctx, s.runBatch(ctx, sequential(
			member("first", hung()).timeout("1s"),
			member("second", hung()).timeout("1s"),
			member("good", shell("echo done")),
		)))

		Expect(phases(b)).To(Equal([]v1alpha1.ToolCallPhase{timedOut, timedOut, succeeded}))
		calls := s.members(ctx, b)
		for i, c := range calls[:2] {
			Expect(c).To(s.haveEndedOnTime(time.Second))
			next := calls[i+1].CreationTimestamp // a whole second
			Expect(next.Time).To(BeTemporally("<=", c.Status.CompletionTime.Add(tolerance)), "the next call waited")
			Expect(next.Add(time.Second)).To(BeTemporally(">=", c.Status.CompletionTime.Time), "the next call did not wait for its turn")
		}
	})

	It("starts the next call before the wedged pod is gone (C7)", func(ctx SpecContext) {
		s := newSpace(ctx)
		b := s.finishedBatch(ctx, s.runBatch(ctx, sequential(
			member("wedged", hung().withGrace(30)).timeout("1s"),
			member("next", shell("echo done")),
		)))

		calls := s.members(ctx, b)
		Expect(calls[0]).To(And(haveTimedOut(), s.haveEndedOnTime(time.Second), haveCondition(v1alpha1.ConditionPodReleased, false)))
		Expect(calls[1]).To(haveSucceeded())
		wedged := s.podOf(ctx, calls[0])
		Expect(wedged.DeletionTimestamp).NotTo(BeNil(), "the wedged pod was told to go")
		Expect(processesOf(wedged.UID)).NotTo(BeEmpty(), "the wedged pod outlived the next call")
	})

	It("takes the word of a tool for no timeout (C13)", func(ctx SpecContext) {
		s := newSpace(ctx)
		c := s.finished(ctx, s.run(ctx, call(shell("echo timed out; exit 124")).timeout("1m")))

		Expect(c).To(And(haveFailed(v1alpha1.ReasonExitCode, ""), haveOutput("timed out\n")))
		Expect(c.Status.Result.ExitCode).To(HaveValue(BeEquivalentTo(124)))
		Expect(c.Status.Attempts).To(ConsistOf(HaveField("ExitCode", HaveValue(BeEquivalentTo(124)))))
	})

	It("bounds calls that set no timeout by the batch's (C14)", func(ctx SpecContext) {
		s := newSpace(ctx)
		b := s.finishedBatch(ctx, s.runBatch(ctx, sequential(
			member("wedged", hung()),
			member("next", shell("echo done")).timeout("1m"),
		).callTimeout("2s")))

		calls := s.members(ctx, b)
		Expect(calls[0]).To(And(haveTimedOut(), s.haveEndedOnTime(2*time.Second)))
		Expect(calls[0].Status.Deadline.Source).To(Equal(v1alpha1.SourceBatch))
		Expect(calls[0].Status.Error.Message).To(ContainSubstring("limit from Batch"))
		Expect(calls[1]).To(haveSucceeded())
	})

	It("goes on after a call that failed, and tells the ends apart", func(ctx SpecContext) {
		s := newSpace(ctx)
		b := s.finishedBatch(ctx, s.runBatch(ctx, sequential(
			member("bad", shell("exit 3")),
			member("hung", hung()).timeout("1s"),
			member("good", shell("echo done")),
		)))

		Expect(phases(b)).To(Equal([]v1alpha1.ToolCallPhase{failed, timedOut, succeeded}))
		Expect(b.Status.Phase).To(Equal(v1alpha1.ToolBatchSucceeded), "every call has its typed result")
		Expect(b.Status.Progress).To(Equal("3/3"))
		Expect(b.Status.Counts).To(HaveValue(Equal(v1alpha1.BatchCounts{Total: 3, Succeeded: 1, Failed: 1, TimedOut: 1})))
		Expect(b.Status.Calls[0]).To(HaveField("Reason", v1alpha1.ReasonExitCode))
		Expect(b.Status.Calls[1]).To(And(
			HaveField("Reason", v1alpha1.ReasonDeadlineExceeded),
			HaveField("EffectDisposition", v1alpha1.EffectUnknown),
		))
	})
})
