// Package status projects decisions onto the status of the objects and onto
// events. It is pure.
package status

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/call"
	"github.com/toolcall-dev/toolcall-operator/internal/core/deadline"
	"github.com/toolcall-dev/toolcall-operator/internal/core/outcome"
)

// ToolCall projects a decision onto the status of its call. result is what the
// tool gave back, nil if that is not known.
func ToolCall(c *v1alpha1.ToolCall, s call.State, d call.Decision, result *v1alpha1.CallResult) {
	if s.Submitted || s.Job != nil {
		recordAttempt(c, s)
	}
	switch d.Action {
	case call.RecordStarting:
		starting(c, s, d)
	case call.RecordRunning:
		running(c, s, d)
	case call.Finish:
		finished(c, s, d, result)
	}
}

func starting(c *v1alpha1.ToolCall, s call.State, d call.Decision) {
	c.Status.Phase = v1alpha1.ToolCallStarting
	recordDeadline(c, s, d)
	setCondition(c, s.Now, v1alpha1.ConditionStarted, metav1.ConditionFalse, d.Waiting.Reason, d.Waiting.Message)
}

func running(c *v1alpha1.ToolCall, s call.State, d call.Decision) {
	c.Status.Phase = v1alpha1.ToolCallRunning
	recordDeadline(c, s, d)
	recordStarted(c, s)
}

func finished(c *v1alpha1.ToolCall, s call.State, d call.Decision, result *v1alpha1.CallResult) {
	v := d.Verdict
	if v.Kind != v1alpha1.KindError || s.Submitted {
		recordDeadline(c, s, d)
	}
	if !d.StartedAt.IsZero() {
		recordStarted(c, s)
		c.Status.Duration = deadline.Format(max(d.Ran, time.Millisecond))
	}
	if n := len(c.Status.Attempts); n > 0 {
		c.Status.Attempts[n-1].Reason = v.Reason
	}
	c.Status.CompletionTime = v1alpha1.NewMicroTime(d.EndedAt)
	c.Status.Result = result
	c.Status.EffectDisposition = v.Effect
	c.Status.Phase = phaseOf(v)
	conclude(c, s, d)
}

// conclude sets the error and the conditions of the end.
func conclude(c *v1alpha1.ToolCall, s call.State, d call.Decision) {
	v := d.Verdict
	if v.Kind == "" {
		setCondition(c, s.Now, v1alpha1.ConditionComplete, metav1.ConditionTrue, v.Reason, "the tool exited with code 0")
		setCondition(c, s.Now, v1alpha1.ConditionFinished, metav1.ConditionTrue, v.Reason, "the tool exited with code 0")
	} else {
		tool := ToolName(c)
		message := v.Message(circumstances(tool, s, d))
		c.Status.Error = &v1alpha1.CallError{Kind: v.Kind, Reason: v.Reason, Message: message, Tool: tool}
		setCondition(c, s.Now, v1alpha1.ConditionFailed, metav1.ConditionTrue, v.Reason, message)
		setCondition(c, s.Now, v1alpha1.ConditionFinished, metav1.ConditionTrue, v.Reason, message)
	}
	if v.Forced {
		setCondition(c, s.Now, v1alpha1.ConditionPodReleased, metav1.ConditionFalse, v1alpha1.ReasonPodTerminating, "the pod is being deleted")
	}
}

func circumstances(tool string, s call.State, d call.Decision) outcome.Circumstances {
	facts := outcome.Circumstances{
		Tool:         tool,
		Resolved:     deadline.Resolved{Timeout: s.Plan.Timeout, Source: s.Plan.Source},
		StartTimeout: s.Plan.StartTimeout,
		Ran:          d.Ran,
	}
	if s.Pod != nil {
		facts.ExitCode = s.Pod.Tool.ExitCode
	}
	return facts
}

// ToolName names what a call runs, for messages: the tool container.
func ToolName(c *v1alpha1.ToolCall) string {
	if containers := c.Spec.Template.Spec.Containers; len(containers) > 0 {
		return containers[0].Name
	}
	return "tool"
}

func phaseOf(v *outcome.Verdict) v1alpha1.ToolCallPhase {
	switch v.Kind {
	case "":
		return v1alpha1.ToolCallSucceeded
	case v1alpha1.KindTimeout:
		return v1alpha1.ToolCallTimedOut
	default:
		return v1alpha1.ToolCallFailed
	}
}

// recordDeadline is written once: the resolved value does not move.
func recordDeadline(c *v1alpha1.ToolCall, s call.State, d call.Decision) {
	if c.Status.Deadline == nil {
		c.Status.Deadline = &v1alpha1.CallDeadline{Timeout: deadline.Format(s.Plan.Timeout), Source: s.Plan.Source}
	}
	clock := c.Status.Deadline
	if clock.StartedAt != nil || d.StartedAt.IsZero() {
		return
	}
	clock.StartedAt = v1alpha1.NewMicroTime(d.StartedAt)
	if !d.DeadlineAt.IsZero() {
		clock.DeadlineAt = v1alpha1.NewMicroTime(d.DeadlineAt)
	}
}

func recordStarted(c *v1alpha1.ToolCall, s call.State) {
	setCondition(c, s.Now, v1alpha1.ConditionStarted, metav1.ConditionTrue, v1alpha1.ReasonContainerRunning, "the tool container ran")
}

// recordAttempt keeps the attempt's record up to date with its Job and pod. The
// first pod that was seen stays the attempt's pod.
func recordAttempt(c *v1alpha1.ToolCall, s call.State) {
	if len(c.Status.Attempts) == 0 {
		c.Status.Attempts = []v1alpha1.Attempt{{Number: 1}}
		c.Status.StartTime = v1alpha1.NewMicroTime(s.Plan.SubmittedAt)
	}
	attempt := &c.Status.Attempts[len(c.Status.Attempts)-1]
	if s.Job != nil {
		attempt.JobName = s.Job.Name
	}
	if s.Pod == nil {
		return
	}
	attempt.PodName, attempt.PodUID, attempt.NodeName = s.Pod.Name, s.Pod.UID, s.Pod.Node
	if tool := s.Pod.Tool; tool.Started() {
		attempt.StartTime = v1alpha1.NewMicroTime(tool.StartedAt)
		if tool.Ended() {
			attempt.FinishTime = v1alpha1.NewMicroTime(tool.FinishedAt)
			attempt.ExitCode = &tool.ExitCode
		}
	}
}

// Released tells on a finished call that its pod is gone.
func Released(c *v1alpha1.ToolCall, now time.Time) {
	setCondition(c, now, v1alpha1.ConditionPodReleased, metav1.ConditionTrue, v1alpha1.ReasonPodGone, "no pod of the call is left")
}

// Forced tells whether a call ended while its pod was alive.
func Forced(c *v1alpha1.ToolCall) bool {
	return meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionPodReleased) != nil
}

// AwaitsRelease tells whether a call ended while its pod was alive, and the pod
// is not known to be gone.
func AwaitsRelease(c *v1alpha1.ToolCall) bool {
	return meta.IsStatusConditionFalse(c.Status.Conditions, v1alpha1.ConditionPodReleased)
}

func setCondition(c *v1alpha1.ToolCall, now time.Time, kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&c.Status.Conditions, condition(c.Generation, now, kind, status, reason, message))
}

func condition(generation int64, now time.Time, kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{
		Type:               kind,
		Status:             status,
		ObservedGeneration: generation,
		LastTransitionTime: metav1.NewTime(now),
		Reason:             reason,
		Message:            message,
	}
}
