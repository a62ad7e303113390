package controllers

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/call"
)

// Indexes of the cache.
const (
	// callUIDIndex finds the pods of a call by its UID.
	callUIDIndex = "call-uid"
	// batchUIDIndex finds the calls of a batch by its UID.
	batchUIDIndex = "batch-uid"
	// uidIndex finds a call by its own UID.
	uidIndex = "uid"
)

// NewClient makes the manager's client wait, when it reads an object that this
// process wrote, until the cache shows the write: a decision on the version
// before it could only end in a conflict.
func NewClient(config *rest.Config, options client.Options) (client.Client, error) {
	if options.Cache != nil {
		options.Cache.EnableReadYourWritesConsistency = ptr.To(true)
	}
	return client.New(config, options)
}

// CacheOptions keeps the cache to the operator's own Jobs and pods, without
// what nobody reads.
func CacheOptions() cache.Options {
	ours, err := labels.Parse(v1alpha1.LabelCallUID)
	if err != nil {
		panic(fmt.Sprintf("label selector %q: %v", v1alpha1.LabelCallUID, err))
	}
	return cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}:  {Label: ours},
			&batchv1.Job{}: {Label: ours, Transform: stripJob},
		},
	}
}

// stripJob drops the pod template, which is read from the pod.
func stripJob(obj any) (any, error) {
	if job, ok := obj.(*batchv1.Job); ok {
		job.ManagedFields = nil
		job.Spec.Template = corev1.PodTemplateSpec{}
	}
	return obj, nil
}

// setupIndexes must be called before the reconcilers are set up.
func setupIndexes(ctx context.Context, mgr ctrl.Manager) error {
	indexer := mgr.GetFieldIndexer()
	if err := indexer.IndexField(ctx, &corev1.Pod{}, callUIDIndex, labelIndex(v1alpha1.LabelCallUID)); err != nil {
		return fmt.Errorf("index of pods: %w", err)
	}
	if err := indexer.IndexField(ctx, &v1alpha1.ToolCall{}, batchUIDIndex, labelIndex(v1alpha1.LabelBatchUID)); err != nil {
		return fmt.Errorf("index of calls by batch: %w", err)
	}
	byUID := func(obj client.Object) []string { return []string{string(obj.GetUID())} }
	if err := indexer.IndexField(ctx, &v1alpha1.ToolCall{}, uidIndex, byUID); err != nil {
		return fmt.Errorf("index of calls by UID: %w", err)
	}
	return nil
}

func labelIndex(label string) client.IndexerFunc {
	return func(obj client.Object) []string {
		if value := obj.GetLabels()[label]; value != "" {
			return []string{value}
		}
		return nil
	}
}

// callsOfPod maps a pod to its call by the UID in its label, which, unlike the
// name, is never cut.
func callsOfPod(c client.Reader) handler.MapFunc {
	return func(ctx context.Context, pod client.Object) []reconcile.Request {
		calls := &v1alpha1.ToolCallList{}
		uid := client.MatchingFields{uidIndex: pod.GetLabels()[v1alpha1.LabelCallUID]}
		if err := c.List(ctx, calls, client.InNamespace(pod.GetNamespace()), uid, client.DisableReadYourWritesConsistency); err != nil {
			log.FromContext(ctx).Error(err, "Failed to find the call of a pod", "pod", pod.GetName())
			return nil
		}
		requests := make([]reconcile.Request, 0, len(calls.Items))
		for i := range calls.Items {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&calls.Items[i])})
		}
		return requests
	}
}

// unfinished drops events of calls that have their verdict, but for deletions.
func unfinished() predicate.Predicate {
	open := callPredicate(func(c *v1alpha1.ToolCall) bool { return !call.Finished(c) })
	open.DeleteFunc = func(event.DeleteEvent) bool { return true }
	return open
}

// callPredicate passes events of the calls that a function picks.
func callPredicate(pick func(*v1alpha1.ToolCall) bool) predicate.Funcs {
	return predicate.NewPredicateFuncs(func(obj client.Object) bool {
		c, ok := obj.(*v1alpha1.ToolCall)
		return ok && pick(c)
	})
}

// rateLimiter backs off from 50 ms to 5 s: a failed call must not wait for
// minutes once its cause has gone.
func rateLimiter() workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](50*time.Millisecond, 5*time.Second)
}

// sameObject guards a deletion against another object of the same name.
func sameObject(obj client.Object) client.Preconditions {
	uid := obj.GetUID()
	return client.Preconditions{UID: &uid}
}

var background = client.PropagationPolicy(metav1.DeletePropagationBackground)
