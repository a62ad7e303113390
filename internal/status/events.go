package status

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
)

// Event is an event about an object. Those that tell of a write are sent after it.
type Event struct {
	// Type is Normal or Warning.
	Type string
	// Reason is one word, in the past tense.
	Reason string
	// Action is what the operator did.
	Action string
	// Message is one line.
	Message string
}

// Submitted tells that an attempt's Job was created.
func Submitted(job string) Event {
	return Event{Type: corev1.EventTypeNormal, Reason: "Submitted", Action: "CreateJob", Message: "Created Job " + job}
}

// Ended tells the verdict of a call: the only event of its end.
func Ended(c *v1alpha1.ToolCall) Event {
	if c.Status.Error == nil {
		return Event{Type: corev1.EventTypeNormal, Reason: v1alpha1.ReasonSucceeded, Action: "Finish",
			Message: fmt.Sprintf("%s succeeded after %s", ToolName(c), c.Status.Duration)}
	}
	return Event{Type: corev1.EventTypeWarning, Reason: c.Status.Error.Reason, Action: "Finish", Message: c.Status.Error.Message}
}

// BatchEnded tells the end of a batch.
func BatchEnded(b *v1alpha1.ToolBatch) Event {
	if b.Status.Phase == v1alpha1.ToolBatchFailed {
		return Event{Type: corev1.EventTypeWarning, Reason: v1alpha1.ReasonSpecTooLarge, Action: "Finish", Message: batchMessage(b)}
	}
	return Event{Type: corev1.EventTypeNormal, Reason: v1alpha1.ReasonAllCallsFinished, Action: "Finish", Message: batchMessage(b)}
}

func batchMessage(b *v1alpha1.ToolBatch) string {
	for _, c := range b.Status.Conditions {
		if c.Type == v1alpha1.ConditionFinished {
			return c.Message
		}
	}
	return string(b.Status.Phase)
}
