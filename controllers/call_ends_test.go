//go:build apiserver

package controllers_test

import (
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/testkit"
)

const (
	none    = v1alpha1.EffectNone
	unknown = v1alpha1.EffectUnknown
	absent  = v1alpha1.EffectDisposition("")
)

var _ = Describe("A call ends", func() {
	var w *world

	BeforeEach(func() {
		w = newWorld()
		w.startOperator()
	})

	// Each end is one thing that happens to the pod, and the verdict it leads to.
	DescribeTable("once, with a typed result,", func(happens func(*pod), want verdict) {
		c := create(w, w.call("call").Timeout("1m").Template(testkit.MakeTemplate().Init("prepare").Grace(1)).Obj())
		happens(w.podOf(c))
		w.ended(c)
		want.expect(w, c)
		Expect(w.podsOf(c)).To(HaveLen(1))
	},
		Entry("C4 when the tool succeeds", func(p *pod) { p.start().exit(0) }, succeeded()),
		Entry("C4 when it succeeded before anyone saw it run", func(p *pod) {
			p.schedule().change(p.startedAndExited)
		}, succeeded()),
		Entry("C13 when the tool fails, whatever it prints", func(p *pod) { p.prints("timed out").start().exit(3) },
			failed(v1alpha1.ReasonExitCode, absent, "exit code 3")),
		Entry("C13 when the tool reports a timeout of its own", func(p *pod) {
			p.start().terminate(corev1.ContainerStateTerminated{ExitCode: 124, Message: "DeadlineExceeded"})
		}, failed(v1alpha1.ReasonExitCode, absent, "exit code 124")),
		Entry("C13 when something in the container killed the tool", func(p *pod) { p.start().exit(137) },
			failed(v1alpha1.ReasonExitCode, absent, "exit code 137")),
		Entry("B060, C102 when the tool takes too much memory", func(p *pod) {
			p.start().terminate(corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"})
		}, failed(v1alpha1.ReasonOOMKilled, unknown, "memory limit")),
		Entry("B063, C102 when the kubelet evicts the pod", func(p *pod) {
			p.start().change(func(obj *corev1.Pod) {
				p.exited(obj, corev1.ContainerStateTerminated{ExitCode: 137})
				setCondition(obj, corev1.DisruptionTarget, corev1.ConditionTrue, corev1.PodReasonTerminationByKubelet, p.now())
				obj.Status.Phase, obj.Status.Reason = corev1.PodFailed, "Evicted"
				obj.Status.Message = "Usage of EmptyDir volume \"work\" exceeds the limit \"16Mi\"."
			})
		}, failed(v1alpha1.ReasonEvicted, unknown, `exceeds the limit "16Mi"`)),
		Entry("B102 when the kubelet evicts the pod and loses its containers", func(p *pod) {
			p.start().change(func(obj *corev1.Pod) {
				toolStatus(obj).State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "ContainerStatusUnknown"}}
				obj.Status.Phase, obj.Status.Reason, obj.Status.Message = corev1.PodFailed, "Evicted", "The node was low on resource: ephemeral-storage."
			})
		}, failed(v1alpha1.ReasonEvicted, unknown, "low on resource")),
		Entry("C9 when the pod is evicted before the tool ran", func(p *pod) {
			p.accept().giveUp("Evicted", "The node had condition: [DiskPressure].")
		}, failed(v1alpha1.ReasonEvicted, none, "DiskPressure")),
		Entry("C102 when the eviction API removes the pod", func(p *pod) {
			p.start()
			Expect(p.w.SubResource("eviction").Create(p.w.ctx, p.get(), &policyv1.Eviction{})).To(Succeed())
		}, failed(v1alpha1.ReasonEvicted, unknown, "evicted")),
		Entry("when the pod makes way for a more important one", func(p *pod) {
			p.start().disrupt(corev1.PodReasonPreemptionByScheduler, "preempting to accommodate a higher priority pod")
			p.delete()
		}, failed(v1alpha1.ReasonPreempted, unknown, "higher priority")),
		Entry("B103 when the node shuts down and kills the tool", func(p *pod) {
			p.start().change(func(obj *corev1.Pod) {
				p.exited(obj, corev1.ContainerStateTerminated{ExitCode: 143})
				obj.Status.Reason, obj.Status.Message = "Terminated", "Pod was terminated in response to imminent node shutdown."
			})
		}, failed(v1alpha1.ReasonEvicted, unknown, "node shutdown")),
		Entry("B103 when the tool gives way to the node's shutdown with exit code 0", func(p *pod) {
			p.start().change(func(obj *corev1.Pod) {
				disrupted(obj, corev1.PodReasonTerminationByKubelet, "Pod was terminated in response to imminent node shutdown.", p.now())
				p.w.clock.advance(2 * time.Second)
				p.exited(obj, corev1.ContainerStateTerminated{})
			})
		}, failed(v1alpha1.ReasonEvicted, unknown, "node shutdown")),
		Entry("B096 when someone deletes the pod", func(p *pod) {
			p.start().delete()
		}, failed(v1alpha1.ReasonPodLost, unknown, "deleted")),
		Entry("B096 when someone deletes the pod by force", func(p *pod) {
			p.start().delete(client.GracePeriodSeconds(0))
		}, failed(v1alpha1.ReasonPodLost, unknown, "lost")),
		Entry("C9 when someone deletes the pod before it has a node", func(p *pod) {
			p.hold().delete()
		}, failed(v1alpha1.ReasonPodLost, none, "it never ran")),
		Entry("when someone deletes the Job", func(p *pod) {
			p.start()
			Expect(p.w.Delete(p.w.ctx, p.job(), client.PropagationPolicy(metav1.DeletePropagationBackground))).To(Succeed())
		}, failed(v1alpha1.ReasonPodLost, unknown, "")),
		Entry("when the tool container can't be started", func(p *pod) {
			p.accept().change(func(obj *corev1.Pod) {
				obj.Status.InitContainerStatuses = nil
				p.exited(obj, corev1.ContainerStateTerminated{
					ExitCode: 128, Reason: "StartError", Message: "exec: \"serch\": executable file not found in $PATH",
					StartedAt: metav1.Unix(0, 0), FinishedAt: p.now(),
				})
			})
		}, failed(v1alpha1.ReasonStartFailed, none, "executable file not found")),
		Entry("B032 when the image's name is none", func(p *pod) {
			p.accept().waitFor("InvalidImageName", `couldn't parse image name "UPPER CASE::"`)
		}, failed(v1alpha1.ReasonStartFailed, none, "UPPER CASE::")),
		Entry("when the image is not to be pulled and not there", func(p *pod) {
			p.accept().waitFor("ErrImageNeverPull", `Container image "example.com/search:1" is not present with pull policy of Never`)
		}, failed(v1alpha1.ReasonStartFailed, none, "not present")),
		Entry("when an init container fails", func(p *pod) {
			p.accept().change(func(obj *corev1.Pod) {
				obj.Status.Phase = corev1.PodFailed
				obj.Status.InitContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
					ExitCode: 5, Reason: "Error", StartedAt: p.now(), FinishedAt: p.now(),
				}}
			})
		}, failed(v1alpha1.ReasonInitFailed, none, "prepare")),
		Entry("when the kubelet refuses the pod", func(p *pod) {
			p.schedule().giveUp("OutOfcpu", "Node didn't have enough resource: cpu")
		}, failed(v1alpha1.ReasonStartFailed, none, "enough resource")),
	)

	It("with what the tool printed", func() {
		c := create(w, w.callOf("call", runs(0).prints("3 results\n")).Obj())
		w.ended(c)
		Expect(c.Status.Result).To(HaveValue(Equal(v1alpha1.CallResult{
			Output: "3 results\n", Encoding: v1alpha1.EncodingUTF8, Bytes: 10, Source: v1alpha1.OutputLogs, ExitCode: new(int32),
		})))
	})

	It("with the tool's termination message rather than its log", func() {
		c := create(w, w.callOf("call", runs(0).exits(2).prints("3 results\n").reports("no such city")).Obj())
		w.ended(c)
		Expect(c.Status.Result.Source).To(Equal(v1alpha1.OutputTerminationMessage))
		Expect(c.Status.Result.Output).To(Equal("no such city"))
		Expect(c.Status.Result.ExitCode).To(HaveValue(BeEquivalentTo(2)))
	})

	It("B114 with an empty output that reads as empty", func() {
		c := create(w, w.callOf("call", runs(0)).Obj())
		w.ended(c)
		Expect(c.Status.Result.Source).To(Equal(v1alpha1.OutputLogs))
		Expect(c.Status.Result.Output).To(BeEmpty())
	})

	It("B112 with the head of an output that is too long", func() {
		c := create(w, w.callOf("call", runs(0).prints(strings.Repeat("x", 300<<10))).Obj())
		w.ended(c)
		Expect(c.Status.Phase).To(Equal(v1alpha1.ToolCallSucceeded))
		Expect(c.Status.Result.Truncated).To(BeTrue())
		Expect(c.Status.Result.Output).To(HaveLen(64 << 10))
	})

	It("B156, B159 when the tool ends, whatever runs beside it", func() {
		c := create(w, w.call("call").Template(testkit.MakeTemplate().Beside("proxy").Grace(1)).Obj())
		p := w.podOf(c)
		p.start().exit(0)
		w.ended(c)
		succeeded().expect(w, c)
		released(w, c)
		Expect(w.podsOf(c)[0].DeletionTimestamp).NotTo(BeNil())
	})

	It("with a record of its attempt", func() {
		c := create(w, w.call("call").Obj())
		p := w.podOf(c)
		p.start()
		w.inPhase(c, v1alpha1.ToolCallRunning)
		w.clock.advance(3 * time.Second)
		p.exit(7)
		w.ended(c)
		tool := toolStatus(p.get()).State.Terminated
		attempt := c.Status.Attempts[0]
		Expect(attempt.JobName).To(Equal(w.jobsOf(c)[0].Name))
		Expect(attempt.PodName).To(Equal(p.key.Name))
		Expect(attempt.PodUID).To(BeEquivalentTo(p.uid))
		Expect(attempt.NodeName).To(Equal(node))
		Expect(attempt.StartTime.Time).To(BeTemporally("==", tool.StartedAt.Time))
		Expect(attempt.FinishTime.Time).To(BeTemporally("==", tool.FinishedAt.Time))
		Expect(attempt.ExitCode).To(HaveValue(BeEquivalentTo(7)))
	})

	It("in time although the log can't be read", func() {
		w := newWorld()
		w.startOperatorWithLogs(hungLogs{})
		c := create(w, w.callOf("call", runs(0)).Obj())
		w.ended(c)
		succeeded().expect(w, c)
		Expect(c.Status.Result.Source).To(Equal(v1alpha1.OutputUnavailable))
		Expect(c.Status.Result.ExitCode).To(HaveValue(BeEquivalentTo(0)))
	})
})
