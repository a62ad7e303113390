package call_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/toolcall-dev/toolcall-operator/internal/core/call"
	"github.com/toolcall-dev/toolcall-operator/internal/core/outcome"
)

// FuzzLife lets random things happen to a call until it ends: the pod goes
// through its life, or is disrupted; time passes; the operator restarts, or
// sees an old cache. However it goes, there is one Job and one verdict, the
// recorded deadline never moves, and the verdict is not late.
func FuzzLife(f *testing.F) {
	for seed := range uint64(seeds) {
		f.Add(seed, seed*104729)
	}
	f.Fuzz(func(t *testing.T, a, b uint64) {
		r := rand.New(rand.NewPCG(a, b))
		m := &model{world: created("5s")}
		for range 60 {
			m.happens(r)
			m.reconcile(t, r.IntN(3) == 0)
		}
		m.Now = m.Now.Add(time.Hour)
		m.reconcile(t, false)
		if !call.Finished(m.Call) {
			t.Error("the call has no verdict an hour after its last chance")
		}
	})
}

// model is a world and what its cache last showed.
type model struct {
	*world
	cachedJob *outcome.Job
	cachedPod *outcome.Pod
	submits   int
	finishes  int
	deadline  time.Time
}

// happens is one thing that may happen next.
func (m *model) happens(r *rand.Rand) {
	m.Now = m.Now.Add(time.Duration(r.IntN(1500)) * time.Millisecond)
	second := m.Now.Truncate(time.Second)
	switch {
	case m.Job == nil || r.IntN(3) != 0:
	case m.Pod == nil:
		if m.submits == 1 && m.podUID() == "" {
			podOn("node")(m.world)
			m.Pod.StartTime = second
		}
	case m.Pod.Tool.State == outcome.Waiting:
		m.changeTool(func(c *outcome.Container) { c.State, c.StartedAt = outcome.Running, second })
	case m.Pod.Tool.State == outcome.Running && r.IntN(3) == 0:
		code := []int32{0, 1, 137}[r.IntN(3)]
		m.changeTool(func(c *outcome.Container) { c.State, c.FinishedAt, c.ExitCode = outcome.Terminated, second, code })
	case r.IntN(6) == 0:
		m.Pod = nil
	}
}

func (m *model) podUID() string {
	if n := len(m.Call.Status.Attempts); n > 0 {
		return m.Call.Status.Attempts[n-1].PodUID
	}
	return ""
}

// changeTool leaves what the cache holds as it was.
func (m *model) changeTool(change func(*outcome.Container)) {
	pod := *m.Pod
	change(&pod.Tool)
	m.Pod = &pod
}

// reconcile decides and acts until there is nothing more to do. With an old
// cache it starts from what that showed last.
func (m *model) reconcile(t *testing.T, old bool) {
	t.Helper()
	job, pod := m.Job, m.Pod
	seen := m.State
	seen.Live = false
	if old {
		seen.Job, seen.Pod = m.cachedJob, m.cachedPod
	} else {
		m.cachedJob, m.cachedPod = job, pod
	}
	for range 10 {
		d := call.Decide(seen)
		m.check(t, seen, d)
		if d.Action == call.Wait {
			return
		}
		acting := &world{State: seen}
		if d.Action == call.Tighten {
			change := *seen.Pod
			acting.Pod = &change
		}
		acting.do(d)
		seen = acting.State
		switch d.Action {
		case call.Confirm:
			seen.Job, seen.Pod = job, pod
		case call.Submit:
			job = seen.Job
		case call.Tighten:
			pod = seen.Pod
		}
		m.Call, m.Plan, m.Submitted, m.Job, m.Pod = seen.Call, seen.Plan, seen.Submitted, job, pod
	}
	t.Error("the call does not come to rest")
}

func (m *model) check(t *testing.T, s call.State, d call.Decision) {
	t.Helper()
	switch d.Action {
	case call.Submit:
		m.submits++
	case call.Finish:
		m.finishes++
	case call.Wait:
		if !m.deadline.IsZero() && !call.Finished(s.Call) && !s.Now.Before(m.deadline) {
			t.Errorf("waits at %v s, past the deadline at %v s", since(s.Now), since(m.deadline))
		}
	}
	if m.submits > 1 || m.finishes > 1 {
		t.Errorf("%d Jobs and %d verdicts", m.submits, m.finishes)
	}
	if m.deadline.IsZero() && d.Action == call.RecordRunning {
		m.deadline = d.DeadlineAt.Truncate(time.Microsecond)
	} else if !m.deadline.IsZero() && !d.DeadlineAt.IsZero() && !d.DeadlineAt.Equal(m.deadline) {
		t.Errorf("the deadline moved from %v s to %v s", since(m.deadline), since(d.DeadlineAt))
	}
}
