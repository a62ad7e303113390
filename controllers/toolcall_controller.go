package controllers

import (
	"context"
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/call"
	"github.com/toolcall-dev/toolcall-operator/internal/metrics"
)

// ToolCallReconciler takes a call from its creation to its verdict.
type ToolCallReconciler struct {
	Client client.Client
	// Live reads past the cache.
	Live    client.Reader
	Logs    LogReader
	Events  events.EventRecorder
	Metrics *metrics.Metrics
	Clock   clock.PassiveClock

	submitted *submissions
}

// +kubebuilder:rbac:groups=toolcall.dev,resources=toolcalls,verbs=get;list;watch
// +kubebuilder:rbac:groups=toolcall.dev,resources=toolcalls/status,verbs=patch
// +kubebuilder:rbac:groups=toolcall.dev,resources=toolcalls/finalizers,verbs=update
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups="",resources=pods/log,verbs=get
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconcile takes a call as many steps further as it can go now. Every step is
// one write at most, and each is decided anew on what the last one left.
func (r *ToolCallReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	state, err := r.gather(ctx, req.NamespacedName)
	if err != nil || state == nil {
		return ctrl.Result{}, err
	}
	for {
		d := call.Decide(*state)
		if d.Action == call.Wait {
			return wake(d.WakeAt, r.Clock.Now()), nil
		}
		err := r.act(ctx, state, d)
		if apierrors.IsConflict(err) {
			err = r.reload(ctx, state)
		}
		if errors.Is(err, errGone) {
			return ctrl.Result{}, nil
		}
		if err != nil {
			return retry(ctx, d.WakeAt, r.Clock.Now(), fmt.Errorf("%s: %w", d.Action, err))
		}
		state.Now = r.Clock.Now()
	}
}

// SetupWithManager watches calls that have no verdict, their Jobs and their pods.
func (r *ToolCallReconciler) SetupWithManager(mgr ctrl.Manager, workers int) error {
	r.submitted = newSubmissions()
	return ctrl.NewControllerManagedBy(mgr).
		Named("toolcall").
		For(&v1alpha1.ToolCall{}, builder.WithPredicates(unfinished())).
		Owns(&batchv1.Job{}).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(callsOfPod(mgr.GetClient()))).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers, RateLimiter: rateLimiter()}).
		Complete(r)
}
