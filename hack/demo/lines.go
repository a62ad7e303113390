package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
)

// lines prints a line for each change, for logs and for NO_COLOR.
type lines struct {
	out   io.Writer
	began time.Time
	shown map[string]v1alpha1.ToolCallPhase
}

func newLines(out io.Writer, began time.Time) *lines {
	return &lines{out: out, began: began, shown: map[string]v1alpha1.ToolCallPhase{}}
}

// Show implements display.
func (l *lines) Show(calls []progress, now time.Time) {
	for i := range calls {
		call := &calls[i]
		last, known := l.shown[call.name]
		if call.phase == last || (!known && call.phase == v1alpha1.ToolCallPending) {
			continue
		}
		l.shown[call.name] = call.phase
		text := fmt.Sprintf("  %5.1fs  %-14s %-10s %-14s %s", now.Sub(l.began).Seconds(), call.name, call.phase, clock(call, now), call.reason)
		fmt.Fprintln(l.out, strings.TrimRight(text, " "))
	}
}

// Close implements display.
func (l *lines) Close() {}
