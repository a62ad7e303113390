package deadline

import (
	"time"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
)

// Built-in limits, in force where no layer says otherwise.
const (
	// DefaultTimeout of the run clock.
	DefaultTimeout = 420 * time.Second
	// DefaultStartTimeout of the start clock.
	DefaultStartTimeout = 5 * time.Minute
)

// Layers are the timeouts that the layers above the built-in default ask for.
// A nil layer says nothing; zero says "no limit" and is as much an answer as
// any other value.
type Layers struct {
	Call  *time.Duration
	Batch *time.Duration
}

// Resolved is the timeout in force and the layer that set it.
type Resolved struct {
	Timeout time.Duration
	Source  v1alpha1.TimeoutSource
}

// Resolve takes the first layer that is set, strongest first, and holds it to Max.
func Resolve(l Layers) Resolved {
	switch {
	case l.Call != nil:
		return Resolved{Timeout: min(*l.Call, Max), Source: v1alpha1.SourceCall}
	case l.Batch != nil:
		return Resolved{Timeout: min(*l.Batch, Max), Source: v1alpha1.SourceBatch}
	default:
		return Resolved{Timeout: DefaultTimeout, Source: v1alpha1.SourceDefault}
	}
}

// ResolveCall reads the layers from the call itself: what its batch says was
// stamped on it. The schema refuses durations that don't parse; one that got
// past it says nothing, so that the built-in limit holds.
func ResolveCall(spec *v1alpha1.ToolCallSpec) Resolved {
	layers := Layers{Call: parsed(spec.Timeout)}
	if spec.Inherited != nil {
		layers.Batch = parsed(spec.Inherited.CallTimeout)
	}
	return Resolve(layers)
}

func parsed(d *v1alpha1.Duration) *time.Duration {
	if d == nil {
		return nil
	}
	value, err := Parse(*d)
	if err != nil {
		return nil
	}
	return &value
}
