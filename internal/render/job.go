package render

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/call"
	"github.com/toolcall-dev/toolcall-operator/internal/core/deadline"
)

// keepJob is how long a Job outlives its end, so that an operator that was away
// can still read the tool's result from its pod.
const keepJob = time.Hour

// Job is the Job of an attempt.
func Job(c *v1alpha1.ToolCall, attempt int32, plan call.Plan) (*batchv1.Job, error) {
	stamp, err := json.Marshal(plan)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	pod := podTemplate(c, attempt, plan)
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name:            JobName(c, attempt),
			Namespace:       c.Namespace,
			Labels:          maps.Clone(pod.Labels),
			Annotations:     maps.Clone(pod.Annotations),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(c, v1alpha1.GroupVersion.WithKind("ToolCall"))},
		},
		Spec: batchv1.JobSpec{
			Completions:             ptr.To[int32](1),
			Parallelism:             ptr.To[int32](1),
			BackoffLimit:            ptr.To[int32](0),
			PodReplacementPolicy:    ptr.To(batchv1.Failed),
			TTLSecondsAfterFinished: ttl(plan),
			Template:                pod,
		},
	}
	job.Annotations[v1alpha1.AnnotationPlan] = string(stamp)
	return job, nil
}

// ttl is how long the Job controller keeps a finished Job; nil, for as long as
// the call, where the call may run without a limit.
func ttl(plan call.Plan) *int32 {
	if plan.Timeout == 0 || plan.StartTimeout == 0 {
		return nil
	}
	seconds := (plan.StartTimeout + plan.Timeout + keepJob).Seconds()
	return ptr.To(int32(min(seconds, math.MaxInt32)))
}

func podTemplate(c *v1alpha1.ToolCall, attempt int32, plan call.Plan) corev1.PodTemplateSpec {
	pod := *c.Spec.Template.DeepCopy()
	pod.Labels = with(pod.Labels, map[string]string{
		v1alpha1.LabelCallUID: string(c.UID),
		v1alpha1.LabelCall:    labelValue(c.Name),
		v1alpha1.LabelAttempt: strconv.Itoa(int(attempt)),
	})
	pod.Annotations = with(pod.Annotations, map[string]string{v1alpha1.AnnotationCall: c.Name})
	pod.Spec.RestartPolicy = corev1.RestartPolicyNever
	pod.Spec.ActiveDeadlineSeconds = deadline.InitialBackstop(plan.StartTimeout, plan.Timeout)
	secure(&pod.Spec)
	return pod.PodTemplateSpec
}

func with(base, more map[string]string) map[string]string {
	all := make(map[string]string, len(base)+len(more))
	maps.Copy(all, base)
	maps.Copy(all, more)
	return all
}
