package outcome_test

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/deadline"
	"github.com/toolcall-dev/toolcall-operator/internal/core/outcome"
)

// facts of a tool that ran for 2.5 s of its 30 s and exited with code 3.
func facts() outcome.Circumstances {
	return outcome.Circumstances{
		Tool:         "web-search",
		Ran:          2500 * time.Millisecond,
		Resolved:     deadline.Resolved{Timeout: 30 * time.Second, Source: v1alpha1.SourceCall},
		StartTimeout: 5 * time.Minute,
		ExitCode:     3,
	}
}

func TestMessageSaysWhatHappenedAndWhetherTheEffectIsKnown(t *testing.T) {
	never := facts()
	never.Ran = 0
	for name, tc := range map[string]struct {
		verdict outcome.Verdict
		facts   outcome.Circumstances
		want    string
	}{
		"C3 timeout": {
			verdict: *timedOut, facts: facts(),
			want: "web-search timed out after 30s (limit from Call); its effect is unknown",
		},
		"B021 no start": {
			verdict: *notStarted("Unschedulable 0/1 nodes", v1alpha1.EffectNone), facts: never,
			want: "web-search did not start within 5m: Unschedulable 0/1 nodes; it never ran, so it had no effect",
		},
		"C13 exit code": {
			verdict: *exitCode, facts: facts(),
			want: "web-search failed with exit code 3 after 2s500ms",
		},
		"out of memory": {
			verdict: outcome.Verdict{Reason: v1alpha1.ReasonOOMKilled, Effect: v1alpha1.EffectUnknown}, facts: facts(),
			want: "web-search was killed after 2s500ms: it exceeded its memory limit; its effect is unknown",
		},
		"B063 evicted": {
			verdict: *lost(v1alpha1.ReasonEvicted, "The node was low on resource: memory.", v1alpha1.EffectUnknown), facts: facts(),
			want: "web-search was evicted after 2s500ms: The node was low on resource: memory.; its effect is unknown",
		},
		"preempted before it ran": {
			verdict: *lost(v1alpha1.ReasonPreempted, "", v1alpha1.EffectNone), facts: never,
			want: "web-search was preempted; it never ran, so it had no effect",
		},
		"lost": {
			verdict: *lost(v1alpha1.ReasonPodLost, "its pod is gone", v1alpha1.EffectUnknown), facts: never,
			want: "web-search was lost: its pod is gone; its effect is unknown",
		},
		"start failed": {
			verdict: *lost(v1alpha1.ReasonStartFailed, "no such file", v1alpha1.EffectNone), facts: never,
			want: "web-search could not start: no such file; it never ran, so it had no effect",
		},
		"refused": {
			verdict: outcome.Verdict{Reason: v1alpha1.ReasonAdmissionRejected, Effect: v1alpha1.EffectNone, Detail: "exceeded quota"}, facts: never,
			want: "web-search could not be submitted: exceeded quota; it never ran, so it had no effect",
		},
		"too large": {
			verdict: outcome.Verdict{Reason: v1alpha1.ReasonSpecTooLarge, Effect: v1alpha1.EffectNone, Detail: "spec is 9 bytes"}, facts: never,
			want: "web-search was refused: spec is 9 bytes; it never ran, so it had no effect",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.verdict.Message(tc.facts)); diff != "" {
				t.Errorf("Message (-want +got):\n%s", diff)
			}
		})
	}
}

// What the cluster says is foreign text: whatever it holds, the message stays
// one printable line.
func TestMessageIsOneLineWhateverTheClusterSays(t *testing.T) {
	const hostile = "line one\r\nline\ttwo\x00\x1b[31mred\u2028and\u0085so\xff on"
	for name, attempt := range map[string]outcome.Attempt{
		"disruption": attempt(func(a *outcome.Attempt) {
			a.Pod.Disruption = &outcome.Disruption{Reason: v1alpha1.ReasonEvicted, Message: hostile}
		}),
		"start failed": starting(neverBegan, func(a *outcome.Attempt) { a.Pod.Tool.Message = hostile }),
		"image":        starting(waiting("InvalidImageName", hostile)),
		"init container": starting(func(a *outcome.Attempt) {
			a.Pod.InitFailed = &outcome.Container{Name: "setup", State: outcome.Terminated, ExitCode: 1, Message: hostile}
		}),
		"pod failed":    starting(waiting("", ""), podFailed(hostile, hostile)),
		"Job failed":    starting(noPod, func(a *outcome.Attempt) { a.Job.Failed, a.Job.Message = true, hostile }),
		"unschedulable": starting(func(a *outcome.Attempt) { a.Pod.Unschedulable = hostile }, now(at(300))),
		"waiting":       starting(waiting("ImagePullBackOff", hostile), now(at(300))),
	} {
		t.Run(name, func(t *testing.T) {
			verdict := outcome.Classify(attempt)
			if verdict == nil {
				t.Fatal("Classify = nil, want a verdict")
			}
			message := verdict.Message(facts())
			wantOneLine(t, message)
			if !strings.Contains(message, "line one line two") {
				t.Errorf("message %q lost what the cluster said", message)
			}
		})
	}
}

