//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gcustom"
	"github.com/onsi/gomega/gstruct"
	"github.com/onsi/gomega/types"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
)

// haveSucceeded matches a call with the verdict of success and nothing else.
func haveSucceeded() types.GomegaMatcher {
	return And(
		HaveField("Status.Phase", v1alpha1.ToolCallSucceeded),
		HaveField("Status.Error", BeNil()),
		HaveField("Status.EffectDisposition", BeEmpty()),
		haveCondition(v1alpha1.ConditionComplete, true),
		haveCondition(v1alpha1.ConditionFinished, true),
		haveCondition(v1alpha1.ConditionFailed, false),
	)
}

// haveTimedOut matches a call that ran into its deadline.
func haveTimedOut() types.GomegaMatcher {
	return haveEnded(v1alpha1.ToolCallTimedOut, v1alpha1.KindTimeout, v1alpha1.ReasonDeadlineExceeded, v1alpha1.EffectUnknown)
}

// haveFailed matches a call that ended as an Error.
func haveFailed(reason string, effect v1alpha1.EffectDisposition) types.GomegaMatcher {
	return haveEnded(v1alpha1.ToolCallFailed, v1alpha1.KindError, reason, effect)
}

func haveEnded(phase v1alpha1.ToolCallPhase, kind v1alpha1.ErrorKind, reason string, effect v1alpha1.EffectDisposition) types.GomegaMatcher {
	return And(
		HaveField("Status.Phase", phase),
		HaveField("Status.Error", gstruct.PointTo(And(
			HaveField("Kind", kind),
			HaveField("Reason", reason),
			HaveField("Message", Not(BeEmpty())),
			HaveField("Tool", Not(BeEmpty())),
		))),
		HaveField("Status.EffectDisposition", effect),
		haveCondition(v1alpha1.ConditionFailed, true),
		haveCondition(v1alpha1.ConditionFinished, true),
		haveCondition(v1alpha1.ConditionComplete, false),
	)
}

func haveCondition(kind string, wanted bool) types.GomegaMatcher {
	return HaveField("Status.Conditions", gcustom.MakeMatcher(func(conditions []metav1.Condition) (bool, error) {
		return meta.IsStatusConditionTrue(conditions, kind) == wanted, nil
	}).WithTemplate("Expected\n{{.FormattedActual}}\n{{.To}} have condition {{.Data}}", fmt.Sprintf("%s=%t", kind, wanted)))
}

// haveOutput matches a call by the text that its tool gave back.
func haveOutput(text any) types.GomegaMatcher {
	return HaveField("Status.Result", gstruct.PointTo(And(
		HaveField("Encoding", v1alpha1.EncodingUTF8),
		HaveField("Output", text),
	)))
}

// haveEndedOnTime matches a call that ran for its timeout, to the microsecond
// by its recorded clock, and whose verdict came then and not much later. On a
// busy node the kubelet may report the start only when the time is up: nobody
// can be late for what nobody could know.
func (s *space) haveEndedOnTime(limit time.Duration) types.GomegaMatcher {
	return gcustom.MakeMatcher(func(c *v1alpha1.ToolCall) (bool, error) {
		clock := c.Status.Deadline
		if clock == nil || clock.StartedAt == nil || clock.DeadlineAt == nil || c.Status.CompletionTime == nil {
			return false, errors.New("a time is missing in the status")
		}
		latest := clock.DeadlineAt.Add(tolerance)
		if known := s.startKnownAt(c); known.After(clock.DeadlineAt.Time) {
			latest = known.Add(tolerance)
		}
		ended := c.Status.CompletionTime.Time
		return clock.DeadlineAt.Sub(clock.StartedAt.Time) == limit && !ended.Before(clock.DeadlineAt.Time) && !ended.After(latest), nil
	}).WithTemplate("Expected\n{{.FormattedActual}}\n{{.To}} have ended {{.Data}} after its start", limit)
}

// startKnownAt is when the kubelet was first seen to report that the tool of a
// call had started.
func (s *space) startKnownAt(c *v1alpha1.ToolCall) time.Time {
	GinkgoHelper()
	for _, seen := range s.pods.all() {
		if seen.Object.Labels[v1alpha1.LabelCallUID] != string(c.UID) {
			continue
		}
		first := seen.Object.Spec.Containers[0].Name
		for _, status := range seen.Object.Status.ContainerStatuses {
			if status.Name == first && status.State.Waiting == nil {
				return seen.At
			}
		}
	}
	return time.Time{}
}

// phases are what a batch says of its calls, in its order.
func phases(b *v1alpha1.ToolBatch) []v1alpha1.ToolCallPhase {
	list := make([]v1alpha1.ToolCallPhase, len(b.Status.Calls))
	for i := range b.Status.Calls {
		list[i] = b.Status.Calls[i].Phase
	}
	return list
}

// expectOneVerdict expects that a call changed to its end once, that this was
// told once, and that it had one Job and one pod in all.
func (s *space) expectOneVerdict(ctx context.Context, c *v1alpha1.ToolCall) {
	GinkgoHelper()
	Eventually(ctx, s.verdictEvents).WithArguments(c).Should(ConsistOf(HaveField("Series", BeNil())))
	Eventually(ctx, s.calls.of).WithArguments(c.UID).Should(ContainElement(HaveField("Object.ResourceVersion", c.ResourceVersion)),
		"the trail has come as far as the call")
	var ends []v1alpha1.ToolCallStatus
	for _, seen := range s.calls.of(c.UID) {
		status := seen.Object.Status
		if status.CompletionTime == nil {
			Expect(ends).To(BeEmpty(), "an end was taken back")
			continue
		}
		ends = append(ends, status)
		Expect(status.Phase).To(Equal(ends[0].Phase))
		Expect(status.Error).To(Equal(ends[0].Error))
		Expect(status.CompletionTime).To(Equal(ends[0].CompletionTime))
	}
	Expect(ends).NotTo(BeEmpty())
	Expect(ofCall(s.jobs, c)).To(HaveLen(1), "Jobs that the call ever had")
	Expect(ofCall(s.pods, c)).To(HaveLen(1), "pods that the call ever had")
}
