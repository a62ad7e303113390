package controllers

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/batch"
	"github.com/toolcall-dev/toolcall-operator/internal/render"
	"github.com/toolcall-dev/toolcall-operator/internal/status"
)

// ToolBatchReconciler admits the calls of a batch and gathers their results.
type ToolBatchReconciler struct {
	Client client.Client
	// Live reads past the cache.
	Live   client.Reader
	Events events.EventRecorder
	Clock  clock.PassiveClock

	created *submissions
}

// +kubebuilder:rbac:groups=toolcall.dev,resources=toolbatches,verbs=get;list;watch
// +kubebuilder:rbac:groups=toolcall.dev,resources=toolbatches/status,verbs=patch
// +kubebuilder:rbac:groups=toolcall.dev,resources=toolbatches/finalizers,verbs=update
// +kubebuilder:rbac:groups=toolcall.dev,resources=toolcalls,verbs=get;list;watch;create
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconcile admits what may run now. The status that says how far the batch has
// come is written before the calls are created.
func (r *ToolBatchReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	state, err := r.gather(ctx, req)
	if err != nil || state == nil {
		return ctrl.Result{}, err
	}
	for more := true; more; {
		more, err = r.step(ctx, state)
		if apierrors.IsConflict(err) {
			more, err = true, r.reload(ctx, state)
		}
		if errors.Is(err, errGone) {
			return ctrl.Result{}, nil
		}
		if err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, nil
}

// step takes the batch one decision further. It reports whether there is more
// to decide right away.
func (r *ToolBatchReconciler) step(ctx context.Context, state *batch.State) (more bool, err error) {
	if batch.Done(state.Batch) {
		return false, nil
	}
	d := batch.Decide(*state)
	if err := r.write(ctx, state, d); err != nil || len(d.Create) == 0 {
		return false, orGone(err)
	}
	return r.create(ctx, state, d.Create)
}

// reload reads the batch past the cache after a conflict.
func (r *ToolBatchReconciler) reload(ctx context.Context, state *batch.State) error {
	fresh := &v1alpha1.ToolBatch{}
	if err := readAgain(ctx, r.Live, state.Batch, fresh); err != nil {
		return err
	}
	state.Batch = fresh
	return nil
}

// gather reads a batch and its calls. It is nil if there is nothing to do.
func (r *ToolBatchReconciler) gather(ctx context.Context, req ctrl.Request) (*batch.State, error) {
	b := &v1alpha1.ToolBatch{}
	if err := r.Client.Get(ctx, req.NamespacedName, b); err != nil {
		if err = client.IgnoreNotFound(err); err == nil {
			r.created.forget(req.NamespacedName)
		}
		return nil, err
	}
	if batch.Done(b) || !b.DeletionTimestamp.IsZero() {
		r.created.forget(req.NamespacedName)
		return nil, nil
	}
	state := &batch.State{Batch: b}
	if b.Status.StartTime == nil { // it is measured once: it is immutable
		size, err := jsonSize(b.Spec)
		if err != nil {
			return nil, err
		}
		state.SpecBytes = size
	}
	return state, r.gatherCalls(ctx, state)
}

// gatherCalls lines the ToolCalls of the batch up with its spec.
func (r *ToolBatchReconciler) gatherCalls(ctx context.Context, state *batch.State) error {
	b := state.Batch
	list := &v1alpha1.ToolCallList{}
	if err := r.Client.List(ctx, list, client.InNamespace(b.Namespace), client.MatchingFields{batchUIDIndex: string(b.UID)}); err != nil {
		return err
	}
	state.Children = make([]batch.Child, len(b.Spec.Calls))
	state.CallNames = make([]string, len(b.Spec.Calls))
	for i := range b.Spec.Calls {
		state.CallNames[i] = render.BatchCallName(b, i)
		state.Children[i].Name = render.CallName(b, i)
	}
	for i := range list.Items {
		c := &list.Items[i]
		index, err := strconv.Atoi(c.Labels[v1alpha1.LabelIndex])
		ours := err == nil && index >= 0 && index < len(state.Children) && metav1.IsControlledBy(c, b)
		if ours && state.Children[index].Name == c.Name {
			state.Children[index].Call = c
		}
	}
	return r.confirmMissing(ctx, state)
}

// confirmMissing looks past the cache for calls that were created and that the
// cache does not show: it may be behind.
func (r *ToolBatchReconciler) confirmMissing(ctx context.Context, state *batch.State) error {
	b := state.Batch
	for i := range state.Children {
		child := &state.Children[i]
		recorded := batch.Recorded(b, i)
		child.Created = recorded.ToolCall != "" || r.created.has(client.ObjectKeyFromObject(b), b.UID, child.Name)
		if child.Call != nil || !child.Created || batch.Terminal(recorded.Phase) {
			continue
		}
		if err := r.find(ctx, b, child); err != nil {
			return err
		}
	}
	return nil
}

// find reads a child past the cache. It stays nil if it is gone, or not the batch's.
func (r *ToolBatchReconciler) find(ctx context.Context, b *v1alpha1.ToolBatch, child *batch.Child) error {
	c := &v1alpha1.ToolCall{}
	if err := r.Live.Get(ctx, client.ObjectKey{Namespace: b.Namespace, Name: child.Name}, c); err != nil {
		return client.IgnoreNotFound(err)
	}
	if metav1.IsControlledBy(c, b) {
		child.Call, child.Created = c, true
	}
	return nil
}

// write projects the decision onto the status, writes it, and tells of the end.
func (r *ToolBatchReconciler) write(ctx context.Context, state *batch.State, d batch.Decision) error {
	after := state.Batch.DeepCopy()
	status.ToolBatch(after, *state, d, r.Clock.Now())
	if err := patchStatus(ctx, r.Client, state.Batch, after); err != nil {
		return err
	}
	state.Batch = after
	if batch.Done(after) {
		r.created.forget(client.ObjectKeyFromObject(after))
		record(r.Events, after, status.BatchEnded(after))
	}
	return nil
}

// create makes the ToolCalls of admitted calls. It reports whether the API
// refused one for good, which the state then says.
func (r *ToolBatchReconciler) create(ctx context.Context, state *batch.State, indexes []int) (refused bool, err error) {
	b := state.Batch
	for _, i := range indexes {
		child := &state.Children[i]
		c := render.Call(b, i)
		err := r.Client.Create(ctx, c)
		if apierrors.IsAlreadyExists(err) {
			if err := r.find(ctx, b, child); err != nil {
				return refused, err
			}
			if child.Call == nil {
				child.Refused, refused = v1alpha1.ReasonNameConflict, true
			}
			continue
		}
		if reason := refusal(err); reason != "" {
			log.FromContext(ctx).Info("Refused a call of the batch", "toolCall", c.Name, "reason", reason, "error", err.Error())
			child.Refused, refused = reason, true
			continue
		}
		if err != nil {
			return refused, fmt.Errorf("create ToolCall %s: %w", c.Name, orGone(err))
		}
		r.created.add(client.ObjectKeyFromObject(b), b.UID, c.Name)
		child.Call, child.Created = c, true
	}
	return refused, nil
}

// SetupWithManager watches batches and their calls.
func (r *ToolBatchReconciler) SetupWithManager(mgr ctrl.Manager, workers int) error {
	r.created = newSubmissions()
	return ctrl.NewControllerManagedBy(mgr).
		Named("toolbatch").
		For(&v1alpha1.ToolBatch{}).
		Owns(&v1alpha1.ToolCall{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers, RateLimiter: rateLimiter()}).
		Complete(r)
}
