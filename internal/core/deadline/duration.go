// Package deadline decides which timeout is in force and when its clock runs out.
package deadline

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
)

// Max is the ceiling of any duration: one year.
const Max = 8760 * time.Hour

// format is the Gateway API format (GEP-2257), the same that the schema demands.
var format = regexp.MustCompile(`^([0-9]{1,5}(h|m|s|ms)){1,4}$`)

// Parse reads a duration in the API's format. A value that the schema would
// have refused is an error that names it.
func Parse(d v1alpha1.Duration) (time.Duration, error) {
	if !format.MatchString(string(d)) {
		return 0, fmt.Errorf("duration %q: want whole numbers of at most five digits with units h, m, s or ms, such as 1m30s", d)
	}
	// The format is a subset of Go's, and four terms of five digits can't overflow it.
	return time.ParseDuration(string(d))
}

// Format writes a duration in the API's format, in whole milliseconds. A
// fraction of a millisecond is rounded up, so that a limit is never shortened
// to 0s, which would lift it. Negative values are written as 0s.
func Format(d time.Duration) v1alpha1.Duration {
	ms := ceilMilliseconds(d)
	if ms == 0 {
		return "0s"
	}
	var b strings.Builder
	for _, unit := range []struct {
		name string
		ms   int64
	}{{"h", 3600_000}, {"m", 60_000}, {"s", 1000}, {"ms", 1}} {
		if n := ms / unit.ms; n > 0 {
			b.WriteString(strconv.FormatInt(n, 10) + unit.name)
			ms %= unit.ms
		}
	}
	return v1alpha1.Duration(b.String())
}

func ceilMilliseconds(d time.Duration) int64 {
	if d <= 0 {
		return 0
	}
	ms := d.Milliseconds()
	if d%time.Millisecond > 0 {
		ms++
	}
	return ms
}
