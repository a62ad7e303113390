package outcome_test

import (
	"time"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/outcome"
)

// noon is when the pod is acknowledged; the tool runs from noon + 10 s to the
// deadline at noon + 40 s.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time {
	return noon.Add(time.Duration(seconds * float64(time.Second)))
}

// attempt is one whose tool runs, at a moment before any clock has run out.
func attempt(change ...func(*outcome.Attempt)) outcome.Attempt {
	a := outcome.Attempt{
		Job:        &outcome.Job{Name: "job", UID: "job-uid"},
		Pod:        &outcome.Pod{Name: "pod", UID: "pod-uid", Node: "node", StartTime: noon, SandboxReady: true, ActiveDeadlineSeconds: new(int64(41))},
		PodSeen:    true,
		Started:    true,
		DeadlineAt: at(40),
		StartBy:    at(300),
		Now:        at(20),
	}
	a.Pod.Tool = outcome.Container{Name: "tool", State: outcome.Running, StartedAt: at(10)}
	for _, c := range change {
		c(&a)
	}
	return a
}

// starting is an attempt whose tool container was never seen to run.
func starting(change ...func(*outcome.Attempt)) outcome.Attempt {
	return attempt(append([]func(*outcome.Attempt){func(a *outcome.Attempt) {
		a.Started, a.PodSeen, a.DeadlineAt = false, false, time.Time{}
		a.Pod.Tool = outcome.Container{Name: "tool", Reason: "ContainerCreating"}
	}}, change...)...)
}

func now(t time.Time) func(*outcome.Attempt) {
	return func(a *outcome.Attempt) { a.Now = t }
}

func exited(code int32, finished time.Time) func(*outcome.Attempt) {
	return func(a *outcome.Attempt) {
		reason := "Error"
		if code == 0 {
			reason = "Completed"
		}
		a.Pod.Tool.State, a.Pod.Tool.Reason = outcome.Terminated, reason
		a.Pod.Tool.StartedAt, a.Pod.Tool.FinishedAt, a.Pod.Tool.ExitCode = at(10), finished, code
		a.Pod.Failed = code != 0
	}
}

func waiting(reason, message string) func(*outcome.Attempt) {
	return func(a *outcome.Attempt) {
		a.Pod.Tool = outcome.Container{Name: "tool", Reason: reason, Message: message}
	}
}

// neverBegan is how the kubelet reports a container that failed to start.
func neverBegan(a *outcome.Attempt) {
	a.Pod.Tool = outcome.Container{Name: "tool", State: outcome.Terminated, Reason: "StartError", Message: "no such file",
		StartedAt: time.Unix(0, 0), FinishedAt: at(12), ExitCode: 128}
}

// untold is how the kubelet reports a container that it lost.
func untold(a *outcome.Attempt) {
	a.Pod.Tool = outcome.Container{Name: "tool", State: outcome.Terminated, Reason: "ContainerStatusUnknown", ExitCode: 137}
}

func kubeletDeadline(a *outcome.Attempt) {
	a.Pod.Failed, a.Pod.KubeletDeadline = true, true
	a.Pod.Reason, a.Pod.Message = "DeadlineExceeded", "Pod was active on the node longer than the specified deadline"
}

func disrupted(reason string, when time.Time) func(*outcome.Attempt) {
	return func(a *outcome.Attempt) {
		a.Pod.Disruption = &outcome.Disruption{Reason: reason, Message: "someone did it", At: when}
	}
}

func podFailed(reason, message string) func(*outcome.Attempt) {
	return func(a *outcome.Attempt) { a.Pod.Failed, a.Pod.Reason, a.Pod.Message = true, reason, message }
}

func noPod(a *outcome.Attempt) { a.Pod = nil }

func noJob(a *outcome.Attempt) { a.Job = nil }

func othersAlive(a *outcome.Attempt) { a.Pod.OthersAlive = true }

// verdicts that many cases want.
var (
	succeeded = &outcome.Verdict{Reason: v1alpha1.ReasonSucceeded}
	exitCode  = &outcome.Verdict{Kind: v1alpha1.KindError, Reason: v1alpha1.ReasonExitCode}
	timedOut  = &outcome.Verdict{Kind: v1alpha1.KindTimeout, Reason: v1alpha1.ReasonDeadlineExceeded, Effect: v1alpha1.EffectUnknown, Forced: true}
)

func lost(reason, detail string, effect v1alpha1.EffectDisposition) *outcome.Verdict {
	return &outcome.Verdict{Kind: v1alpha1.KindError, Reason: reason, Effect: effect, Detail: detail, Forced: true}
}

func notStarted(detail string, effect v1alpha1.EffectDisposition) *outcome.Verdict {
	return &outcome.Verdict{Kind: v1alpha1.KindTimeout, Reason: v1alpha1.ReasonStartDeadlineExceeded, Effect: effect, Detail: detail, Forced: true}
}
