package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ToolCallSpec is what one call asks for. All of it but
// ttlSecondsAfterFinished is immutable.
//
// +kubebuilder:validation:XValidation:rule="self.template == oldSelf.template",message="spec.template is immutable: create a new ToolCall"
// +kubebuilder:validation:XValidation:rule="has(self.timeout) == has(oldSelf.timeout) && (!has(self.timeout) || self.timeout == oldSelf.timeout)",message="spec.timeout is immutable: create a new ToolCall"
// +kubebuilder:validation:XValidation:rule="has(self.inherited) == has(oldSelf.inherited) && (!has(self.inherited) || self.inherited == oldSelf.inherited)",message="spec.inherited is immutable: it was stamped when the batch admitted the call"
type ToolCallSpec struct {
	// template is the pod that runs the tool. Its first container is the tool.
	// +required
	Template ToolTemplate `json:"template"`

	// timeout limits how long the tool may run, from the moment its container
	// runs. `0s` means no limit. Default: what the batch says, else 7m.
	// +optional
	Timeout *Duration `json:"timeout,omitempty"`

	// ttlSecondsAfterFinished deletes the call this many seconds after its end.
	// Default: the call stays until someone deletes it.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`

	// inherited is what a call of a batch takes from it. The operator sets it,
	// so that the call explains itself without the batch.
	// +optional
	Inherited *Inherited `json:"inherited,omitempty"`
}

// ToolTemplate is a pod template with the fields that the operator owns refused.
//
// +kubebuilder:validation:XValidation:rule="has(self.spec)",message="spec is required: a pod spec with at least one container"
// +kubebuilder:validation:XValidation:rule="!has(self.spec) || size(self.spec.containers) > 0",message="spec.containers must name at least one container; the first is the tool"
// +kubebuilder:validation:XValidation:rule="!has(self.spec) || !has(self.spec.restartPolicy) || self.spec.restartPolicy == 'Never'",message="spec.restartPolicy must be Never or unset: one attempt runs once"
// +kubebuilder:validation:XValidation:rule="!has(self.spec) || !has(self.spec.activeDeadlineSeconds)",message="spec.activeDeadlineSeconds must not be set: use the call's timeout"
type ToolTemplate struct {
	corev1.PodTemplateSpec `json:",inline"`
}

// Inherited is what a call takes from its batch.
type Inherited struct {
	// callTimeout is the batch's callTimeout.
	// +optional
	CallTimeout *Duration `json:"callTimeout,omitempty"`
}

// ToolCallPhase is a summary for people, derived from the conditions.
// +kubebuilder:validation:Enum=Pending;Starting;Running;Succeeded;Failed;TimedOut
type ToolCallPhase string

// Phases of a ToolCall.
const (
	// ToolCallPending: nothing was submitted yet.
	ToolCallPending ToolCallPhase = "Pending"
	// ToolCallStarting: the attempt was submitted; its tool container does not run yet.
	ToolCallStarting ToolCallPhase = "Starting"
	// ToolCallRunning: the tool container runs.
	ToolCallRunning ToolCallPhase = "Running"
	// ToolCallSucceeded: the tool exited with code 0.
	ToolCallSucceeded ToolCallPhase = "Succeeded"
	// ToolCallFailed: the call ended with an Error.
	ToolCallFailed ToolCallPhase = "Failed"
	// ToolCallTimedOut: a clock ran out.
	ToolCallTimedOut ToolCallPhase = "TimedOut"
)

// ErrorKind is the type of an unsuccessful end.
// +kubebuilder:validation:Enum=Timeout;Error
type ErrorKind string

// Kinds of an unsuccessful end.
const (
	// KindTimeout: a clock ran out before the tool ended.
	KindTimeout ErrorKind = "Timeout"
	// KindError: the tool failed, or the cluster failed it.
	KindError ErrorKind = "Error"
)

