//go:build apiserver

package controllers_test

import (
	"fmt"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/testkit"
)

const (
	node          = "node-1"
	holdFinalizer = "example.com/hold"
)

// reaction is what a tool does when it is told to end.
type reaction int

const (
	// Tools that say nothing of it end at once; deaf tools run on until they are killed.
	deaf reaction = iota + 1
	// finishes: the tool ends with exit code 0.
	finishes
)

// pod is a pod whose status a spec drives as a kubelet would.
type pod struct {
	w    *world
	key  client.ObjectKey
	uid  types.UID
	term chan struct{}

	mu     sync.Mutex
	onTERM reaction
	log    string
	hasRun bool
}

// podOf waits for the pod of a call.
func (w *world) podOf(c *v1alpha1.ToolCall) *pod {
	GinkgoHelper()
	list := &corev1.PodList{}
	Eventually(func(g Gomega) {
		g.Expect(w.List(w.ctx, list, client.InNamespace(w.ns), client.MatchingLabels{v1alpha1.LabelCallUID: string(c.UID)})).To(Succeed())
		g.Expect(list.Items).To(HaveLen(1))
	}).Should(Succeed())
	return w.kubelet.handle(&list.Items[0])
}

// get is the pod as it is now.
func (p *pod) get() *corev1.Pod {
	GinkgoHelper()
	obj, err := p.tryGet()
	Expect(err).NotTo(HaveOccurred())
	return obj
}

func (p *pod) tryGet() (*corev1.Pod, error) {
	obj := &corev1.Pod{}
	return obj, p.w.Get(p.w.ctx, p.key, obj)
}

// now is the time as a kubelet reports it.
func (p *pod) now() metav1.Time { return metav1.NewTime(p.w.clock.Now().Truncate(time.Second)) }

// prints sets the log of the tool.
func (p *pod) prints(log string) *pod {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log = log
	return p
}

// printed is the log of the tool, if it has run.
func (p *pod) printed() (log string, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log, p.hasRun
}

// ignoresTERM makes the tool run on until it is killed.
func (p *pod) ignoresTERM() *pod { return p.reacts(deaf) }

// finishesOnTERM makes the tool end with exit code 0 when it is told to end.
func (p *pod) finishesOnTERM() *pod { return p.reacts(finishes) }

func (p *pod) reacts(r reaction) *pod {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.onTERM = r
	return p
}

func (p *pod) reaction() reaction {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.onTERM
}

// try changes the pod's status.
func (p *pod) try(change func(*corev1.Pod)) error {
	obj, err := p.tryGet()
	if err != nil {
		return err
	}
	before := obj.DeepCopy()
	change(obj)
	return p.w.Status().Patch(p.w.ctx, obj, client.MergeFrom(before))
}

// change changes the pod's status, and expects that to work.
func (p *pod) change(change func(*corev1.Pod)) {
	GinkgoHelper()
	Expect(p.try(change)).To(Succeed())
}

// schedule binds the pod to the node.
func (p *pod) schedule() *pod {
	GinkgoHelper()
	Expect(p.trySchedule()).To(Succeed())
	return p
}

func (p *pod) trySchedule() error {
	obj, err := p.tryGet()
	if err != nil || obj.Spec.NodeName != "" {
		return err
	}
	binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: node}}
	return p.w.SubResource("binding").Create(p.w.ctx, obj, binding)
}

// accept is the kubelet's acknowledgement: its deadline counts from here.
func (p *pod) accept() *pod {
	GinkgoHelper()
	p.schedule().change(p.accepted)
	return p
}

func (p *pod) accepted(obj *corev1.Pod) {
	if obj.Status.StartTime == nil {
		obj.Status.StartTime = ptr.To(p.now())
	}
	setCondition(obj, corev1.PodReadyToStartContainers, corev1.ConditionFalse, "", p.now())
	waiting := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}
	obj.Status.InitContainerStatuses = statusesOf(obj.Spec.InitContainers, waiting)
	obj.Status.ContainerStatuses = statusesOf(obj.Spec.Containers, waiting)
}

// start runs the tool, and what is beside it.
func (p *pod) start() *pod {
	GinkgoHelper()
	Expect(p.tryStart()).To(Succeed())
	return p
}

func (p *pod) tryStart() error {
	if err := p.trySchedule(); err != nil {
		return err
	}
	p.mu.Lock()
	p.hasRun = true
	p.mu.Unlock()
	return p.try(p.started)
}

func (p *pod) started(obj *corev1.Pod) {
	p.accepted(obj)
	now := p.now()
	obj.Status.Phase = corev1.PodRunning
	setCondition(obj, corev1.PodReadyToStartContainers, corev1.ConditionTrue, "", now)
	obj.Status.InitContainerStatuses = statusesOf(obj.Spec.InitContainers, corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: now, FinishedAt: now},
	})
	obj.Status.ContainerStatuses = statusesOf(obj.Spec.Containers, corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}})
	for i := range obj.Status.ContainerStatuses {
		obj.Status.ContainerStatuses[i].Started, obj.Status.ContainerStatuses[i].Ready = ptr.To(true), true
	}
}

// exit ends the tool with an exit code.
func (p *pod) exit(code int32) *pod {
	GinkgoHelper()
	return p.terminate(corev1.ContainerStateTerminated{ExitCode: code})
}

