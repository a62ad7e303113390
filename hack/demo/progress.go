package main

import (
	"strconv"
	"time"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
)

// progress is what is known of a call while the batch runs.
type progress struct {
	name    string
	phase   v1alpha1.ToolCallPhase
	reason  string
	timeout time.Duration // 0 until known, or without a limit
	running time.Time     // when the tool was first seen to run, by this machine's clock
	took    time.Duration // of the tool's run, once the call has ended
}

func newProgress(batch *v1alpha1.ToolBatch) []progress {
	calls := make([]progress, len(batch.Spec.Calls))
	for i, call := range batch.Spec.Calls {
		calls[i] = progress{name: strconv.Itoa(i), phase: v1alpha1.ToolCallPending}
		if call.Name != nil {
			calls[i].name = *call.Name
		}
	}
	return calls
}

func (p *progress) update(call *v1alpha1.ToolCall, now time.Time) {
	p.phase = call.Status.Phase
	if deadline := call.Status.Deadline; deadline != nil {
		p.timeout = parse(deadline.Timeout)
		if deadline.StartedAt != nil && p.running.IsZero() {
			p.running = now
		}
	}
	if call.Status.Error != nil {
		p.reason = call.Status.Error.Reason
	}
	if end := call.Status.CompletionTime; end != nil {
		p.took = ran(call)
	}
}

// ran is how long the tool ran, by the clock of the deadline.
func ran(call *v1alpha1.ToolCall) time.Duration {
	deadline, end := call.Status.Deadline, call.Status.CompletionTime
	if deadline == nil || deadline.StartedAt == nil || end == nil {
		return 0
	}
	return max(0, end.Sub(deadline.StartedAt.Time))
}

func (p *progress) finished() bool {
	switch p.phase {
	case v1alpha1.ToolCallSucceeded, v1alpha1.ToolCallFailed, v1alpha1.ToolCallTimedOut:
		return true
	default:
		return false
	}
}

// elapsed is how long the tool has run.
func (p *progress) elapsed(now time.Time) time.Duration {
	switch {
	case p.finished():
		return p.took
	case p.running.IsZero():
		return 0
	default:
		return now.Sub(p.running)
	}
}

// parse reads a duration that the API server has accepted.
func parse(d v1alpha1.Duration) time.Duration {
	parsed, err := time.ParseDuration(string(d))
	if err != nil {
		return 0
	}
	return parsed
}
