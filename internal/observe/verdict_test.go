package observe_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/outcome"
	"github.com/toolcall-dev/toolcall-operator/internal/observe"
)

// verdictCase is what a pod must lead to.
type verdictCase struct {
	// unseen: nobody saw the tool run before.
	unseen bool
	// now is 20 s after noon if it is not given.
	now  int
	want *outcome.Verdict
}

func failed(reason, detail string, effect v1alpha1.EffectDisposition) *outcome.Verdict {
	return &outcome.Verdict{Kind: v1alpha1.KindError, Reason: reason, Effect: effect, Detail: detail, Forced: true}
}

// verdicts are those that the pods of testdata lead to, whose deadline is 32 s
// after noon.
//
// A kubelet that ends a pod writes the time of the DisruptionTarget condition
// only once the containers have ended, so that it is never before their end.
func verdicts() map[string]verdictCase {
	const none, unknown = v1alpha1.EffectNone, v1alpha1.EffectUnknown
	const pressure = "The node was low on resource: memory."
	exitCode := &outcome.Verdict{Kind: v1alpha1.KindError, Reason: v1alpha1.ReasonExitCode}
	succeeded := &outcome.Verdict{Reason: v1alpha1.ReasonSucceeded}
	return map[string]verdictCase{
		"new":                 {unseen: true},
		"unschedulable":       {unseen: true},
		"scheduling-gated":    {unseen: true},
		"creating":            {unseen: true},
		"image-pull-backoff":  {unseen: true},
		"init-running":        {unseen: true},
		"init-done":           {},
		"sidecar-not-started": {unseen: true},
		"sidecar-running":     {},
		"running":             {},
		"no-longer-disrupted": {},

		"succeeded":                     {want: succeeded},
		"exit-code":                     {want: exitCode},
		"out-of-memory":                 {want: &outcome.Verdict{Kind: v1alpha1.KindError, Reason: v1alpha1.ReasonOOMKilled, Effect: unknown}},
		"helper-outlives-the-tool":      {want: &outcome.Verdict{Reason: v1alpha1.ReasonSucceeded, Forced: true}},
		"helper-outlives-a-killed-tool": {want: failed(v1alpha1.ReasonOOMKilled, "", unknown)},
		"sidecar-failed-after-the-tool": {want: succeeded},

		"start-error":        {unseen: true, want: failed(v1alpha1.ReasonStartFailed, `failed to create containerd task: exec: "nope": executable file not found in $PATH`, none)},
		"invalid-image-name": {unseen: true, want: failed(v1alpha1.ReasonStartFailed, `InvalidImageName: Failed to apply default image tag "UPPER CASE::": couldn't parse image name`, none)},
		"init-failed":        {unseen: true, want: failed(v1alpha1.ReasonInitFailed, "container setup ended with exit code 7: no route", none)},
		"rejected-by-node":   {unseen: true, want: failed(v1alpha1.ReasonStartFailed, "OutOfcpu: Pod was rejected: Node didn't have enough resource: cpu, requested: 1000, used: 1900, capacity: 2000", none)},

		"deadline-exceeded": {now: 60, want: &outcome.Verdict{Kind: v1alpha1.KindTimeout, Reason: v1alpha1.ReasonDeadlineExceeded, Effect: unknown, Forced: true}},

		"evicted-by-kubelet":        {want: failed(v1alpha1.ReasonEvicted, "Pod ephemeral local storage usage exceeds the total limit of containers 8Mi.", unknown)},
		"evicted-softly-by-kubelet": {want: failed(v1alpha1.ReasonEvicted, pressure, unknown)},
		"evicted-without-condition": {want: failed(v1alpha1.ReasonEvicted, pressure, unknown)},
		"evicted-lost-container":    {want: failed(v1alpha1.ReasonEvicted, pressure, unknown)},
		"evicted-by-api":            {want: failed(v1alpha1.ReasonEvicted, "Eviction API: evicting", unknown)},
		"evicted-by-api-ended":      {want: failed(v1alpha1.ReasonEvicted, "Eviction API: evicting", unknown)},

		"preempted-by-kubelet":   {want: failed(v1alpha1.ReasonPreempted, "Preempted in order to admit critical pod", unknown)},
		"preempted-by-scheduler": {want: failed(v1alpha1.ReasonPreempted, "default-scheduler: preempting to accommodate a higher priority pod", unknown)},

		"node-shutdown": {want: failed(v1alpha1.ReasonEvicted, "Pod was terminated in response to imminent node shutdown.", unknown)},
		"orphaned":      {want: failed(v1alpha1.ReasonPodLost, "PodGC: node no longer exists", unknown)},
		"tainted":       {want: failed(v1alpha1.ReasonPodLost, "Taint manager: deleting due to NoExecute taint", unknown)},

		"deleted":                {want: failed(v1alpha1.ReasonPodLost, "its pod was deleted", unknown)},
		"deleted-ended":          {want: failed(v1alpha1.ReasonPodLost, "its pod was deleted", unknown)},
		"deleted-lost-container": {want: failed(v1alpha1.ReasonPodLost, "its pod was deleted", unknown)},
		"deleted-after-its-end":  {want: succeeded},
		"deleted-unscheduled":    {unseen: true, want: failed(v1alpha1.ReasonPodLost, "its pod was deleted", none)},
	}
}

// C102, B060, B063, B102, B103: each end of a pod has its own reason, and none
// from outside is taken for the tool's.
func TestPodsAsKubeletsWriteThemLeadToTheirVerdict(t *testing.T) {
	for name, tc := range verdicts() {
		t.Run(name, func(t *testing.T) {
			attempt := outcome.Attempt{Job: &outcome.Job{}, Pod: observe.Pod(podOf(t, name), ""), StartBy: at(300), Now: at(20)}
			if tc.now != 0 {
				attempt.Now = at(tc.now)
			}
			if !tc.unseen {
				attempt.PodSeen, attempt.Started, attempt.DeadlineAt = true, true, at(32)
			}
			if diff := cmp.Diff(tc.want, outcome.Classify(attempt)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
}

// The operator may have been away: then nothing is on record of a tool that ran.
func TestVerdictsOfEndedToolsDoNotNeedTheirStartOnRecord(t *testing.T) {
	for name, tc := range verdicts() {
		pod := observe.Pod(podOf(t, name), "")
		if tc.unseen || tc.want == nil || !pod.Tool.Started() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			attempt := outcome.Attempt{Job: &outcome.Job{}, Pod: pod, DeadlineAt: at(33), StartBy: at(300), Now: at(3600)}
			if attempt.Pod.Tool.State == outcome.Running {
				attempt.Now = at(20)
			}
			if diff := cmp.Diff(tc.want, outcome.Classify(attempt)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
}
