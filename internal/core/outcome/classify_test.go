package outcome_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/outcome"
)

type classifyCase struct {
	attempt outcome.Attempt
	want    *outcome.Verdict
}

func runClassify(t *testing.T, cases map[string]classifyCase) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, outcome.Classify(tc.attempt)); diff != "" {
				t.Errorf("Classify (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnAttemptGoesOnWhileNothingEndsIt(t *testing.T) {
	runClassify(t, map[string]classifyCase{
		"the tool runs":                       {attempt: attempt()},
		"a moment before the deadline":        {attempt: attempt(now(at(40).Add(-1)))},
		"C5 no deadline":                      {attempt: attempt(func(a *outcome.Attempt) { a.DeadlineAt = time.Time{} }, now(at(1e6)))},
		"the start limit is over once it ran": {attempt: attempt(func(a *outcome.Attempt) { a.StartBy = at(15) })},
		"it runs, though that is not on record": {attempt: attempt(func(a *outcome.Attempt) {
			a.Started, a.StartBy = false, at(15)
		})},
		"the container is being created":         {attempt: starting()},
		"a moment before the start limit":        {attempt: starting(now(at(300).Add(-1)))},
		"no start limit":                         {attempt: starting(func(a *outcome.Attempt) { a.StartBy = time.Time{} }, now(at(1e6)))},
		"the Job has no pod yet":                 {attempt: starting(noPod)},
		"an image that can't be pulled may heal": {attempt: starting(waiting("ImagePullBackOff", "Back-off pulling image"))},
		"the pod fits no node":                   {attempt: starting(func(a *outcome.Attempt) { a.Pod.Node, a.Pod.Unschedulable = "", "0/1 nodes are available" })},
		"the Job is gone, the pod goes on":       {attempt: attempt(noJob)},
	})
}

func TestTheToolsOwnEndIsItsResult(t *testing.T) {
	oom := func(a *outcome.Attempt) { a.Pod.Tool.Reason = "OOMKilled" }
	runClassify(t, map[string]classifyCase{
		"C4 exit code 0":                              {attempt: attempt(exited(0, at(15))), want: succeeded},
		"C13 exit code 1":                             {attempt: attempt(exited(1, at(15))), want: exitCode},
		"B089 exit code 137":                          {attempt: attempt(exited(137, at(15))), want: exitCode},
		"B089 exit code 143":                          {attempt: attempt(exited(143, at(15))), want: exitCode},
		"B089 exit code 255":                          {attempt: attempt(exited(255, at(15))), want: exitCode},
		"exit code -1":                                {attempt: attempt(exited(-1, at(15))), want: exitCode},
		"C102 B060 out of memory":                     {attempt: attempt(exited(137, at(15)), oom), want: &outcome.Verdict{Kind: v1alpha1.KindError, Reason: v1alpha1.ReasonOOMKilled, Effect: v1alpha1.EffectUnknown}},
		"a child was out of memory, the tool was not": {attempt: attempt(exited(0, at(15)), oom), want: succeeded},
		"its start was never seen":                    {attempt: starting(exited(0, at(15))), want: succeeded},
		"its Job is gone, so its pod would stay":      {attempt: attempt(exited(0, at(15)), noJob), want: &outcome.Verdict{Reason: v1alpha1.ReasonSucceeded, Forced: true}},
		"C5 without a deadline":                       {attempt: attempt(exited(0, at(1e5)), func(a *outcome.Attempt) { a.DeadlineAt = time.Time{} }, now(at(1e6))), want: succeeded},
		"B156 a sidecar lives on":                     {attempt: attempt(exited(0, at(15)), othersAlive), want: &outcome.Verdict{Reason: v1alpha1.ReasonSucceeded, Forced: true}},
		"B159 it failed, a sidecar lives on":          {attempt: attempt(exited(1, at(15)), othersAlive), want: &outcome.Verdict{Kind: v1alpha1.KindError, Reason: v1alpha1.ReasonExitCode, Forced: true}},
		"B159 out of memory, a sidecar lives on":      {attempt: attempt(exited(137, at(15)), oom, othersAlive), want: &outcome.Verdict{Kind: v1alpha1.KindError, Reason: v1alpha1.ReasonOOMKilled, Effect: v1alpha1.EffectUnknown, Forced: true}},
	})
}

// The kubelet's times are whole seconds, the deadline is not: an end within the
// second in which the deadline falls counts as in time.
func TestAnEndThatWasInTimeIsAResultHoweverLateItIsSeen(t *testing.T) {
	late := now(at(1000))
	deadlineAt := func(when time.Time) func(*outcome.Attempt) {
		return func(a *outcome.Attempt) { a.DeadlineAt = when }
	}
	runClassify(t, map[string]classifyCase{
		"C11 ended before it":                           {attempt: attempt(exited(0, at(39)), late), want: succeeded},
		"C11 ended in its second":                       {attempt: attempt(exited(0, at(40)), late), want: succeeded},
		"ended in its second, the deadline later in it": {attempt: attempt(exited(0, at(40)), deadlineAt(at(40.999)), late), want: succeeded},
		"failed in its second":                          {attempt: attempt(exited(1, at(40)), late), want: exitCode},
		"ended in the next second":                      {attempt: attempt(exited(0, at(41)), deadlineAt(at(40.999)), late), want: timedOut},
		"C2 B064 ended after it":                        {attempt: attempt(exited(0, at(43)), late), want: timedOut},
		"failed after it":                               {attempt: attempt(exited(1, at(43)), late), want: timedOut},
		"killed after it":                               {attempt: attempt(exited(137, at(45)), late), want: timedOut},
		"ended after it, a sidecar lives on":            {attempt: attempt(exited(0, at(43)), othersAlive, late), want: timedOut},
	})
}

func TestAPassedClockIsATimeout(t *testing.T) {
	runClassify(t, map[string]classifyCase{
		"C1 B001 at the deadline":           {attempt: attempt(now(at(40))), want: timedOut},
		"C7 after the deadline":             {attempt: attempt(now(at(41))), want: timedOut},
		"the record alone says that it ran": {attempt: attempt(func(a *outcome.Attempt) { a.Pod.Tool.State = outcome.Waiting }, now(at(40))), want: timedOut},
		"the pod does not start":            {attempt: starting(waiting("ContainerCreating", ""), now(at(300))), want: notStarted("the pod's containers are being created", v1alpha1.EffectUnknown)},
		"B021 no node":                      {attempt: starting(func(a *outcome.Attempt) { a.Pod.Node, a.Pod.Unschedulable = "", "Unschedulable 0/1 nodes" }, now(at(300))), want: notStarted("Unschedulable 0/1 nodes", v1alpha1.EffectNone)},
		"B023 no image":                     {attempt: starting(waiting("ImagePullBackOff", "Back-off"), now(at(300))), want: notStarted("ImagePullBackOff: Back-off", v1alpha1.EffectNone)},
		"B158 a sidecar holds it up":        {attempt: starting(func(a *outcome.Attempt) { a.Pod.Initializing = "proxy" }, now(at(300))), want: notStarted("init container proxy has not finished", v1alpha1.EffectNone)},
		"B034 the Job has no pod":           {attempt: starting(noPod, now(at(300))), want: notStarted("the Job has no pod yet", v1alpha1.EffectNone)},
	})
}

func TestAnAttemptThatCanNeverStartEndsEarly(t *testing.T) {
	initFailed := func(a *outcome.Attempt) {
		a.Pod.Failed = true
		a.Pod.InitFailed = &outcome.Container{Name: "setup", State: outcome.Terminated, Reason: "Error", ExitCode: 3, StartedAt: at(5), FinishedAt: at(6)}
	}
	startFailed := func(detail string) *outcome.Verdict {
		return lost(v1alpha1.ReasonStartFailed, detail, v1alpha1.EffectNone)
	}
	runClassify(t, map[string]classifyCase{
		"the command does not exist":   {attempt: starting(neverBegan, podFailed("", "")), want: startFailed("no such file")},
		"the same beside a sidecar":    {attempt: starting(neverBegan, othersAlive), want: startFailed("no such file")},
		"the image's name is no name":  {attempt: starting(waiting("InvalidImageName", "couldn't parse image")), want: startFailed("InvalidImageName: couldn't parse image")},
		"the image is never pulled":    {attempt: starting(waiting("ErrImageNeverPull", "not present")), want: startFailed("ErrImageNeverPull: not present")},
		"an init container failed":     {attempt: starting(initFailed), want: lost(v1alpha1.ReasonInitFailed, "container setup ended with exit code 3", v1alpha1.EffectNone)},
		"the node refused the pod":     {attempt: starting(waiting("", ""), podFailed("OutOfcpu", "Node didn't have enough resource")), want: startFailed("OutOfcpu: Node didn't have enough resource")},
		"the Job failed without a pod": {attempt: starting(noPod, func(a *outcome.Attempt) { a.Job.Failed, a.Job.Message = true, "backoff limit reached" }), want: lost(v1alpha1.ReasonPodLost, "its Job has no pod: backoff limit reached", v1alpha1.EffectUnknown)},
	})
}

func TestAPodThatIsGoneIsLost(t *testing.T) {
	jobFailed := func(a *outcome.Attempt) { a.Job.Failed = true }
	gone := lost(v1alpha1.ReasonPodLost, "its pod is gone", v1alpha1.EffectUnknown)
	runClassify(t, map[string]classifyCase{
		"B096 it ran":                       {attempt: attempt(noPod), want: gone},
		"C98 it ran, and its Job is gone":   {attempt: attempt(noPod, noJob), want: gone},
		"it ran, and its Job failed":        {attempt: attempt(noPod, jobFailed), want: gone},
		"it was seen and never seen to run": {attempt: starting(noPod, func(a *outcome.Attempt) { a.PodSeen = true }), want: gone},
		"neither pod nor Job was found":     {attempt: starting(noPod, noJob), want: lost(v1alpha1.ReasonPodLost, "its Job is gone", v1alpha1.EffectUnknown)},
		"the Job failed and left no pod":    {attempt: starting(noPod, jobFailed), want: lost(v1alpha1.ReasonPodLost, "its Job has no pod", v1alpha1.EffectUnknown)},
	})
}
