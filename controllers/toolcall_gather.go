package controllers

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/call"
	"github.com/toolcall-dev/toolcall-operator/internal/observe"
	"github.com/toolcall-dev/toolcall-operator/internal/render"
)

// firstAttempt is the number of the only attempt.
const firstAttempt int32 = 1

// gather reads a call with its Job and pod from the cache. It is nil if there
// is nothing to do.
func (r *ToolCallReconciler) gather(ctx context.Context, key types.NamespacedName) (*call.State, error) {
	c := &v1alpha1.ToolCall{}
	if err := r.Client.Get(ctx, key, c); err != nil {
		if err = client.IgnoreNotFound(err); err == nil {
			r.submitted.forget(key)
		}
		return nil, err
	}
	state := &call.State{Call: c, Now: r.Clock.Now()}
	if call.Finished(c) {
		r.submitted.forget(key)
		return nil, nil
	}
	if err := r.observe(ctx, cached(r.Client), state); err != nil {
		return nil, err
	}
	if !state.Submitted { // the spec is measured once: it is immutable
		size, err := jsonSize(c.Spec)
		if err != nil {
			return nil, err
		}
		state.SpecBytes = size
	}
	return state, nil
}

// jsonSize is the length of a spec as JSON.
func jsonSize(spec any) (int, error) {
	data, err := json.Marshal(spec)
	if err != nil {
		return 0, fmt.Errorf("spec: %w", err)
	}
	return len(data), nil
}

// reload reads the call past the cache after a conflict: whoever won may have
// finished it.
func (r *ToolCallReconciler) reload(ctx context.Context, state *call.State) error {
	fresh := &v1alpha1.ToolCall{}
	if err := readAgain(ctx, r.Live, state.Call, fresh); err != nil {
		return err
	}
	state.Call = fresh
	return nil
}

// observe reads the attempt's Job and pod, from the cache or past it.
func (r *ToolCallReconciler) observe(ctx context.Context, from view, state *call.State) error {
	c := state.Call
	job, err := from.job(ctx, c)
	if err != nil {
		return err
	}
	pod, err := from.pod(ctx, c, job)
	if err != nil {
		return err
	}
	name := render.JobName(c, firstAttempt)
	state.Submitted = job != nil || pod != nil || len(c.Status.Attempts) > 0 ||
		r.submitted.has(client.ObjectKeyFromObject(c), c.UID, name)
	state.Plan = planOf(c, job, state.Now)
	state.Job = observe.Job(job)
	state.Pod = observe.Pod(pod, "")
	return nil
}

// planOf is what was resolved when the attempt was submitted. Without its Job,
// or with one whose stamp someone broke, it is resolved again from the spec,
// which is immutable.
func planOf(c *v1alpha1.ToolCall, job *batchv1.Job, now time.Time) call.Plan {
	submittedAt := now
	if job != nil {
		if plan, err := observe.Plan(job); err == nil {
			return plan
		}
		submittedAt = job.CreationTimestamp.Time
	} else if c.Status.StartTime != nil {
		submittedAt = c.Status.StartTime.Time
	}
	return call.NewPlan(&c.Spec, submittedAt)
}
