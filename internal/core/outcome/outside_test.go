package outcome_test

import (
	"testing"
	"time"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/outcome"
)

// The backstop of these pods is noon + 41 s, one second after the deadline.
func TestTheKubeletsDeadlineIsATimeoutWhateverTheExitCode(t *testing.T) {
	late := now(at(1000))
	backstop := func(seconds int64) func(*outcome.Attempt) {
		return func(a *outcome.Attempt) { a.Pod.ActiveDeadlineSeconds = &seconds }
	}
	unlimited := func(a *outcome.Attempt) { a.DeadlineAt = time.Time{} }
	runClassify(t, map[string]classifyCase{
		"B006 killed, 137":                    {attempt: attempt(kubeletDeadline, exited(137, at(42)), late), want: timedOut},
		"C14 ended by SIGTERM, 143":           {attempt: attempt(kubeletDeadline, exited(143, at(41)), late), want: timedOut},
		"B064 exit code 0 on SIGTERM":         {attempt: attempt(kubeletDeadline, exited(0, at(41)), late), want: timedOut},
		"exit code 0 inside its grace":        {attempt: attempt(kubeletDeadline, exited(0, at(46)), late), want: timedOut},
		"the container was lost":              {attempt: attempt(kubeletDeadline, untold, late), want: timedOut},
		"the container still runs":            {attempt: attempt(kubeletDeadline, late), want: timedOut},
		"before the deadline by a slow clock": {attempt: attempt(kubeletDeadline, late, func(a *outcome.Attempt) { a.DeadlineAt = at(2000) }), want: timedOut},
		"C11 the tool had ended before":       {attempt: attempt(exited(0, at(39)), othersAlive, kubeletDeadline, late), want: &outcome.Verdict{Reason: v1alpha1.ReasonSucceeded, Forced: true}},
		"the tool had failed before":          {attempt: attempt(exited(2, at(39)), kubeletDeadline, late), want: exitCode},
		"a tie, killed":                       {attempt: attempt(kubeletDeadline, backstop(40), exited(137, at(40)), late), want: timedOut},
		"a tie, ended by SIGTERM":             {attempt: attempt(kubeletDeadline, backstop(40), exited(143, at(40)), late), want: timedOut},
		"a tie, exit code 0":                  {attempt: attempt(kubeletDeadline, backstop(40), exited(0, at(40)), late), want: succeeded},
		"someone else's backstop, killed":     {attempt: attempt(unlimited, kubeletDeadline, backstop(30), exited(137, at(31)), late), want: timedOut},
		"it never started":                    {attempt: starting(kubeletDeadline, waiting("ImagePullBackOff", "Back-off"), late), want: notStarted("ImagePullBackOff: Back-off", v1alpha1.EffectNone)},
	})
}

func TestADisruptionIsNoFaultOfTheTool(t *testing.T) {
	for _, reason := range []string{v1alpha1.ReasonEvicted, v1alpha1.ReasonPreempted, v1alpha1.ReasonPodLost} {
		want := lost(reason, "someone did it", v1alpha1.EffectUnknown)
		t.Run(reason, func(t *testing.T) {
			runClassify(t, map[string]classifyCase{
				"the tool still runs":              {attempt: attempt(disrupted(reason, at(15))), want: want},
				"C102 killed after it":             {attempt: attempt(disrupted(reason, at(15)), exited(137, at(20))), want: want},
				"ended by SIGTERM after it":        {attempt: attempt(disrupted(reason, at(15)), exited(143, at(16))), want: want},
				"B103 exit code 0 after it":        {attempt: attempt(disrupted(reason, at(15)), exited(0, at(16))), want: want},
				"a tie, killed":                    {attempt: attempt(disrupted(reason, at(15)), exited(137, at(15))), want: want},
				"a tie, exit code 0":               {attempt: attempt(disrupted(reason, at(15)), exited(0, at(15))), want: succeeded},
				"the tool had succeeded before it": {attempt: attempt(disrupted(reason, at(15)), exited(0, at(14))), want: succeeded},
				"the tool had failed before it":    {attempt: attempt(disrupted(reason, at(15)), exited(1, at(14))), want: exitCode},
				"at an unknown time, killed":       {attempt: attempt(disrupted(reason, time.Time{}), exited(137, at(15))), want: want},
				"at an unknown time, exit code 0":  {attempt: attempt(disrupted(reason, time.Time{}), exited(0, at(15))), want: succeeded},
				"the container was lost":           {attempt: attempt(disrupted(reason, at(15)), untold, podFailed("", "")), want: want},
				"no record that it ran, lost":      {attempt: starting(disrupted(reason, at(15)), untold, podFailed("", "")), want: want},
				"about to start":                   {attempt: starting(disrupted(reason, at(15))), want: want},
				"C73 waiting for a node":           {attempt: starting(disrupted(reason, at(15)), func(a *outcome.Attempt) { a.Pod.Node = "" }), want: lost(reason, "someone did it", v1alpha1.EffectNone)},
				"its image can't be pulled":        {attempt: starting(disrupted(reason, at(15)), waiting("ErrImagePull", "no")), want: lost(reason, "someone did it", v1alpha1.EffectNone)},
				"ended after the deadline":         {attempt: attempt(disrupted(reason, at(15)), exited(143, at(41)), now(at(50))), want: timedOut},
			})
		})
	}
}

