// Package observe turns the cluster's objects into the facts that decisions
// are made on. It is pure.
package observe

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/outcome"
)

// Reasons of a pod as a whole, set by the kubelet.
const (
	podDeadlineExceeded = "DeadlineExceeded"
	podEvicted          = "Evicted"
	podPreempting       = "Preempting"
	podNodeShutdown     = "NodeShutdown"
	podTerminated       = "Terminated"
)

// evictionByAPI is the reason of a DisruptionTarget condition that the eviction
// API sets; Kubernetes exports no constant for it.
const evictionByAPI = "EvictionByEvictionAPI"

// Pod is what a pod says of an attempt. tool names the tool container; an empty
// name means the first.
func Pod(pod *corev1.Pod, tool string) *outcome.Pod {
	if pod == nil {
		return nil
	}
	if tool == "" {
		tool = ToolContainer(pod.Spec)
	}
	return &outcome.Pod{
		Name:                  pod.Name,
		UID:                   string(pod.UID),
		Node:                  pod.Spec.NodeName,
		Failed:                pod.Status.Phase == corev1.PodFailed,
		Reason:                pod.Status.Reason,
		Message:               pod.Status.Message,
		StartTime:             startTime(pod),
		ActiveDeadlineSeconds: pod.Spec.ActiveDeadlineSeconds,
		KubeletDeadline:       pod.Status.Reason == podDeadlineExceeded,
		Disruption:            disruption(pod),
		SandboxReady:          sandboxReady(pod),
		Tool:                  container(pod.Status.ContainerStatuses, tool),
		InitFailed:            failedInit(pod),
		OthersAlive:           othersAlive(pod, tool),
		Initializing:          initializing(pod),
		Unschedulable:         unschedulable(pod),
	}
}

// ToolContainer names the container that is the tool: the first.
func ToolContainer(spec corev1.PodSpec) string {
	if len(spec.Containers) == 0 {
		return ""
	}
	return spec.Containers[0].Name
}

func startTime(pod *corev1.Pod) time.Time {
	if pod.Status.StartTime == nil {
		return time.Time{}
	}
	return pod.Status.StartTime.Time
}

// kubeletDisruptions are the reasons of a pod that its kubelet ended, and the
// reasons of the verdicts that they lead to.
var kubeletDisruptions = map[string]string{
	podEvicted:      v1alpha1.ReasonEvicted,
	podPreempting:   v1alpha1.ReasonPreempted,
	podNodeShutdown: v1alpha1.ReasonEvicted,
	podTerminated:   v1alpha1.ReasonEvicted,
}

// disruption is what ended the pod from outside, or is ending it. The kubelet's
// deadline is none: it is a clock of the call.
func disruption(pod *corev1.Pod) *outcome.Disruption {
	condition := podCondition(pod, corev1.DisruptionTarget)
	reason, byKubelet := kubeletDisruptions[pod.Status.Reason]
	switch {
	case pod.Status.Reason == podDeadlineExceeded:
		return nil
	case byKubelet:
		return &outcome.Disruption{Reason: reason, Message: pod.Status.Message, At: transition(condition), ByKubelet: true}
	case condition != nil && condition.Status == corev1.ConditionTrue:
		return &outcome.Disruption{
			Reason:    disruptionReason(condition.Reason),
			Message:   condition.Message,
			At:        transition(condition),
			ByKubelet: condition.Reason == corev1.PodReasonTerminationByKubelet,
		}
	case pod.DeletionTimestamp != nil:
		return &outcome.Disruption{Reason: v1alpha1.ReasonPodLost, Message: "its pod was deleted", At: deletionTime(pod)}
	default:
		return nil
	}
}

// disruptionReason reads the reason of a DisruptionTarget condition.
func disruptionReason(reason string) string {
	switch reason {
	case corev1.PodReasonPreemptionByScheduler:
		return v1alpha1.ReasonPreempted
	case evictionByAPI, corev1.PodReasonTerminationByKubelet:
		return v1alpha1.ReasonEvicted
	default:
		return v1alpha1.ReasonPodLost
	}
}

func transition(condition *corev1.PodCondition) time.Time {
	if condition == nil {
		return time.Time{}
	}
	return condition.LastTransitionTime.Time
}

// deletionTime is when the deletion was asked for: the timestamp in the object
// is the end of the grace period.
func deletionTime(pod *corev1.Pod) time.Time {
	grace := int64(0)
	if pod.DeletionGracePeriodSeconds != nil {
		grace = *pod.DeletionGracePeriodSeconds
	}
	return pod.DeletionTimestamp.Add(-time.Duration(grace) * time.Second)
}

// sandboxReady is True also where the node does not say: then a container may
// start any moment.
func sandboxReady(pod *corev1.Pod) bool {
	c := podCondition(pod, corev1.PodReadyToStartContainers)
	return c == nil || c.Status == corev1.ConditionTrue
}

func unschedulable(pod *corev1.Pod) string {
	c := podCondition(pod, corev1.PodScheduled)
	if c == nil || c.Status != corev1.ConditionFalse {
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s", c.Reason, c.Message))
}

func podCondition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}
