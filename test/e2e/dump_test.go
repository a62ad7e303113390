//go:build e2e

package e2e

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
)

// objectName is how messages name an object.
func objectName(o runtime.Object) string {
	if named, ok := o.(client.Object); ok {
		return fmt.Sprintf("%T %s", o, named.GetName())
	}
	return fmt.Sprintf("%T", o)
}

// showStatus is how messages show a call: the rest of it is long and known.
func showStatus(value any) (string, bool) {
	c, ok := value.(*v1alpha1.ToolCall)
	if !ok {
		return "", false
	}
	status, err := yaml.Marshal(c.Status)
	return fmt.Sprintf("the call %s with this status:\n%s", c.Name, status), err == nil
}

// dump shows what a failed spec left, before its namespace goes.
func (s *space) dump(ctx context.Context) {
	fmt.Fprintf(GinkgoWriter, "\nThe namespace %s:\n", s.name)
	show(ctx, "--namespace", s.name, "get", "toolbatches,toolcalls,jobs,pods", "--output", "wide")
	show(ctx, "--namespace", s.name, "get", "events.events.k8s.io")
	show(ctx, "--namespace", s.name, "get", "toolbatches,toolcalls,pods", "--output", "yaml")
	fmt.Fprintln(GinkgoWriter, "\nThe pods as they came and went:")
	for _, seen := range s.pods.all() {
		pod := seen.Object
		fmt.Fprintln(GinkgoWriter, seen.At.Format("15:04:05.000"), pod.Name, pod.Status.Phase, pod.Status.Reason,
			"deleted:", seen.Deleted, "asked to go:", pod.DeletionTimestamp, "containers:", states(pod.Status.ContainerStatuses))
	}
	fmt.Fprintln(GinkgoWriter, "\nThe calls as they came and went:")
	for _, seen := range s.calls.all() {
		c := seen.Object
		fmt.Fprintln(GinkgoWriter, seen.At.Format("15:04:05.000"), c.Name, c.Status.Phase, "deleted:", seen.Deleted, conditionNames(c.Status.Conditions))
	}
	fmt.Fprintln(GinkgoWriter, "\nThe end of the operator's log:")
	show(ctx, "--namespace", operatorNamespace, "logs", "deployment/"+operatorName, "--tail", "60")
}

func show(ctx context.Context, args ...string) {
	out, err := kubectl(ctx, "", args...)
	if err != nil {
		out = err.Error()
	}
	fmt.Fprintln(GinkgoWriter, out)
}

func states(statuses []corev1.ContainerStatus) []string {
	var texts []string
	for i := range statuses {
		state := &statuses[i].State
		switch {
		case state.Terminated != nil:
			texts = append(texts, fmt.Sprintf("%s ended with %d (%s) at %s", statuses[i].Name, state.Terminated.ExitCode, state.Terminated.Reason, state.Terminated.FinishedAt))
		case state.Running != nil:
			texts = append(texts, fmt.Sprintf("%s runs since %s", statuses[i].Name, state.Running.StartedAt))
		case state.Waiting != nil:
			texts = append(texts, fmt.Sprintf("%s waits: %s", statuses[i].Name, state.Waiting.Reason))
		}
	}
	return texts
}

func conditionNames(conditions []metav1.Condition) []string {
	var names []string
	for _, c := range conditions {
		names = append(names, fmt.Sprintf("%s=%s", c.Type, c.Status))
	}
	return names
}
