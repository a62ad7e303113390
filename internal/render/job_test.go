package render_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/call"
	"github.com/toolcall-dev/toolcall-operator/internal/observe"
	"github.com/toolcall-dev/toolcall-operator/internal/render"
)

var plan = call.Plan{
	Timeout: 1500 * time.Millisecond, Source: v1alpha1.SourceCall, StartTimeout: 5 * time.Minute,
	SubmittedAt: time.Date(2026, 3, 1, 12, 0, 0, 250_000_000, time.UTC),
}

func toolCall() *v1alpha1.ToolCall {
	c := namedCall("find", "uid")
	c.Spec.Template.Labels = map[string]string{"kueue.x-k8s.io/queue-name": "tools"}
	c.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "prepare"}}
	c.Spec.Template.Spec.Containers = []corev1.Container{{Name: "find"}}
	return c
}

func rendered(t *testing.T, c *v1alpha1.ToolCall, plan call.Plan) *batchv1.Job {
	t.Helper()
	job, err := render.Job(c, 1, plan)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

func TestB090AJobRunsOnePodOnce(t *testing.T) {
	job := rendered(t, toolCall(), plan)
	spec := job.Spec
	if *spec.Completions != 1 || *spec.Parallelism != 1 || *spec.BackoffLimit != 0 || *spec.PodReplacementPolicy != batchv1.Failed {
		t.Errorf("Job spec = %+v, want one pod that is never replaced", spec)
	}
	if spec.Template.Spec.RestartPolicy != corev1.RestartPolicyNever {
		t.Errorf("restartPolicy = %s, want Never", spec.Template.Spec.RestartPolicy)
	}
	if owner := job.OwnerReferences[0]; owner.Kind != "ToolCall" || owner.UID != "uid" || !*owner.Controller || !*owner.BlockOwnerDeletion {
		t.Errorf("owner = %+v, want the call as controller", owner)
	}
	if got := job.Labels["kueue.x-k8s.io/queue-name"]; got != "tools" {
		t.Errorf("queue label of the Job = %q, want that of the template", got)
	}
}

func TestTheBackstopCoversStartAndRun(t *testing.T) {
	for name, tc := range map[string]struct {
		timeout, start time.Duration
		want           int64 // 0 for none
	}{
		"rounded up":           {timeout: 1500 * time.Millisecond, start: 5 * time.Minute, want: 302},
		"C5 without a timeout": {start: 5 * time.Minute},
		"without a start":      {timeout: time.Second},
		"the longest":          {timeout: 8760 * time.Hour, start: 8760 * time.Hour, want: 63072000},
	} {
		t.Run(name, func(t *testing.T) {
			var got int64
			if ads := rendered(t, toolCall(), call.Plan{Timeout: tc.timeout, StartTimeout: tc.start}).Spec.Template.Spec.ActiveDeadlineSeconds; ads != nil {
				got = *ads
			}
			if got != tc.want {
				t.Errorf("activeDeadlineSeconds = %d, want %d", got, tc.want)
			}
		})
	}
}

func TestTheJobCarriesItsPlan(t *testing.T) {
	got, err := observe.Plan(rendered(t, toolCall(), plan))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(call.Plan{
		Timeout: plan.Timeout, Source: plan.Source, StartTimeout: plan.StartTimeout, SubmittedAt: plan.SubmittedAt,
	}, got); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

func TestAPodIsSafeByDefault(t *testing.T) {
	pod := rendered(t, toolCall(), plan).Spec.Template.Spec
	if *pod.AutomountServiceAccountToken || *pod.TerminationGracePeriodSeconds != 5 {
		t.Errorf("token %t, grace %d; want no token and 5 s", *pod.AutomountServiceAccountToken, *pod.TerminationGracePeriodSeconds)
	}
	sc := pod.SecurityContext
	if *sc.RunAsUser != 65532 || *sc.RunAsGroup != 65532 || *sc.FSGroup != 65532 || !*sc.RunAsNonRoot ||
		sc.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		t.Errorf("security context of the pod = %+v", sc)
	}
	for _, c := range append(pod.InitContainers, pod.Containers...) {
		if *c.SecurityContext.AllowPrivilegeEscalation || c.SecurityContext.Capabilities.Drop[0] != "ALL" {
			t.Errorf("security context of %s = %+v", c.Name, c.SecurityContext)
		}
		if diff := cmp.Diff([]corev1.EnvVar{{Name: "HOME", Value: "/tmp"}}, c.Env); diff != "" {
			t.Errorf("environment of %s (-want +got):\n%s", c.Name, diff)
		}
		if c.TerminationMessagePolicy != corev1.TerminationMessageReadFile {
			t.Errorf("termination message policy of %s = %s", c.Name, c.TerminationMessagePolicy)
		}
	}
}

func TestWhatATemplateSaysPasses(t *testing.T) {
	c := toolCall()
	spec := &c.Spec.Template.Spec
	spec.TerminationGracePeriodSeconds = new(int64(30))
	spec.AutomountServiceAccountToken = new(true)
	spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: new(int64(0)), FSGroup: new(int64(7))}
	spec.Containers[0].Env = []corev1.EnvVar{{Name: "HOME", Value: "/home/find"}}
	spec.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: new(true)}
	before := c.DeepCopy()

	pod := rendered(t, c, plan).Spec.Template.Spec
	if *pod.TerminationGracePeriodSeconds != 30 || !*pod.AutomountServiceAccountToken || *pod.SecurityContext.FSGroup != 7 {
		t.Errorf("pod = %+v", pod)
	}
	if sc := pod.SecurityContext; *sc.RunAsUser != 0 || sc.RunAsNonRoot != nil {
		t.Errorf("root passes through for the namespace's policy to decide; got %+v", sc)
	}
	tool := pod.Containers[0]
	if tool.Env[0].Value != "/home/find" || len(tool.Env) != 1 || !*tool.SecurityContext.AllowPrivilegeEscalation || tool.SecurityContext.Capabilities.Drop != nil {
		t.Errorf("tool container = %+v", tool)
	}
	if diff := cmp.Diff(before, c); diff != "" {
		t.Errorf("rendering changed the call (-before +after):\n%s", diff)
	}
}
