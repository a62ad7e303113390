// Package call decides what to do next for one ToolCall.
package call

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/deadline"
)

// Plan is everything that was resolved for an attempt. It is stamped on the
// attempt's Job when that is created, so that neither a crash nor a later
// change of a default moves a call in flight.
type Plan struct {
	// Timeout of the run clock; zero for no limit.
	Timeout time.Duration
	// Source is the layer that set Timeout.
	Source v1alpha1.TimeoutSource
	// StartTimeout of the start clock; zero for no limit.
	StartTimeout time.Duration
	// SubmittedAt is when the start clock began.
	SubmittedAt time.Time
}

// NewPlan resolves the plan of a call that is submitted now.
func NewPlan(spec *v1alpha1.ToolCallSpec, now time.Time) Plan {
	resolved := deadline.ResolveCall(spec)
	return Plan{
		Timeout:      resolved.Timeout,
		Source:       resolved.Source,
		StartTimeout: deadline.DefaultStartTimeout,
		SubmittedAt:  now,
	}
}

// StartBy is the end of the start clock, or zero without a limit.
func (p Plan) StartBy() time.Time {
	return deadline.At(p.SubmittedAt, p.StartTimeout)
}

// planJSON is the form on the Job: durations as people write them.
type planJSON struct {
	Timeout      v1alpha1.Duration      `json:"timeout"`
	Source       v1alpha1.TimeoutSource `json:"source"`
	StartTimeout v1alpha1.Duration      `json:"startTimeout"`
	SubmittedAt  time.Time              `json:"submittedAt"`
}

// MarshalJSON writes the form that a Job carries.
func (p Plan) MarshalJSON() ([]byte, error) {
	return json.Marshal(planJSON{
		Timeout:      deadline.Format(p.Timeout),
		Source:       p.Source,
		StartTimeout: deadline.Format(p.StartTimeout),
		SubmittedAt:  p.SubmittedAt.UTC(),
	})
}

// UnmarshalJSON reads the form that a Job carries.
func (p *Plan) UnmarshalJSON(data []byte) error {
	var form planJSON
	if err := json.Unmarshal(data, &form); err != nil {
		return err
	}
	timeout, err := deadline.Parse(form.Timeout)
	if err != nil {
		return fmt.Errorf("timeout: %w", err)
	}
	startTimeout, err := deadline.Parse(form.StartTimeout)
	if err != nil {
		return fmt.Errorf("startTimeout: %w", err)
	}
	*p = Plan{Timeout: timeout, Source: form.Source, StartTimeout: startTimeout, SubmittedAt: form.SubmittedAt}
	return nil
}
