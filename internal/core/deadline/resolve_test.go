package deadline_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/deadline"
)

func TestResolveTakesTheStrongestLayerThatIsSet(t *testing.T) {
	seconds := func(n int) *time.Duration { return new(time.Duration(n) * time.Second) }
	for name, tc := range map[string]struct {
		layers deadline.Layers
		want   deadline.Resolved
	}{
		"C16 nothing is set":                     {want: deadline.Resolved{Timeout: 420 * time.Second, Source: v1alpha1.SourceDefault}},
		"C14 only the batch":                     {layers: deadline.Layers{Batch: seconds(2)}, want: deadline.Resolved{Timeout: 2 * time.Second, Source: v1alpha1.SourceBatch}},
		"only the call":                          {layers: deadline.Layers{Call: seconds(5)}, want: deadline.Resolved{Timeout: 5 * time.Second, Source: v1alpha1.SourceCall}},
		"C35 the call beats a shorter batch":     {layers: deadline.Layers{Call: seconds(120), Batch: seconds(5)}, want: deadline.Resolved{Timeout: 120 * time.Second, Source: v1alpha1.SourceCall}},
		"the call beats a longer batch":          {layers: deadline.Layers{Call: seconds(5), Batch: seconds(120)}, want: deadline.Resolved{Timeout: 5 * time.Second, Source: v1alpha1.SourceCall}},
		"C24 0 of the call stands":               {layers: deadline.Layers{Call: seconds(0), Batch: seconds(5)}, want: deadline.Resolved{Source: v1alpha1.SourceCall}},
		"C24 0 of the batch stands":              {layers: deadline.Layers{Batch: seconds(0)}, want: deadline.Resolved{Source: v1alpha1.SourceBatch}},
		"the call limits what the batch doesn't": {layers: deadline.Layers{Call: seconds(5), Batch: seconds(0)}, want: deadline.Resolved{Timeout: 5 * time.Second, Source: v1alpha1.SourceCall}},
		"C26 the call is held to a year":         {layers: deadline.Layers{Call: new(longest)}, want: deadline.Resolved{Timeout: 8760 * time.Hour, Source: v1alpha1.SourceCall}},
		"C26 the batch is held to a year":        {layers: deadline.Layers{Batch: new(longest)}, want: deadline.Resolved{Timeout: 8760 * time.Hour, Source: v1alpha1.SourceBatch}},
		"a year is allowed":                      {layers: deadline.Layers{Call: new(deadline.Max)}, want: deadline.Resolved{Timeout: 8760 * time.Hour, Source: v1alpha1.SourceCall}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, deadline.Resolve(tc.layers)); diff != "" {
				t.Errorf("Resolve (-want +got):\n%s", diff)
			}
		})
	}
}

func TestResolveCallReadsTheLayersFromTheCall(t *testing.T) {
	text := func(d v1alpha1.Duration) *v1alpha1.Duration { return &d }
	batch := func(d v1alpha1.Duration) *v1alpha1.Inherited { return &v1alpha1.Inherited{CallTimeout: text(d)} }
	for name, tc := range map[string]struct {
		spec        v1alpha1.ToolCallSpec
		wantTimeout time.Duration
		wantSource  v1alpha1.TimeoutSource
	}{
		"C16 nothing is set":               {wantTimeout: 420 * time.Second, wantSource: v1alpha1.SourceDefault},
		"C16 a batch that says nothing":    {spec: v1alpha1.ToolCallSpec{Inherited: &v1alpha1.Inherited{}}, wantTimeout: 420 * time.Second, wantSource: v1alpha1.SourceDefault},
		"C30 400ms":                        {spec: v1alpha1.ToolCallSpec{Timeout: text("400ms")}, wantTimeout: 400 * time.Millisecond, wantSource: v1alpha1.SourceCall},
		"C5 C24 0s of the call":            {spec: v1alpha1.ToolCallSpec{Timeout: text("0s"), Inherited: batch("5s")}, wantSource: v1alpha1.SourceCall},
		"C24 0s of the batch":              {spec: v1alpha1.ToolCallSpec{Inherited: batch("0s")}, wantSource: v1alpha1.SourceBatch},
		"C14 the batch":                    {spec: v1alpha1.ToolCallSpec{Inherited: batch("2s")}, wantTimeout: 2 * time.Second, wantSource: v1alpha1.SourceBatch},
		"C26 99999h":                       {spec: v1alpha1.ToolCallSpec{Timeout: text("99999h")}, wantTimeout: deadline.Max, wantSource: v1alpha1.SourceCall},
		"C26 the longest of all":           {spec: v1alpha1.ToolCallSpec{Timeout: text("99999h99999h99999h99999h")}, wantTimeout: deadline.Max, wantSource: v1alpha1.SourceCall},
		"what does not parse is no answer": {spec: v1alpha1.ToolCallSpec{Timeout: text("1.5s")}, wantTimeout: 420 * time.Second, wantSource: v1alpha1.SourceDefault},
	} {
		t.Run(name, func(t *testing.T) {
			want := deadline.Resolved{Timeout: tc.wantTimeout, Source: tc.wantSource}
			if diff := cmp.Diff(want, deadline.ResolveCall(&tc.spec)); diff != "" {
				t.Errorf("ResolveCall (-want +got):\n%s", diff)
			}
		})
	}
}

