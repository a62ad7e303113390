package call_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/call"
	"github.com/toolcall-dev/toolcall-operator/internal/core/outcome"
)

const seeds = 400

// FuzzDecide: whatever the cluster looks like, one decision keeps these rules.
func FuzzDecide(f *testing.F) {
	for seed := range uint64(seeds) {
		f.Add(seed, seed*7919)
	}
	f.Fuzz(func(t *testing.T, a, b uint64) {
		s := randomState(rand.New(rand.NewPCG(a, b)))
		d := call.Decide(s)
		if diff := cmp.Diff(d, call.Decide(s)); diff != "" {
			t.Fatalf("decided differently the second time:\n%s", diff)
		}
		checkAction(t, s, d)
		checkWakeUp(t, s, d)
		checkVerdict(t, s, d)
		if t.Failed() {
			t.Logf("decision at %v s: %+v\nphase %q, pod %+v", since(s.Now), summary(d), s.Call.Status.Phase, s.Pod)
		}
	})
}

func checkAction(t *testing.T, s call.State, d call.Decision) {
	t.Helper()
	over := call.Finished(s.Call) || !s.Call.DeletionTimestamp.IsZero()
	switch {
	case over && d.Action != call.Wait:
		t.Errorf("%s for a call that is finished or deleted", d.Action)
	case d.Action == call.Submit && (s.Submitted || s.Job != nil || s.Pod != nil):
		t.Error("Submit for a call that was submitted")
	case d.Action == call.Tighten && (*d.Backstop < 1 || s.Pod.ActiveDeadlineSeconds != nil && *d.Backstop >= *s.Pod.ActiveDeadlineSeconds):
		t.Errorf("Tighten to %d does not lower the backstop", *d.Backstop)
	case (d.Action == call.Finish) != (d.Verdict != nil):
		t.Errorf("%s with verdict %+v", d.Action, d.Verdict)
	case d.Action == call.Finish && d.EndedAt.After(s.Now):
		t.Error("ended in the future")
	}
}

// checkWakeUp: a decision never lets a clock run out unseen.
func checkWakeUp(t *testing.T, s call.State, d call.Decision) {
	t.Helper()
	if call.Finished(s.Call) || !s.Call.DeletionTimestamp.IsZero() || d.Action == call.Submit || !s.Submitted {
		return
	}
	clock := d.DeadlineAt
	if d.StartedAt.IsZero() {
		clock = s.Plan.StartBy()
	}
	if clock.IsZero() {
		return
	}
	if d.WakeAt.IsZero() || d.WakeAt.After(clock) {
		t.Errorf("wakes up at %v s, the clock runs out at %v s", since(d.WakeAt), since(clock))
	}
	if s.Live && !s.Now.Before(clock) && d.Action != call.Finish {
		t.Errorf("%s after the clock has run out", d.Action)
	}
}

func checkVerdict(t *testing.T, s call.State, d call.Decision) {
	t.Helper()
	if s.Pod != nil && happy(s.Pod) && !d.StartedAt.IsZero() && (d.DeadlineAt.IsZero() || s.Now.Before(d.DeadlineAt)) {
		if d.Action == call.Finish || d.Action == call.Confirm {
			t.Errorf("%s before the deadline of a tool that runs", d.Action)
		}
	}
	v := d.Verdict
	if v == nil {
		return
	}
	recorded := s.Call.Status.Deadline != nil && s.Call.Status.Deadline.StartedAt != nil
	switch {
	case v.Forced && !s.Live:
		t.Error("a forced verdict from the cache")
	case v.Effect == v1alpha1.EffectNone && recorded:
		t.Error("effect None for a call that is recorded as started")
	case v.Effect == v1alpha1.EffectNone && s.Pod != nil && s.Pod.Tool.Started():
		t.Error("effect None for a tool that ran")
	case (v.Kind == "") != (v.Reason == v1alpha1.ReasonSucceeded):
		t.Errorf("kind %q with reason %q", v.Kind, v.Reason)
	case v.Kind == "" && s.Pod.Tool.ExitCode != 0:
		t.Error("success with an exit code")
	case v.Kind == v1alpha1.KindTimeout && v.Effect == "":
		t.Error("a timeout that does not say whether there was an effect")
	}
}

