package controllers

import (
	"context"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/call"
	"github.com/toolcall-dev/toolcall-operator/internal/status"
)

// ExpiryReconciler deletes finished calls once their time to live has passed.
type ExpiryReconciler struct {
	Client client.Client
	Clock  clock.PassiveClock
}

// +kubebuilder:rbac:groups=toolcall.dev,resources=toolcalls,verbs=get;list;watch;delete

// Reconcile deletes a call whose time has come, with its Jobs and pods.
func (r *ExpiryReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	c := &v1alpha1.ToolCall{}
	if err := r.Client.Get(ctx, req.NamespacedName, c); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	now := r.Clock.Now()
	at := call.ExpiresAt(c)
	if at.IsZero() || status.AwaitsRelease(c) || !c.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	if at.After(now) {
		return ctrl.Result{RequeueAfter: at.Sub(now)}, nil
	}
	return ctrl.Result{}, client.IgnoreNotFound(r.Client.Delete(ctx, c, sameObject(c), background, client.DisableReadYourWritesConsistency))
}

// SetupWithManager watches finished calls that have a time to live.
func (r *ExpiryReconciler) SetupWithManager(mgr ctrl.Manager) error {
	expires := callPredicate(func(c *v1alpha1.ToolCall) bool { return !call.ExpiresAt(c).IsZero() })
	return ctrl.NewControllerManagedBy(mgr).
		Named("expiry").
		For(&v1alpha1.ToolCall{}, builder.WithPredicates(expires)).
		WithOptions(controller.Options{RateLimiter: rateLimiter()}).
		Complete(r)
}
