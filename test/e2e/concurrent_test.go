//go:build e2e

package e2e

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
)

var _ = Describe("A concurrent batch", func() {
	const (
		succeeded = v1alpha1.ToolCallSucceeded
		failed    = v1alpha1.ToolCallFailed
		timedOut  = v1alpha1.ToolCallTimedOut
	)

	It("tells the calls' ends in the order of the calls (C62)", func(ctx SpecContext) {
		s := newSpace(ctx)
		b := s.finishedBatch(ctx, s.runBatch(ctx, concurrent(
			member("slow", hung()).timeout("200ms"),
			member("fast", shell("echo done")),
		)))

		Expect(phases(b)).To(Equal([]v1alpha1.ToolCallPhase{timedOut, succeeded}))
		Expect(b.Status.Calls).To(HaveExactElements(HaveField("Name", "slow"), HaveField("Name", "fast")))
	})

	It("runs calls side by side that a sequential one runs in turn (C63)", func(ctx SpecContext) {
		s := newSpace(ctx)
		long, short := shell("sleep 10"), shell("sleep 2")
		together := s.runBatch(ctx, concurrent(member("a", long), member("b", long), member("c", long)).named("together"))
		inTurn := s.runBatch(ctx, sequential(member("a", short), member("b", short), member("c", short)).named("in-turn"))

		calls := s.members(ctx, s.finishedBatch(ctx, together))
		for _, a := range calls {
			for _, b := range calls {
				Expect(a.Status.Attempts[0].StartTime.Time).To(BeTemporally("<", b.Status.Attempts[0].FinishTime.Time))
			}
		}
		inOrder := s.members(ctx, s.finishedBatch(ctx, inTurn))
		for i := range inOrder[1:] {
			Expect(inOrder[i+1].Status.Attempts[0].StartTime.Time).To(BeTemporally(">=", inOrder[i].Status.Attempts[0].FinishTime.Time))
		}
		for i, name := range []string{"a", "b", "c"} {
			Expect(together.Status.Calls[i].Name).To(Equal(name))
			Expect(inTurn.Status.Calls[i].Name).To(Equal(name))
		}
	})

	It("keeps the order of the input when calls finish in reverse (C64)", func(ctx SpecContext) {
		s := newSpace(ctx)
		b := s.finishedBatch(ctx, s.runBatch(ctx, concurrent(
			member("last", shell("sleep 16; echo 0")),
			member("middle", shell("sleep 8; echo 1")),
			member("first", shell("echo 2")),
		)))

		calls := s.members(ctx, b)
		for i, c := range calls {
			Expect(c).To(And(haveSucceeded(), haveOutput(fmt.Sprintln(i))))
		}
		Expect(calls[0].Status.CompletionTime.Time).To(BeTemporally(">", calls[1].Status.CompletionTime.Time))
		Expect(calls[1].Status.CompletionTime.Time).To(BeTemporally(">", calls[2].Status.CompletionTime.Time))
	})

	It("of one call is like a sequential one (C65)", func(ctx SpecContext) {
		s := newSpace(ctx)
		for _, mode := range []v1alpha1.BatchMode{v1alpha1.ModeConcurrent, v1alpha1.ModeSequential} {
			b := s.finishedBatch(ctx, s.runBatch(ctx, batch(mode, member("only", hung()).timeout("500ms")).named("one")))
			c := s.members(ctx, b)[0]
			Expect(c).To(And(haveTimedOut(), s.haveEndedOnTime(500*time.Millisecond)))
			Expect(c.Status.Error.Message).To(Equal("tool timed out after 500ms (limit from Call); its effect is unknown"))
			Expect(k8s.Delete(ctx, b)).To(Succeed())
		}
	})

	It("of no calls is refused, with the field (C65)", func(ctx SpecContext) {
		s := newSpace(ctx)
		out, err := s.apply(ctx, `{apiVersion: toolcall.dev/v1alpha1, kind: ToolBatch, metadata: {name: none}, spec: {mode: Concurrent, calls: []}}`)
		Expect(err).To(HaveOccurred())
		Expect(out).To(ContainSubstring("spec.calls"))
	})

	It("runs forty healthy calls at once (C82)", func(ctx SpecContext) {
		const calls = 40
		s := newSpace(ctx)
		var healthy []memberBuilder
		for i := range calls {
			healthy = append(healthy, member(fmt.Sprintf("call-%d", i), shell(fmt.Sprintf("sleep 1; echo %d", i))))
		}
		b := s.finishedBatch(ctx, s.runBatch(ctx, concurrent(healthy...)))

		Expect(b.Status.Counts).To(HaveValue(Equal(v1alpha1.BatchCounts{Total: calls, Succeeded: calls})))
		for i, c := range s.members(ctx, b) {
			Expect(c).To(And(haveSucceeded(), haveOutput(fmt.Sprintln(i))))
		}
	})

	It("has no more calls open than maxParallel", func(ctx SpecContext) {
		s := newSpace(ctx)
		var calls []memberBuilder
		for i := range 5 {
			calls = append(calls, member(fmt.Sprint("call-", i), shell("sleep 1")))
		}
		two := concurrent(calls...)
		two.object.Spec.MaxParallel = 2
		s.finishedBatch(ctx, s.runBatch(ctx, two))

		open := map[string]bool{}
		for _, seen := range s.calls.all() {
			open[seen.Object.Name] = seen.Object.Status.CompletionTime == nil
			Expect(openCalls(open)).To(BeNumerically("<=", 2))
		}
		Expect(open).To(HaveLen(5))
	})

	It("keeps every call's own end (B129)", func(ctx SpecContext) {
		s := newSpace(ctx)
		b := s.finishedBatch(ctx, s.runBatch(ctx, concurrent(
			member("good", shell("echo kept")),
			member("bad", shell("echo broken; exit 1")),
			member("hung", hung()).timeout("1s"),
			member("no-image", command("true").with(func(spec *corev1.PodSpec) { spec.Containers[0].Image = "UPPER CASE::" })),
		)))

		Expect(phases(b)).To(Equal([]v1alpha1.ToolCallPhase{succeeded, failed, timedOut, failed}))
		calls := s.members(ctx, b)
		Expect(calls[0]).To(And(haveSucceeded(), haveOutput("kept\n")))
		Expect(calls[1]).To(And(haveFailed(v1alpha1.ReasonExitCode, ""), haveOutput("broken\n")))
		Expect(calls[2]).To(haveTimedOut())
		Expect(calls[3]).To(haveFailed(v1alpha1.ReasonStartFailed, v1alpha1.EffectNone))
		Expect(calls[3].Status.Error.Message).To(ContainSubstring("InvalidImageName"))
	})

	It("shows results while one call hangs (B130)", func(ctx SpecContext) {
		s := newSpace(ctx)
		b := s.runBatch(ctx, concurrent(
			member("hung", hung()).timeout("2m"),
			member("a", shell("echo a")), member("b", shell("echo b")), member("c", shell("echo c")), member("d", shell("echo d")),
		))
		for i, name := range []string{"a", "b", "c", "d"} {
			Expect(s.finished(ctx, s.member(ctx, b, i+1))).To(And(haveSucceeded(), haveOutput(name+"\n")))
		}

		await(ctx, b, usually, "4/5 done", func(b *v1alpha1.ToolBatch) bool { return b.Status.Progress == "4/5" })
		Expect(phases(b)).To(Equal([]v1alpha1.ToolCallPhase{v1alpha1.ToolCallRunning, succeeded, succeeded, succeeded, succeeded}))
		Expect(b.Status.Phase).To(Equal(v1alpha1.ToolBatchRunning))
	})

	DescribeTable("has all results, whatever its size (B134)",
		func(ctx SpecContext, mode v1alpha1.BatchMode, size int) {
			s := newSpace(ctx)
			var calls []memberBuilder
			for i := range size {
				calls = append(calls, memberBuilder{v1alpha1.BatchCall{Template: shell(fmt.Sprint("echo ", i)).template()}})
			}
			b := s.finishedBatch(ctx, s.runBatch(ctx, batch(mode, calls...)))

			for i, c := range s.members(ctx, b) {
				Expect(b.Status.Calls[i].Name).To(Equal(fmt.Sprint(i)), "a call without a name has its index for one")
				Expect(c).To(And(haveSucceeded(), haveOutput(fmt.Sprintln(i))))
			}
		},
		Entry("2 in order", v1alpha1.ModeSequential, 2),
		Entry("4 in order", v1alpha1.ModeSequential, 4),
		Entry("7 in order", v1alpha1.ModeSequential, 7),
		Entry("4 together", v1alpha1.ModeConcurrent, 4),
		Entry("20 together", v1alpha1.ModeConcurrent, 20),
	)
})

func openCalls(open map[string]bool) int {
	n := 0
	for _, is := range open {
		if is {
			n++
		}
	}
	return n
}
