package deadline_test

import (
	"testing"
	"time"

	"github.com/toolcall-dev/toolcall-operator/internal/core/deadline"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestTheRunClockStartsAtTheEarlierOfSeenAndReported(t *testing.T) {
	for name, tc := range map[string]struct {
		seen, kubelet, want time.Time
	}{
		"seen within the kubelet's second":      {seen: noon.Add(300 * time.Millisecond), kubelet: noon, want: noon.Add(300 * time.Millisecond)},
		"seen at the end of it":                 {seen: noon.Add(time.Second), kubelet: noon, want: noon.Add(time.Second)},
		"a slow watch gives one second at most": {seen: noon.Add(3 * time.Second), kubelet: noon, want: noon.Add(time.Second)},
		"C97 a restart gives no more":           {seen: noon.Add(time.Hour), kubelet: noon, want: noon.Add(time.Second)},
		"a node whose clock is ahead":           {seen: noon, kubelet: noon.Add(10 * time.Second), want: noon},
	} {
		t.Run(name, func(t *testing.T) {
			if got := deadline.StartedAt(tc.seen, tc.kubelet); !got.Equal(tc.want) {
				t.Errorf("StartedAt = %v, want %v", got, tc.want)
			}
			if got := deadline.EndedAt(tc.seen, tc.kubelet); !got.Equal(tc.want) {
				t.Errorf("EndedAt = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestTheDeadlineIsStartPlusTimeout(t *testing.T) {
	if got, want := deadline.At(noon, 400*time.Millisecond), noon.Add(400*time.Millisecond); !got.Equal(want) {
		t.Errorf("At = %v, want %v", got, want)
	}
	if got := deadline.At(noon, 0); !got.IsZero() {
		t.Errorf("C5: At without a limit = %v, want zero", got)
	}
}

func TestADeadlinePassesAtItsInstant(t *testing.T) {
	for name, tc := range map[string]struct {
		at, now time.Time
		want    bool
	}{
		"a nanosecond before": {at: noon, now: noon.Add(-1)},
		"at the instant":      {at: noon, now: noon, want: true},
		"after":               {at: noon, now: noon.Add(time.Hour), want: true},
		"C5 none":             {now: noon},
	} {
		t.Run(name, func(t *testing.T) {
			if got := deadline.Passed(tc.at, tc.now); got != tc.want {
				t.Errorf("Passed = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestEarliestIgnoresTimesThatAreNotSet(t *testing.T) {
	for name, tc := range map[string]struct {
		times []time.Time
		want  time.Time
	}{
		"none":         {},
		"only zero":    {times: []time.Time{{}, {}}},
		"zero and one": {times: []time.Time{{}, noon}, want: noon},
		"one and zero": {times: []time.Time{noon, {}}, want: noon},
		"out of order": {times: []time.Time{noon.Add(2), noon, noon.Add(1)}, want: noon},
		"all the same": {times: []time.Time{noon, noon}, want: noon},
	} {
		t.Run(name, func(t *testing.T) {
			if got := deadline.Earliest(tc.times...); !got.Equal(tc.want) {
				t.Errorf("Earliest = %v, want %v", got, tc.want)
			}
		})
	}
}

// A failed write or a refused request must not carry a call past its deadline.
func TestARetryNeverWaitsPastTheDeadline(t *testing.T) {
	for name, tc := range map[string]struct {
		at, want time.Time
	}{
		"far away":        {at: noon.Add(time.Hour), want: noon.Add(time.Second)},
		"a second away":   {at: noon.Add(time.Second), want: noon.Add(time.Second)},
		"near":            {at: noon.Add(30 * time.Millisecond), want: noon.Add(30 * time.Millisecond)},
		"at the deadline": {at: noon, want: noon.Add(100 * time.Millisecond)},
		"past it":         {at: noon.Add(-time.Minute), want: noon.Add(100 * time.Millisecond)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := deadline.RetryAt(tc.at, noon); !got.Equal(tc.want) {
				t.Errorf("RetryAt = %v, want %v", got, tc.want)
			}
		})
	}
}