// EffectDisposition says whether the tool may have had an effect.
// +kubebuilder:validation:Enum=None;Unknown
type EffectDisposition string

// Dispositions of the effect of a call that did not run to its end.
const (
	// EffectNone: no tool container ever started, so nothing happened.
	EffectNone EffectDisposition = "None"
	// EffectUnknown: the tool may have done all, some or nothing of its work.
	EffectUnknown EffectDisposition = "Unknown"
)

// TimeoutSource is the layer whose timeout is in force.
// +kubebuilder:validation:Enum=Call;Batch;Default
type TimeoutSource string

// Layers that can set a timeout, strongest first.
const (
	// SourceCall: the call's own timeout.
	SourceCall TimeoutSource = "Call"
	// SourceBatch: the batch's callTimeout.
	SourceBatch TimeoutSource = "Batch"
	// SourceDefault: the built-in 7m.
	SourceDefault TimeoutSource = "Default"
)

// ToolCallStatus is what became of a call.
type ToolCallStatus struct {
	// phase summarises the conditions for people.
	// +optional
	Phase ToolCallPhase `json:"phase,omitempty"`

	// conditions are authoritative: Started, Complete, Failed, Finished, PodReleased.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// error is the typed end of a call that did not succeed.
	// +optional
	Error *CallError `json:"error,omitempty"`

	// effectDisposition says whether the tool may have had an effect. Absent on
	// success and on a tool that ran to its own end.
	// +optional
	EffectDisposition EffectDisposition `json:"effectDisposition,omitempty"`

	// deadline is the run clock: which timeout is in force, and since when.
	// +optional
	Deadline *CallDeadline `json:"deadline,omitempty"`

	// attempts lists the attempts of the call in order.
	// +optional
	// +listType=atomic
	Attempts []Attempt `json:"attempts,omitempty"`

	// result is what the tool gave back.
	// +optional
	Result *CallResult `json:"result,omitempty"`

	// startTime is when the first attempt was submitted.
	// +optional
	StartTime *MicroTime `json:"startTime,omitempty"`

	// completionTime is when the call ended: when the tool did, as far as that is
	// known, else when the verdict was reached.
	// +optional
	CompletionTime *MicroTime `json:"completionTime,omitempty"`

	// duration is how long the tool ran, to compare with the timeout. Of a tool
	// that was over before it was seen to run, it is an upper bound. Set at the
	// end; absent if the tool never ran.
	// +optional
	Duration Duration `json:"duration,omitempty"`
}

// CallError is the typed end of a call that did not succeed.
type CallError struct {
	// kind is the type of the end.
	// +required
	Kind ErrorKind `json:"kind"`

	// reason refines kind: one of the reasons of this API.
	// +required
	Reason string `json:"reason"`

	// message is one line that is safe to hand to a model: what happened, after
	// how long, and whether the effect is known.
	// +required
	Message string `json:"message"`

	// tool names what ran: the tool container of the template.
	// +optional
	Tool string `json:"tool,omitempty"`
}

// CallDeadline is the run clock of a call.
type CallDeadline struct {
	// timeout in force; `0s` means no limit.
	// +required
	Timeout Duration `json:"timeout"`

	// source is the layer that set the timeout.
	// +required
	Source TimeoutSource `json:"source"`

	// startedAt is when the run clock began: the earlier of the moment the
	// operator saw the tool container run and the kubelet's own start time + 1 s.
	// +optional
	StartedAt *MicroTime `json:"startedAt,omitempty"`

	// deadlineAt is startedAt + timeout. Absent without a limit.
	// +optional
	DeadlineAt *MicroTime `json:"deadlineAt,omitempty"`
}

