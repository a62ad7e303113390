package call_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/call"
	"github.com/toolcall-dev/toolcall-operator/internal/core/outcome"
)

func TestAFinishedCallIsLeftAlone(t *testing.T) {
	for name, change := range map[string]func(*world){
		"C2 B064 a late success":           toolExits(0, 2, 40),
		"B059 another exit code":           toolExits(137, 2, 5),
		"B055 its pod is gone":             podGone,
		"B055 its pod and Job are gone":    func(w *world) { w.Pod, w.Job = nil, nil },
		"B054 a restart":                   all(restart, func(w *world) { w.Submitted = false }),
		"everything is gone and forgotten": func(w *world) { w.Pod, w.Job, w.Submitted = nil, nil, false },
		"its spec looks too large":         func(w *world) { w.SpecBytes = call.MaxSpecBytes + 1 },
		"a refusal":                        func(w *world) { w.Refusal = call.Refused(v1alpha1.ReasonInvalidTemplate, "no") },
	} {
		t.Run(name, func(t *testing.T) {
			w := running("30s")
			w.Now, w.Live = at(32.4), true
			w.do(call.Decide(w.State))
			if !call.Finished(w.Call) {
				t.Fatal("the call has no verdict at its deadline")
			}
			change(w)
			w.Now = at(1000)
			if diff := cmp.Diff(call.Decision{Action: call.Wait}, call.Decide(w.State)); diff != "" {
				t.Errorf("Decide (-want +got):\n%s", diff)
			}
		})
	}
}

func TestACallThatIsBeingDeletedIsLeftAlone(t *testing.T) {
	deleted := func(w *world) *world {
		w.Call.DeletionTimestamp = &metav1.Time{Time: noon}
		return w
	}
	for name, w := range map[string]*world{
		"C60 before it was submitted": created("30s"),
		"while it starts":             submitted("30s"),
		"B082 while it runs":          running("30s"),
	} {
		t.Run(name, func(t *testing.T) {
			w := deleted(w)
			w.Now, w.Live = at(1000), true
			if diff := cmp.Diff(call.Decision{Action: call.Wait}, call.Decide(w.State)); diff != "" {
				t.Errorf("Decide (-want +got):\n%s", diff)
			}
		})
	}
}

