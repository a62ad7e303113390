package v1alpha1

// Condition types of ToolCall and ToolBatch. Complete, Failed and Finished are
// absent until the end and never change after it.
const (
	// ConditionComplete is True when a call succeeded, or when every call of a
	// batch has its typed result. Positive polarity; present only when True.
	ConditionComplete = "Complete"
	// ConditionFailed is True when a call ended in any way but success.
	// Negative polarity; present only when True.
	ConditionFailed = "Failed"
	// ConditionFinished is True with either of Complete and Failed, so that one
	// `kubectl wait` serves both ends. Present only when True.
	ConditionFinished = "Finished"
	// ConditionStarted tells whether the tool container of the current attempt
	// has begun to run and, while it is False, what it waits for.
	ConditionStarted = "Started"
	// ConditionPodReleased is present only on calls that ended while their pod
	// was alive: False while the pod is terminating, True once it is gone.
	ConditionPodReleased = "PodReleased"
)

// Reasons of the conditions that are not reasons of a verdict.
const (
	// ReasonSucceeded says that the tool container exited with code 0.
	ReasonSucceeded = "Succeeded"
	// ReasonAllCallsFinished says that every call of a batch has its result.
	ReasonAllCallsFinished = "AllCallsFinished"
	// ReasonContainerRunning says that the tool container was seen to run.
	ReasonContainerRunning = "ContainerRunning"
	// ReasonPodPending says that the pod waits for a node or for its containers.
	ReasonPodPending = "PodPending"
	// ReasonPodMissing says that the Job has no pod yet.
	ReasonPodMissing = "PodMissing"
	// ReasonPodTerminating says that the pod was deleted and has not gone yet.
	ReasonPodTerminating = "PodTerminating"
	// ReasonPodGone says that no pod of the call is left.
	ReasonPodGone = "PodGone"
)

// Reasons of a verdict: they refine ErrorKind, stand in status.error.reason
// and name the Failed condition.
const (
	// ReasonDeadlineExceeded: the tool ran past the call's deadline.
	ReasonDeadlineExceeded = "DeadlineExceeded"
	// ReasonStartDeadlineExceeded: the tool container did not start in time.
	ReasonStartDeadlineExceeded = "StartDeadlineExceeded"
	// ReasonExitCode: the tool container ended with a code other than 0.
	ReasonExitCode = "ExitCode"
	// ReasonOOMKilled: the tool container exceeded its memory limit.
	ReasonOOMKilled = "OOMKilled"
	// ReasonEvicted: the kubelet or the eviction API removed the pod.
	ReasonEvicted = "Evicted"
	// ReasonPreempted: the pod made way for a more important one.
	ReasonPreempted = "Preempted"
	// ReasonPodLost: the pod was deleted or vanished before the tool's end was seen.
	ReasonPodLost = "PodLost"
	// ReasonStartFailed: the tool container can never start, or failed to.
	ReasonStartFailed = "StartFailed"
	// ReasonInitFailed: an init container failed, so the tool never started.
	ReasonInitFailed = "InitFailed"
	// ReasonCallDeleted: the ToolCall of a batch vanished after it was admitted.
	ReasonCallDeleted = "CallDeleted"
	// ReasonNameConflict: an object of another owner has the name that is needed.
	ReasonNameConflict = "NameConflict"
	// ReasonSpecTooLarge: the object is too large to hold its own status.
	ReasonSpecTooLarge = "SpecTooLarge"
	// ReasonInvalidTemplate: the API server found the rendered Job invalid.
	ReasonInvalidTemplate = "InvalidTemplate"
	// ReasonAdmissionRejected: an admission control refused the Job.
	ReasonAdmissionRejected = "AdmissionRejected"
)