// Attempt is one run of the tool: one Job, one pod.
type Attempt struct {
	// number counts from 1.
	// +required
	Number int32 `json:"number"`

	// jobName is the attempt's Job.
	// +optional
	JobName string `json:"jobName,omitempty"`

	// podName is the attempt's only pod.
	// +optional
	PodName string `json:"podName,omitempty"`

	// podUID is the UID of the first pod seen; a second one is never accepted.
	// +optional
	PodUID string `json:"podUID,omitempty"`

	// nodeName is where the pod ran.
	// +optional
	NodeName string `json:"nodeName,omitempty"`

	// startTime is when the tool container started, as the kubelet reported it
	// (whole seconds).
	// +optional
	StartTime *MicroTime `json:"startTime,omitempty"`

	// finishTime is when the tool container ended, as the kubelet reported it
	// (whole seconds). Absent if the end was not seen.
	// +optional
	FinishTime *MicroTime `json:"finishTime,omitempty"`

	// exitCode of the tool container. Absent if the end was not seen.
	// +optional
	ExitCode *int32 `json:"exitCode,omitempty"`

	// reason is how the attempt ended: Succeeded, or the reason of its error.
	// +optional
	Reason string `json:"reason,omitempty"`
}

// OutputEncoding is how output is written.
// +kubebuilder:validation:Enum=UTF8;Base64
type OutputEncoding string

// Encodings of output.
const (
	// EncodingUTF8: the output is text, as it is.
	EncodingUTF8 OutputEncoding = "UTF8"
	// EncodingBase64: the output is not UTF-8, or would be longer as JSON text.
	EncodingBase64 OutputEncoding = "Base64"
)

// OutputSource is where output came from.
// +kubebuilder:validation:Enum=TerminationMessage;Logs;Unavailable
type OutputSource string

// Sources of output.
const (
	// OutputTerminationMessage: the file /dev/termination-log.
	OutputTerminationMessage OutputSource = "TerminationMessage"
	// OutputLogs: the head of the tool container's log, both streams.
	OutputLogs OutputSource = "Logs"
	// OutputUnavailable: the log could not be read in time.
	OutputUnavailable OutputSource = "Unavailable"
)

// CallResult is what the tool gave back.
type CallResult struct {
	// output of the tool, possibly empty, cut at 64 KiB of its encoded form.
	// +required
	Output string `json:"output"`

	// encoding of output.
	// +required
	Encoding OutputEncoding `json:"encoding"`

	// bytes is the length of the output before it was encoded.
	// +required
	Bytes int64 `json:"bytes"`

	// truncated says that the tool wrote more than output holds.
	// +required
	Truncated bool `json:"truncated"`

	// source says where the output came from.
	// +required
	Source OutputSource `json:"source"`

	// exitCode of the tool container. Absent if its end was not seen.
	// +optional
	ExitCode *int32 `json:"exitCode,omitempty"`
}

// ToolCall is one call of a tool.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=tc
// +kubebuilder:printcolumn:name="Tool",type=string,JSONPath=`.spec.template.spec.containers[0].name`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.error.reason`
// +kubebuilder:printcolumn:name="Timeout",type=string,JSONPath=`.status.deadline.timeout`
// +kubebuilder:printcolumn:name="Duration",type=string,JSONPath=`.status.duration`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Attempt",type=integer,priority=1,JSONPath=`.status.attempts[-1:].number`
// +kubebuilder:printcolumn:name="Node",type=string,priority=1,JSONPath=`.status.attempts[-1:].nodeName`
// +kubebuilder:printcolumn:name="Effect",type=string,priority=1,JSONPath=`.status.effectDisposition`
// +kubebuilder:printcolumn:name="Source",type=string,priority=1,JSONPath=`.status.deadline.source`
type ToolCall struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the call asks for.
	// +required
	Spec ToolCallSpec `json:"spec"`

	// status is what became of it.
	// +optional
	// +kubebuilder:default={phase: Pending}
	Status ToolCallStatus `json:"status,omitempty"`
}

// ToolCallList is a list of ToolCalls.
//
// +kubebuilder:object:root=true
type ToolCallList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ToolCall `json:"items"`
}
