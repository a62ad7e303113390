//go:build apiserver

package controllers_test

import (
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/render"
)

func jobName(c *v1alpha1.ToolCall) string { return render.JobName(c, 1) }

// phases are those of a batch's calls, in order.
func phases(b *v1alpha1.ToolBatch) []string {
	var all []string
	for _, c := range b.Status.Calls {
		all = append(all, string(c.Phase))
	}
	return all
}

var _ = Describe("A batch", func() {
	var (
		w *world
		o *operator
	)

	BeforeEach(func() {
		w = newWorld()
		o = w.startOperator()
	})

	It("C1, C6 goes on after calls that hang, in order", func() {
		b := create(w, w.batch("batch").CallTimeout("1s").
			Call("one", "", hangs().deaf().template()).
			Call("two", "", hangs().template()).
			Call("three", "1m", runs(0).template()).Obj())
		w.batchEnded(b)
		Expect(phases(b)).To(Equal([]string{"TimedOut", "TimedOut", "Succeeded"}))
		Expect(b.Status.Progress).To(Equal("3/3"))
		Expect(b.Status.Counts).To(HaveValue(Equal(v1alpha1.BatchCounts{Total: 3, TimedOut: 2, Succeeded: 1})))
		for i, reason := range []string{"DeadlineExceeded", "DeadlineExceeded", "Succeeded"} {
			Eventually(func() []string { return w.reasons(w.childOf(b, i)) }).Should(ConsistOf("Submitted", reason))
		}
		one, two := w.childOf(b, 0), w.childOf(b, 1)
		Expect(two.Status.StartTime.Time).To(BeTemporally(">=", one.Status.CompletionTime.Time))
	})

	It("C82 runs 40 calls together that are healthy", func() {
		b := w.batch("batch").Concurrent(40)
		for range 40 {
			b.Call("", "5m", runs(time.Second).template())
		}
		batch := w.batchEnded(create(w, b.Obj()))
		Expect(batch.Status.Counts.Succeeded).To(BeEquivalentTo(40))
	})

	It("C64 has its results in the order of its calls, whatever the order of their ends", func() {
		b := create(w, w.batch("batch").Concurrent(3).
			Call("slow", "5m", runs(2*time.Second).prints("a").template()).
			Call("fails", "5m", runs(time.Second).exits(1).template()).
			Call("fast", "5m", runs(0).prints("c").template()).Obj())
		w.batchEnded(b)
		Expect(phases(b)).To(Equal([]string{"Succeeded", "Failed", "Succeeded"}))
		Expect(w.childOf(b, 0).Status.Result.Output).To(Equal("a"))
		Expect(w.childOf(b, 2).Status.Result.Output).To(Equal("c"))
	})

	It("has no more calls open than maxParallel", func() {
		b := w.batch("batch").Concurrent(2)
		for range 6 {
			b.Call("", "5m", runs(100*time.Millisecond).template())
		}
		w.batchEnded(create(w, b.Obj()))
		Expect(w.kubelet.mostAlive()).To(BeNumerically("<=", 2))
	})

	It("B133, B136 goes on after a crash, and never makes a call again that was deleted", func() {
		b := create(w, w.batch("batch").
			Call("deleted", "5m", hangs().template()).
			Call("next", "5m", runs(0).template()).Obj())
		child := w.childOf(b, 0)
		w.inPhase(child, v1alpha1.ToolCallRunning)
		Eventually(func() string { return latest(w, b).Status.Calls[0].ToolCall }).Should(Equal(child.Name))
		o.kill()
		Expect(w.Delete(w.ctx, child)).To(Succeed())
		w.startOperator()
		w.batchEnded(b)
		Expect(phases(b)).To(Equal([]string{"Failed", "Succeeded"}))
		Expect(b.Status.Calls[0].Reason).To(Equal(v1alpha1.ReasonCallDeleted))
		Expect(b.Status.Calls[0].EffectDisposition).To(Equal(unknown))
	})

	It("C60 creates nothing more once it is deleted", func() {
		b := create(w, w.batch("batch").
			Call("", "5m", hangs().template()).
			Call("", "5m", runs(0).template()).Obj())
		w.inPhase(w.childOf(b, 0), v1alpha1.ToolCallRunning)
		Expect(w.Delete(w.ctx, b)).To(Succeed())
		list := &v1alpha1.ToolCallList{}
		Eventually(func(g Gomega) {
			g.Expect(w.List(w.ctx, list, client.InNamespace(w.ns))).To(Succeed())
			g.Expect(list.Items).To(BeEmpty())
		}).Should(Succeed())
		w.settle()
		Expect(ever(w.history, func(c *v1alpha1.ToolCall) bool { return c.Labels[v1alpha1.LabelBatchUID] == string(b.UID) })).To(HaveLen(1))
	})

	It("C98, B138 is done once, while others write to it and its calls", func() {
		b := create(w, w.batch("batch").
			Call("one", "5m", runs(500*time.Millisecond).template()).
			Call("two", "5m", runs(500*time.Millisecond).template()).Obj())
		for range 10 {
			w.nudge(b)
			w.nudge(w.childOf(b, 0))
		}
		w.batchEnded(b)
		Expect(phases(b)).To(Equal([]string{"Succeeded", "Succeeded"}))
		Expect(w.childOf(b, 0).Annotations).To(HaveKey("example.com/nudge"))
		Eventually(func() []string { return w.reasons(b) }).Should(ConsistOf("AllCallsFinished"))
	})

	DescribeTable("B117, B118 takes names of any length", func(name string) {
		b := create(w, w.batch(name).Call("", "5m", runs(0).template()).Obj())
		w.batchEnded(b)
		Expect(phases(b)).To(Equal([]string{"Succeeded"}))
	},
		Entry("52", strings.Repeat("a", 52)), Entry("63", strings.Repeat("a", 63)), Entry("64", strings.Repeat("a", 64)),
		Entry("253", strings.Repeat("a", 253)), Entry("with dots", "a.b.c"), Entry("with dashes", "x--y"),
	)

	It("B134 has a result for every call, of 1 to 20", func() {
		var all []*v1alpha1.ToolBatch
		for n := 1; n <= 20; n += 6 {
			b := w.batch(fmt.Sprintf("batch-%d", n)).Concurrent(20)
			for i := range n {
				b.Call("", "5m", runs(0).prints(fmt.Sprint(i)).template())
			}
			all = append(all, create(w, b.Obj()))
		}
		for _, b := range all {
			w.batchEnded(b)
			for i := range b.Status.Calls {
				Expect(w.childOf(b, i).Status.Result.Output).To(Equal(fmt.Sprint(i)))
			}
		}
	})

	It("B128 fails whole, and says so, if its spec leaves no room for its status", func() {
		b := w.batch("batch").Call("", "5m", runs(0).template().Env("A", string(make513KiB()))).
			Call("", "5m", runs(0).template().Env("B", string(make513KiB()))).Obj()
		w.batchEnded(create(w, b))
		Expect(b.Status.Phase).To(Equal(v1alpha1.ToolBatchFailed))
		Expect(b.Status.Calls).To(BeEmpty())
		Eventually(func() []string { return w.reasons(b) }).Should(ConsistOf("SpecTooLarge"))
	})
})

