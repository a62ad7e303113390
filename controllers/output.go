package controllers

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/outcome"
	"github.com/toolcall-dev/toolcall-operator/internal/core/output"
)

// readOutput is what a tool wrote: its termination message, else the head of
// its log. Output that can't be read in time never fails a call.
func readOutput(ctx context.Context, logs LogReader, namespace string, pod *outcome.Pod, timeout time.Duration) *v1alpha1.CallResult {
	if pod.Tool.State == outcome.Terminated && pod.Tool.Message != "" {
		return output.FromTerminationMessage(pod.Tool.Message, output.DefaultMaxBytes)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	name := types.NamespacedName{Namespace: namespace, Name: pod.Name}
	head, err := logs.Head(ctx, name, pod.Tool.Name, output.LogLimit(output.DefaultMaxBytes))
	if err != nil {
		log.FromContext(ctx).Info("Could not read the output", "error", err.Error())
		return output.Unavailable()
	}
	return output.FromLog(head, output.DefaultMaxBytes)
}
