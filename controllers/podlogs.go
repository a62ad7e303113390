package controllers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// LogReader reads the head of a container's log, at most limit bytes of it.
type LogReader interface {
	Head(ctx context.Context, pod types.NamespacedName, container string, limit int64) ([]byte, error)
}

// PodLogs reads logs through the API server.
type PodLogs struct {
	Client kubernetes.Interface
}

// Head implements LogReader.
func (l PodLogs) Head(ctx context.Context, pod types.NamespacedName, container string, limit int64) ([]byte, error) {
	options := &corev1.PodLogOptions{Container: container, LimitBytes: &limit}
	head, err := l.Client.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, options).DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("log of container %s in pod %s: %w", container, pod, err)
	}
	return head, nil
}
