// Package batch decides which calls of a ToolBatch to admit, and when it is done.
package batch

import (
	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
)

// MaxSpecBytes is the largest spec, as JSON, that leaves room for the status.
const MaxSpecBytes = 900 << 10

// Child is what the operator knows of the ToolCall of one call.
type Child struct {
	// Name of the ToolCall.
	Name string
	// Call is nil if the ToolCall is gone.
	Call *v1alpha1.ToolCall
	// Created: it was created, whether or not it is still there.
	Created bool
	// Refused is the reason why the API will not have it; empty if it did not refuse.
	Refused string
}

// State is everything that the next step of a batch depends on.
type State struct {
	Batch *v1alpha1.ToolBatch
	// SpecBytes is the size of the spec as JSON.
	SpecBytes int
	// Children are index-aligned with spec.calls.
	Children []Child
	// CallNames are the names of the calls within the batch, index-aligned.
	CallNames []string
}

// Decision is the next step of a batch.
type Decision struct {
	// Calls is the state of every call, index-aligned with spec.calls.
	Calls []v1alpha1.BatchCallStatus
	// Counts of Calls.
	Counts v1alpha1.BatchCounts
	// Admitted is the highest index that may have a ToolCall; -1 for none.
	Admitted int
	// Create are the indexes whose ToolCall is to be created, once Admitted is
	// persisted.
	Create []int
	// Finished: every call has its result.
	Finished bool
	// TooLarge: the batch can't be run because its spec leaves no room for its status.
	TooLarge bool
}

// Done tells whether a batch has ended.
func Done(b *v1alpha1.ToolBatch) bool {
	return b.Status.CompletionTime != nil
}

// Decide is the next step of a batch that has not ended.
func Decide(s State) Decision {
	if s.SpecBytes > MaxSpecBytes {
		return Decision{Admitted: admitted(s.Batch), TooLarge: true}
	}
	d := Decision{Calls: make([]v1alpha1.BatchCallStatus, len(s.Children))}
	for i := range s.Children {
		d.Calls[i] = callStatus(s, i)
	}
	d.Admitted = admit(d.Calls, admitted(s.Batch), parallel(&s.Batch.Spec))
	d.Create = toCreate(s, d)
	d.Counts = count(d.Calls, d.Admitted)
	d.Finished = d.Counts.Pending == 0 && d.Counts.Active == 0
	return d
}

// callStatus is the state of one call. A result that was recorded stays: what
// becomes of its ToolCall afterwards changes nothing.
func callStatus(s State, i int) v1alpha1.BatchCallStatus {
	recorded, child := Recorded(s.Batch, i), s.Children[i]
	call := v1alpha1.BatchCallStatus{Name: s.CallNames[i], Phase: v1alpha1.ToolCallPending}
	switch {
	case Terminal(recorded.Phase):
		return recorded
	case child.Refused != "":
		return failed(call, child.Refused, v1alpha1.EffectNone)
	case child.lost():
		call.ToolCall = child.Name
		return failed(call, v1alpha1.ReasonCallDeleted, v1alpha1.EffectUnknown)
	case child.Call == nil:
		return call
	}
	call.ToolCall = child.Name
	if phase := child.Call.Status.Phase; phase != "" {
		call.Phase = phase
	}
	call.EffectDisposition = child.Call.Status.EffectDisposition
	if err := child.Call.Status.Error; err != nil {
		call.ErrorKind, call.Reason = err.Kind, err.Reason
	}
	return call
}

// lost tells whether the ToolCall was deleted, or is being, before its verdict.
func (c Child) lost() bool {
	if c.Call == nil {
		return c.Created
	}
	return !c.Call.DeletionTimestamp.IsZero() && !Terminal(c.Call.Status.Phase)
}

func failed(call v1alpha1.BatchCallStatus, reason string, effect v1alpha1.EffectDisposition) v1alpha1.BatchCallStatus {
	call.Phase, call.ErrorKind, call.Reason, call.EffectDisposition = v1alpha1.ToolCallFailed, v1alpha1.KindError, reason, effect
	return call
}

// Terminal tells whether a phase is an end.
func Terminal(phase v1alpha1.ToolCallPhase) bool {
	switch phase {
	case v1alpha1.ToolCallSucceeded, v1alpha1.ToolCallFailed, v1alpha1.ToolCallTimedOut:
		return true
	default:
		return false
	}
}

// Recorded is the state of a call in the status, zero before it was written.
func Recorded(b *v1alpha1.ToolBatch, i int) v1alpha1.BatchCallStatus {
	if i < len(b.Status.Calls) {
		return b.Status.Calls[i]
	}
	return v1alpha1.BatchCallStatus{}
}

func admitted(b *v1alpha1.ToolBatch) int {
	if b.Status.Admitted == nil {
		return -1
	}
	return int(*b.Status.Admitted)
}

// parallel is how many calls may be open at once.
func parallel(spec *v1alpha1.ToolBatchSpec) int {
	if spec.Mode == v1alpha1.ModeConcurrent {
		return int(max(spec.MaxParallel, 1))
	}
	return 1
}

// admit moves the admitted index on, in order, while there is room.
func admit(calls []v1alpha1.BatchCallStatus, admitted, parallel int) int {
	open := 0
	for i := 0; i <= admitted && i < len(calls); i++ {
		if !Terminal(calls[i].Phase) {
			open++
		}
	}
	for open < parallel && admitted+1 < len(calls) {
		admitted++
		open++
	}
	return admitted
}

// toCreate are the admitted calls that have no ToolCall and never had one.
func toCreate(s State, d Decision) []int {
	var create []int
	for i := 0; i <= d.Admitted && i < len(d.Calls); i++ {
		child := s.Children[i]
		if child.Call == nil && !child.Created && !Terminal(d.Calls[i].Phase) {
			create = append(create, i)
		}
	}
	return create
}

func count(calls []v1alpha1.BatchCallStatus, admitted int) v1alpha1.BatchCounts {
	counts := v1alpha1.BatchCounts{Total: int32(len(calls))}
	for i := range calls {
		switch {
		case calls[i].Phase == v1alpha1.ToolCallSucceeded:
			counts.Succeeded++
		case calls[i].Phase == v1alpha1.ToolCallTimedOut:
			counts.TimedOut++
		case calls[i].Phase == v1alpha1.ToolCallFailed:
			counts.Failed++
		case i <= admitted:
			counts.Active++
		default:
			counts.Pending++
		}
	}
	return counts
}
