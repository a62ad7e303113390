//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Where the operator is.
const (
	operatorNamespace = "toolcall-system"
	operatorName      = "toolcall-operator"
)

// operatorAvailable is an error that says why the operator is not available.
func operatorAvailable(ctx context.Context) error {
	deployment, err := operatorDeployment(ctx)
	if err != nil {
		return err
	}
	status := deployment.Status
	wanted := *deployment.Spec.Replicas
	if status.ObservedGeneration == deployment.Generation && wanted > 0 && status.UpdatedReplicas == wanted &&
		status.AvailableReplicas == wanted && status.Replicas == wanted {
		return nil
	}
	return fmt.Errorf("%d of %d replicas of the operator are available", status.AvailableReplicas, wanted)
}

func operatorDeployment(ctx context.Context) (*appsv1.Deployment, error) {
	deployment := &appsv1.Deployment{}
	err := k8s.Get(ctx, client.ObjectKey{Namespace: operatorNamespace, Name: operatorName}, deployment)
	return deployment, err
}

// operatorPods are the operator's pods that are there to stay.
func operatorPods(ctx context.Context) ([]corev1.Pod, error) {
	deployment, err := operatorDeployment(ctx)
	if err != nil {
		return nil, err
	}
	pods := &corev1.PodList{}
	err = k8s.List(ctx, pods, client.InNamespace(operatorNamespace), client.MatchingLabels(deployment.Spec.Selector.MatchLabels))
	return slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool { return pod.DeletionTimestamp != nil }), err
}

// operatorPod is the operator's pod, once it is available.
func operatorPod(ctx context.Context) *corev1.Pod {
	GinkgoHelper()
	Eventually(ctx, operatorAvailable).Should(Succeed())
	pods, err := operatorPods(ctx)
	Expect(err).NotTo(HaveOccurred())
	Expect(pods).To(HaveLen(1))
	return &pods[0]
}

// operatorProcess is the process of the operator itself in its pod.
func operatorProcess(pod *corev1.Pod) process {
	GinkgoHelper()
	managers := those(processesOf(pod.UID), func(p process) bool { return strings.Contains(p.command, "manager") })
	Expect(managers).To(HaveLen(1))
	return managers[0]
}

// scaleOperator sets how many replicas are wanted.
func scaleOperator(ctx context.Context, replicas int) {
	GinkgoHelper()
	patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
	deployment, err := operatorDeployment(ctx)
	Expect(err).NotTo(HaveOccurred())
	Expect(k8s.Patch(ctx, deployment, client.RawPatch(types.MergePatchType, patch))).To(Succeed())
}

// startOperator brings the operator back and waits until it serves.
func startOperator(ctx context.Context) {
	GinkgoHelper()
	scaleOperator(ctx, 1)
	Eventually(ctx, operatorAvailable).Should(Succeed())
}

// restartOperator replaces the operator's pod, as an upgrade would, and waits
// until the new one serves.
func restartOperator(ctx context.Context) {
	GinkgoHelper()
	DeferCleanup(startOperator)
	old := operatorPod(ctx)
	Expect(k8s.Delete(ctx, old)).To(Succeed())
	// The Deployment's own status may still tell of the old one.
	Eventually(ctx, operatorPods).Should(ConsistOf(And(
		HaveField("UID", Not(Equal(old.UID))),
		HaveField("Status.ContainerStatuses", ConsistOf(HaveField("Ready", BeTrue()))),
	)))
	Eventually(ctx, operatorAvailable).Should(Succeed())
}

// stopOperator ends the operator as a person would, and keeps it away.
func stopOperator(ctx context.Context) {
	GinkgoHelper()
	DeferCleanup(startOperator)
	scaleOperator(ctx, 0)
}

// killOperator ends the operator as a crash would, and keeps it away: it gets
// no chance to finish what it does or to give its lease back.
func killOperator(ctx context.Context) {
	GinkgoHelper()
	DeferCleanup(startOperator)
	pod := operatorPod(ctx)
	manager := operatorProcess(pod)
	// A held process doesn't see the SIGTERM that scaling down sends.
	Expect(syscall.Kill(manager.pid, syscall.SIGSTOP)).To(Succeed())
	scaleOperator(ctx, 0)
	await(ctx, pod, usually, "told to end", func(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil })
	if err := syscall.Kill(manager.pid, syscall.SIGKILL); !errors.Is(err, syscall.ESRCH) {
		Expect(err).NotTo(HaveOccurred())
	}
	Eventually(ctx, processesOf).WithArguments(pod.UID).Should(BeEmpty())
}
