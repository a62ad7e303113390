package main

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
)

const sample = "../../config/samples/toolbatch_demo.yaml"

var began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func at(d time.Duration) *v1alpha1.MicroTime {
	return &v1alpha1.MicroTime{MicroTime: metav1.NewMicroTime(began.Add(d))}
}

// timedOut is a call whose tool ran for 5 s of its 5 s.
func timedOut() v1alpha1.ToolCall {
	return v1alpha1.ToolCall{Status: v1alpha1.ToolCallStatus{
		Phase:             v1alpha1.ToolCallTimedOut,
		StartTime:         at(-time.Second),
		CompletionTime:    at(5 * time.Second),
		Duration:          "6s",
		EffectDisposition: v1alpha1.EffectUnknown,
		Deadline:          &v1alpha1.CallDeadline{Timeout: "5s", Source: v1alpha1.SourceBatch, StartedAt: at(0)},
		Error:             &v1alpha1.CallError{Kind: v1alpha1.KindTimeout, Reason: v1alpha1.ReasonDeadlineExceeded, Message: "web timed out after 5s"},
	}}
}

func succeeded() v1alpha1.ToolCall {
	return v1alpha1.ToolCall{Status: v1alpha1.ToolCallStatus{
		Phase:     v1alpha1.ToolCallSucceeded,
		StartTime: at(5*time.Second + 40*time.Millisecond),
		Duration:  "300ms",
		Result:    &v1alpha1.CallResult{Output: "first\nsecond\n", Encoding: v1alpha1.EncodingUTF8, ExitCode: ptr.To(int32(0))},
	}}
}

func batchOf(names ...string) *v1alpha1.ToolBatch {
	b := &v1alpha1.ToolBatch{Spec: v1alpha1.ToolBatchSpec{Mode: v1alpha1.ModeSequential}}
	for _, name := range names {
		b.Status.Calls = append(b.Status.Calls, v1alpha1.BatchCallStatus{Name: name})
	}
	return b
}

func TestLoadReplacesTheToolImage(t *testing.T) {
	batch, err := load(sample, "busybox:1.37")
	if err != nil {
		t.Fatal(err)
	}
	if len(batch.Spec.Calls) != 4 {
		t.Errorf("%d calls, want 4", len(batch.Spec.Calls))
	}
	for _, call := range batch.Spec.Calls {
		if got := call.Template.Spec.Containers[0].Image; got != "busybox:1.37" {
			t.Errorf("call %s runs %s", *call.Name, got)
		}
	}
}

func TestProgressFollowsACall(t *testing.T) {
	batch, err := load(sample, "")
	if err != nil {
		t.Fatal(err)
	}
	p := newProgress(batch)[1]
	if got := strings.Fields(line(&p, began)); strings.Join(got, " ") != "fetch-page Pending" {
		t.Errorf("before it starts: %q", got)
	}
	running := timedOut()
	running.Status.Phase, running.Status.Error, running.Status.CompletionTime = v1alpha1.ToolCallRunning, nil, nil
	p.update(&running, began)
	if got := clock(&p, began.Add(2*time.Second)); strings.TrimSpace(got) != "2.0s of 5s" {
		t.Errorf("while it runs: %q", got)
	}
	ended := timedOut()
	p.update(&ended, began.Add(time.Minute))
	if got := clock(&p, began.Add(time.Hour)); strings.TrimSpace(got) != "5.0s of 5s" || p.reason != v1alpha1.ReasonDeadlineExceeded {
		t.Errorf("after its end: %q, reason %q", got, p.reason)
	}
}

func TestLinesShowChangesOnly(t *testing.T) {
	var out strings.Builder
	l := newLines(&out, began)
	calls := []progress{{name: "a", phase: v1alpha1.ToolCallPending}}
	l.Show(calls, began)
	calls[0].phase = v1alpha1.ToolCallRunning
	l.Show(calls, began.Add(time.Second))
	l.Show(calls, began.Add(2*time.Second))
	calls[0].phase = v1alpha1.ToolCallSucceeded
	l.Show(calls, began.Add(3*time.Second))
	want := "    1.0s  a              Running\n    3.0s  a              Succeeded\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func TestReportNamesEveryEnd(t *testing.T) {
	batch, calls := batchOf("hang", "quick"), []v1alpha1.ToolCall{timedOut(), succeeded()}
	var got [][]string
	for row := range strings.Lines(results(batch, calls, 40)) {
		got = append(got, strings.Fields(row))
	}
	want := []string{
		"CALL PHASE KIND REASON EFFECT EXIT DURATION OUTPUT",
		"hang TimedOut Timeout DeadlineExceeded Unknown - 6s -",
		"quick Succeeded - - - 0 300ms first",
	}
	for i, row := range want {
		if i >= len(got) || strings.Join(got[i], " ") != row {
			t.Fatalf("row %d of\n%q\nwant %q", i, got, row)
		}
	}
	if got := messages(batch, calls); strings.TrimSpace(got) != "hang           web timed out after 5s" {
		t.Errorf("messages %q", got)
	}
	if got := promptness(batch, calls); !strings.HasPrefix(got, "quick began 40ms after the verdict on hang") {
		t.Errorf("promptness %q", got)
	}
}

func TestFirstLineOfOutput(t *testing.T) {
	cases := map[string]struct {
		result *v1alpha1.CallResult
		want   string
	}{
		"none":      {nil, "-"},
		"empty":     {&v1alpha1.CallResult{}, "-"},
		"cut":       {&v1alpha1.CallResult{Output: "0123456789abc"}, "0123456…"},
		"base64":    {&v1alpha1.CallResult{Output: "aGkK", Encoding: v1alpha1.EncodingBase64}, "hi"},
		"escapes":   {&v1alpha1.CallResult{Output: "\x1b[2Ja\tb"}, "?[2Ja?b"},
		"two lines": {&v1alpha1.CallResult{Output: "one\ntwo"}, "one"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := firstLine(tc.result, 8); got != tc.want {
				t.Errorf("firstLine() = %q, want %q", got, tc.want)
			}
		})
	}
}
