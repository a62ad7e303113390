package observe

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/toolcall-dev/toolcall-operator/internal/core/outcome"
)

func container(statuses []corev1.ContainerStatus, name string) outcome.Container {
	for i := range statuses {
		if statuses[i].Name == name {
			return containerFacts(&statuses[i])
		}
	}
	return outcome.Container{Name: name}
}

func containerFacts(status *corev1.ContainerStatus) outcome.Container {
	facts := outcome.Container{Name: status.Name}
	switch {
	case status.State.Terminated != nil:
		t := status.State.Terminated
		facts.State = outcome.Terminated
		facts.Reason, facts.Message = t.Reason, t.Message
		facts.StartedAt, facts.FinishedAt = t.StartedAt.Time, t.FinishedAt.Time
		facts.ExitCode = t.ExitCode
	case status.State.Running != nil:
		facts.State = outcome.Running
		facts.StartedAt = status.State.Running.StartedAt.Time
	case status.State.Waiting != nil:
		facts.Reason, facts.Message = status.State.Waiting.Reason, status.State.Waiting.Message
	}
	return facts
}

// failedInit is the init container that failed the pod. Only a failed pod has
// one: a sidecar may fail and be started again.
func failedInit(pod *corev1.Pod) *outcome.Container {
	if pod.Status.Phase != corev1.PodFailed {
		return nil
	}
	for i := range pod.Status.InitContainerStatuses {
		facts := containerFacts(&pod.Status.InitContainerStatuses[i])
		if facts.State == outcome.Terminated && facts.ExitCode != 0 && !isSidecar(pod, facts.Name) {
			return &facts
		}
	}
	return nil
}

// initializing names the first init container that holds the others up.
func initializing(pod *corev1.Pod) string {
	for i := range pod.Status.InitContainerStatuses {
		status := &pod.Status.InitContainerStatuses[i]
		done := status.State.Terminated != nil && status.State.Terminated.ExitCode == 0
		if isSidecar(pod, status.Name) {
			done = status.Started != nil && *status.Started
		}
		if !done {
			return status.Name
		}
	}
	return ""
}

// isSidecar tells a native sidecar, an init container that runs beside the others.
func isSidecar(pod *corev1.Pod, name string) bool {
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		if c.Name == name {
			return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
		}
	}
	return false
}

// othersAlive tells whether ordinary containers beside the tool have not ended.
// Native sidecars are ended by the kubelet.
func othersAlive(pod *corev1.Pod, tool string) bool {
	for i := range pod.Status.ContainerStatuses {
		status := &pod.Status.ContainerStatuses[i]
		if status.Name != tool && status.State.Terminated == nil {
			return true
		}
	}
	return false
}
