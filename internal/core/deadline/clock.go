package deadline

import "time"

// kubeletResolution is the resolution of the times that a kubelet reports:
// they are cut to whole seconds.
const kubeletResolution = time.Second

// StartedAt is when the run clock began: the earlier of the moment the operator
// saw the tool container run, and the latest moment that the kubelet's own
// start time can mean. So neither a slow watch nor a restart of the operator
// gives a tool more time than its limit and one second.
func StartedAt(seen, kubelet time.Time) time.Time {
	return observed(seen, kubelet)
}

// EndedAt is when a tool ended whose kubelet reports finishedAt and whose end
// the operator saw at seen.
func EndedAt(seen, kubelet time.Time) time.Time {
	return observed(seen, kubelet)
}

// observed is the latest moment that something can have happened at which the
// operator saw at seen, and which the kubelet reports.
func observed(seen, kubelet time.Time) time.Time {
	return earlier(seen, kubelet.Add(kubeletResolution))
}

// AtMost is the longest that a tool can have run whose start and end the
// kubelet reports.
func AtMost(kubeletStart, kubeletEnd time.Time) time.Duration {
	return kubeletEnd.Sub(kubeletStart) + kubeletResolution
}

// At is startedAt + timeout, or the zero time if there is no limit.
func At(startedAt time.Time, timeout time.Duration) time.Time {
	if timeout == 0 {
		return time.Time{}
	}
	return startedAt.Add(timeout)
}

// Passed tells whether a deadline has come. A zero deadline never does.
func Passed(at, now time.Time) bool {
	return !at.IsZero() && !now.Before(at)
}

// Earliest is the earliest of the given times that is not zero.
func Earliest(times ...time.Time) time.Time {
	var first time.Time
	for _, t := range times {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// Retry intervals of a failed action while a deadline is pending.
const (
	retryInterval     = time.Second
	retryIntervalLate = 100 * time.Millisecond
)

// RetryAt is when to try again after a failure: soon, and no later than the
// deadline; at short intervals once it has passed.
func RetryAt(at, now time.Time) time.Time {
	if Passed(at, now) {
		return now.Add(retryIntervalLate)
	}
	return earlier(at, now.Add(retryInterval))
}
