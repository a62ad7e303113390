package observe_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/call"
	"github.com/toolcall-dev/toolcall-operator/internal/core/outcome"
	"github.com/toolcall-dev/toolcall-operator/internal/observe"
	"github.com/toolcall-dev/toolcall-operator/internal/render"
)

func TestJobTellsWhetherItFailed(t *testing.T) {
	condition := func(kind batchv1.JobConditionType, status corev1.ConditionStatus) []batchv1.JobCondition {
		return []batchv1.JobCondition{{Type: kind, Status: status, Message: "Job has reached the specified backoff limit"}}
	}
	for name, tc := range map[string]struct {
		conditions []batchv1.JobCondition
		wantFailed bool
	}{
		"new":              {},
		"failed":           {conditions: condition(batchv1.JobFailed, corev1.ConditionTrue), wantFailed: true},
		"about to fail":    {conditions: condition(batchv1.JobFailureTarget, corev1.ConditionTrue), wantFailed: true},
		"not failed":       {conditions: condition(batchv1.JobFailed, corev1.ConditionFalse)},
		"complete":         {conditions: condition(batchv1.JobComplete, corev1.ConditionTrue)},
		"about to succeed": {conditions: condition(batchv1.JobSuccessCriteriaMet, corev1.ConditionTrue)},
		"suspended":        {conditions: condition(batchv1.JobSuspended, corev1.ConditionTrue)},
	} {
		t.Run(name, func(t *testing.T) {
			job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "find-1", UID: "job-uid"}}
			job.Status.Conditions = tc.conditions
			want := &outcome.Job{Name: "find-1", UID: "job-uid", Failed: tc.wantFailed}
			if tc.wantFailed {
				want.Message = "Job has reached the specified backoff limit"
			}
			if diff := cmp.Diff(want, observe.Job(job)); diff != "" {
				t.Errorf("Job (-want +got):\n%s", diff)
			}
		})
	}
	if got := observe.Job(nil); got != nil {
		t.Errorf("Job(nil) = %+v", got)
	}
}

// A crash after the Job's creation loses nothing: what was resolved is on it.
func TestThePlanIsReadBackFromTheJob(t *testing.T) {
	c := &v1alpha1.ToolCall{ObjectMeta: metav1.ObjectMeta{Name: "find", UID: "call-uid"}}
	want := call.Plan{Timeout: 1500 * time.Millisecond, Source: v1alpha1.SourceBatch, StartTimeout: time.Minute, SubmittedAt: noon.Add(123456789)}
	job, err := render.Job(c, 1, want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := observe.Plan(job)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Plan (-want +got):\n%s", diff)
	}
}

func TestAPlanThatSomeoneBrokeIsAnErrorThatNamesIt(t *testing.T) {
	for name, annotations := range map[string]map[string]string{
		"removed": nil,
		"edited":  {v1alpha1.AnnotationPlan: `{"timeout":"-5s"}`},
	} {
		t.Run(name, func(t *testing.T) {
			job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}}
			if _, err := observe.Plan(job); err == nil || !strings.Contains(err.Error(), v1alpha1.AnnotationPlan) {
				t.Errorf("Plan: %v, want an error that names the annotation", err)
			}
		})
	}
}
