//go:build apiserver

package controllers_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
)

var _ = Describe("The operator's writes, events aside,", func() {
	sum := func(writes map[string]int) (total int) {
		for _, n := range writes {
			total += n
		}
		return total
	}

	It("are at most four for a call that is seen to run: Job, Running, backstop, verdict", func() {
		w := newWorld()
		o := w.startOperator()
		c := create(w, w.call("call").Timeout("1m").Obj())
		p := w.podOf(c)
		p.start()
		w.inPhase(c, v1alpha1.ToolCallRunning)
		Eventually(func() *int64 { return p.get().Spec.ActiveDeadlineSeconds }).Should(HaveValue(BeNumerically("<", 70)))
		w.clock.advance(time.Second)
		p.exit(0)
		w.ended(c)
		Expect(o.wire.counts()).To(Equal(map[string]int{
			"create jobs": 1, "patch toolcalls/status": 2, "patch pods": 1,
		}))
		Expect(o.wire.conflicted()).To(BeZero())
	})

	It("are two for a call that is over before it is seen to run: Job, verdict", func() {
		w := newWorld()
		o := w.startOperator()
		c := create(w, w.call("call").Obj())
		p := w.podOf(c)
		p.schedule().change(p.startedAndExited)
		w.ended(c)
		Expect(o.wire.counts()).To(Equal(map[string]int{"create jobs": 1, "patch toolcalls/status": 1}))
	})

	It("are one create per call of a batch, and a bounded number of its status", func() {
		w := newWorld()
		o := w.startOperator()
		b := w.batch("batch")
		for range 5 {
			b.Call("", "1m", runs(0).template())
		}
		w.batchEnded(create(w, b.Obj()))
		counts := o.wire.counts()
		Expect(counts).To(HaveKeyWithValue("create toolcalls", 5))
		Expect(counts["patch toolbatches/status"]).To(BeNumerically("<=", 3*5+1))
		Expect(sum(counts)).To(BeNumerically("<=", 5*(1+4+3)+1), "writes: %v", counts)
	})
})
