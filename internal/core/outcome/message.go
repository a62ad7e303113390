package outcome

import (
	"fmt"
	"time"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/deadline"
)

// Circumstances are what a message tells beside the verdict itself.
type Circumstances struct {
	// Tool names what ran.
	Tool string
	// Ran is how long the tool ran; zero if it never started.
	Ran time.Duration
	// Resolved is the timeout that was in force.
	Resolved deadline.Resolved
	// StartTimeout is the limit of the start clock.
	StartTimeout time.Duration
	// ExitCode of the tool container, if its end was seen.
	ExitCode int32
}

// Message says in one line what happened, after how long, and whether the
// effect is known. It is safe to hand to a model.
func (v *Verdict) Message(c Circumstances) string {
	text := c.Tool + " " + v.what(c)
	switch v.Effect {
	case v1alpha1.EffectUnknown:
		return text + "; its effect is unknown"
	case v1alpha1.EffectNone:
		return text + "; it never ran, so it had no effect"
	default:
		return text
	}
}

func (v *Verdict) what(c Circumstances) string {
	switch v.Reason {
	case v1alpha1.ReasonDeadlineExceeded:
		return fmt.Sprintf("timed out after %s (limit from %s)", deadline.Format(c.Resolved.Timeout), c.Resolved.Source)
	case v1alpha1.ReasonStartDeadlineExceeded:
		return joined(fmt.Sprintf("did not start within %s", deadline.Format(c.StartTimeout)), v.Detail)
	case v1alpha1.ReasonExitCode:
		return fmt.Sprintf("failed with exit code %d%s", c.ExitCode, after(c.Ran))
	case v1alpha1.ReasonOOMKilled:
		return fmt.Sprintf("was killed%s: it exceeded its memory limit", after(c.Ran))
	case v1alpha1.ReasonEvicted:
		return joined(fmt.Sprintf("was evicted%s", after(c.Ran)), v.Detail)
	case v1alpha1.ReasonPreempted:
		return joined(fmt.Sprintf("was preempted%s", after(c.Ran)), v.Detail)
	case v1alpha1.ReasonPodLost:
		return joined(fmt.Sprintf("was lost%s", after(c.Ran)), v.Detail)
	case v1alpha1.ReasonInvalidTemplate, v1alpha1.ReasonAdmissionRejected, v1alpha1.ReasonNameConflict:
		return joined("could not be submitted", v.Detail)
	case v1alpha1.ReasonSpecTooLarge:
		return joined("was refused", v.Detail)
	default:
		return joined("could not start", v.Detail)
	}
}

func after(ran time.Duration) string {
	if ran <= 0 {
		return ""
	}
	return fmt.Sprintf(" after %s", deadline.Format(ran))
}