// What happens to the pod after the deadline changes nothing: the verdict is
// the same however late the operator looks.
func TestADisruptionAfterTheDeadlineLeavesTheTimeout(t *testing.T) {
	runClassify(t, map[string]classifyCase{
		"drained, still running":         {attempt: attempt(disrupted(v1alpha1.ReasonEvicted, at(60)), now(at(70))), want: timedOut},
		"B098 deleted, still running":    {attempt: attempt(disrupted(v1alpha1.ReasonPodLost, at(60)), now(at(70))), want: timedOut},
		"deleted, killed":                {attempt: attempt(disrupted(v1alpha1.ReasonPodLost, at(60)), exited(137, at(65)), now(at(70))), want: timedOut},
		"deleted, the container is lost": {attempt: attempt(disrupted(v1alpha1.ReasonPodLost, at(60)), untold, podFailed("", ""), now(at(70))), want: timedOut},
		"deleted before it":              {attempt: attempt(disrupted(v1alpha1.ReasonPodLost, at(30)), now(at(70))), want: lost(v1alpha1.ReasonPodLost, "someone did it", v1alpha1.EffectUnknown)},
	})
}

// A pod that failed without a record of its tool: the node refused it, or lost it.
func TestAFailedPodWithoutARecordOfTheTool(t *testing.T) {
	runClassify(t, map[string]classifyCase{
		"the tool was seen to run":            {attempt: attempt(waiting("", ""), podFailed("NodeLost", "gone")), want: lost(v1alpha1.ReasonPodLost, "NodeLost: gone", v1alpha1.EffectUnknown)},
		"ContainerStatusUnknown":              {attempt: starting(untold, podFailed("", "")), want: lost(v1alpha1.ReasonPodLost, "", v1alpha1.EffectUnknown)},
		"ContainerStatusUnknown after it ran": {attempt: attempt(untold, podFailed("", "")), want: lost(v1alpha1.ReasonPodLost, "", v1alpha1.EffectUnknown)},
		"B066 refused by the node":            {attempt: starting(waiting("", ""), podFailed("NodeAffinity", "Pod was rejected")), want: lost(v1alpha1.ReasonStartFailed, "NodeAffinity: Pod was rejected", v1alpha1.EffectNone)},
	})
}

// The effect is None only where the tool's process can't have run.
func TestEffectIsNoneOnlyIfTheToolCannotHaveRun(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*outcome.Attempt)
		want   v1alpha1.EffectDisposition
	}{
		"it was on record as started": {change: func(a *outcome.Attempt) { a.Started = true }, want: v1alpha1.EffectUnknown},
		"its container runs":          {change: func(a *outcome.Attempt) { a.Pod.Tool = outcome.Container{State: outcome.Running, StartedAt: at(10)} }, want: v1alpha1.EffectUnknown},
		"its container was lost":      {change: untold, want: v1alpha1.EffectUnknown},
		"it is about to be created":   {change: func(*outcome.Attempt) {}, want: v1alpha1.EffectUnknown},
		"nothing is said of it":       {change: waiting("", ""), want: v1alpha1.EffectUnknown},
		"no node":                     {change: func(a *outcome.Attempt) { a.Pod.Node = "" }, want: v1alpha1.EffectNone},
		"no sandbox":                  {change: func(a *outcome.Attempt) { a.Pod.SandboxReady = false }, want: v1alpha1.EffectNone},
		"init containers run":         {change: func(a *outcome.Attempt) { a.Pod.Initializing = "setup" }, want: v1alpha1.EffectNone},
		"no image":                    {change: waiting("ErrImagePull", ""), want: v1alpha1.EffectNone},
		"no configuration":            {change: waiting("CreateContainerConfigError", ""), want: v1alpha1.EffectNone},
		"its start failed":            {change: neverBegan, want: v1alpha1.EffectNone},
	} {
		t.Run(name, func(t *testing.T) {
			for cause, end := range map[string]func(*outcome.Attempt){
				"deleted":          disrupted(v1alpha1.ReasonPodLost, at(15)),
				"kubelet deadline": kubeletDeadline,
			} {
				got := outcome.Classify(starting(tc.change, end))
				if got == nil || got.Effect != tc.want {
					t.Errorf("%s: effect of %+v, want %q", cause, got, tc.want)
				}
			}
		})
	}
}

// A container that the node lost is made anew, and may fail to: it ran all the same.
func TestEffectIsNeverNoneForAToolThatRan(t *testing.T) {
	for name, change := range map[string]func(*outcome.Attempt){
		"its image is no longer there":  waiting("ErrImageNeverPull", "not present"),
		"its image's name is refused":   waiting("InvalidImageName", "no"),
		"its image can't be pulled":     waiting("ImagePullBackOff", "no"),
		"its container was lost":        untold,
		"another container of it began": neverBegan,
		"the pod lost its node":         func(a *outcome.Attempt) { a.Pod.Node = "" },
		"the sandbox is gone":           func(a *outcome.Attempt) { a.Pod.SandboxReady = false },
		"init containers run again":     func(a *outcome.Attempt) { a.Pod.Initializing = "setup" },
		"the pod is gone":               noPod,
	} {
		t.Run(name, func(t *testing.T) {
			for _, when := range []float64{20, 40} {
				verdict := outcome.Classify(attempt(change, now(at(when))))
				if verdict != nil && verdict.Effect != v1alpha1.EffectUnknown {
					t.Errorf("at %v s: %+v, want effect Unknown", when, verdict)
				}
			}
		})
	}
}
