package controllers

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/call"
	"github.com/toolcall-dev/toolcall-operator/internal/core/output"
	"github.com/toolcall-dev/toolcall-operator/internal/observe"
	"github.com/toolcall-dev/toolcall-operator/internal/status"
)

// ReleaseReconciler deletes the Job and pod of calls that ended while their pod
// was alive, and tells when the pod is gone. The verdict stands before it
// begins and never waits for it.
type ReleaseReconciler struct {
	Client client.Client
	// Live reads past the cache.
	Live  client.Reader
	Logs  LogReader
	Clock clock.PassiveClock
}

// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups=toolcall.dev,resources=toolcalls/status,verbs=patch

// Reconcile keeps the evidence, deletes the Job and then its pods, and records
// that they are gone. Each step is repeated until it has worked.
func (r *ReleaseReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	c := &v1alpha1.ToolCall{}
	if err := r.Client.Get(ctx, req.NamespacedName, c); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !status.Forced(c) {
		return ctrl.Result{}, nil
	}
	pods, err := cached(r.Client).pods(ctx, c)
	if err != nil {
		return ctrl.Result{}, err
	}
	if c, err = r.keepOutput(ctx, c, pods); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if err := r.deleteJob(ctx, c); err != nil {
		return ctrl.Result{}, err
	}
	if err := r.deletePods(ctx, pods); err != nil {
		return ctrl.Result{}, err
	}
	return r.recordRelease(ctx, c, pods)
}

// keepOutput adds what the tool had written to the verdict, once.
func (r *ReleaseReconciler) keepOutput(ctx context.Context, c *v1alpha1.ToolCall, pods []corev1.Pod) (*v1alpha1.ToolCall, error) {
	if c.Status.Result != nil || c.Status.Deadline == nil || c.Status.Deadline.StartedAt == nil {
		return c, nil
	}
	after := c.DeepCopy()
	after.Status.Result = output.Unavailable()
	for i := range pods {
		if string(pods[i].UID) == call.RecordedPod(c) {
			after.Status.Result = readOutput(ctx, r.Logs, c.Namespace, observe.Pod(&pods[i], ""), output.EvidenceTimeout)
		}
	}
	if err := patchStatus(ctx, r.Client, c, after); err != nil {
		return c, fmt.Errorf("output: %w", err)
	}
	return after, nil
}

// deleteJob comes before the pods, so that none is replaced. It names the
// policy: a Job that is deleted without one leaves its pod running.
func (r *ReleaseReconciler) deleteJob(ctx context.Context, c *v1alpha1.ToolCall) error {
	job, err := cached(r.Client).job(ctx, c)
	if err != nil || job == nil || !job.DeletionTimestamp.IsZero() {
		return err
	}
	if err := r.Client.Delete(ctx, job, sameObject(job), background, client.DisableReadYourWritesConsistency); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete Job %s: %w", job.Name, err)
	}
	return nil
}

// deletePods does not wait for the garbage collector.
func (r *ReleaseReconciler) deletePods(ctx context.Context, pods []corev1.Pod) error {
	for i := range pods {
		pod := &pods[i]
		if !pod.DeletionTimestamp.IsZero() {
			continue
		}
		if err := r.Client.Delete(ctx, pod, sameObject(pod), client.DisableReadYourWritesConsistency); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete pod %s: %w", pod.Name, err)
		}
	}
	return nil
}

// recordRelease tells that no process of the call is left, if that is so: a pod
// that has ended holds nothing, whoever's finalizer keeps its object.
func (r *ReleaseReconciler) recordRelease(ctx context.Context, c *v1alpha1.ToolCall, pods []corev1.Pod) (ctrl.Result, error) {
	if !status.AwaitsRelease(c) || alive(pods) {
		return ctrl.Result{}, nil
	}
	now := r.Clock.Now()
	left, err := live(r.Live).pods(ctx, c)
	if err != nil {
		return ctrl.Result{}, err
	}
	if alive(left) {
		return wake(now.Add(call.ReleasePoll), now), nil
	}
	after := c.DeepCopy()
	status.Released(after, now)
	return ctrl.Result{}, client.IgnoreNotFound(patchStatus(ctx, r.Client, c, after))
}

func alive(pods []corev1.Pod) bool {
	for i := range pods {
		if phase := pods[i].Status.Phase; phase != corev1.PodSucceeded && phase != corev1.PodFailed {
			return true
		}
	}
	return false
}

// SetupWithManager watches calls that were ended by force, their Jobs and pods.
func (r *ReleaseReconciler) SetupWithManager(mgr ctrl.Manager, workers int) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("release").
		For(&v1alpha1.ToolCall{}, builder.WithPredicates(callPredicate(status.Forced))).
		Owns(&batchv1.Job{}).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(callsOfPod(mgr.GetClient()))).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers, RateLimiter: rateLimiter()}).
		Complete(r)
}