func TestInitialBackstopCoversStartAndRun(t *testing.T) {
	for name, tc := range map[string]struct {
		start, run time.Duration
		want       *int64
	}{
		"sum of both":                  {start: 5 * time.Minute, run: 30 * time.Second, want: new(int64(330))},
		"B017 1ms and 1ms round up":    {start: time.Millisecond, run: time.Millisecond, want: new(int64(1))},
		"B017 400ms rounds up":         {start: 5 * time.Minute, run: 400 * time.Millisecond, want: new(int64(301))},
		"B017 999ms rounds up":         {start: 5 * time.Minute, run: 999 * time.Millisecond, want: new(int64(301))},
		"whole seconds are not raised": {start: 5 * time.Minute, run: time.Second, want: new(int64(301))},
		"C5 no run limit":              {start: 5 * time.Minute, run: 0, want: nil},
		"no start limit":               {start: 0, run: 30 * time.Second, want: nil},
		"two years":                    {start: deadline.Max, run: deadline.Max, want: new(int64(2 * 8760 * 3600))},
		"beyond what the API takes":    {start: longest, run: 10 * longest, want: new(int64(math.MaxInt32))},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, deadline.InitialBackstop(tc.start, tc.run)); diff != "" {
				t.Errorf("InitialBackstop (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBackstopEndsOneSecondAfterTheDeadline(t *testing.T) {
	podStart := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		podStart, deadlineAt time.Time
		want                 *int64
	}{
		"start of the tool, its time and a second":  {podStart: podStart, deadlineAt: podStart.Add(35 * time.Second), want: new(int64(36))},
		"fractions round up":                        {podStart: podStart, deadlineAt: podStart.Add(35*time.Second + time.Microsecond), want: new(int64(37))},
		"B017 400ms":                                {podStart: podStart, deadlineAt: podStart.Add(400 * time.Millisecond), want: new(int64(2))},
		"B017 never 0: deadline at the pod's start": {podStart: podStart, deadlineAt: podStart.Add(-time.Second), want: new(int64(1))},
		"B017 never negative":                       {podStart: podStart, deadlineAt: podStart.Add(-time.Hour), want: new(int64(1))},
		"never beyond what the API takes":           {podStart: podStart, deadlineAt: podStart.Add(10 * longest), want: new(int64(math.MaxInt32))},
		"C5 no deadline":                            {podStart: podStart},
		"the kubelet has not seen the pod":          {deadlineAt: podStart},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, deadline.Backstop(tc.podStart, tc.deadlineAt)); diff != "" {
				t.Errorf("Backstop (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzBackstop: whatever the limits, the API takes the value, and the kubelet
// does not fire before the deadline.
func FuzzBackstop(f *testing.F) {
	f.Add(int64(0), int64(0))
	f.Add(int64(time.Millisecond), int64(time.Millisecond))
	f.Add(int64(deadline.Max), int64(deadline.Max))
	f.Add(int64(5*time.Minute), int64(400*time.Millisecond))
	f.Fuzz(func(t *testing.T, a, b int64) {
		start, run := time.Duration(a), time.Duration(b)
		if start < 0 || run < 0 || start > deadline.Max || run > deadline.Max {
			return
		}
		podStart := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		deadlineAt := podStart.Add(start + run)
		for name, got := range map[string]*int64{
			"InitialBackstop": deadline.InitialBackstop(start, run),
			"Backstop":        deadline.Backstop(podStart, deadlineAt),
		} {
			if got == nil {
				if name == "Backstop" || start != 0 && run != 0 {
					t.Errorf("%s(%v, %v) = nil", name, start, run)
				}
				continue
			}
			fires := podStart.Add(time.Duration(*got) * time.Second)
			if *got < 1 || *got > math.MaxInt32 || fires.Before(deadlineAt.Truncate(time.Millisecond)) {
				t.Errorf("%s(%v, %v) = %d, want 1..2^31-1 and not before the deadline", name, start, run, *got)
			}
		}
	})
}

func TestABackstopIsOnlyEverLowered(t *testing.T) {
	for name, tc := range map[string]struct {
		have, want *int64
		wantLowers bool
	}{
		"lower":          {have: new(int64(330)), want: new(int64(31)), wantLowers: true},
		"equal":          {have: new(int64(31)), want: new(int64(31))},
		"higher":         {have: new(int64(30)), want: new(int64(31))},
		"first":          {want: new(int64(31)), wantLowers: true},
		"C5 no backstop": {have: new(int64(330))},
		"C5 none at all": {},
	} {
		t.Run(name, func(t *testing.T) {
			if got := deadline.Lowers(tc.have, tc.want); got != tc.wantLowers {
				t.Errorf("Lowers = %v, want %v", got, tc.wantLowers)
			}
		})
	}
}
