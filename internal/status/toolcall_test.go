package status_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/call"
	"github.com/toolcall-dev/toolcall-operator/internal/core/outcome"
	"github.com/toolcall-dev/toolcall-operator/internal/status"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// state is a call whose tool has run since noon, 5 s allowed.
func state() (call.State, call.Decision) {
	c := &v1alpha1.ToolCall{ObjectMeta: metav1.ObjectMeta{Generation: 1}}
	s := call.State{
		Call: c, Submitted: true, Now: noon.Add(2 * time.Second),
		Plan: call.Plan{Timeout: 5 * time.Second, Source: v1alpha1.SourceBatch, SubmittedAt: noon.Add(-time.Second)},
		Job:  &outcome.Job{Name: "job"},
		Pod:  &outcome.Pod{Name: "pod", UID: "uid", Node: "node", Tool: outcome.Container{State: outcome.Running, StartedAt: noon}},
	}
	return s, call.Decision{StartedAt: noon, DeadlineAt: noon.Add(5 * time.Second), EndedAt: s.Now, Ran: 2 * time.Second}
}

func TestExactlyOneOfCompleteAndFailedIsSet(t *testing.T) {
	for name, tc := range map[string]struct {
		verdict    outcome.Verdict
		wantPhase  v1alpha1.ToolCallPhase
		wantTrue   string
		wantAbsent string
		wantError  *v1alpha1.CallError
	}{
		"C4 success": {
			verdict:   outcome.Verdict{Reason: v1alpha1.ReasonSucceeded},
			wantPhase: v1alpha1.ToolCallSucceeded, wantTrue: v1alpha1.ConditionComplete, wantAbsent: v1alpha1.ConditionFailed,
		},
		"C3 timeout": {
			verdict:   outcome.Verdict{Kind: v1alpha1.KindTimeout, Reason: v1alpha1.ReasonDeadlineExceeded, Effect: v1alpha1.EffectUnknown},
			wantPhase: v1alpha1.ToolCallTimedOut, wantTrue: v1alpha1.ConditionFailed, wantAbsent: v1alpha1.ConditionComplete,
			wantError: &v1alpha1.CallError{Kind: v1alpha1.KindTimeout, Reason: v1alpha1.ReasonDeadlineExceeded, Tool: "tool",
				Message: "tool timed out after 5s (limit from Batch); its effect is unknown"},
		},
		"C13 error": {
			verdict:   outcome.Verdict{Kind: v1alpha1.KindError, Reason: v1alpha1.ReasonExitCode},
			wantPhase: v1alpha1.ToolCallFailed, wantTrue: v1alpha1.ConditionFailed, wantAbsent: v1alpha1.ConditionComplete,
			wantError: &v1alpha1.CallError{Kind: v1alpha1.KindError, Reason: v1alpha1.ReasonExitCode, Tool: "tool", Message: "tool failed with exit code 0 after 2s"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, d := state()
			d.Action, d.Verdict = call.Finish, &tc.verdict
			status.ToolCall(s.Call, s, d, nil)
			got := s.Call.Status
			for _, kind := range []string{tc.wantTrue, v1alpha1.ConditionFinished, v1alpha1.ConditionStarted} {
				if c := meta.FindStatusCondition(got.Conditions, kind); c == nil || c.Status != metav1.ConditionTrue || c.ObservedGeneration != 1 {
					t.Errorf("condition %s = %+v, want True at generation 1", kind, c)
				}
			}
			if c := meta.FindStatusCondition(got.Conditions, tc.wantAbsent); c != nil {
				t.Errorf("condition %s = %+v, want none", tc.wantAbsent, c)
			}
			if got.Phase != tc.wantPhase || got.EffectDisposition != tc.verdict.Effect || got.Duration != "2s" {
				t.Errorf("phase %s, effect %q, duration %s", got.Phase, got.EffectDisposition, got.Duration)
			}
			if diff := cmp.Diff(tc.wantError, got.Error); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if got.Attempts[0].Reason != tc.verdict.Reason || got.Attempts[0].PodUID != "uid" {
				t.Errorf("attempt = %+v", got.Attempts[0])
			}
		})
	}
}

func TestARecordedClockStays(t *testing.T) {
	s, d := state()
	d.Action = call.RecordRunning
	status.ToolCall(s.Call, s, d, nil)
	recorded := s.Call.Status.Deadline.DeepCopy()
	s.Plan.Timeout, d.StartedAt, d.DeadlineAt = time.Hour, noon.Add(time.Minute), noon.Add(time.Hour)
	status.ToolCall(s.Call, s, d, nil)
	if diff := cmp.Diff(recorded, s.Call.Status.Deadline); diff != "" {
		t.Errorf("deadline (-recorded +now):\n%s", diff)
	}
}

func TestPodReleasedIsOnlyOnCallsThatWereEndedByForce(t *testing.T) {
	for _, forced := range []bool{false, true} {
		s, d := state()
		d.Action, d.Verdict = call.Finish, &outcome.Verdict{Reason: v1alpha1.ReasonSucceeded, Forced: forced}
		status.ToolCall(s.Call, s, d, nil)
		if got := status.Forced(s.Call); got != forced {
			t.Errorf("Forced = %t, want %t", got, forced)
		}
		if got := status.AwaitsRelease(s.Call); got != forced {
			t.Errorf("AwaitsRelease = %t, want %t", got, forced)
		}
		status.Released(s.Call, noon)
		if status.AwaitsRelease(s.Call) {
			t.Error("AwaitsRelease after the release")
		}
	}
}
