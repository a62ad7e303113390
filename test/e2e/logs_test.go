//go:build e2e

package e2e

import (
	"bufio"
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
)

// line is a line of a tool's output and when the node took it down.
type line struct {
	At   time.Time
	Text string
}

// listener hears what a tool prints while it prints it, so it has what the pod
// takes with it.
type listener struct {
	mu    sync.Mutex
	lines []line
	done  bool
}

// listen follows a pod's output to the end.
func (s *space) listen(ctx context.Context, pod *corev1.Pod) *listener {
	GinkgoHelper()
	var stream io.ReadCloser
	options := &corev1.PodLogOptions{Container: "tool", Follow: true, Timestamps: true}
	Eventually(ctx, func(ctx context.Context) (err error) {
		// The spec's context, not the attempt's: the stream is to last.
		stream, err = clientset.CoreV1().Pods(s.name).GetLogs(pod.Name, options).Stream(context.WithoutCancel(ctx))
		return err
	}).Should(Succeed())
	DeferCleanup(stream.Close)
	l := &listener{}
	go l.read(stream)
	return l
}

func (l *listener) read(stream io.Reader) {
	scanner := bufio.NewScanner(stream)
	for scanner.Scan() {
		l.add(scanner.Text())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done = true
}

func (l *listener) add(stamped string) {
	stamp, text, _ := strings.Cut(stamped, " ")
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return // a message of the kubelet, not of the tool
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line{At: at, Text: text})
}

// heard are the lines so far.
func (l *listener) heard() []line {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.lines)
}

// last is the last line so far.
func (l *listener) last() line {
	GinkgoHelper()
	lines := l.heard()
	Expect(lines).NotTo(BeEmpty())
	return lines[len(lines)-1]
}

// silent tells whether the output has ended.
func (l *listener) silent() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.done
}
