package controllers

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/deadline"
	"github.com/toolcall-dev/toolcall-operator/internal/status"
)

// deadlinePriority lets the wake-up for a deadline overtake everything else
// that waits in a queue.
const deadlinePriority = 100

// errGone says that the object at hand was deleted, or is about to be with its
// namespace, so that nothing is left to do.
var errGone = errors.New("the object is gone")

// isGone tells what the API server answers when the object at hand, or its
// namespace, is gone or going.
func isGone(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

// orGone makes such an answer errGone.
func orGone(err error) error {
	if isGone(err) {
		return errGone
	}
	return err
}

// refusal is the reason of a verdict where the API server will not have an
// object, whenever it is asked; empty for any other error, and for none.
func refusal(err error) string {
	switch {
	case isGone(err):
		return ""
	case apierrors.IsInvalid(err):
		return v1alpha1.ReasonInvalidTemplate
	case apierrors.IsForbidden(err):
		return v1alpha1.ReasonAdmissionRejected
	default:
		return ""
	}
}

// readAgain reads the newest version of an object into fresh. It is errGone if
// the object was deleted, even if another has its name now.
func readAgain(ctx context.Context, reader client.Reader, old, fresh client.Object) error {
	if err := reader.Get(ctx, client.ObjectKeyFromObject(old), fresh); err != nil {
		return orGone(err)
	}
	if fresh.GetUID() != old.GetUID() {
		return errGone
	}
	return nil
}

// patchStatus writes what changed between two versions of an object's status.
// The patch carries the resource version, so that of two writers one wins.
// Nothing is written if nothing changed.
func patchStatus(ctx context.Context, c client.Client, before, after client.Object) error {
	if equality.Semantic.DeepEqual(before, after) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	return c.Status().Patch(ctx, after, patch)
}

func record(recorder events.EventRecorder, about client.Object, event status.Event) {
	recorder.Eventf(about, nil, event.Type, event.Reason, event.Action, "%s", event.Message)
}

// wake looks again at the given time, or never if it is zero.
func wake(at, now time.Time) ctrl.Result {
	if at.IsZero() {
		return ctrl.Result{}
	}
	priority := deadlinePriority
	return ctrl.Result{RequeueAfter: max(at.Sub(now), time.Nanosecond), Priority: &priority}
}

// retry reports an error without letting it delay a deadline: with an error the
// queue ignores RequeueAfter and backs off.
func retry(ctx context.Context, at, now time.Time, err error) (ctrl.Result, error) {
	if at.IsZero() {
		return ctrl.Result{}, err
	}
	log.FromContext(ctx).Error(err, "Failed to act, will retry")
	return wake(deadline.RetryAt(at, now), now), nil
}
