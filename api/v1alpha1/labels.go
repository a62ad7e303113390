package v1alpha1

// Labels and annotations that the operator sets on the objects it makes.
// Names can be longer than a label value, so it selects on UIDs only.
const (
	// LabelCallUID carries the UID of the ToolCall on its Jobs and pods.
	LabelCallUID = "toolcall.dev/call-uid"
	// LabelCall carries the name of the ToolCall on its Jobs and pods: whole
	// if it fits a label value, else a prefix and a hash.
	LabelCall = "toolcall.dev/call"
	// LabelAttempt carries the number of the attempt, from 1, on its Job and pod.
	LabelAttempt = "toolcall.dev/attempt"
	// LabelBatchUID carries the UID of the ToolBatch on its ToolCalls.
	LabelBatchUID = "toolcall.dev/batch-uid"
	// LabelBatch carries the name of the ToolBatch on its ToolCalls: whole if
	// it fits a label value, else a prefix and a hash.
	LabelBatch = "toolcall.dev/batch"
	// LabelIndex carries the position of a ToolCall in its batch, from 0.
	LabelIndex = "toolcall.dev/index"

	// AnnotationCall carries the full name of the ToolCall on its Jobs and pods.
	AnnotationCall = "toolcall.dev/call"
	// AnnotationBatch carries the full name of the ToolBatch on its ToolCalls.
	AnnotationBatch = "toolcall.dev/batch"
	// AnnotationPlan carries, on a Job, everything that was resolved for its
	// attempt, so that nothing depends on a status write that a crash may lose.
	AnnotationPlan = "toolcall.dev/plan"
)
