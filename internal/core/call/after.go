package call

import (
	"time"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
)

// ReleasePoll is how often to look for a pod that the cache no longer shows.
const ReleasePoll = time.Second

// ExpiresAt is when a finished call is to be deleted; zero for never.
func ExpiresAt(c *v1alpha1.ToolCall) time.Time {
	if c.Status.CompletionTime == nil || c.Spec.TTLSecondsAfterFinished == nil {
		return time.Time{}
	}
	return c.Status.CompletionTime.Add(time.Duration(*c.Spec.TTLSecondsAfterFinished) * time.Second)
}