var _ = Describe("A namespace that is going away", func() {
	It("B166 is left alone: no call of a batch is created, and no error repeated", func() {
		w := newWorld()
		b := create(w, w.batch("batch").
			Call("", "5m", runs(0).template()).
			Call("", "5m", runs(0).template()).Obj())
		Expect(w.Delete(w.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.ns}})).To(Succeed())
		o := w.startOperator()
		tries := func() int { return o.wire.counts()["create toolcalls"] }
		Eventually(tries).Should(BeNumerically(">", 0))
		// The batch's own status, written before, is the only thing that wakes the
		// operator again.
		Consistently(tries, "2s").Should(BeNumerically("<=", 2))
		Expect(latest(w, b).Status.Calls[0].Phase).To(Equal(v1alpha1.ToolCallPending))
	})
})

var _ = Describe("A batch whose calls the API refuses", func() {
	It("B034 ends, with a typed result for each of them", func() {
		w := newWorld()
		quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "none"}}
		quota.Spec.Hard = corev1.ResourceList{"count/toolcalls.toolcall.dev": resource.MustParse("0")}
		create(w, quota)
		// What the quota controller would do.
		quota.Status = corev1.ResourceQuotaStatus{Hard: quota.Spec.Hard, Used: quota.Spec.Hard}
		Expect(w.Status().Update(w.ctx, quota)).To(Succeed())
		Eventually(func() error {
			return w.Create(w.ctx, w.call("probe").Obj(), client.DryRunAll)
		}).Should(MatchError(ContainSubstring("exceeded quota")))
		w.startOperator()
		b := w.batchEnded(create(w, w.batch("batch").
			Call("", "5m", runs(0).template()).
			Call("", "5m", runs(0).template()).Obj()))
		for _, c := range b.Status.Calls {
			Expect(c.Phase).To(Equal(v1alpha1.ToolCallFailed))
			Expect(c.Reason).To(Equal(v1alpha1.ReasonAdmissionRejected))
			Expect(c.EffectDisposition).To(Equal(none))
		}
	})
})
