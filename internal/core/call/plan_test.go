package call_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/call"
	"github.com/toolcall-dev/toolcall-operator/internal/core/deadline"
)

func TestNewPlanResolvesTheLimitsOnce(t *testing.T) {
	d := v1alpha1.Duration("30s")
	want := call.Plan{Timeout: 30 * time.Second, Source: v1alpha1.SourceCall, StartTimeout: 5 * time.Minute, SubmittedAt: noon}
	got := call.NewPlan(&v1alpha1.ToolCallSpec{Timeout: &d}, noon)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("NewPlan (-want +got):\n%s", diff)
	}
	if got.StartBy() != noon.Add(5*time.Minute) {
		t.Errorf("StartBy = %v, want 5 minutes after the submission", got.StartBy())
	}
}

func TestAPlanWithoutAStartLimitNeverExpires(t *testing.T) {
	if got := (call.Plan{SubmittedAt: noon}).StartBy(); !got.IsZero() {
		t.Errorf("StartBy = %v, want zero", got)
	}
}

func TestAPlanIsWrittenAsPeopleWriteIt(t *testing.T) {
	plan := call.Plan{Timeout: 1500 * time.Millisecond, Source: v1alpha1.SourceBatch, StartTimeout: 5 * time.Minute,
		SubmittedAt: time.Date(2026, 3, 1, 14, 0, 0, 123456789, time.FixedZone("", 7200))}
	const want = `{"timeout":"1s500ms","source":"Batch","startTimeout":"5m","submittedAt":"2026-03-01T12:00:00.123456789Z"}`
	text, err := json.Marshal(plan)
	if err != nil || string(text) != want {
		t.Fatalf("Marshal = %s, %v, want %s", text, err, want)
	}
	var read call.Plan
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(plan, read); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
}

func TestABrokenPlanIsRefused(t *testing.T) {
	for name, text := range map[string]string{
		"empty":          "",
		"not an object":  `"30s"`,
		"no times":       `{}`,
		"a fraction":     `{"timeout":"1.5s","startTimeout":"5m","submittedAt":"2026-03-01T12:00:00Z"}`,
		"negative":       `{"timeout":"-1s","startTimeout":"5m","submittedAt":"2026-03-01T12:00:00Z"}`,
		"a number":       `{"timeout":30,"startTimeout":"5m","submittedAt":"2026-03-01T12:00:00Z"}`,
		"no start limit": `{"timeout":"30s","submittedAt":"2026-03-01T12:00:00Z"}`,
		"no real time":   `{"timeout":"30s","startTimeout":"5m","submittedAt":"noon"}`,
	} {
		t.Run(name, func(t *testing.T) {
			var plan call.Plan
			if err := json.Unmarshal([]byte(text), &plan); err == nil {
				t.Errorf("Unmarshal(%s) = %+v, want an error", text, plan)
			}
		})
	}
}

// FuzzPlan: what a Job carries is read as it was meant.
func FuzzPlan(f *testing.F) {
	for _, seed := range []int64{0, 1, 400, 999, 1000, 420_000, deadline.Max.Milliseconds()} {
		f.Add(seed, seed/2, int64(1_772_366_400_123_456_789), "Call")
	}
	f.Fuzz(func(t *testing.T, timeout, startTimeout, submittedAt int64, source string) {
		limit := deadline.Max.Milliseconds() + 1
		plan := call.Plan{
			Timeout:      time.Duration(mod(timeout, limit)) * time.Millisecond,
			StartTimeout: time.Duration(mod(startTimeout, limit)) * time.Millisecond,
			Source:       v1alpha1.TimeoutSource(source),
			SubmittedAt:  time.Unix(0, submittedAt),
		}
		text, err := json.Marshal(plan)
		if err != nil {
			t.Fatal(err)
		}
		var read call.Plan
		if err := json.Unmarshal(text, &read); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		read.Source = plan.Source // JSON replaces what is not UTF-8
		if diff := cmp.Diff(plan, read); diff != "" {
			t.Fatalf("%s is read differently (-want +got):\n%s", text, diff)
		}
	})
}

// FuzzReadPlan: an annotation that someone edited is refused, or holds limits
// that are not negative.
func FuzzReadPlan(f *testing.F) {
	f.Add(`{"timeout":"30s","source":"Call","startTimeout":"5m","submittedAt":"2026-03-01T12:00:00Z"}`)
	f.Add(`{"timeout":"0s","source":"","startTimeout":"99999h","submittedAt":"0001-01-01T00:00:00Z"}`)
	f.Add(`{"timeout":"-5s"}`)
	f.Add(`null`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, text string) {
		var plan call.Plan
		if err := json.Unmarshal([]byte(text), &plan); err != nil {
			return
		}
		if plan.Timeout < 0 || plan.StartTimeout < 0 {
			t.Fatalf("Unmarshal(%q) = %+v, want no negative limit", text, plan)
		}
	})
}

// mod is a remainder that is never negative.
func mod(n, limit int64) int64 {
	return (n%limit + limit) % limit
}
