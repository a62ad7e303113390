package deadline

import (
	"math"
	"time"
)

// backstopMargin keeps the kubelet from firing before the operator does.
const backstopMargin = time.Second

// InitialBackstop is the activeDeadlineSeconds that a pod starts with, so that
// the kubelet stops it even if the operator never comes back: the longest it
// may take to start and to run. Without either limit there is none: it is set
// once the tool container runs.
func InitialBackstop(startTimeout, timeout time.Duration) *int64 {
	if startTimeout == 0 || timeout == 0 {
		return nil
	}
	return seconds(startTimeout + timeout)
}

// Backstop is the activeDeadlineSeconds of a pod whose tool container runs. The
// kubelet counts from podStart, its acknowledgement of the pod. Nil without a
// deadline.
func Backstop(podStart, deadlineAt time.Time) *int64 {
	if deadlineAt.IsZero() || podStart.IsZero() {
		return nil
	}
	return seconds(deadlineAt.Sub(podStart) + backstopMargin)
}

// Lowers tells whether setting want on a pod that has the value have makes its
// backstop tighter. The API refuses to raise or remove it.
func Lowers(have, want *int64) bool {
	return want != nil && (have == nil || *want < *have)
}

// seconds rounds up and keeps to what the API accepts, 1 to 2^31 - 1.
func seconds(d time.Duration) *int64 {
	n := int64(math.Ceil(d.Seconds()))
	n = min(max(n, 1), math.MaxInt32)
	return &n
}
