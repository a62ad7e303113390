package outcome

import (
	"time"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/deadline"
)

// Attempt is everything that the end of an attempt depends on.
type Attempt struct {
	// Job is nil if it is gone.
	Job *Job
	// Pod is nil if there is none.
	Pod *Pod
	// PodSeen: a pod of this attempt was recorded earlier.
	PodSeen bool
	// Started: the tool container was seen to run.
	Started bool
	// DeadlineAt of the run clock; zero while it does not run or without a limit.
	DeadlineAt time.Time
	// StartBy is the end of the start clock; zero without a limit.
	StartBy time.Time
	Now     time.Time
}

// Verdict is how an attempt ended.
type Verdict struct {
	// Kind is empty on success.
	Kind   v1alpha1.ErrorKind
	Reason string
	Effect v1alpha1.EffectDisposition
	// Detail is what the cluster said of it, in one line; may be empty.
	Detail string
	// Forced: the attempt was ended although its pod may live on.
	Forced bool
}

// Classify tells how an attempt ended, or nil while it goes on.
//
// The checks are in the order of what is the best evidence; the first hit wins.
// The tool container's own record comes first, then what others reported of the
// pod, then what is missing, and the clocks last: a tool that ended in time has
// its result however late the operator looks.
func Classify(a Attempt) *Verdict {
	for _, check := range []func(Attempt) *Verdict{
		toolEnded,
		neverBegan,
		kubeletDeadline,
		disrupted,
		podFailed,
		podMissing,
		cannotStart,
		runClock,
		startClock,
	} {
		if v := check(a); v != nil {
			return v
		}
	}
	return nil
}

// toolEnded is the tool's own result: its process ended not after the deadline,
// and not because something outside ended the pod.
func toolEnded(a Attempt) *Verdict {
	if a.Pod == nil || !a.Pod.Tool.Ended() {
		return nil
	}
	tool := a.Pod.Tool
	if !a.DeadlineAt.IsZero() && tool.FinishedAt.After(a.DeadlineAt) {
		return a.timeout()
	}
	if a.Pod.endedFromOutside() {
		return nil
	}
	// A pod with other containers lives on, and one without its Job stays.
	forced := a.Pod.OthersAlive || a.Job == nil
	switch {
	case tool.ExitCode == 0:
		return &Verdict{Reason: v1alpha1.ReasonSucceeded, Forced: forced}
	case tool.Reason == "OOMKilled":
		return &Verdict{Kind: v1alpha1.KindError, Reason: v1alpha1.ReasonOOMKilled, Effect: v1alpha1.EffectUnknown, Forced: forced}
	default:
		return &Verdict{Kind: v1alpha1.KindError, Reason: v1alpha1.ReasonExitCode, Forced: forced}
	}
}

// endedFromOutside tells whether the tool's process ended after the kubelet's
// deadline or a disruption had begun to end it. Within one second, which is all
// that the kubelet's times tell, an exit code of 0 speaks for the tool. Any
// other code within a disruption by the kubelet is its doing: it would have
// left a pod alone whose tool had ended.
func (p *Pod) endedFromOutside() bool {
	at := p.disruptedAt()
	if at.IsZero() {
		return false
	}
	finished, failed := p.Tool.FinishedAt, p.Tool.ExitCode != 0
	byKubelet := p.Disruption != nil && p.Disruption.ByKubelet
	return finished.After(at) || failed && (byKubelet || finished.Equal(at))
}

func (p *Pod) disruptedAt() time.Time {
	switch {
	case p.KubeletDeadline && p.ActiveDeadlineSeconds != nil:
		return p.StartTime.Add(time.Duration(*p.ActiveDeadlineSeconds) * time.Second)
	case p.Disruption != nil && p.Disruption.At.IsZero():
		return p.Tool.FinishedAt
	case p.Disruption != nil:
		return p.Disruption.At
	default:
		return time.Time{}
	}
}

// neverBegan: the tool container, or one before it, failed without the tool
// having run.
func neverBegan(a Attempt) *Verdict {
	if a.Pod == nil || a.started() || a.Pod.Disruption != nil || a.Pod.KubeletDeadline {
		return nil
	}
	tool := a.Pod.Tool
	switch {
	case a.Pod.InitFailed != nil:
		return a.startError(v1alpha1.ReasonInitFailed, describe(*a.Pod.InitFailed))
	case tool.NeverStarted():
		return a.startError(v1alpha1.ReasonStartFailed, tool.Message)
	default:
		return nil
	}
}

// kubeletDeadline: the kubelet's backstop ended the pod while the operator was
// away, whatever exit code the tool gave then.
func kubeletDeadline(a Attempt) *Verdict {
	if a.Pod == nil || !a.Pod.KubeletDeadline {
		return nil
	}
	return a.timeout()
}

