// Package metrics counts what the operator decides.
package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
)

// Metrics are the operator's own metrics.
type Metrics struct {
	verdicts *prometheus.CounterVec
}

// New registers the metrics.
func New(registry prometheus.Registerer) *Metrics {
	m := &Metrics{
		verdicts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "toolcall_verdicts_total",
			Help: "Calls that ended, by the kind and reason of the verdict. The kind of a success is empty.",
		}, []string{"kind", "reason"}),
	}
	registry.MustRegister(m.verdicts)
	return m
}

// Ended counts a verdict. It is called after the verdict was written.
func (m *Metrics) Ended(c *v1alpha1.ToolCall) {
	kind, reason := v1alpha1.ErrorKind(""), v1alpha1.ReasonSucceeded
	if err := c.Status.Error; err != nil {
		kind, reason = err.Kind, err.Reason
	}
	m.verdicts.WithLabelValues(string(kind), reason).Inc()
}
