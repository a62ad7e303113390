package controllers

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/call"
	"github.com/toolcall-dev/toolcall-operator/internal/core/output"
	"github.com/toolcall-dev/toolcall-operator/internal/observe"
	"github.com/toolcall-dev/toolcall-operator/internal/render"
	"github.com/toolcall-dev/toolcall-operator/internal/status"
)

// act carries out one step and brings the state up to date with it.
func (r *ToolCallReconciler) act(ctx context.Context, state *call.State, d call.Decision) error {
	switch d.Action {
	case call.Confirm:
		return r.confirm(ctx, state)
	case call.Submit:
		return r.submit(ctx, state)
	case call.Tighten:
		return r.tighten(ctx, state, d)
	case call.Finish:
		return r.finish(ctx, state, d)
	default:
		return r.write(ctx, state, d, nil)
	}
}

// confirm reads Job and pod past the cache.
func (r *ToolCallReconciler) confirm(ctx context.Context, state *call.State) error {
	cached := state.Pod
	if err := r.observe(ctx, live(r.Live), state); err != nil {
		return err
	}
	state.Pod, state.Live = call.LastSeen(cached, state.Pod), true
	return nil
}

// submit creates the attempt's Job. Its name is the same at every try, so a Job
// that an earlier try created is found and taken up.
func (r *ToolCallReconciler) submit(ctx context.Context, state *call.State) error {
	c := state.Call
	plan := call.NewPlan(&c.Spec, state.Now)
	job, err := render.Job(c, firstAttempt, plan)
	if err != nil {
		return err
	}
	err = r.Client.Create(ctx, job)
	if apierrors.IsAlreadyExists(err) {
		return r.takeUp(ctx, state, job)
	}
	if reason := refusal(err); reason != "" {
		state.Refusal = call.Refused(reason, err.Error())
		return nil
	}
	if err != nil {
		return orGone(err) // a Job has nothing else to miss than its namespace
	}
	r.submitted.add(client.ObjectKeyFromObject(c), c.UID, job.Name)
	record(r.Events, c, status.Submitted(job.Name))
	state.Plan, state.Job, state.Submitted = plan, observe.Job(job), true
	return nil
}

// takeUp goes on with a Job that exists already, if it is this call's own.
func (r *ToolCallReconciler) takeUp(ctx context.Context, state *call.State, job *batchv1.Job) error {
	found := &batchv1.Job{}
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(job), found); err != nil {
		return err
	}
	if !metav1.IsControlledBy(found, state.Call) {
		state.Refusal = call.Refused(v1alpha1.ReasonNameConflict, fmt.Sprintf("Job %s belongs to another owner", found.Name))
		return nil
	}
	return r.confirm(ctx, state)
}

// tighten lowers the kubelet's backstop to the deadline, once: the cache may
// not show it yet. The UID in the patch keeps it off another pod of the same name.
func (r *ToolCallReconciler) tighten(ctx context.Context, state *call.State, d call.Decision) error {
	key, uid := client.ObjectKeyFromObject(state.Call), types.UID(state.Pod.UID)
	patch := fmt.Sprintf(`{"metadata":{"uid":%q},"spec":{"activeDeadlineSeconds":%d}}`, uid, *d.Backstop)
	if !r.submitted.has(key, uid, patch) {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: state.Pod.Name}}
		err := r.Client.Patch(ctx, pod, client.RawPatch(types.MergePatchType, []byte(patch)), client.DisableReadYourWritesConsistency)
		settled := apierrors.IsNotFound(err) || apierrors.IsConflict(err) || apierrors.IsInvalid(err)
		if err != nil && !settled { // settled: the pod is gone, or is lower already than the cache says
			return err
		}
		r.submitted.add(key, uid, patch)
	}
	state.Pod.ActiveDeadlineSeconds = d.Backstop
	return nil
}

// finish writes the verdict with the tool's output, and tells of it once it is written.
func (r *ToolCallReconciler) finish(ctx context.Context, state *call.State, d call.Decision) error {
	if err := r.write(ctx, state, d, r.result(ctx, state, d)); err != nil {
		return err
	}
	r.submitted.forget(client.ObjectKeyFromObject(state.Call))
	r.Metrics.Ended(state.Call)
	record(r.Events, state.Call, status.Ended(state.Call))
	log.FromContext(ctx).Info("Reached a verdict", "phase", state.Call.Status.Phase, "reason", d.Verdict.Reason)
	return nil
}

// result is the output of a tool that ended by itself. What a tool wrote that
// was ended by force is read after the verdict, which must not wait for it.
func (r *ToolCallReconciler) result(ctx context.Context, state *call.State, d call.Decision) *v1alpha1.CallResult {
	if state.Pod == nil || !state.Pod.Tool.Ended() || d.Verdict.Kind == v1alpha1.KindTimeout {
		return nil
	}
	tool := state.Pod.Tool
	result := readOutput(ctx, r.Logs, state.Call.Namespace, state.Pod, output.ReadTimeout)
	result.ExitCode = &tool.ExitCode
	return result
}

// write projects the decision onto the status and writes it.
func (r *ToolCallReconciler) write(ctx context.Context, state *call.State, d call.Decision, result *v1alpha1.CallResult) error {
	after := state.Call.DeepCopy()
	status.ToolCall(after, *state, d, result)
	if err := patchStatus(ctx, r.Client, state.Call, after); err != nil {
		return orGone(err)
	}
	state.Call = after
	return nil
}