// happy tells a pod whose tool runs and that nothing is about to end.
func happy(p *outcome.Pod) bool {
	return p.Tool.State == outcome.Running && !p.Failed && !p.KubeletDeadline && p.Disruption == nil && p.InitFailed == nil
}

// randomState is a call at any point of its life, with any pod that a kubelet
// can write.
func randomState(r *rand.Rand) call.State {
	timeouts := []v1alpha1.Duration{"0s", "1ms", "400ms", "5s", "30s", "10m"}
	w := created(timeouts[r.IntN(len(timeouts))])
	w.Now = at(float64(r.IntN(4)) / 4)
	if r.IntN(8) == 0 {
		if r.IntN(2) == 0 {
			w.SpecBytes = call.MaxSpecBytes + r.IntN(2)
		}
		return w.State
	}
	w.do(call.Decision{Action: call.Submit})
	if r.IntN(2) == 0 {
		podOn("node")(w)
		toolRuns(float64(1 + r.IntN(4)))(w)
		w.Now = w.Now.Add(time.Duration(r.IntN(5000)) * time.Millisecond)
		if d := call.Decide(w.State); d.Action == call.RecordRunning {
			w.do(d)
		}
	}
	randomPod(r, w)
	if r.IntN(12) == 0 {
		w.Call.DeletionTimestamp = &metav1.Time{Time: w.Now}
	}
	if r.IntN(12) == 0 {
		w.Call.Status.CompletionTime = v1alpha1.NewMicroTime(w.Now)
	}
	w.Now = w.Now.Add(time.Duration(r.IntN(60_000*(1+10*r.IntN(2)))) * time.Millisecond)
	w.Live = r.IntN(2) == 0
	return w.State
}

func randomPod(r *rand.Rand, w *world) {
	if r.IntN(8) == 0 {
		w.Pod = nil
		w.Job.Failed = r.IntN(2) == 0
		if r.IntN(2) == 0 {
			w.Job = nil
		}
		return
	}
	podOn([]string{"node", "node", ""}[r.IntN(3)])(w)
	w.Pod.SandboxReady = r.IntN(4) != 0
	w.Pod.Tool = randomTool(r)
	w.Pod.OthersAlive = r.IntN(4) == 0
	w.Pod.Failed = r.IntN(4) == 0
	w.Pod.KubeletDeadline = w.Pod.Failed && r.IntN(2) == 0
	if r.IntN(3) == 0 {
		w.Pod.ActiveDeadlineSeconds = [](*int64){nil, new(int64(1)), new(int64(1e6))}[r.IntN(3)]
	}
	if r.IntN(4) == 0 && !w.Pod.KubeletDeadline {
		w.Pod.Disruption = &outcome.Disruption{Reason: v1alpha1.ReasonEvicted, At: at(float64(r.IntN(60)))}
	}
	if w.Pod.Failed && !w.Pod.Tool.Started() && r.IntN(3) == 0 {
		w.Pod.InitFailed = &outcome.Container{Name: "setup", State: outcome.Terminated, ExitCode: 1}
	}
}

func randomTool(r *rand.Rand) outcome.Container {
	reasons := []string{"", "ContainerCreating", "PodInitializing", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError"}
	tool := outcome.Container{Name: "tool", State: outcome.ContainerState(r.IntN(3))}
	switch tool.State {
	case outcome.Waiting:
		tool.Reason = reasons[r.IntN(len(reasons))]
	case outcome.Running:
		tool.StartedAt = at(float64(r.IntN(60)))
	case outcome.Terminated:
		tool.StartedAt = []time.Time{at(float64(r.IntN(30))), time.Unix(0, 0), {}}[r.IntN(3)]
		tool.FinishedAt = at(float64(30 + r.IntN(60)))
		tool.ExitCode = []int32{0, 1, 137, 143}[r.IntN(4)]
		tool.Reason = []string{"Completed", "Error", "OOMKilled"}[r.IntN(3)]
	}
	return tool
}
