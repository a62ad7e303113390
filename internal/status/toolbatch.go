package status

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/batch"
	"github.com/toolcall-dev/toolcall-operator/internal/core/deadline"
)

// ToolBatch projects a decision onto the status of its batch.
func ToolBatch(b *v1alpha1.ToolBatch, s batch.State, d batch.Decision, now time.Time) {
	if b.Status.StartTime == nil {
		b.Status.StartTime = v1alpha1.NewMicroTime(now)
	}
	if d.TooLarge {
		tooLarge(b, s.SpecBytes, now)
		return
	}
	b.Status.Calls = d.Calls
	b.Status.Counts = &d.Counts
	b.Status.Progress = fmt.Sprintf("%d/%d", d.Counts.Succeeded+d.Counts.Failed+d.Counts.TimedOut, d.Counts.Total)
	b.Status.Phase = v1alpha1.ToolBatchRunning
	if d.Admitted >= 0 {
		admitted := int32(d.Admitted)
		b.Status.Admitted = &admitted
	}
	if d.Finished {
		message := fmt.Sprintf("%d succeeded, %d failed, %d timed out", d.Counts.Succeeded, d.Counts.Failed, d.Counts.TimedOut)
		b.Status.Phase = v1alpha1.ToolBatchSucceeded
		endBatch(b, now, v1alpha1.ConditionComplete, v1alpha1.ReasonAllCallsFinished, message)
	}
}

// tooLarge ends the batch with the smallest status that says why: a larger one
// might not fit beside the spec.
func tooLarge(b *v1alpha1.ToolBatch, size int, now time.Time) {
	b.Status.Phase = v1alpha1.ToolBatchFailed
	message := fmt.Sprintf("spec is %d bytes as JSON, at most %d are allowed; no call was run", size, batch.MaxSpecBytes)
	endBatch(b, now, v1alpha1.ConditionFailed, v1alpha1.ReasonSpecTooLarge, message)
}

func endBatch(b *v1alpha1.ToolBatch, now time.Time, kind, reason, message string) {
	b.Status.CompletionTime = v1alpha1.NewMicroTime(now)
	b.Status.Duration = deadline.Format(now.Sub(b.Status.StartTime.Time))
	meta.SetStatusCondition(&b.Status.Conditions, condition(b.Generation, now, kind, metav1.ConditionTrue, reason, message))
	meta.SetStatusCondition(&b.Status.Conditions, condition(b.Generation, now, v1alpha1.ConditionFinished, metav1.ConditionTrue, reason, message))
}
