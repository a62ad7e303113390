//go:build apiserver

package controllers_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
)

var _ = Describe("The pod of a call that timed out", func() {
	var (
		w *world
		o *operator
	)

	BeforeEach(func() {
		w = newWorld()
		o = w.startOperator()
	})

	wedged := func(prepare func(*pod)) (*v1alpha1.ToolCall, *pod) {
		c := create(w, w.call("call").Timeout("10s").Obj())
		p := w.podOf(c)
		prepare(p)
		p.prints("so far\n").start()
		w.inPhase(c, v1alpha1.ToolCallRunning)
		w.clock.advance(11 * time.Second)
		w.nudge(c)
		return w.ended(c), p
	}

	It("B043, B045 is reported terminating until its process is gone, whoever holds its object", func() {
		w.kubelet.unreachable.Store(true)
		c, p := wedged(func(p *pod) { p.hold() })
		timedOut("timed out after 10s").expect(w, c)
		awaitsRelease(w, c)
		Eventually(func() bool { return !p.get().DeletionTimestamp.IsZero() }).Should(BeTrue())
		awaitsRelease(w, c)
		p.passDeadline()
		released(w, c)
		Expect(p.get().Finalizers).To(ContainElement(holdFinalizer), "the object is still held")
		p.free()
	})

	It("B116 leaves what its tool had printed", func() {
		c, _ := wedged(func(*pod) {})
		w.eventually(c, func(g Gomega, c *v1alpha1.ToolCall) { g.Expect(c.Status.Result).NotTo(BeNil()) })
		Expect(c.Status.Result.Output).To(Equal("so far\n"))
		Expect(c.Status.Result.ExitCode).To(BeNil())
		released(w, c)
	})

	It("C2, B064 may end with exit code 0 in its grace period, which changes nothing", func() {
		c, _ := wedged(func(p *pod) { p.finishesOnTERM() })
		released(w, c)
		timedOut("timed out after 10s").expect(w, c)
		for _, version := range versionsOf(w.history, c) {
			Expect(version.Status.Phase).NotTo(Equal(v1alpha1.ToolCallSucceeded))
		}
		Expect(o.verdicts()).To(Equal(map[string]int{v1alpha1.ReasonDeadlineExceeded: 1}))
	})

	It("C98 is the only one, although the caches of Jobs and pods are behind", func() {
		w.settle()
		resumeJobs, resumePods := o.wire.stall("jobs"), o.wire.stall("pods")
		c := create(w, w.callOf("call", runs(0)).Obj())
		w.podOf(c)
		for range 5 {
			w.nudge(c)
		}
		resumeJobs()
		resumePods()
		w.ended(c)
		succeeded().expect(w, c)
		Expect(w.jobsOf(c)).To(HaveLen(1))
		Expect(w.podsOf(c)).To(HaveLen(1))
	})
})
