package controllers

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/call"
	"github.com/toolcall-dev/toolcall-operator/internal/render"
)

// view reads the objects of a call, from the cache or past it.
type view struct {
	reader client.Reader
	// podsOf selects the pods of the call with the given UID.
	podsOf func(types.UID) client.ListOption
}

// cached views the cache. Pods are found by an index.
func cached(c client.Reader) view {
	return view{reader: c, podsOf: func(uid types.UID) client.ListOption {
		return client.MatchingFields{callUIDIndex: string(uid)}
	}}
}

// live views the API server itself.
func live(c client.Reader) view {
	return view{reader: c, podsOf: func(uid types.UID) client.ListOption {
		return client.MatchingLabels{v1alpha1.LabelCallUID: string(uid)}
	}}
}

// job is the Job of the call's attempt, nil if there is none of this call's.
func (v view) job(ctx context.Context, c *v1alpha1.ToolCall) (*batchv1.Job, error) {
	job := &batchv1.Job{}
	key := client.ObjectKey{Namespace: c.Namespace, Name: render.JobName(c, firstAttempt)}
	if err := v.reader.Get(ctx, key, job); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	if !metav1.IsControlledBy(job, c) {
		return nil, nil
	}
	return job, nil
}

// pod is the attempt's pod: the one that was recorded, else the Job's oldest.
func (v view) pod(ctx context.Context, c *v1alpha1.ToolCall, job *batchv1.Job) (*corev1.Pod, error) {
	pods, err := v.pods(ctx, c)
	if err != nil {
		return nil, err
	}
	var first *corev1.Pod
	for i := range pods {
		pod := &pods[i]
		if uid := call.RecordedPod(c); uid != "" {
			if string(pod.UID) == uid {
				return pod, nil
			}
			continue
		}
		ours := job == nil || metav1.IsControlledBy(pod, job)
		if ours && (first == nil || pod.CreationTimestamp.Before(&first.CreationTimestamp)) {
			first = pod
		}
	}
	return first, nil
}

// pods are all pods that carry the call's UID.
func (v view) pods(ctx context.Context, c *v1alpha1.ToolCall) ([]corev1.Pod, error) {
	list := &corev1.PodList{}
	err := v.reader.List(ctx, list, client.InNamespace(c.Namespace), v.podsOf(c.UID), client.DisableReadYourWritesConsistency)
	return list.Items, err
}
