package controllers

import (
	"context"
	"fmt"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/toolcall-dev/toolcall-operator/internal/metrics"
)

// reporter is the name under which the operator reports events.
const reporter = "toolcall-operator"

// Shell is what the reconcilers need beside the manager.
type Shell struct {
	Logs    LogReader
	Metrics *metrics.Metrics
	Clock   clock.PassiveClock
	// Workers is how many objects each reconciler works on at once.
	Workers int
}

// SetupWithManager adds all reconcilers to a manager.
func (s Shell) SetupWithManager(ctx context.Context, mgr ctrl.Manager) error {
	if err := setupIndexes(ctx, mgr); err != nil {
		return err
	}
	client, reader, recorder := mgr.GetClient(), mgr.GetAPIReader(), mgr.GetEventRecorder(reporter)
	call := &ToolCallReconciler{Client: client, Live: reader, Logs: s.Logs, Events: recorder, Metrics: s.Metrics, Clock: s.Clock}
	if err := call.SetupWithManager(mgr, s.Workers); err != nil {
		return fmt.Errorf("toolcall: %w", err)
	}
	batch := &ToolBatchReconciler{Client: client, Live: reader, Events: recorder, Clock: s.Clock}
	if err := batch.SetupWithManager(mgr, s.Workers); err != nil {
		return fmt.Errorf("toolbatch: %w", err)
	}
	release := &ReleaseReconciler{Client: client, Live: reader, Logs: s.Logs, Clock: s.Clock}
	if err := release.SetupWithManager(mgr, s.Workers); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	expiry := &ExpiryReconciler{Client: client, Clock: s.Clock}
	if err := expiry.SetupWithManager(mgr); err != nil {
		return fmt.Errorf("expiry: %w", err)
	}
	return nil
}
