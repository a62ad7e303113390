package call_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/call"
)

// step is a change of the cluster, a moment, and the decision that must follow.
// The decision is then carried out.
type step struct {
	change func(*world)
	now    float64
	want   next
}

// next is a decision in short; times are seconds since noon, 0 for none.
type next struct {
	Action   call.Action
	Reason   string
	Effect   v1alpha1.EffectDisposition
	Waiting  string
	Backstop int64
	Deadline float64
	EndedAt  float64
	WakeAt   float64
}

func summary(d call.Decision) next {
	n := next{Action: d.Action, Waiting: d.Waiting.Reason, Deadline: since(d.DeadlineAt), EndedAt: since(d.EndedAt), WakeAt: since(d.WakeAt)}
	if d.Verdict != nil {
		n.Reason, n.Effect = d.Verdict.Reason, d.Verdict.Effect
	}
	if d.Backstop != nil {
		n.Backstop = *d.Backstop
	}
	return n
}

func TestLifeOfACall(t *testing.T) {
	const startBy = 300
	for name, tc := range map[string]struct {
		timeout    v1alpha1.Duration
		steps      []step
		wantWrites int
	}{
		"C4 a quick tool": {timeout: "30s", wantWrites: 4, steps: []step{
			{want: next{Action: call.Submit}},
			{want: next{Action: call.Wait, WakeAt: 3}},
			{change: podOn("node"), now: 1, want: next{Action: call.Wait, WakeAt: 3}},
			{change: toolRuns(2), now: 2.4, want: next{Action: call.RecordRunning, Deadline: 32.4, WakeAt: 32.4}},
			{now: 2.4, want: next{Action: call.Tighten, Backstop: 33, Deadline: 32.4, WakeAt: 32.4}},
			{now: 2.5, want: next{Action: call.Wait, Deadline: 32.4, WakeAt: 32.4}},
			{change: toolExits(0, 2, 4), now: 4.7, want: next{Action: call.Finish, Reason: "Succeeded", Deadline: 32.4, EndedAt: 4.7, WakeAt: 32.4}},
			{now: 1000, want: next{Action: call.Wait}},
		}},
		"C4 a tool that ended before it was seen to run": {timeout: "30s", wantWrites: 2, steps: []step{
			{want: next{Action: call.Submit}},
			{change: all(podOn("node"), toolExits(0, 2, 2)), now: 2.4, want: next{Action: call.Finish, Reason: "Succeeded", Deadline: 32.4, EndedAt: 2.4, WakeAt: 32.4}},
			{now: 3, want: next{Action: call.Wait}},
		}},
		"C1 C7 a tool that hangs": {timeout: "500ms", wantWrites: 4, steps: []step{
			{want: next{Action: call.Submit}},
			{change: all(podOn("node"), toolRuns(2)), now: 2.25, want: next{Action: call.RecordRunning, Deadline: 2.75, WakeAt: 2.75}},
			{now: 2.25, want: next{Action: call.Tighten, Backstop: 3, Deadline: 2.75, WakeAt: 2.75}},
			{now: 2.749, want: next{Action: call.Wait, Deadline: 2.75, WakeAt: 2.75}},
			{now: 2.75, want: next{Action: call.Confirm, Deadline: 2.75, WakeAt: 2.75}},
			{now: 2.76, want: next{Action: call.Finish, Reason: "DeadlineExceeded", Effect: "Unknown", Deadline: 2.75, EndedAt: 2.76, WakeAt: 2.75}},
			{change: toolExits(0, 2, 7), now: 8, want: next{Action: call.Wait}},
			{change: podGone, now: 9, want: next{Action: call.Wait}},
		}},
		"C13 a tool that fails at once": {timeout: "30s", wantWrites: 2, steps: []step{
			{want: next{Action: call.Submit}},
			{change: all(podOn("node"), toolExits(3, 2, 2)), now: 2.4, want: next{Action: call.Finish, Reason: "ExitCode", Deadline: 32.4, EndedAt: 2.4, WakeAt: 32.4}},
		}},
		"C11 a tool that ended just before the confirmation of its timeout": {timeout: "30s", wantWrites: 4, steps: []step{
			{want: next{Action: call.Submit}},
			{change: all(podOn("node"), toolRuns(2)), now: 2.4, want: next{Action: call.RecordRunning, Deadline: 32.4, WakeAt: 32.4}},
			{now: 2.4, want: next{Action: call.Tighten, Backstop: 33, Deadline: 32.4, WakeAt: 32.4}},
			{now: 32.4, want: next{Action: call.Confirm, Deadline: 32.4, WakeAt: 32.4}},
			{change: toolExits(0, 2, 32), now: 32.5, want: next{Action: call.Finish, Reason: "Succeeded", Deadline: 32.4, EndedAt: 32.5, WakeAt: 32.4}},
		}},
		"C5 a call without a limit": {timeout: "0s", wantWrites: 3, steps: []step{
			{want: next{Action: call.Submit}},
			{change: all(podOn("node"), toolRuns(2)), now: 2.4, want: next{Action: call.RecordRunning}},
			{now: 2.4, want: next{Action: call.Wait}},
			{now: 1e7, want: next{Action: call.Wait}},
			{change: toolExits(0, 2, 1e7), now: 1e7 + 0.5, want: next{Action: call.Finish, Reason: "Succeeded", EndedAt: 1e7 + 0.5}},
		}},
		"B021 a pod that fits no node": {timeout: "30s", wantWrites: 4, steps: []step{
			{want: next{Action: call.Submit}},
			{change: podOn(""), now: 0.2, want: next{Action: call.Wait, WakeAt: 3}},
			{change: unschedulable("0/1 nodes"), now: 0.5, want: next{Action: call.RecordStarting, Waiting: "Unschedulable", WakeAt: startBy}},
			{now: 0.5, want: next{Action: call.Wait, WakeAt: startBy}},
			{change: unschedulable("0/2 nodes"), now: 9, want: next{Action: call.RecordStarting, Waiting: "Unschedulable", WakeAt: startBy}},
			{now: 299.9, want: next{Action: call.Wait, WakeAt: startBy}},
			{now: 300, want: next{Action: call.Confirm, WakeAt: startBy}},
			{now: 300, want: next{Action: call.Finish, Reason: "StartDeadlineExceeded", Effect: "None", EndedAt: 300, WakeAt: startBy}},
		}},
		"a start that takes its time is shown after 3 s, once": {timeout: "30s", wantWrites: 4, steps: []step{
			{want: next{Action: call.Submit}},
			{change: all(podOn("node"), toolWaits("ContainerCreating")), now: 2.9, want: next{Action: call.Wait, WakeAt: 3}},
			{now: 3, want: next{Action: call.RecordStarting, Waiting: "PodPending", WakeAt: startBy}},
			{now: 3.1, want: next{Action: call.Wait, WakeAt: startBy}},
			{change: toolRuns(60), now: 60.5, want: next{Action: call.RecordRunning, Deadline: 90.5, WakeAt: 90.5}},
			{now: 60.6, want: next{Action: call.Tighten, Backstop: 91, Deadline: 90.5, WakeAt: 90.5}},
			{now: 60.7, want: next{Action: call.Wait, Deadline: 90.5, WakeAt: 90.5}},
		}},
		"B034 a Job that gets no pod": {timeout: "30s", wantWrites: 3, steps: []step{
			{want: next{Action: call.Submit}},
			{now: 3, want: next{Action: call.RecordStarting, Waiting: "PodMissing", WakeAt: startBy}},
			{now: 300, want: next{Action: call.Confirm, WakeAt: startBy}},
			{now: 300, want: next{Action: call.Finish, Reason: "StartDeadlineExceeded", Effect: "None", EndedAt: 300, WakeAt: startBy}},
		}},
		"C97 the operator restarts at half the time": {timeout: "30s", wantWrites: 4, steps: []step{
			{want: next{Action: call.Submit}},
			{change: all(podOn("node"), toolRuns(2)), now: 2.4, want: next{Action: call.RecordRunning, Deadline: 32.4, WakeAt: 32.4}},
			{now: 2.4, want: next{Action: call.Tighten, Backstop: 33, Deadline: 32.4, WakeAt: 32.4}},
			{change: restart, now: 17, want: next{Action: call.Wait, Deadline: 32.4, WakeAt: 32.4}},
			{now: 32.4, want: next{Action: call.Confirm, Deadline: 32.4, WakeAt: 32.4}},
			{now: 32.4, want: next{Action: call.Finish, Reason: "DeadlineExceeded", Effect: "Unknown", Deadline: 32.4, EndedAt: 32.4, WakeAt: 32.4}},
		}},
		"B006 the operator is away from the submission until after the deadline": {timeout: "30s", wantWrites: 2, steps: []step{
			{want: next{Action: call.Submit}},
			{change: all(podOn("node"), toolRuns(2), kubeletKills(331), restart), now: 500, want: next{Action: call.Confirm, Deadline: 33, WakeAt: 33}},
			{now: 500, want: next{Action: call.Finish, Reason: "DeadlineExceeded", Effect: "Unknown", Deadline: 33, EndedAt: 332, WakeAt: 33}},
		}},
		"C11 the operator is away, and the tool ends in time": {timeout: "30s", wantWrites: 2, steps: []step{
			{want: next{Action: call.Submit}},
			{change: all(podOn("node"), toolExits(0, 2, 31), restart), now: 500, want: next{Action: call.Finish, Reason: "Succeeded", Deadline: 33, EndedAt: 32, WakeAt: 33}},
		}},
		"C98 a pod that the cache does not show is looked for": {timeout: "30s", wantWrites: 3, steps: []step{
			{want: next{Action: call.Submit}},
			{change: all(podOn("node"), toolRuns(2)), now: 2.4, want: next{Action: call.RecordRunning, Deadline: 32.4, WakeAt: 32.4}},
			{change: podGone, now: 3, want: next{Action: call.Confirm, Deadline: 32.4, WakeAt: 32.4}},
			{change: all(podOn("node"), toolRuns(2)), now: 3, want: next{Action: call.Tighten, Backstop: 33, Deadline: 32.4, WakeAt: 32.4}},
		}},
		"B096 a pod that is gone": {timeout: "30s", wantWrites: 3, steps: []step{
			{want: next{Action: call.Submit}},
			{change: all(podOn("node"), toolRuns(2)), now: 2.4, want: next{Action: call.RecordRunning, Deadline: 32.4, WakeAt: 32.4}},
			{change: podGone, now: 3, want: next{Action: call.Confirm, Deadline: 32.4, WakeAt: 32.4}},
			{now: 3, want: next{Action: call.Finish, Reason: "PodLost", Effect: "Unknown", Deadline: 32.4, EndedAt: 3, WakeAt: 32.4}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := created(tc.timeout)
			for i, s := range tc.steps {
				if s.change != nil {
					s.change(w)
				}
				w.Now = at(s.now)
				d := call.Decide(w.State)
				if diff := cmp.Diff(s.want, summary(d)); diff != "" {
					t.Fatalf("step %d, at %v s (-want +got):\n%s", i, s.now, diff)
				}
				w.do(d)
			}
			if w.writes != tc.wantWrites {
				t.Errorf("the call cost %d writes, want %d", w.writes, tc.wantWrites)
			}
		})
	}
}