// terminate ends the tool in some way.
func (p *pod) terminate(end corev1.ContainerStateTerminated) *pod {
	GinkgoHelper()
	Expect(p.tryExit(end)).To(Succeed())
	return p
}

func (p *pod) tryExit(end corev1.ContainerStateTerminated) error {
	return p.try(func(obj *corev1.Pod) { p.exited(obj, end) })
}

// exited ends the tool. The pod ends with its last container.
func (p *pod) exited(obj *corev1.Pod, end corev1.ContainerStateTerminated) {
	tool := toolStatus(obj)
	if tool == nil {
		return
	}
	if running := tool.State.Running; running != nil && end.StartedAt.IsZero() {
		end.StartedAt = running.StartedAt
	}
	if end.FinishedAt.IsZero() {
		end.FinishedAt = p.now()
	}
	if end.Reason == "" {
		end.Reason = map[bool]string{true: "Completed", false: "Error"}[end.ExitCode == 0]
	}
	tool.State = corev1.ContainerState{Terminated: &end}
	tool.Ready, tool.Started = false, ptr.To(false)
	for i := range obj.Status.ContainerStatuses {
		if obj.Status.ContainerStatuses[i].State.Terminated == nil {
			return
		}
	}
	obj.Status.Phase = corev1.PodFailed
	if end.ExitCode == 0 {
		obj.Status.Phase = corev1.PodSucceeded
	}
}

// passDeadline ends the pod as the kubelet does at its activeDeadlineSeconds.
func (p *pod) passDeadline() {
	GinkgoHelper()
	p.change(func(obj *corev1.Pod) {
		p.exited(obj, corev1.ContainerStateTerminated{ExitCode: 137})
		obj.Status.Phase, obj.Status.Reason = corev1.PodFailed, "DeadlineExceeded"
		obj.Status.Message = "Pod was active on the node longer than the specified deadline"
	})
}

// giveUp makes the pod fail as a whole, without a record of the tool.
func (p *pod) giveUp(reason, message string) {
	GinkgoHelper()
	p.change(func(obj *corev1.Pod) {
		obj.Status.Phase, obj.Status.Reason, obj.Status.Message = corev1.PodFailed, reason, message
	})
}

// waitFor puts the tool container into a waiting state.
func (p *pod) waitFor(reason, message string) {
	GinkgoHelper()
	p.change(func(obj *corev1.Pod) {
		toolStatus(obj).State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
	})
}

// disrupt announces the pod's end, as the scheduler and the eviction API do.
func (p *pod) disrupt(reason, message string) {
	GinkgoHelper()
	p.change(func(obj *corev1.Pod) { disrupted(obj, reason, message, p.now()) })
}

func disrupted(obj *corev1.Pod, reason, message string, at metav1.Time) {
	setCondition(obj, corev1.DisruptionTarget, corev1.ConditionTrue, reason, at)
	obj.Status.Conditions[len(obj.Status.Conditions)-1].Message = message
}

// hold puts a foreign finalizer on the pod, free removes it.
func (p *pod) hold() *pod {
	GinkgoHelper()
	p.w.patch(p.get(), fmt.Sprintf(`{"metadata":{"finalizers":[%q,%q]}}`, batchv1.JobTrackingFinalizer, holdFinalizer))
	return p
}

func (p *pod) free() {
	GinkgoHelper()
	p.w.patch(p.get(), `{"metadata":{"finalizers":[]}}`)
}

// job is the pod's Job.
func (p *pod) job() *batchv1.Job {
	GinkgoHelper()
	job := &batchv1.Job{}
	Expect(p.w.Get(p.w.ctx, client.ObjectKey{Namespace: p.key.Namespace, Name: metav1.GetControllerOf(p.get()).Name}, job)).To(Succeed())
	return job
}

// delete deletes the pod as a user would.
func (p *pod) delete(options ...client.DeleteOption) {
	GinkgoHelper()
	Expect(p.w.Delete(p.w.ctx, p.get(), options...)).To(Succeed())
}

// toolStatus is the status of the tool container, nil before there is one.
func toolStatus(obj *corev1.Pod) *corev1.ContainerStatus {
	for i := range obj.Status.ContainerStatuses {
		if obj.Status.ContainerStatuses[i].Name == testkit.ToolName {
			return &obj.Status.ContainerStatuses[i]
		}
	}
	return nil
}

func statusesOf(containers []corev1.Container, state corev1.ContainerState) []corev1.ContainerStatus {
	var all []corev1.ContainerStatus
	for _, c := range containers {
		all = append(all, corev1.ContainerStatus{Name: c.Name, Image: c.Image, State: *state.DeepCopy()})
	}
	return all
}

// setCondition puts a condition at the end of the pod's list.
func setCondition(obj *corev1.Pod, kind corev1.PodConditionType, status corev1.ConditionStatus, reason string, at metav1.Time) {
	var kept []corev1.PodCondition
	for _, c := range obj.Status.Conditions {
		if c.Type != kind {
			kept = append(kept, c)
		}
	}
	obj.Status.Conditions = append(kept, corev1.PodCondition{Type: kind, Status: status, Reason: reason, LastTransitionTime: at})
}

// startedAndExited is a tool that was over between two looks of the kubelet.
func (p *pod) startedAndExited(obj *corev1.Pod) {
	p.started(obj)
	p.exited(obj, corev1.ContainerStateTerminated{})
}
