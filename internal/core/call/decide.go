package call

import (
	"fmt"
	"time"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/deadline"
	"github.com/toolcall-dev/toolcall-operator/internal/core/outcome"
)

// MaxSpecBytes is the largest spec, as JSON, that leaves room for its status.
const MaxSpecBytes = 512 << 10

// quietStart is how long an ordinary start goes unreported: most calls run
// within it, and a status write for each would say nothing new.
const quietStart = 3 * time.Second

// State is everything that the next step of a call depends on.
type State struct {
	Call *v1alpha1.ToolCall
	// SpecBytes is the size of the spec as JSON.
	SpecBytes int
	// Plan of the current attempt, from its Job; resolved anew before there is one.
	Plan Plan
	// Submitted: the Job of the attempt was created, whether or not it is still there.
	Submitted bool
	// Refusal is why the API refused the Job for good; nil if it did not.
	Refusal *outcome.Verdict
	// Job and Pod of the attempt; nil if there is none.
	Job *outcome.Job
	Pod *outcome.Pod
	// Live: Job and Pod were read from the API just now, not from the cache.
	Live bool
	Now  time.Time
}

// Action is what to do next.
type Action string

// Actions, each one API write at most.
const (
	// Wait until something changes, or until WakeAt.
	Wait Action = "Wait"
	// Confirm reads Job and pod live and decides again: a verdict that rests on
	// the clock or on something missing is never taken from a cache.
	Confirm Action = "Confirm"
	// Submit creates the attempt's Job.
	Submit Action = "Submit"
	// RecordStarting writes to status what the start waits for.
	RecordStarting Action = "RecordStarting"
	// RecordRunning writes to status that the tool runs, and until when.
	RecordRunning Action = "RecordRunning"
	// Tighten lowers the pod's activeDeadlineSeconds to the deadline.
	Tighten Action = "Tighten"
	// Finish writes the verdict.
	Finish Action = "Finish"
)

// Decision is the next step of a call and what it needs.
type Decision struct {
	Action Action
	// Verdict to write with Finish.
	Verdict *outcome.Verdict
	// Waiting is what RecordStarting reports.
	Waiting outcome.Wait
	// StartedAt and DeadlineAt are the run clock; zero while it does not run, the
	// latter also without a limit.
	StartedAt  time.Time
	DeadlineAt time.Time
	// EndedAt is when the call ended, with Finish.
	EndedAt time.Time
	// Ran is how long the tool ran, with Finish; zero if it never started.
	Ran time.Duration
	// Backstop is the activeDeadlineSeconds to set with Tighten.
	Backstop *int64
	// WakeAt is when to look again if nothing changes; zero for never. It is set
	// with every action, because a deadline must outlive a failed write.
	WakeAt time.Time
}

// Decide is the next step of a call.
func Decide(s State) Decision {
	switch {
	case over(s.Call):
		return Decision{Action: Wait}
	case s.SpecBytes > MaxSpecBytes:
		return finish(s, Decision{}, tooLarge(s.SpecBytes))
	case s.Refusal != nil && !s.Submitted:
		return finish(s, Decision{}, s.Refusal)
	case s.unsubmitted():
		return Decision{Action: Submit}
	}
	d := clocks(s)
	if verdict := outcome.Classify(s.attempt(d)); verdict != nil {
		if verdict.Forced && !s.Live {
			d.Action = Confirm
			return d
		}
		return finish(s, d, verdict)
	}
	return goOn(s, d)
}

// LastSeen is what is known of a pod that was read live after the cache showed
// it. Of one that has gone in between, the cache may have shown what ended it,
// and nobody will ever know more.
func LastSeen(cached, live *outcome.Pod) *outcome.Pod {
	if live == nil && cached != nil && cached.Disruption != nil {
		return cached
	}
	return live
}

// over tells whether nothing is left to decide: the call has its verdict, or is
// being deleted, and its Job and pod with it.
func over(call *v1alpha1.ToolCall) bool {
	return Finished(call) || !call.DeletionTimestamp.IsZero()
}

func (s State) unsubmitted() bool {
	return !s.Submitted && s.Job == nil && s.Pod == nil
}

// Finished tells whether a call has its verdict.
func Finished(call *v1alpha1.ToolCall) bool {
	return call.Status.CompletionTime != nil
}

