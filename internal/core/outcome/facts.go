// Package outcome decides how an attempt ended, from facts about its Job and pod.
package outcome

import "time"

// ContainerState is where a container is in its life.
type ContainerState int

// States of a container.
const (
	// Waiting: not started; the zero value, also of a container without a status.
	Waiting ContainerState = iota
	// Running: started and not ended.
	Running
	// Terminated: ended, or failed to start.
	Terminated
)

// Container is what the kubelet reported of one container. Times are whole
// seconds, and zero where it reported none.
type Container struct {
	Name       string
	State      ContainerState
	Reason     string
	Message    string
	StartedAt  time.Time
	FinishedAt time.Time
	ExitCode   int32
}

// Started tells whether the container's process is known to have run.
func (c Container) Started() bool {
	return c.State == Running || c.State == Terminated && c.StartedAt.Unix() > 0
}

// NeverStarted tells whether the container is known to have failed to start: it
// is Terminated with a start time of 1970.
func (c Container) NeverStarted() bool {
	return c.State == Terminated && !c.StartedAt.IsZero() && c.StartedAt.Unix() <= 0
}

// Untold tells whether the kubelet lost the container: it is Terminated, and
// whether it ever ran is not known.
func (c Container) Untold() bool {
	return c.State == Terminated && c.StartedAt.IsZero()
}

// Ended tells whether the container's process ran and ended.
func (c Container) Ended() bool {
	return c.State == Terminated && c.Started()
}

// Disruption is something that ended a pod from outside.
type Disruption struct {
	// Reason of the verdict that it leads to.
	Reason string
	// Message says what happened, in the words of whoever reported it.
	Message string
	// At is when it began, in whole seconds; zero if that is not known.
	At time.Time
	// ByKubelet: At is when the kubelet reported it, after it had begun.
	ByKubelet bool
}

// Pod is what the operator knows of an attempt's pod.
type Pod struct {
	Name string
	UID  string
	Node string
	// Failed: the kubelet gave up the pod as a whole.
	Failed  bool
	Reason  string
	Message string
	// StartTime is the kubelet's acknowledgement: its deadline counts from here.
	StartTime time.Time
	// ActiveDeadlineSeconds is the kubelet's backstop, nil if there is none.
	ActiveDeadlineSeconds *int64
	// KubeletDeadline: the kubelet ended the pod because of its backstop.
	KubeletDeadline bool
	// Disruption is what ended, or is ending, the pod from outside; nil if nothing.
	Disruption *Disruption
	// SandboxReady: the pod's sandbox exists, so a container may start any moment.
	SandboxReady bool
	// Tool is the tool container.
	Tool Container
	// InitFailed is the init container that failed the pod, nil if none did.
	InitFailed *Container
	// OthersAlive: containers beside the tool would outlive it.
	OthersAlive bool
	// Initializing names the init container that has not finished yet.
	Initializing string
	// Unschedulable is the scheduler's message while it finds no node.
	Unschedulable string
}

// Job is what the operator knows of an attempt's Job.
type Job struct {
	Name string
	UID  string
	// Failed: the Job controller gave up the Job.
	Failed bool
	// Message of the Job's failure.
	Message string
}
