//go:build apiserver

package controllers_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// jobController stands in for the Job controller and the garbage collector. A
// Job gets one pod, ever: with a backoff limit of 0 there is no other.
type jobController struct {
	w *world
	// held keeps Jobs without pods.
	held atomic.Bool
	// reporting keeps two reports on one Job apart.
	reporting sync.Mutex

	mu sync.Mutex
	// served are the Jobs that have had their pod, ended those whose end was told.
	served, ended map[types.UID]bool
}

func newJobController(w *world) *jobController {
	return &jobController{w: w, served: map[types.UID]bool{}, ended: map[types.UID]bool{}}
}

// saw is called with every version of every object of the world.
func (j *jobController) saw(obj client.Object, deleted bool) {
	if deleted {
		j.collect(obj)
		return
	}
	if owner := metav1.GetControllerOf(obj); owner != nil && j.w.history.isGone(owner.UID) {
		j.w.do(func() error { return j.drop(obj) })
		return
	}
	switch o := obj.(type) {
	case *batchv1.Job:
		if !j.held.Load() && o.DeletionTimestamp == nil && first(&j.mu, j.served, o.UID) {
			j.w.do(func() error { return j.createPod(o) })
		}
	case *corev1.Pod:
		j.track(o)
	}
}

// collect deletes what belongs to an object that is gone.
func (j *jobController) collect(owner client.Object) {
	owned := func(obj client.Object) bool {
		return metav1.IsControlledBy(obj, owner) && !j.w.history.isGone(obj.GetUID())
	}
	for _, obj := range ever(j.w.history, owned) {
		j.w.do(func() error { return j.drop(obj) })
	}
}

// drop deletes an object whose owner is gone. A pod of a Job that is gone is no
// longer counted by anyone.
func (j *jobController) drop(obj client.Object) error {
	if pod, ok := obj.(*corev1.Pod); ok {
		if err := j.untrack(pod); err != nil {
			return err
		}
	}
	if obj.GetDeletionTimestamp() != nil {
		return nil
	}
	return j.w.Delete(j.w.ctx, obj, client.Preconditions{UID: ptr.To(obj.GetUID())}, client.PropagationPolicy(metav1.DeletePropagationBackground))
}

// createPod makes the pod of a Job as the Job controller does.
func (j *jobController) createPod(job *batchv1.Job) error {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName:    job.Name + "-",
			Namespace:       job.Namespace,
			Labels:          job.Spec.Template.Labels,
			Annotations:     job.Spec.Template.Annotations,
			Finalizers:      []string{batchv1.JobTrackingFinalizer},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))},
		},
		Spec: job.Spec.Template.Spec,
	}
	if err := j.w.Create(j.w.ctx, pod); err != nil {
		return err
	}
	return j.report(job, func(status *batchv1.JobStatus) {
		if len(status.Conditions) > 0 {
			return // its pod was faster
		}
		status.StartTime, status.Active, status.Ready = ptr.To(metav1.Now()), 1, ptr.To[int32](0)
		status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
	})
}

// track follows a pod to its end, counts it, and lets go of it.
func (j *jobController) track(pod *corev1.Pod) {
	ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	unbound := pod.DeletionTimestamp != nil && pod.Spec.NodeName == ""
	if !ended && !unbound {
		return
	}
	j.w.do(func() error { return j.untrack(pod) })
	owner := metav1.GetControllerOf(pod)
	if owner == nil || !first(&j.mu, j.ended, owner.UID) {
		return
	}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: owner.Name}}
	j.w.do(func() error {
		return j.report(job, func(status *batchv1.JobStatus) { concludeJob(status, pod.Status.Phase == corev1.PodSucceeded) })
	})
}

// untrack removes the finalizer that keeps a pod until it was counted, and
// nobody else's.
func (j *jobController) untrack(pod *corev1.Pod) error {
	i := slices.Index(pod.Finalizers, batchv1.JobTrackingFinalizer)
	if i < 0 {
		return nil
	}
	patch := fmt.Sprintf(`[{"op":"test","path":"/metadata/finalizers/%d","value":%q},{"op":"remove","path":"/metadata/finalizers/%d"}]`,
		i, batchv1.JobTrackingFinalizer, i)
	err := j.w.Patch(j.w.ctx, pod.DeepCopy(), client.RawPatch(types.JSONPatchType, []byte(patch)))
	if err != nil && !slices.Contains(latestFinalizers(j.w, pod), batchv1.JobTrackingFinalizer) {
		return nil // someone was faster
	}
	return err
}

func latestFinalizers(w *world, pod *corev1.Pod) []string {
	fresh := &corev1.Pod{}
	if err := w.Get(w.ctx, client.ObjectKeyFromObject(pod), fresh); err != nil {
		return nil
	}
	return fresh.Finalizers
}

// report writes a Job's status.
func (j *jobController) report(job *batchv1.Job, change func(*batchv1.JobStatus)) error {
	j.reporting.Lock()
	defer j.reporting.Unlock()
	fresh := &batchv1.Job{}
	if err := j.w.Get(j.w.ctx, client.ObjectKeyFromObject(job), fresh); err != nil {
		return err
	}
	before := fresh.DeepCopy()
	change(&fresh.Status)
	return j.w.Status().Patch(j.w.ctx, fresh, client.MergeFrom(before))
}

func concludeJob(status *batchv1.JobStatus, succeeded bool) {
	now := metav1.Now()
	if status.StartTime == nil {
		status.StartTime = &now
	}
	condition := func(kind batchv1.JobConditionType, reason string) batchv1.JobCondition {
		return batchv1.JobCondition{Type: kind, Status: corev1.ConditionTrue, Reason: reason, LastProbeTime: now, LastTransitionTime: now}
	}
	status.Active, status.Ready, status.UncountedTerminatedPods = 0, ptr.To[int32](0), &batchv1.UncountedTerminatedPods{}
	status.Terminating = ptr.To[int32](0)
	if succeeded {
		status.Succeeded, status.CompletionTime = 1, &now
		status.Conditions = []batchv1.JobCondition{
			condition(batchv1.JobSuccessCriteriaMet, batchv1.JobReasonCompletionsReached), condition(batchv1.JobComplete, batchv1.JobReasonCompletionsReached),
		}
		return
	}
	status.Failed = 1
	status.Conditions = []batchv1.JobCondition{
		condition(batchv1.JobFailureTarget, batchv1.JobReasonBackoffLimitExceeded), condition(batchv1.JobFailed, batchv1.JobReasonBackoffLimitExceeded),
	}
}

// first tells whether a UID comes for the first time.
func first(mu *sync.Mutex, seen map[types.UID]bool, uid types.UID) bool {
	mu.Lock()
	defer mu.Unlock()
	was := seen[uid]
	seen[uid] = true
	return !was
}
