package batch_test

import (
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/batch"
	"github.com/toolcall-dev/toolcall-operator/internal/status"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world is a batch and what the cluster has of it.
type world struct {
	batch.State
	// creations counts, for each index, how often its ToolCall was created.
	creations []int
	now       time.Time
}

func newBatch(mode v1alpha1.BatchMode, maxParallel int32, calls int) *world {
	b := &v1alpha1.ToolBatch{ObjectMeta: metav1.ObjectMeta{Name: "turn", UID: "batch-uid"}}
	b.Spec.Mode, b.Spec.MaxParallel = mode, maxParallel
	b.Spec.Calls = make([]v1alpha1.BatchCall, calls)
	w := &world{State: batch.State{Batch: b}, creations: make([]int, calls), now: noon}
	for i := range calls {
		w.CallNames = append(w.CallNames, strconv.Itoa(i))
		w.Children = append(w.Children, batch.Child{Name: fmt.Sprintf("turn-%d", i)})
	}
	return w
}

func sequential(calls int) *world { return newBatch(v1alpha1.ModeSequential, 5, calls) }

func concurrent(maxParallel int32, calls int) *world {
	return newBatch(v1alpha1.ModeConcurrent, maxParallel, calls)
}

// do writes the status, then creates what is to be created, as the controller does.
func (w *world) do(d batch.Decision) {
	w.record(d)
	w.create(d)
}

func (w *world) create(d batch.Decision) {
	for _, i := range d.Create {
		w.creations[i]++
		w.set(i, v1alpha1.ToolCallPending)
	}
}

func (w *world) record(d batch.Decision) {
	w.Batch = w.Batch.DeepCopy()
	status.ToolBatch(w.Batch, w.State, d, w.now)
}

// set gives a call's ToolCall a phase.
func (w *world) set(i int, phase v1alpha1.ToolCallPhase) *v1alpha1.ToolCall {
	c := &v1alpha1.ToolCall{ObjectMeta: metav1.ObjectMeta{Name: w.Children[i].Name}}
	c.Status.Phase = phase
	switch phase {
	case v1alpha1.ToolCallFailed:
		c.Status.Error = &v1alpha1.CallError{Kind: v1alpha1.KindError, Reason: v1alpha1.ReasonExitCode}
	case v1alpha1.ToolCallTimedOut:
		c.Status.Error = &v1alpha1.CallError{Kind: v1alpha1.KindTimeout, Reason: v1alpha1.ReasonDeadlineExceeded}
		c.Status.EffectDisposition = v1alpha1.EffectUnknown
	}
	w.Children[i].Call, w.Children[i].Created = c, true
	return c
}

// remove makes a call's ToolCall vanish.
func (w *world) remove(i int) { w.Children[i].Call = nil }

func (w *world) refuse(i int) { w.Children[i].Refused = v1alpha1.ReasonNameConflict }

// beingDeleted makes a call's ToolCall wait for its finalizers.
func (w *world) beingDeleted(i int, phase v1alpha1.ToolCallPhase) {
	w.set(i, phase).DeletionTimestamp = &metav1.Time{Time: noon}
}
