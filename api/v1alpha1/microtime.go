package v1alpha1

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MicroTime is a moment in UTC with exactly six decimals of a second. The
// schema insists on them, because Go's decoder does: one hand-edited status in
// another format would make every list of the kind fail.
//
// +kubebuilder:validation:Type=string
// +kubebuilder:validation:Format=date-time
// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$`
// +kubebuilder:validation:MaxLength=27
type MicroTime struct {
	metav1.MicroTime `json:",inline"`
}

// NewMicroTime is t, cut to microseconds in UTC as it will be read back.
func NewMicroTime(t time.Time) *MicroTime {
	return &MicroTime{MicroTime: metav1.NewMicroTime(t.UTC().Truncate(time.Microsecond))}
}
