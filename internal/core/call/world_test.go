package call_test

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	corev1 "k8s.io/api/core/v1"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/call"
	"github.com/toolcall-dev/toolcall-operator/internal/core/outcome"
	"github.com/toolcall-dev/toolcall-operator/internal/status"
)

// noon is when the call is created. Seconds in the tests count from here.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time {
	return noon.Add(time.Duration(seconds * float64(time.Second)))
}

func since(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return t.Sub(noon).Seconds()
}

// world is a call and what the cluster has of it.
type world struct {
	call.State
	writes int
}

// created is a call that nothing was done for yet.
func created(timeout v1alpha1.Duration) *world {
	c := &v1alpha1.ToolCall{ObjectMeta: metav1.ObjectMeta{Name: "find", UID: "call-uid", Generation: 1}}
	c.Spec.Timeout = &timeout
	c.Spec.Template.Spec.Containers = []corev1.Container{{Name: "tool"}}
	return &world{State: call.State{Call: c, SpecBytes: 1000, Now: noon}}
}

// submitted is a call whose Job exists since noon.
func submitted(timeout v1alpha1.Duration) *world {
	w := created(timeout)
	w.do(call.Decision{Action: call.Submit})
	return w
}

// running is a call whose start is on record: the tool runs since 2.4 s.
func running(timeout v1alpha1.Duration) *world {
	w := submitted(timeout)
	podOn("node")(w)
	toolRuns(2)(w)
	w.Now = at(2.4)
	w.do(call.Decide(w.State))
	return w
}

// do carries out a decision as the controller does.
func (w *world) do(d call.Decision) {
	switch d.Action {
	case call.Wait:
	case call.Confirm:
		w.Live = true
	case call.Submit:
		w.writes++
		w.Plan = call.NewPlan(&w.Call.Spec, w.Now)
		w.Submitted, w.Job = true, &outcome.Job{Name: "find-1", UID: "job-uid"}
	case call.Tighten:
		w.writes++
		w.Pod.ActiveDeadlineSeconds = d.Backstop
	default:
		w.writes++
		w.Call = w.Call.DeepCopy()
		status.ToolCall(w.Call, w.State, d, nil)
	}
}

// restart makes the operator forget everything but what is on record.
func restart(w *world) {
	w.Live = false
}

func podOn(node string) func(*world) {
	return func(w *world) {
		w.Pod = &outcome.Pod{Name: "find-1-x", UID: "pod-uid", Node: node, SandboxReady: node != "", ActiveDeadlineSeconds: new(int64(330))}
		if node != "" {
			w.Pod.StartTime = at(1)
		}
	}
}

func unschedulable(message string) func(*world) {
	return func(w *world) { w.Pod.Unschedulable = message }
}

func toolRuns(since float64) func(*world) {
	return func(w *world) {
		w.Pod.Tool = outcome.Container{Name: "tool", State: outcome.Running, StartedAt: at(since)}
	}
}

func toolExits(code int32, started, finished float64) func(*world) {
	return func(w *world) {
		w.Pod.Tool = outcome.Container{Name: "tool", State: outcome.Terminated, StartedAt: at(started), FinishedAt: at(finished), ExitCode: code}
		w.Pod.Failed = code != 0
	}
}

func toolWaits(reason string) func(*world) {
	return func(w *world) { w.Pod.Tool = outcome.Container{Name: "tool", Reason: reason} }
}

func kubeletKills(finished float64) func(*world) {
	return func(w *world) {
		toolExits(137, since(w.Pod.Tool.StartedAt), finished)(w)
		w.Pod.KubeletDeadline = true
	}
}

func podGone(w *world) { w.Pod = nil }

func all(changes ...func(*world)) func(*world) {
	return func(w *world) {
		for _, change := range changes {
			change(w)
		}
	}
}