func TestACallThatCannotBeSubmittedEndsAtOnce(t *testing.T) {
	tooLarge := created("30s")
	tooLarge.SpecBytes = call.MaxSpecBytes + 1
	refused := created("30s")
	refused.Refusal = call.Refused(v1alpha1.ReasonAdmissionRejected, "exceeded quota:\n pods=1")
	for name, tc := range map[string]struct {
		world      *world
		wantReason string
		wantDetail string
	}{
		"B128 its spec is too large": {world: tooLarge, wantReason: "SpecTooLarge", wantDetail: "spec is 524289 bytes as JSON, at most 524288 are allowed"},
		"B037 the API refused it":    {world: refused, wantReason: "AdmissionRejected", wantDetail: "exceeded quota: pods=1"},
	} {
		t.Run(name, func(t *testing.T) {
			want := call.Decision{Action: call.Finish, EndedAt: noon, Verdict: &outcome.Verdict{
				Kind: v1alpha1.KindError, Reason: tc.wantReason, Effect: v1alpha1.EffectNone, Detail: tc.wantDetail,
			}}
			if diff := cmp.Diff(want, call.Decide(tc.world.State)); diff != "" {
				t.Errorf("Decide (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheLargestSpecIsSubmitted(t *testing.T) {
	w := created("30s")
	w.SpecBytes = call.MaxSpecBytes
	if got := call.Decide(w.State).Action; got != call.Submit {
		t.Errorf("Decide = %s, want Submit", got)
	}
}

// Two operators may overlap for a moment: one is refused the Job that the other
// has created. What is on record of the call then counts for more.
func TestARefusalNeverDeniesAStartThatIsOnRecord(t *testing.T) {
	w := running("30s")
	w.Refusal = call.Refused(v1alpha1.ReasonAdmissionRejected, "exceeded quota")
	if d := call.Decide(w.State); d.Verdict != nil && d.Verdict.Effect == v1alpha1.EffectNone {
		t.Errorf("Decide = %s with verdict %+v, want no effect None for a tool that runs", d.Action, d.Verdict)
	}
}

// A verdict that rests on a clock or on something missing is never taken from a cache.
func TestAForcedVerdictNeedsALiveLook(t *testing.T) {
	disrupted := func(w *world) {
		w.Pod.Disruption = &outcome.Disruption{Reason: v1alpha1.ReasonEvicted, At: at(5)}
	}
	for name, tc := range map[string]struct {
		change     func(*world)
		now        float64
		wantCached call.Action
		wantReason string
	}{
		"the deadline":                 {now: 32.4, wantCached: call.Confirm, wantReason: "DeadlineExceeded"},
		"a pod that is gone":           {change: podGone, now: 5, wantCached: call.Confirm, wantReason: "PodLost"},
		"a Job and pod that are gone":  {change: func(w *world) { w.Pod, w.Job = nil, nil }, now: 5, wantCached: call.Confirm, wantReason: "PodLost"},
		"an eviction":                  {change: disrupted, now: 6, wantCached: call.Confirm, wantReason: "Evicted"},
		"the kubelet's deadline":       {change: kubeletKills(34), now: 35, wantCached: call.Confirm, wantReason: "DeadlineExceeded"},
		"an end beside a live sidecar": {change: all(toolExits(0, 2, 5), func(w *world) { w.Pod.OthersAlive = true }), now: 5, wantCached: call.Confirm, wantReason: "Succeeded"},
		"the tool's own end":           {change: toolExits(0, 2, 5), now: 5, wantCached: call.Finish, wantReason: "Succeeded"},
		"the tool's own failure":       {change: toolExits(1, 2, 5), now: 5, wantCached: call.Finish, wantReason: "ExitCode"},
	} {
		t.Run(name, func(t *testing.T) {
			w := running("30s")
			if tc.change != nil {
				tc.change(w)
			}
			w.Now = at(tc.now)
			cached := call.Decide(w.State)
			if cached.Action != tc.wantCached || !cached.WakeAt.Equal(at(32.4)) {
				t.Errorf("from the cache: %+v, want %s and a wake-up at the deadline", summary(cached), tc.wantCached)
			}
			w.Live = true
			if got := summary(call.Decide(w.State)); got.Action != call.Finish || got.Reason != tc.wantReason {
				t.Errorf("live: %+v, want Finish with %s", got, tc.wantReason)
			}
		})
	}
}

// The deadline is on record: what is resolved anew after a restart, or what
// someone wrote on the Job, does not move it.
func TestARecordedDeadlineDoesNotMove(t *testing.T) {
	for name, change := range map[string]func(*world){
		"C37 a longer timeout":           func(w *world) { w.Plan.Timeout = time.Hour },
		"C37 a shorter timeout":          func(w *world) { w.Plan.Timeout = time.Second },
		"no timeout":                     func(w *world) { w.Plan.Timeout = 0 },
		"a later start of the container": func(w *world) { w.Pod.Tool.StartedAt = at(9) },
	} {
		t.Run(name, func(t *testing.T) {
			w := running("30s")
			change(w)
			w.Now = at(10)
			d := call.Decide(w.State)
			if got := since(d.DeadlineAt); got != 32.4 || d.Action == call.Finish {
				t.Errorf("Decide = %+v, want the deadline at 32.4 s as recorded", summary(d))
			}
		})
	}
}

func TestTheBackstopIsSetWhereThereWasNone(t *testing.T) {
	w := running("30s")
	w.Pod.ActiveDeadlineSeconds = nil
	if got := summary(call.Decide(w.State)); got.Action != call.Tighten || got.Backstop != 33 {
		t.Errorf("Decide = %+v, want Tighten to 33 s", got)
	}
	w.Pod.StartTime = time.Time{}
	if got := call.Decide(w.State).Action; got != call.Wait {
		t.Errorf("Decide = %s while the kubelet has not acknowledged the pod, want Wait", got)
	}
}

func TestRefusedIsOneLine(t *testing.T) {
	verdict := call.Refused(v1alpha1.ReasonInvalidTemplate, "Job is invalid:\n\t* spec\x00"+strings.Repeat("x", 9000))
	if strings.ContainsAny(verdict.Detail, "\n\t\x00") || len(verdict.Detail) > 600 || verdict.Effect != v1alpha1.EffectNone {
		t.Errorf("Refused = %+v, want one short line and effect None", verdict)
	}
}

func TestACallExpiresAfterItsTimeToLive(t *testing.T) {
	for name, tc := range map[string]struct {
		ttl      *int32
		finished bool
		want     time.Time
	}{
		"finished, 60 s":     {ttl: new(int32(60)), finished: true, want: at(92.4)},
		"finished, at once":  {ttl: new(int32(0)), finished: true, want: at(32.4)},
		"finished, no limit": {finished: true},
		"not finished":       {ttl: new(int32(60))},
	} {
		t.Run(name, func(t *testing.T) {
			w := running("30s")
			w.Call.Spec.TTLSecondsAfterFinished = tc.ttl
			if tc.finished {
				w.Now, w.Live = at(32.4), true
				w.do(call.Decide(w.State))
			}
			if got := call.ExpiresAt(w.Call); !got.Equal(tc.want) {
				t.Errorf("ExpiresAt = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestWhatEndedAPodIsKnownAfterItHasGone(t *testing.T) {
	evicted := &outcome.Pod{UID: "uid", Disruption: &outcome.Disruption{Reason: v1alpha1.ReasonEvicted}}
	plain, live := &outcome.Pod{UID: "uid"}, &outcome.Pod{UID: "uid", Node: "node"}
	for name, tc := range map[string]struct{ cached, live, want *outcome.Pod }{
		"C102 evicted, and gone":      {cached: evicted, want: evicted},
		"evicted, and still there":    {cached: evicted, live: live, want: live},
		"gone, nobody said why":       {cached: plain},
		"never seen":                  {},
		"there, and not in the cache": {live: live, want: live},
	} {
		t.Run(name, func(t *testing.T) {
			if got := call.LastSeen(tc.cached, tc.live); got != tc.want {
				t.Errorf("LastSeen = %+v, want %+v", got, tc.want)
			}
		})
	}
}
