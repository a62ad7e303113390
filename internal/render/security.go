package render

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Defaults of a tool's pod, where neither the pod nor the container says
// otherwise. They satisfy the restricted Pod Security standard.
const (
	// defaultID is the user, group and file system group: without a user, every
	// image that runs as root would fail to start.
	defaultID int64 = 65532
	// defaultGraceSeconds is how long a tool that is stopped has to end by itself.
	defaultGraceSeconds int64 = 5
	// defaultHome is a home that any user may write to.
	defaultHome = "/tmp"
)

// secure fills in the safe defaults.
func secure(spec *corev1.PodSpec) {
	spec.TerminationGracePeriodSeconds = orDefault(spec.TerminationGracePeriodSeconds, defaultGraceSeconds)
	spec.AutomountServiceAccountToken = orDefault(spec.AutomountServiceAccountToken, false)
	if spec.SecurityContext == nil {
		spec.SecurityContext = &corev1.PodSecurityContext{}
	}
	securePod(spec.SecurityContext)
	for i := range spec.InitContainers {
		secureContainer(&spec.InitContainers[i])
	}
	for i := range spec.Containers {
		secureContainer(&spec.Containers[i])
	}
}

// securePod leaves a template that names a user alone: whether root is allowed
// is then for the namespace's policy to decide.
func securePod(sc *corev1.PodSecurityContext) {
	sc.RunAsUser = orDefault(sc.RunAsUser, defaultID)
	sc.RunAsGroup = orDefault(sc.RunAsGroup, defaultID)
	sc.FSGroup = orDefault(sc.FSGroup, defaultID)
	if *sc.RunAsUser != 0 {
		sc.RunAsNonRoot = orDefault(sc.RunAsNonRoot, true)
	}
	if sc.SeccompProfile == nil {
		sc.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}
	}
}

func secureContainer(c *corev1.Container) {
	c.TerminationMessagePolicy = corev1.TerminationMessageReadFile
	if !slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == "HOME" }) {
		c.Env = append(c.Env, corev1.EnvVar{Name: "HOME", Value: defaultHome})
	}
	if c.SecurityContext == nil {
		c.SecurityContext = &corev1.SecurityContext{}
	}
	sc := c.SecurityContext
	privileged := sc.Privileged != nil && *sc.Privileged
	sc.AllowPrivilegeEscalation = orDefault(sc.AllowPrivilegeEscalation, privileged)
	if sc.RunAsUser != nil && *sc.RunAsUser == 0 {
		sc.RunAsNonRoot = orDefault(sc.RunAsNonRoot, false)
	}
	if sc.Capabilities == nil {
		sc.Capabilities = &corev1.Capabilities{}
	}
	if sc.Capabilities.Drop == nil && !privileged {
		sc.Capabilities.Drop = []corev1.Capability{"ALL"}
	}
}

func orDefault[T any](value *T, def T) *T {
	if value != nil {
		return value
	}
	return &def
}