// clocks sets the run clock and the time to wake up.
func clocks(s State) Decision {
	d := Decision{Action: Wait}
	switch {
	case s.recordedStart():
		return recordedClock(s.Call.Status.Deadline)
	case s.Pod != nil && s.Pod.Tool.Started():
		d.StartedAt = deadline.StartedAt(s.Now, s.Pod.Tool.StartedAt)
	default:
		d.WakeAt = s.Plan.StartBy()
		return d
	}
	d.DeadlineAt = deadline.At(d.StartedAt, s.Plan.Timeout)
	d.WakeAt = d.DeadlineAt
	return d
}

// recordedClock is the run clock of the status: what was recorded does not move.
func recordedClock(clock *v1alpha1.CallDeadline) Decision {
	d := Decision{Action: Wait, StartedAt: clock.StartedAt.Time}
	if clock.DeadlineAt != nil {
		d.DeadlineAt, d.WakeAt = clock.DeadlineAt.Time, clock.DeadlineAt.Time
	}
	return d
}

func (s State) recordedStart() bool {
	return s.Call.Status.Deadline != nil && s.Call.Status.Deadline.StartedAt != nil
}

func (s State) attempt(d Decision) outcome.Attempt {
	return outcome.Attempt{
		Job:        s.Job,
		Pod:        s.Pod,
		PodSeen:    RecordedPod(s.Call) != "",
		Started:    s.recordedStart(),
		DeadlineAt: d.DeadlineAt,
		StartBy:    s.Plan.StartBy(),
		Now:        s.Now,
	}
}

// RecordedPod is the UID of the attempt's pod in the status, empty before one
// was seen.
func RecordedPod(call *v1alpha1.ToolCall) string {
	if n := len(call.Status.Attempts); n > 0 {
		return call.Status.Attempts[n-1].PodUID
	}
	return ""
}

// goOn is the next step of an attempt that has not ended.
func goOn(s State, d Decision) Decision {
	if d.StartedAt.IsZero() {
		return starting(s, d)
	}
	if !s.recordedStart() {
		d.Action = RecordRunning
		return d
	}
	if s.Pod != nil {
		want := deadline.Backstop(s.Pod.StartTime, d.DeadlineAt)
		if deadline.Lowers(s.Pod.ActiveDeadlineSeconds, want) {
			d.Action, d.Backstop = Tighten, want
		}
	}
	return d
}

// starting reports what the start waits for: at once if a person should know,
// else when the start has taken longer than most do.
func starting(s State, d Decision) Decision {
	wait := outcome.WaitsFor(s.Pod)
	if showAt := s.Plan.SubmittedAt.Add(quietStart); !wait.Notable && s.Now.Before(showAt) {
		d.WakeAt = deadline.Earliest(d.WakeAt, showAt)
		return d
	}
	if !recordedWait(s.Call, wait) {
		d.Action, d.Waiting = RecordStarting, wait
	}
	return d
}

func recordedWait(call *v1alpha1.ToolCall, wait outcome.Wait) bool {
	for _, c := range call.Status.Conditions {
		if c.Type == v1alpha1.ConditionStarted {
			return c.Reason == wait.Reason && c.Message == wait.Message
		}
	}
	return false
}

func finish(s State, d Decision, verdict *outcome.Verdict) Decision {
	d.Action, d.Verdict, d.EndedAt = Finish, verdict, s.Now
	if s.Pod != nil && s.Pod.Tool.Ended() {
		d.EndedAt = deadline.EndedAt(s.Now, s.Pod.Tool.FinishedAt)
	}
	d.Ran = ran(s, d)
	return d
}

// ran is how long the tool ran. Of a tool that was over before it was seen to
// run, only an upper bound is known: from its submission.
func ran(s State, d Decision) time.Duration {
	switch {
	case d.StartedAt.IsZero():
		return 0
	case s.recordedStart() || !s.Pod.Tool.Ended():
		return d.EndedAt.Sub(d.StartedAt)
	default:
		return min(d.EndedAt.Sub(s.Plan.SubmittedAt), deadline.AtMost(s.Pod.Tool.StartedAt, s.Pod.Tool.FinishedAt))
	}
}

func tooLarge(size int) *outcome.Verdict {
	return Refused(v1alpha1.ReasonSpecTooLarge, fmt.Sprintf("spec is %d bytes as JSON, at most %d are allowed", size, MaxSpecBytes))
}

// Refused is the verdict of a call that was refused for good before it ran.
func Refused(reason, detail string) *outcome.Verdict {
	return &outcome.Verdict{
		Kind:   v1alpha1.KindError,
		Reason: reason,
		Effect: v1alpha1.EffectNone,
		Detail: outcome.OneLine(detail),
	}
}
