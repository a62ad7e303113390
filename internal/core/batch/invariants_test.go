package batch_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/batch"
)

// FuzzBatch lets the calls of a batch end in any way and order, be deleted, and
// the operator die between its writes. No call is ever created twice, never
// more than allowed are open, results stay in place, and the batch ends.
func FuzzBatch(f *testing.F) {
	for seed := range uint64(84) {
		f.Add(seed, uint8(seed%12), uint8(seed%7))
	}
	f.Fuzz(func(t *testing.T, seed uint64, calls, maxParallel uint8) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := 1 + int(calls)%40
		w := sequential(n)
		if maxParallel%2 == 1 {
			w = concurrent(int32(maxParallel), n)
		}
		for range 10 * n {
			w.reconcile(t, r.IntN(8) == 0)
			w.happens(r)
		}
		for range 2 * n {
			w.reconcile(t, false)
			w.endAll()
		}
		if !batch.Done(w.Batch) {
			t.Errorf("the batch does not end: %+v", w.Batch.Status.Counts)
		}
		for i, n := range w.creations {
			if n > 1 {
				t.Errorf("call %d was created %d times", i, n)
			}
		}
	})
}

// reconcile takes one decision. The operator may die before it creates the calls.
func (w *world) reconcile(t *testing.T, dies bool) {
	t.Helper()
	if batch.Done(w.Batch) {
		return
	}
	before := w.Batch.Status.DeepCopy()
	d := batch.Decide(w.State)
	checkDecision(t, w, d)
	w.record(d)
	if !dies {
		w.create(d)
	}
	checkRecord(t, before, &w.Batch.Status)
	w.now = w.now.Add(time.Second)
}

func (w *world) endAll() {
	for i := range w.Children {
		if c := w.Children[i].Call; c != nil && !batch.Terminal(c.Status.Phase) {
			w.set(i, succeeded)
		}
	}
}

// happens is what may become of one call.
func (w *world) happens(r *rand.Rand) {
	i := r.IntN(len(w.Children))
	child := &w.Children[i]
	switch {
	case child.Call == nil:
		if !child.Created && w.Batch.Status.Admitted != nil && int(*w.Batch.Status.Admitted) >= i && r.IntN(20) == 0 {
			child.Refused = v1alpha1.ReasonNameConflict
		}
	case r.IntN(20) == 0:
		w.remove(i)
	case r.IntN(20) == 0:
		w.beingDeleted(i, child.Call.Status.Phase)
	case !batch.Terminal(child.Call.Status.Phase):
		w.set(i, phases(running, running, succeeded, failed, timedOut)[r.IntN(5)])
	}
}

func checkDecision(t *testing.T, w *world, d batch.Decision) {
	t.Helper()
	c := d.Counts
	if sum := c.Pending + c.Active + c.Succeeded + c.Failed + c.TimedOut; sum != c.Total || int(c.Total) != len(w.Children) {
		t.Errorf("counts %+v do not add up to %d", c, len(w.Children))
	}
	limit := int32(1)
	if w.Batch.Spec.Mode == v1alpha1.ModeConcurrent {
		limit = max(w.Batch.Spec.MaxParallel, 1)
	}
	if c.Active > limit {
		t.Errorf("%d calls open, at most %d allowed", c.Active, limit)
	}
	if c.Active < limit && c.Pending > 0 {
		t.Errorf("%d calls wait although only %d of %d are open", c.Pending, c.Active, limit)
	}
	for i, call := range d.Calls {
		if call.Name != w.CallNames[i] {
			t.Errorf("call %d is named %q", i, call.Name)
		}
		if i > d.Admitted && call.Phase != pending {
			t.Errorf("call %d is %s and was never admitted", i, call.Phase)
		}
	}
	for n, i := range d.Create {
		if n > 0 && d.Create[n-1] >= i || i > d.Admitted || w.Children[i].Created {
			t.Errorf("creates %v, admitted %d", d.Create, d.Admitted)
		}
	}
	if d.Finished != (c.Pending == 0 && c.Active == 0) || d.Finished && len(d.Create) > 0 {
		t.Errorf("finished %v with counts %+v, creates %v", d.Finished, c, d.Create)
	}
}

// checkRecord: what was recorded stays.
func checkRecord(t *testing.T, before, after *v1alpha1.ToolBatchStatus) {
	t.Helper()
	if before.Admitted != nil && *after.Admitted < *before.Admitted {
		t.Errorf("admitted went from %d to %d", *before.Admitted, *after.Admitted)
	}
	for i, call := range before.Calls {
		if batch.Terminal(call.Phase) {
			if diff := cmp.Diff(call, after.Calls[i]); diff != "" {
				t.Errorf("the result of call %d changed:\n%s", i, diff)
			}
		}
	}
}