// disrupted: something outside ended the pod, or is ending it, and began to
// before the deadline had passed.
func disrupted(a Attempt) *Verdict {
	if a.Pod == nil || a.Pod.Disruption == nil {
		return nil
	}
	if !a.DeadlineAt.IsZero() && a.Pod.Disruption.At.After(a.DeadlineAt) {
		return a.timeout()
	}
	return a.lost(a.Pod.Disruption.Reason, a.Pod.Disruption.Message)
}

// podFailed: the kubelet refused or gave up the pod without a record of the tool.
func podFailed(a Attempt) *Verdict {
	if a.Pod == nil || !a.Pod.Failed {
		return nil
	}
	detail := joined(a.Pod.Reason, a.Pod.Message)
	if a.started() || a.Pod.Tool.Untold() {
		return a.lost(v1alpha1.ReasonPodLost, detail)
	}
	return a.startError(v1alpha1.ReasonStartFailed, detail)
}

// podMissing: the pod was there and is not, or its Job ended or went without
// the operator ever seeing a pod. What ran in between nobody knows.
func podMissing(a Attempt) *Verdict {
	switch {
	case a.Pod != nil:
		return nil
	case a.PodSeen:
		return a.lost(v1alpha1.ReasonPodLost, "its pod is gone")
	case a.Job == nil:
		return a.lost(v1alpha1.ReasonPodLost, "its Job is gone")
	case a.Job.Failed:
		return a.lost(v1alpha1.ReasonPodLost, joined("its Job has no pod", a.Job.Message))
	default:
		return nil
	}
}

// unhealable are the reasons of a waiting container that no time will heal.
var unhealable = map[string]bool{
	"InvalidImageName":  true,
	"ErrImageNeverPull": true,
}

// cannotStart: the tool container waits for something that can't come.
func cannotStart(a Attempt) *Verdict {
	if a.Pod == nil || a.started() || a.Pod.Tool.State != Waiting || !unhealable[a.Pod.Tool.Reason] {
		return nil
	}
	return a.startError(v1alpha1.ReasonStartFailed, describe(a.Pod.Tool))
}

func runClock(a Attempt) *Verdict {
	if !deadline.Passed(a.DeadlineAt, a.Now) {
		return nil
	}
	return a.timeout()
}

func startClock(a Attempt) *Verdict {
	if a.started() || !deadline.Passed(a.StartBy, a.Now) {
		return nil
	}
	return a.timeout()
}

// timeout is the verdict of whichever clock runs.
func (a Attempt) timeout() *Verdict {
	v := &Verdict{Kind: v1alpha1.KindTimeout, Reason: v1alpha1.ReasonDeadlineExceeded, Effect: a.effect(), Forced: true}
	if !a.started() {
		v.Reason = v1alpha1.ReasonStartDeadlineExceeded
		v.Detail = WaitsFor(a.Pod).Message
	}
	return v
}

func (a Attempt) lost(reason, detail string) *Verdict {
	return &Verdict{Kind: v1alpha1.KindError, Reason: reason, Effect: a.effect(), Detail: OneLine(detail), Forced: true}
}

func (a Attempt) startError(reason, detail string) *Verdict {
	return &Verdict{Kind: v1alpha1.KindError, Reason: reason, Effect: v1alpha1.EffectNone, Detail: OneLine(detail), Forced: true}
}

func (a Attempt) started() bool {
	return a.Started || a.Pod != nil && a.Pod.Tool.Started()
}

// effect is None only where the tool's process can't have run. What nobody saw
// the end of may have run.
func (a Attempt) effect() v1alpha1.EffectDisposition {
	neverHadPod := a.Pod == nil && !a.PodSeen && a.Job != nil && !a.Job.Failed
	if !a.started() && (neverHadPod || a.Pod != nil && a.Pod.neverRan()) {
		return v1alpha1.EffectNone
	}
	return v1alpha1.EffectUnknown
}

// neverRan tells whether a pod shows that its tool's process can't have run: it
// has no node, or its sandbox does not exist, or its tool container failed to
// start or is known to wait.
func (p *Pod) neverRan() bool {
	switch {
	case p.Tool.Untold():
		return false
	case p.Tool.NeverStarted(), blocked(p.Tool):
		return true
	default:
		return p.Node == "" || !p.SandboxReady || p.Initializing != ""
	}
}

// blocked tells whether a waiting container is known to be held up, in contrast
// to one that is about to be created.
func blocked(c Container) bool {
	return c.State == Waiting && c.Reason != "" && c.Reason != "ContainerCreating" && c.Reason != "PodInitializing"
}
