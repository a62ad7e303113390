//go:build e2e

package e2e

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
)

// tool is a pod template whose first container is the tool.
type tool struct{ corev1.PodTemplateSpec }

// command is a tool that runs a program of the test image.
func command(args ...string) tool {
	container := corev1.Container{Name: "tool", Image: toolImage(), Command: args}
	return tool{corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{container}}}}
}

// shell is a tool that runs a script.
func shell(script string) tool {
	return command("sh", "-c", script)
}

// hung is a tool that never ends and ignores SIGTERM, with a grace of a second.
func hung() tool {
	return shell(`trap "" TERM; while :; do sleep 1; done`).withGrace(1)
}

// beating is hung, and prints a number every second.
func beating() tool {
	return shell(`trap "" TERM; i=0; while :; do i=$((i+1)); echo $i; sleep 1; done`).withGrace(1)
}

// withGrace sets how long the tool has to end after SIGTERM.
func (t tool) withGrace(seconds int64) tool {
	return t.with(func(spec *corev1.PodSpec) { spec.TerminationGracePeriodSeconds = &seconds })
}

// with edits a copy of the tool's pod.
func (t tool) with(edit func(*corev1.PodSpec)) tool {
	edited := tool{*t.DeepCopy()}
	edit(&edited.Spec)
	return edited
}

func (t tool) template() v1alpha1.ToolTemplate {
	return v1alpha1.ToolTemplate{PodTemplateSpec: t.PodTemplateSpec}
}

// callBuilder makes a ToolCall.
type callBuilder struct{ object *v1alpha1.ToolCall }

func call(t tool) callBuilder {
	return callBuilder{&v1alpha1.ToolCall{
		ObjectMeta: metav1.ObjectMeta{Name: "call"},
		Spec:       v1alpha1.ToolCallSpec{Template: t.template()},
	}}
}

func (b callBuilder) named(format string, args ...any) callBuilder {
	b.object.Name = fmt.Sprintf(format, args...)
	return b
}

func (b callBuilder) timeout(limit v1alpha1.Duration) callBuilder {
	b.object.Spec.Timeout = &limit
	return b
}

func (b callBuilder) ttl(seconds int32) callBuilder {
	b.object.Spec.TTLSecondsAfterFinished = &seconds
	return b
}

// memberBuilder makes one call of a batch.
type memberBuilder struct{ call v1alpha1.BatchCall }

func member(name string, t tool) memberBuilder {
	return memberBuilder{v1alpha1.BatchCall{Name: &name, Template: t.template()}}
}

func (b memberBuilder) timeout(limit v1alpha1.Duration) memberBuilder {
	b.call.Timeout = &limit
	return b
}

// batchBuilder makes a ToolBatch.
type batchBuilder struct{ object *v1alpha1.ToolBatch }

func batch(mode v1alpha1.BatchMode, members ...memberBuilder) batchBuilder {
	b := batchBuilder{&v1alpha1.ToolBatch{
		ObjectMeta: metav1.ObjectMeta{Name: "batch"},
		Spec:       v1alpha1.ToolBatchSpec{Mode: mode},
	}}
	for _, m := range members {
		b.object.Spec.Calls = append(b.object.Spec.Calls, m.call)
	}
	return b
}

func sequential(members ...memberBuilder) batchBuilder {
	return batch(v1alpha1.ModeSequential, members...)
}

// concurrent starts all its calls at once.
func concurrent(members ...memberBuilder) batchBuilder {
	b := batch(v1alpha1.ModeConcurrent, members...)
	b.object.Spec.MaxParallel = int32(max(len(members), 1))
	return b
}

func (b batchBuilder) named(format string, args ...any) batchBuilder {
	b.object.Name = fmt.Sprintf(format, args...)
	return b
}

func (b batchBuilder) callTimeout(limit v1alpha1.Duration) batchBuilder {
	b.object.Spec.CallTimeout = &limit
	return b
}
