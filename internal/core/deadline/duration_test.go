package deadline_test

import (
	"testing"
	"time"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/deadline"
)

// longest is the longest duration that the API can express in one unit.
const longest = 99999 * time.Hour

func TestParseTakesTheAPIFormatAndNothingElse(t *testing.T) {
	for name, tc := range map[string]struct {
		input     v1alpha1.Duration
		want      time.Duration
		wantError bool
	}{
		"C5 zero":                        {input: "0s", want: 0},
		"zero in another unit":           {input: "0ms", want: 0},
		"B017 one millisecond":           {input: "1ms", want: time.Millisecond},
		"C30 B017 400ms":                 {input: "400ms", want: 400 * time.Millisecond},
		"B017 999ms":                     {input: "999ms", want: 999 * time.Millisecond},
		"B017 one second":                {input: "1s", want: time.Second},
		"all units":                      {input: "1h2m3s4ms", want: time.Hour + 2*time.Minute + 3*time.Second + 4*time.Millisecond},
		"a unit twice":                   {input: "1h1h", want: 2 * time.Hour},
		"smaller unit first":             {input: "1s1m", want: 61 * time.Second},
		"leading zeros":                  {input: "00007s", want: 7 * time.Second},
		"C26 the longest of one unit":    {input: "99999h", want: longest},
		"the longest of all":             {input: "99999h99999h99999h99999h", want: 4 * longest},
		"C26 six digits":                 {input: "100000h", wantError: true},
		"five terms":                     {input: "1h1m1s1ms1h", wantError: true},
		"C29 B017 a fraction":            {input: "1.5s", wantError: true},
		"B017 leading blanks":            {input: "  5s", wantError: true},
		"trailing blank":                 {input: "5s ", wantError: true},
		"trailing line feed":             {input: "5s\n", wantError: true},
		"C29 B017 no unit":               {input: "5", wantError: true},
		"B017 days":                      {input: "1d", wantError: true},
		"C25 B017 a negative term":       {input: "1h-1s", wantError: true},
		"C25 negative":                   {input: "-5s", wantError: true},
		"signed":                         {input: "+5s", wantError: true},
		"empty":                          {input: "", wantError: true},
		"unit alone":                     {input: "s", wantError: true},
		"C29 not a number":               {input: "NaN", wantError: true},
		"C29 a boolean":                  {input: "true", wantError: true},
		"microseconds":                   {input: "5us", wantError: true},
		"upper case":                     {input: "5S", wantError: true},
		"digits of another script":       {input: "٥s", wantError: true},
		"exponent":                       {input: "1e3s", wantError: true},
		"bare zero, which Go would take": {input: "0", wantError: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := deadline.Parse(tc.input)
			if (err != nil) != tc.wantError || got != tc.want {
				t.Errorf("Parse(%q) = %v, %v, want %v, error: %v", tc.input, got, err, tc.want, tc.wantError)
			}
		})
	}
}

func TestFormatWritesTheAPIFormat(t *testing.T) {
	for name, tc := range map[string]struct {
		input time.Duration
		want  v1alpha1.Duration
	}{
		"zero":                             {input: 0, want: "0s"},
		"negative":                         {input: -time.Second, want: "0s"},
		"C30 milliseconds":                 {input: 400 * time.Millisecond, want: "400ms"},
		"seconds":                          {input: 30 * time.Second, want: "30s"},
		"minutes and seconds":              {input: 90 * time.Second, want: "1m30s"},
		"a whole minute":                   {input: time.Minute, want: "1m"},
		"no fraction":                      {input: 1500 * time.Millisecond, want: "1s500ms"},
		"the default":                      {input: deadline.DefaultTimeout, want: "7m"},
		"all units":                        {input: 26*time.Hour + time.Minute + time.Second + time.Millisecond, want: "26h1m1s1ms"},
		"C26 the ceiling":                  {input: deadline.Max, want: "8760h"},
		"a nanosecond is not no limit":     {input: 1, want: "1ms"},
		"a fraction rounds up":             {input: time.Millisecond + 1, want: "2ms"},
		"a fraction carries":               {input: time.Second - 1, want: "1s"},
		"a fraction of a long time":        {input: 1000*time.Hour + 1, want: "1000h1ms"},
		"a fraction of nearly the longest": {input: deadline.Max - time.Millisecond + 1, want: "8760h"},
		"a fraction beyond the ceiling":    {input: deadline.Max + 1, want: "8760h1ms"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := deadline.Format(tc.input); got != tc.want {
				t.Errorf("Format(%d ns) = %q, want %q", tc.input, got, tc.want)
			}
		})
	}
}

// FuzzParse: whatever is accepted is a limit that is written back as itself.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"0s", "1ms", "400ms", "999ms", "1s", "1.5s", "  5s", "5", "1d", "1h-1s", "-1s", "", "NaN", "true",
		"1h2m3s4ms", "1h1h1h1h", "99999h99999m99999s99999ms", "99999h99999h99999h99999h", "100000s", "0h0m", "00001ms", "1s\n", "١s",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := deadline.Parse(v1alpha1.Duration(text))
		if err != nil {
			return
		}
		if got < 0 || got > 4*longest || got%time.Millisecond != 0 {
			t.Fatalf("Parse(%q) = %v, want whole milliseconds, not negative, that don't overflow", text, got)
		}
		if got > longest {
			return
		}
		written := deadline.Format(got)
		if again, err := deadline.Parse(written); err != nil || again != got {
			t.Fatalf("Parse(%q) = %v is written as %q, which reads %v, %v", text, got, written, again, err)
		}
	})
}

// FuzzFormat: what is written reads as the same length of time, rounded up to
// milliseconds.
func FuzzFormat(f *testing.F) {
	for _, seed := range []int64{-1, 0, 1, 999_999, 1_000_000, 1_000_001, 1_500_000_000, int64(deadline.DefaultTimeout), int64(deadline.Max), int64(longest)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, ns int64) {
		d := time.Duration(ns)
		if d > deadline.Max {
			return
		}
		want := time.Duration(0)
		if d > 0 {
			want = (d + time.Millisecond - 1).Truncate(time.Millisecond)
		}
		written := deadline.Format(d)
		if got, err := deadline.Parse(written); err != nil || got != want {
			t.Fatalf("Format(%d ns) = %q, which reads %v, %v, want %v", ns, written, got, err, want)
		}
	})
}
