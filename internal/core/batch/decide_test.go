package batch_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/batch"
)

const (
	pending   = v1alpha1.ToolCallPending
	running   = v1alpha1.ToolCallRunning
	succeeded = v1alpha1.ToolCallSucceeded
	failed    = v1alpha1.ToolCallFailed
	timedOut  = v1alpha1.ToolCallTimedOut
)

// step is a change of the calls and the decision that must follow. The decision
// is then carried out.
type step struct {
	change func(*world)
	want   next
}

// next is a decision in short.
type next struct {
	Create   []int
	Phases   []v1alpha1.ToolCallPhase
	Finished bool
}

func phases(all ...v1alpha1.ToolCallPhase) []v1alpha1.ToolCallPhase { return all }

func set(i int, phase v1alpha1.ToolCallPhase) func(*world) {
	return func(w *world) { w.set(i, phase) }
}

func TestLifeOfABatch(t *testing.T) {
	for name, tc := range map[string]struct {
		world *world
		steps []step
	}{
		"C1 C14 sequential: a timeout, then the next": {world: sequential(2), steps: []step{
			{want: next{Create: []int{0}, Phases: phases(pending, pending)}},
			{want: next{Phases: phases(pending, pending)}},
			{change: set(0, running), want: next{Phases: phases(running, pending)}},
			{change: set(0, timedOut), want: next{Create: []int{1}, Phases: phases(timedOut, pending)}},
			{change: set(1, succeeded), want: next{Phases: phases(timedOut, succeeded), Finished: true}},
		}},
		"C6 sequential: two timeouts, then a success": {world: sequential(3), steps: []step{
			{want: next{Create: []int{0}, Phases: phases(pending, pending, pending)}},
			{change: set(0, timedOut), want: next{Create: []int{1}, Phases: phases(timedOut, pending, pending)}},
			{change: set(1, timedOut), want: next{Create: []int{2}, Phases: phases(timedOut, timedOut, pending)}},
			{change: set(2, succeeded), want: next{Phases: phases(timedOut, timedOut, succeeded), Finished: true}},
		}},
		"B133 sequential: a failure does not stop the rest": {world: sequential(2), steps: []step{
			{want: next{Create: []int{0}, Phases: phases(pending, pending)}},
			{change: set(0, failed), want: next{Create: []int{1}, Phases: phases(failed, pending)}},
		}},
		"C62 C64 concurrent: results in the order of the calls": {world: concurrent(5, 3), steps: []step{
			{want: next{Create: []int{0, 1, 2}, Phases: phases(pending, pending, pending)}},
			{change: set(2, succeeded), want: next{Phases: phases(pending, pending, succeeded)}},
			{change: set(1, succeeded), want: next{Phases: phases(pending, succeeded, succeeded)}},
			{change: set(0, timedOut), want: next{Phases: phases(timedOut, succeeded, succeeded), Finished: true}},
		}},
		"B077 concurrent: an end makes room for the next": {world: concurrent(2, 4), steps: []step{
			{want: next{Create: []int{0, 1}, Phases: phases(pending, pending, pending, pending)}},
			{change: set(0, running), want: next{Phases: phases(running, pending, pending, pending)}},
			{change: set(1, succeeded), want: next{Create: []int{2}, Phases: phases(running, succeeded, pending, pending)}},
			{change: func(w *world) { w.set(0, timedOut); w.set(2, failed) }, want: next{Create: []int{3}, Phases: phases(timedOut, succeeded, failed, pending)}},
			{change: set(3, succeeded), want: next{Phases: phases(timedOut, succeeded, failed, succeeded), Finished: true}},
		}},
		"C65 concurrent of one": {world: concurrent(1, 2), steps: []step{
			{want: next{Create: []int{0}, Phases: phases(pending, pending)}},
			{change: set(0, succeeded), want: next{Create: []int{1}, Phases: phases(succeeded, pending)}},
		}},
		"maxParallel without a value is one": {world: concurrent(0, 2), steps: []step{
			{want: next{Create: []int{0}, Phases: phases(pending, pending)}},
		}},
		"B072 a call that was deleted is lost, and never made again": {world: sequential(2), steps: []step{
			{want: next{Create: []int{0}, Phases: phases(pending, pending)}},
			{change: set(0, running), want: next{Phases: phases(running, pending)}},
			{change: func(w *world) { w.remove(0) }, want: next{Create: []int{1}, Phases: phases(failed, pending)}},
			{change: set(0, succeeded), want: next{Phases: phases(failed, pending)}},
		}},
		"a call that is being deleted is lost": {world: sequential(2), steps: []step{
			{want: next{Create: []int{0}, Phases: phases(pending, pending)}},
			{change: func(w *world) { w.beingDeleted(0, running) }, want: next{Create: []int{1}, Phases: phases(failed, pending)}},
		}},
		"a call that is being deleted after its end keeps its result": {world: sequential(2), steps: []step{
			{want: next{Create: []int{0}, Phases: phases(pending, pending)}},
			{change: func(w *world) { w.beingDeleted(0, succeeded) }, want: next{Create: []int{1}, Phases: phases(succeeded, pending)}},
		}},
		"B136 all calls of a running batch are deleted": {world: concurrent(5, 2), steps: []step{
			{want: next{Create: []int{0, 1}, Phases: phases(pending, pending)}},
			{change: func(w *world) { w.remove(0); w.remove(1) }, want: next{Phases: phases(failed, failed), Finished: true}},
		}},
		"a name that another owner has fails that call only": {world: sequential(2), steps: []step{
			{change: func(w *world) { w.refuse(0) }, want: next{Create: []int{}, Phases: phases(failed, pending)}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for i, s := range tc.steps {
				if s.change != nil {
					s.change(tc.world)
				}
				d := batch.Decide(tc.world.State)
				got := next{Create: d.Create, Finished: d.Finished}
				for _, c := range d.Calls {
					got.Phases = append(got.Phases, c.Phase)
				}
				if diff := cmp.Diff(s.want, got, cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("step %d (-want +got):\n%s", i, diff)
				}
				tc.world.do(d)
			}
		})
	}
}

func TestCallsSayHowTheyEnded(t *testing.T) {
	w := concurrent(9, 6)
	w.do(batch.Decide(w.State))
	w.set(0, succeeded)
	w.set(1, failed)
	w.set(2, timedOut)
	w.set(3, running)
	w.remove(4)
	w.Children[5] = batch.Child{Name: "turn-5", Refused: v1alpha1.ReasonNameConflict}
	want := []v1alpha1.BatchCallStatus{
		{Name: "0", ToolCall: "turn-0", Phase: succeeded},
		{Name: "1", ToolCall: "turn-1", Phase: failed, ErrorKind: "Error", Reason: "ExitCode"},
		{Name: "2", ToolCall: "turn-2", Phase: timedOut, ErrorKind: "Timeout", Reason: "DeadlineExceeded", EffectDisposition: "Unknown"},
		{Name: "3", ToolCall: "turn-3", Phase: running},
		{Name: "4", ToolCall: "turn-4", Phase: failed, ErrorKind: "Error", Reason: "CallDeleted", EffectDisposition: "Unknown"},
		{Name: "5", Phase: failed, ErrorKind: "Error", Reason: "NameConflict", EffectDisposition: "None"},
	}
	d := batch.Decide(w.State)
	if diff := cmp.Diff(want, d.Calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(v1alpha1.BatchCounts{Total: 6, Active: 1, Succeeded: 1, Failed: 3, TimedOut: 1}, d.Counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}

// The schema knows no empty phase: one such call must not cost the batch its status.
func TestAToolCallWithoutAPhaseYetIsPending(t *testing.T) {
	w := sequential(1)
	w.do(batch.Decide(w.State))
	w.set(0, "")
	if got := batch.Decide(w.State).Calls[0].Phase; got != pending {
		t.Errorf("phase = %q, want Pending", got)
	}
}

// What was recorded of a call's end stands, whatever becomes of its ToolCall.
func TestARecordedResultStays(t *testing.T) {
	for name, change := range map[string]func(*world){
		"B058 another result":        func(w *world) { w.set(0, succeeded) },
		"it runs again":              func(w *world) { w.set(0, running) },
		"its ToolCall expired":       func(w *world) { w.remove(0) },
		"nobody knows of it":         func(w *world) { w.Children[0] = batch.Child{Name: "turn-0"} },
		"another owner has its name": func(w *world) { w.Children[0] = batch.Child{Name: "turn-0", Refused: v1alpha1.ReasonNameConflict} },
	} {
		t.Run(name, func(t *testing.T) {
			w := sequential(3)
			w.do(batch.Decide(w.State))
			w.set(0, timedOut)
			w.do(batch.Decide(w.State))
			recorded := w.Batch.Status.Calls[0]
			change(w)
			d := batch.Decide(w.State)
			if diff := cmp.Diff(recorded, d.Calls[0]); diff != "" {
				t.Errorf("call 0 (-recorded +got):\n%s", diff)
			}
			if len(d.Create) != 0 || d.Counts.TimedOut != 1 {
				t.Errorf("creates %v with counts %+v, want nothing new", d.Create, d.Counts)
			}
		})
	}
}

// The operator may die after it recorded how far the batch has come, and before
// it created the calls.
func TestWhatWasAdmittedAndNotCreatedIsCreatedAfterARestart(t *testing.T) {
	w := concurrent(2, 4)
	w.record(batch.Decide(w.State))
	d := batch.Decide(w.State)
	if diff := cmp.Diff([]int{0, 1}, d.Create); diff != "" || d.Admitted != 1 {
		t.Errorf("admits up to %d, creates (-want +got):\n%s", d.Admitted, diff)
	}
}

func TestABatchWhoseSpecIsTooLargeRunsNothing(t *testing.T) {
	w := concurrent(5, 3)
	w.SpecBytes = batch.MaxSpecBytes
	if d := batch.Decide(w.State); d.TooLarge || len(d.Create) != 3 {
		t.Errorf("at the limit: %+v, want three calls", d)
	}
	w.SpecBytes++
	want := batch.Decision{TooLarge: true, Admitted: -1}
	if diff := cmp.Diff(want, batch.Decide(w.State)); diff != "" {
		t.Errorf("B128 beyond it (-want +got):\n%s", diff)
	}
}

func TestDoneIsACompletionTime(t *testing.T) {
	w := sequential(1)
	w.do(batch.Decide(w.State))
	if batch.Done(w.Batch) {
		t.Error("done before its call has ended")
	}
	w.set(0, succeeded)
	w.do(batch.Decide(w.State))
	if !batch.Done(w.Batch) {
		t.Error("not done although its call has ended")
	}
}
