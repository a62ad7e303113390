package observe_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/outcome"
	"github.com/toolcall-dev/toolcall-operator/internal/observe"
)

// noon is when the kubelet acknowledges the pods of testdata. Their tools run
// from two seconds later, with 30 s to go.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

// podOf reads a pod as a kubelet wrote it.
func podOf(t *testing.T, name string) *corev1.Pod {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{}
	if err := yaml.UnmarshalStrict(text, pod); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return pod
}

// facts are those of a pod on a node.
func facts(change func(*outcome.Pod)) *outcome.Pod {
	p := &outcome.Pod{
		Name: "find-abcdefghij-1-x7k2p", UID: "pod-uid", Node: "node",
		StartTime: noon, ActiveDeadlineSeconds: new(int64(33)), SandboxReady: true,
		Tool: outcome.Container{Name: "tool", State: outcome.Running, StartedAt: at(2)},
	}
	change(p)
	return p
}

func ended(code int32, reason string, finished int) outcome.Container {
	return outcome.Container{Name: "tool", State: outcome.Terminated, Reason: reason, StartedAt: at(2), FinishedAt: at(finished), ExitCode: code}
}

func TestPodTellsTheFactsOfAPod(t *testing.T) {
	for name, change := range map[string]func(*outcome.Pod){
		"new": func(p *outcome.Pod) {
			p.Node, p.StartTime, p.Tool = "", time.Time{}, outcome.Container{Name: "tool"}
		},
		"unschedulable": func(p *outcome.Pod) {
			p.Node, p.StartTime, p.Tool = "", time.Time{}, outcome.Container{Name: "tool"}
			p.Unschedulable = "Unschedulable 0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."
		},
		"scheduling-gated": func(p *outcome.Pod) {
			p.Node, p.StartTime, p.Tool = "", time.Time{}, outcome.Container{Name: "tool"}
			p.Unschedulable = "SchedulingGated Scheduling is blocked due to non-empty scheduling gates"
		},
		"creating": func(p *outcome.Pod) {
			p.SandboxReady, p.Tool = false, outcome.Container{Name: "tool", Reason: "ContainerCreating"}
		},
		"image-pull-backoff": func(p *outcome.Pod) {
			p.Tool = outcome.Container{Name: "tool", Reason: "ImagePullBackOff", Message: `Back-off pulling image "registry.invalid/none:1"`}
		},
		"running":             func(*outcome.Pod) {},
		"no-longer-disrupted": func(*outcome.Pod) {},
		"succeeded": func(p *outcome.Pod) {
			p.SandboxReady, p.Tool = false, ended(0, "Completed", 10)
		},
		"exit-code": func(p *outcome.Pod) {
			p.Failed, p.SandboxReady, p.Tool = true, false, ended(3, "Error", 10)
		},
		"start-error": func(p *outcome.Pod) {
			p.Failed, p.SandboxReady, p.Tool = true, false, ended(128, "StartError", 2)
			p.Tool.StartedAt = time.Unix(0, 0)
			p.Tool.Message = `failed to create containerd task: exec: "nope": executable file not found in $PATH`
		},
		"deadline-exceeded": func(p *outcome.Pod) {
			p.Failed, p.SandboxReady, p.Tool, p.KubeletDeadline = true, false, ended(137, "Error", 38), true
			p.Reason, p.Message = "DeadlineExceeded", "Pod was active on the node longer than the specified deadline"
		},
		"evicted-by-api": func(p *outcome.Pod) {
			p.Disruption = &outcome.Disruption{Reason: v1alpha1.ReasonEvicted, Message: "Eviction API: evicting", At: at(10)}
		},
		"deleted": func(p *outcome.Pod) {
			p.Disruption = &outcome.Disruption{Reason: v1alpha1.ReasonPodLost, Message: "its pod was deleted", At: at(10)}
		},
		"rejected-by-node": func(p *outcome.Pod) {
			p.Failed, p.Reason, p.Tool = true, "OutOfcpu", outcome.Container{Name: "tool"}
			p.Message = "Pod was rejected: Node didn't have enough resource: cpu, requested: 1000, used: 1900, capacity: 2000"
		},
		"init-running": func(p *outcome.Pod) {
			p.Initializing, p.Tool = "setup", outcome.Container{Name: "tool", Reason: "PodInitializing"}
		},
		"init-done": func(*outcome.Pod) {},
		"init-failed": func(p *outcome.Pod) {
			p.Failed, p.SandboxReady, p.Initializing = true, false, "setup"
			p.Tool = outcome.Container{Name: "tool", Reason: "PodInitializing"}
			p.InitFailed = &outcome.Container{Name: "setup", State: outcome.Terminated, Reason: "Error", Message: "no route",
				StartedAt: at(1), FinishedAt: at(3), ExitCode: 7}
		},
		"sidecar-not-started": func(p *outcome.Pod) {
			p.Initializing, p.Tool = "proxy", outcome.Container{Name: "tool", Reason: "PodInitializing"}
		},
		"sidecar-running": func(*outcome.Pod) {},
		"helper-outlives-the-tool": func(p *outcome.Pod) {
			p.OthersAlive, p.Tool = true, ended(0, "Completed", 10)
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := observe.Pod(podOf(t, name), "")
			if diff := cmp.Diff(facts(change), got, cmpopts.EquateApproxTime(0)); diff != "" {
				t.Errorf("Pod (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNoPodHasNoFacts(t *testing.T) {
	if got := observe.Pod(nil, ""); got != nil {
		t.Errorf("Pod(nil) = %+v", got)
	}
}

func TestTheToolIsTheFirstContainerUnlessItIsNamed(t *testing.T) {
	pod := podOf(t, "helper-outlives-the-tool")
	for name, tc := range map[string]struct {
		tool string
		want string
	}{
		"the first":            {want: "tool"},
		"named":                {tool: "helper", want: "helper"},
		"one that isn't there": {tool: "nope", want: "nope"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := observe.Pod(pod, tc.tool).Tool.Name; got != tc.want {
				t.Errorf("tool = %q, want %q", got, tc.want)
			}
		})
	}
	if got := observe.ToolContainer(corev1.PodSpec{}); got != "" {
		t.Errorf("ToolContainer of no containers = %q", got)
	}
}

// Every pod of testdata is one that some test looks at.
func TestEveryPodOfTestdataIsUsed(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if _, ok := verdicts()[name]; !ok {
			t.Errorf("no verdict is wanted for %s", file)
		}
	}
}