// No reason of this API leaves a message without words.
func TestMessageIsNeverEmpty(t *testing.T) {
	for _, reason := range []string{
		v1alpha1.ReasonDeadlineExceeded, v1alpha1.ReasonStartDeadlineExceeded, v1alpha1.ReasonExitCode, v1alpha1.ReasonOOMKilled,
		v1alpha1.ReasonEvicted, v1alpha1.ReasonPreempted, v1alpha1.ReasonPodLost, v1alpha1.ReasonStartFailed, v1alpha1.ReasonInitFailed,
		v1alpha1.ReasonNameConflict, v1alpha1.ReasonSpecTooLarge, v1alpha1.ReasonInvalidTemplate, v1alpha1.ReasonAdmissionRejected,
	} {
		verdict := outcome.Verdict{Kind: v1alpha1.KindError, Reason: reason}
		message := verdict.Message(outcome.Circumstances{Tool: "tool"})
		wantOneLine(t, message)
		if len(message) < len("tool was lost") || strings.HasSuffix(message, ": ") {
			t.Errorf("message of %s = %q, want a sentence", reason, message)
		}
	}
}

func TestWaitsForNamesWhatTheStartWaitsFor(t *testing.T) {
	for name, tc := range map[string]struct {
		pod  *outcome.Pod
		want outcome.Wait
	}{
		"no pod":               {want: outcome.Wait{Reason: v1alpha1.ReasonPodMissing, Message: "the Job has no pod yet"}},
		"B021 no node fits":    {pod: &outcome.Pod{Unschedulable: "Unschedulable 0/1 nodes"}, want: outcome.Wait{Reason: "Unschedulable", Message: "Unschedulable 0/1 nodes", Notable: true}},
		"B023 no image":        {pod: &outcome.Pod{Node: "n", Tool: outcome.Container{Reason: "ImagePullBackOff", Message: "Back-off"}}, want: outcome.Wait{Reason: "ImagePullBackOff", Message: "ImagePullBackOff: Back-off", Notable: true}},
		"no message":           {pod: &outcome.Pod{Node: "n", Tool: outcome.Container{Reason: "CrashLoopBackOff"}}, want: outcome.Wait{Reason: "CrashLoopBackOff", Message: "CrashLoopBackOff", Notable: true}},
		"B158 init containers": {pod: &outcome.Pod{Node: "n", Initializing: "proxy", Tool: outcome.Container{Reason: "PodInitializing"}}, want: outcome.Wait{Reason: "PodInitializing", Message: "init container proxy has not finished"}},
		"no node yet":          {pod: &outcome.Pod{}, want: outcome.Wait{Reason: v1alpha1.ReasonPodPending, Message: "the pod waits for a node"}},
		"being created":        {pod: &outcome.Pod{Node: "n", Tool: outcome.Container{Reason: "ContainerCreating"}}, want: outcome.Wait{Reason: v1alpha1.ReasonPodPending, Message: "the pod's containers are being created"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, outcome.WaitsFor(tc.pod)); diff != "" {
				t.Errorf("WaitsFor (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzOneLine: foreign text becomes one printable line of bounded length, and
// text that is fit already stays.
func FuzzOneLine(f *testing.F) {
	for _, seed := range []string{
		"", " ", "plain", "two\nlines", "\r\n\t\x00\x07", "\x1b[31mred\x1b[0m", "\xff\xfe\x00\x80", "a\u2028b\u2029c\u0085d",
		strings.Repeat("x", 512), strings.Repeat("x", 513), strings.Repeat("x", 511) + "é", strings.Repeat("界", 400), "�",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := outcome.OneLine(text)
		wantOneLine(t, got)
		if len(got) > 512+len("…") {
			t.Fatalf("OneLine gave %d bytes", len(got))
		}
		if again := outcome.OneLine(got); len(got) <= 512 && again != got {
			t.Fatalf("OneLine(%q) = %q, want it unchanged", got, again)
		}
	})
}

func wantOneLine(t *testing.T, text string) {
	t.Helper()
	if !utf8.ValidString(text) || strings.TrimSpace(text) != text {
		t.Errorf("%q is not valid UTF-8, or has blanks around it", text)
	}
	for _, r := range text {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			t.Errorf("%q has the control character %q", text, r)
		}
	}
}
