package v1alpha1

// Duration is a length of time in the Gateway API format (GEP-2257), such as
// `400ms`, `30s` or `1m30s`: whole numbers of at most five digits, each with a
// unit of h, m, s or ms. `0s` means "no limit" wherever a limit is asked for.
//
// It is a string, not a metav1.Duration, because that type writes `1.5s` back
// for a value that was given as `1s500ms`.
//
// +kubebuilder:validation:Pattern=`^([0-9]{1,5}(h|m|s|ms)){1,4}$`
// +kubebuilder:validation:MaxLength=32
type Duration string
