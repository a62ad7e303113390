//go:build apiserver

package controllers_test

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
)

var _ = Describe("A call whose operator is killed", func() {
	var (
		w *world
		o *operator
	)

	BeforeEach(func() {
		w = newWorld()
		o = w.startOperator()
	})

	runningCall := func(timeout v1alpha1.Duration) (*v1alpha1.ToolCall, *pod) {
		c := create(w, w.call("call").Timeout(timeout).Obj())
		p := w.podOf(c)
		p.start()
		return w.inPhase(c, v1alpha1.ToolCallRunning), p
	}

	It("C97 keeps its deadline, its pod and its one event", func() {
		c, _ := runningCall("30s")
		deadlineAt := c.Status.Deadline.DeadlineAt
		o.kill()
		w.clock.advance(10 * time.Second)
		w.startOperator()
		w.nudge(c)
		w.clock.advance(30 * time.Second)
		w.nudge(c)
		w.ended(c)
		timedOut("timed out after 30s").expect(w, c)
		Expect(c.Status.Deadline.DeadlineAt).To(Equal(deadlineAt))
		Expect(w.jobsOf(c)).To(HaveLen(1))
		Expect(w.podsOf(c)).To(HaveLen(1))
	})

	It("C11 has the result of a tool that ended in time, read after the deadline", func() {
		c, p := runningCall("30s")
		o.kill()
		w.clock.advance(5 * time.Second)
		p.exit(0)
		w.clock.advance(time.Hour)
		w.startOperator()
		w.ended(c)
		succeeded().expect(w, c)
	})

	It("B006 reads TimedOut, with the true end, if the kubelet stopped its pod", func() {
		c, p := runningCall("30s")
		o.kill()
		w.clock.advance(32 * time.Second)
		p.passDeadline()
		ended := toolStatus(p.get()).State.Terminated.FinishedAt
		w.clock.advance(time.Hour)
		w.startOperator()
		w.ended(c)
		timedOut("timed out after 30s").expect(w, c)
		Expect(c.Status.CompletionTime.Time).To(BeTemporally("==", ended.Add(time.Second)))
	})

	It("B137 has one Job, however often that happens", func() {
		const calls = 30
		var all []*v1alpha1.ToolCall
		for i := range calls {
			all = append(all, create(w, w.callOf(fmt.Sprintf("call-%d", i), runs(0)).Obj()))
			if i%10 == 5 {
				o.kill()
				o = w.startOperator()
			}
		}
		for _, c := range all {
			succeeded().expect(w, w.ended(c))
			Expect(w.jobsOf(c)).To(HaveLen(1))
			Expect(w.podsOf(c)).To(HaveLen(1))
		}
	})

	It("B145 is not written again once it has ended", func() {
		c := w.ended(create(w, w.callOf("call", runs(0)).Obj()))
		version := latest(w, c).ResourceVersion
		o.kill()
		w.startOperator()
		w.settle()
		Expect(latest(w, c).ResourceVersion).To(Equal(version))
	})
})

var _ = Describe("A verdict", func() {
	var w *world

	BeforeEach(func() {
		w = newWorld()
		w.startOperator()
	})

	It("C2, B064 stands when the tool succeeds late", func() {
		c := create(w, w.call("call").Timeout("10s").Obj())
		w.kubelet.unreachable.Store(true) // so that the pod is still there to succeed
		p := w.podOf(c)
		p.start()
		w.inPhase(c, v1alpha1.ToolCallRunning)
		w.clock.advance(11 * time.Second)
		w.nudge(c)
		w.ended(c)
		p.exit(0)
		released(w, c)
		timedOut("timed out after 10s").expect(w, c)
		Expect(c.Status.Attempts[0].ExitCode).To(BeNil())
	})

	It("B054, B055 stands when Job and pod are deleted", func() {
		c := w.ended(create(w, w.callOf("call", runs(0)).Obj()))
		status := c.Status.DeepCopy()
		for _, job := range w.jobsOf(c) {
			Expect(client.IgnoreNotFound(w.Delete(w.ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground)))).To(Succeed())
		}
		w.nudge(c)
		w.settle()
		Expect(latest(w, c).Status).To(Equal(*status))
		Expect(w.jobsOf(c)).To(HaveLen(1))
	})

	It("C98 comes once, however often the operator looks", func() {
		c := create(w, w.callOf("call", runs(0)).Obj())
		for range 20 {
			w.nudge(c)
		}
		w.ended(c)
		w.nudge(c)
		w.settle()
		succeeded().expect(w, c)
		Expect(w.jobsOf(c)).To(HaveLen(1))
	})

	It("is refused a Job that belongs to someone else", func() {
		w := newWorld()
		c := create(w, w.call("call").Obj())
		job := create(w, foreignJob(c))
		w.startOperator()
		w.ended(c)
		failed(v1alpha1.ReasonNameConflict, none, job.Name).withoutAttempt().expect(w, c)
		Expect(latest(w, job).UID).To(Equal(job.UID))
	})

	It("is InvalidTemplate, without a Job, if the API refuses the template", func() {
		call := w.call("call").Obj()
		call.Spec.Template.Spec.Containers[0].Image = ""
		c := w.ended(create(w, call))
		failed(v1alpha1.ReasonInvalidTemplate, none, "image").withoutAttempt().expect(w, c)
		Expect(w.jobsOf(c)).To(BeEmpty())
	})

	It("B128 is SpecTooLarge if the spec leaves no room for a status", func() {
		call := w.call("call").Obj()
		call.Spec.Template.Annotations = map[string]string{}
		call.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "BIG", Value: string(make513KiB())}}
		c := w.ended(create(w, call))
		failed(v1alpha1.ReasonSpecTooLarge, none, "524288").withoutAttempt().expect(w, c)
	})

	It("gives way to the call's time to live", func() {
		c := create(w, w.callOf("call", runs(0)).TTL(0).Obj())
		Eventually(func() error { return w.Get(w.ctx, client.ObjectKeyFromObject(c), c) }).Should(MatchError(ContainSubstring("not found")))
	})
})

func make513KiB() []byte {
	big := make([]byte, 513<<10)
	for i := range big {
		big[i] = 'x'
	}
	return big
}

// foreignJob has the name that the Job of a call would have.
func foreignJob(c *v1alpha1.ToolCall) *batchv1.Job {
	job := &batchv1.Job{}
	job.Name = jobName(c)
	job.Spec.Template = c.Spec.Template.PodTemplateSpec
	job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	return job
}
