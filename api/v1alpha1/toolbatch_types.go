package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// BatchMode is how the calls of a batch follow one another.
// +kubebuilder:validation:Enum=Sequential;Concurrent
type BatchMode string

// Modes of a batch.
const (
	// ModeSequential: one call at a time, in order.
	ModeSequential BatchMode = "Sequential"
	// ModeConcurrent: up to maxParallel calls at a time, started in order.
	ModeConcurrent BatchMode = "Concurrent"
)

// ToolBatchSpec is what a batch asks for. It is immutable.
//
// +kubebuilder:validation:XValidation:rule="self.mode == oldSelf.mode",message="spec.mode is immutable: create a new ToolBatch"
// +kubebuilder:validation:XValidation:rule="self.maxParallel == oldSelf.maxParallel",message="spec.maxParallel is immutable: create a new ToolBatch"
// +kubebuilder:validation:XValidation:rule="has(self.callTimeout) == has(oldSelf.callTimeout) && (!has(self.callTimeout) || self.callTimeout == oldSelf.callTimeout)",message="spec.callTimeout is immutable: create a new ToolBatch"
// +kubebuilder:validation:XValidation:rule="self.calls == oldSelf.calls",message="spec.calls is immutable: create a new ToolBatch"
// +kubebuilder:validation:XValidation:rule="self.calls.transformMapEntry(i, c, has(c.name), {c.name: i}).size() >= 0",message="spec.calls[].name must be unique in the batch"
type ToolBatchSpec struct {
	// mode is Sequential or Concurrent.
	// +optional
	// +kubebuilder:default=Sequential
	Mode BatchMode `json:"mode,omitempty"`

	// maxParallel is how many calls of a Concurrent batch may be open at once.
	// +optional
	// +kubebuilder:default=5
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxParallel int32 `json:"maxParallel,omitempty"`

	// callTimeout is the timeout of calls that set none. `0s` means no limit.
	// +optional
	CallTimeout *Duration `json:"callTimeout,omitempty"`

	// calls are run in this order; results keep it.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	Calls []BatchCall `json:"calls"`
}

// BatchCall is one call of a batch.
//
// +kubebuilder:validation:XValidation:rule="!has(self.name) || !self.name.matches('^[0-9]+$')",message="name must not be a plain number: those are the names of unnamed calls"
type BatchCall struct {
	// name of the call, unique in the batch. Default: its index, from 0.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name *string `json:"name,omitempty"`

	// template is the pod that runs the tool. Its first container is the tool.
	// +required
	Template ToolTemplate `json:"template"`

	// timeout of this call. `0s` means no limit. Default: callTimeout.
	// +optional
	Timeout *Duration `json:"timeout,omitempty"`
}

// ToolBatchPhase is a summary for people, derived from the conditions.
// +kubebuilder:validation:Enum=Pending;Running;Succeeded;Failed
type ToolBatchPhase string

// Phases of a ToolBatch.
const (
	// ToolBatchPending: no call was admitted yet.
	ToolBatchPending ToolBatchPhase = "Pending"
	// ToolBatchRunning: some call has no result yet.
	ToolBatchRunning ToolBatchPhase = "Running"
	// ToolBatchSucceeded: every call has its typed result, whatever it is.
	ToolBatchSucceeded ToolBatchPhase = "Succeeded"
	// ToolBatchFailed: the batch itself could not be run to its end.
	ToolBatchFailed ToolBatchPhase = "Failed"
)

// ToolBatchStatus is what became of a batch.
type ToolBatchStatus struct {
	// phase summarises the conditions for people.
	// +optional
	Phase ToolBatchPhase `json:"phase,omitempty"`

	// conditions are authoritative: Complete, Failed, Finished.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// startTime is when the first call was admitted.
	// +optional
	StartTime *MicroTime `json:"startTime,omitempty"`

	// completionTime is when the last call had its result.
	// +optional
	CompletionTime *MicroTime `json:"completionTime,omitempty"`

	// duration is completionTime less startTime.
	// +optional
	Duration Duration `json:"duration,omitempty"`

	// progress is the number of finished calls of all, such as `7/10`.
	// +optional
	Progress string `json:"progress,omitempty"`

	// admitted is the highest index that was ever admitted; absent before the
	// first. It is persisted before the ToolCalls are created, and a call at or
	// below it is never created a second time.
	// +optional
	Admitted *int32 `json:"admitted,omitempty"`

	// counts of calls by state.
	// +optional
	Counts *BatchCounts `json:"counts,omitempty"`

	// calls are the results, in the order of spec.calls.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1000
	Calls []BatchCallStatus `json:"calls,omitempty"`
}

// BatchCounts counts the calls of a batch by state. pending, active,
// succeeded, failed and timedOut add up to total.
type BatchCounts struct {
	// total number of calls.
	// +required
	Total int32 `json:"total"`
	// pending calls are not admitted yet.
	// +required
	Pending int32 `json:"pending"`
	// active calls are admitted and have no result yet.
	// +required
	Active int32 `json:"active"`
	// succeeded calls.
	// +required
	Succeeded int32 `json:"succeeded"`
	// failed calls: those whose kind is Error.
	// +required
	Failed int32 `json:"failed"`
	// timedOut calls.
	// +required
	TimedOut int32 `json:"timedOut"`
}

// BatchCallStatus is the state of one call of a batch. Its output is in its ToolCall.
type BatchCallStatus struct {
	// name of the call in the batch.
	// +required
	Name string `json:"name"`

	// toolCall is the name of the call's ToolCall. Absent until it is admitted.
	// +optional
	ToolCall string `json:"toolCall,omitempty"`

	// phase of the call.
	// +required
	Phase ToolCallPhase `json:"phase"`

	// errorKind is the kind of the call's error.
	// +optional
	ErrorKind ErrorKind `json:"errorKind,omitempty"`

	// reason of the call's error.
	// +optional
	Reason string `json:"reason,omitempty"`

	// effectDisposition of the call.
	// +optional
	EffectDisposition EffectDisposition `json:"effectDisposition,omitempty"`
}

// ToolBatch is a list of calls that run in order or together.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=tb
// +kubebuilder:printcolumn:name="Mode",type=string,JSONPath=`.spec.mode`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Done",type=string,JSONPath=`.status.progress`
// +kubebuilder:printcolumn:name="Failed",type=integer,JSONPath=`.status.counts.failed`
// +kubebuilder:printcolumn:name="Active",type=integer,JSONPath=`.status.counts.active`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="TimedOut",type=integer,priority=1,JSONPath=`.status.counts.timedOut`
// +kubebuilder:printcolumn:name="Duration",type=string,priority=1,JSONPath=`.status.duration`
type ToolBatch struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the batch asks for.
	// +required
	Spec ToolBatchSpec `json:"spec"`

	// status is what became of it.
	// +optional
	// +kubebuilder:default={phase: Pending}
	Status ToolBatchStatus `json:"status,omitempty"`
}

// ToolBatchList is a list of ToolBatches.
//
// +kubebuilder:object:root=true
type ToolBatchList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ToolBatch `json:"items"`
}
