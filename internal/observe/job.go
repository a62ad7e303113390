package observe

import (
	"encoding/json"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/call"
	"github.com/toolcall-dev/toolcall-operator/internal/core/outcome"
)

// Job is what a Job says of an attempt.
func Job(job *batchv1.Job) *outcome.Job {
	if job == nil {
		return nil
	}
	facts := &outcome.Job{Name: job.Name, UID: string(job.UID)}
	for _, c := range job.Status.Conditions {
		failed := c.Type == batchv1.JobFailed || c.Type == batchv1.JobFailureTarget
		if failed && c.Status == corev1.ConditionTrue {
			facts.Failed, facts.Message = true, c.Message
		}
	}
	return facts
}

// Plan reads what was resolved when the attempt was submitted.
func Plan(job *batchv1.Job) (call.Plan, error) {
	var plan call.Plan
	if err := json.Unmarshal([]byte(job.Annotations[v1alpha1.AnnotationPlan]), &plan); err != nil {
		return call.Plan{}, fmt.Errorf("annotation %s: %w", v1alpha1.AnnotationPlan, err)
	}
	return plan, nil
}
