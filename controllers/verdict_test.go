//go:build apiserver

package controllers_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/testkit"
)

// verdict is what a spec expects of a call that ended.
type verdict struct {
	phase  v1alpha1.ToolCallPhase
	kind   v1alpha1.ErrorKind
	reason string
	effect v1alpha1.EffectDisposition
	// says is a part of the message.
	says string
	// unsubmitted: there never was an attempt.
	unsubmitted bool
}

func succeeded() verdict {
	return verdict{phase: v1alpha1.ToolCallSucceeded, reason: v1alpha1.ReasonSucceeded}
}

func failed(reason string, effect v1alpha1.EffectDisposition, says string) verdict {
	return verdict{phase: v1alpha1.ToolCallFailed, kind: v1alpha1.KindError, reason: reason, effect: effect, says: says}
}

func timedOut(says string) verdict {
	return verdict{
		phase: v1alpha1.ToolCallTimedOut, kind: v1alpha1.KindTimeout,
		reason: v1alpha1.ReasonDeadlineExceeded, effect: v1alpha1.EffectUnknown, says: says,
	}
}

func (v verdict) withoutAttempt() verdict {
	v.unsubmitted = true
	return v
}

// expect checks all of a status that a verdict decides, and the events.
func (v verdict) expect(w *world, c *v1alpha1.ToolCall) {
	GinkgoHelper()
	c = latest(w, c)
	status := c.Status
	Expect(status.Phase).To(Equal(v.phase), "phase; error: %+v", status.Error)
	Expect(status.EffectDisposition).To(Equal(v.effect), "effect")
	v.expectConditions(c)
	v.expectError(c)
	if v.unsubmitted {
		Expect(status.Attempts).To(BeEmpty())
	} else {
		Expect(status.Attempts).To(HaveLen(1))
		Expect(status.Attempts[0].Number).To(Equal(int32(1)))
		Expect(status.Attempts[0].Reason).To(Equal(v.reason), "reason of the attempt")
		Expect(status.Deadline).NotTo(BeNil())
		Expect(status.StartTime).NotTo(BeNil())
		Expect(status.CompletionTime.Time).NotTo(BeTemporally("<", status.StartTime.Time))
	}
	v.expectEvents(w, c)
}

// expectConditions: exactly one of Complete and Failed, and Finished with it.
func (v verdict) expectConditions(c *v1alpha1.ToolCall) {
	GinkgoHelper()
	end, other := v1alpha1.ConditionFailed, v1alpha1.ConditionComplete
	if v.kind == "" {
		end, other = other, end
	}
	conditions := c.Status.Conditions
	Expect(meta.FindStatusCondition(conditions, other)).To(BeNil())
	for _, kind := range []string{end, v1alpha1.ConditionFinished} {
		condition := meta.FindStatusCondition(conditions, kind)
		Expect(condition).NotTo(BeNil(), kind)
		Expect(condition.Status).To(Equal(metav1.ConditionTrue), kind)
		Expect(condition.Reason).To(Equal(v.reason), kind)
		Expect(condition.ObservedGeneration).To(Equal(c.Generation), kind)
	}
}

// expectError: typed, and one line that is fit for a model.
func (v verdict) expectError(c *v1alpha1.ToolCall) {
	GinkgoHelper()
	if v.kind == "" {
		Expect(c.Status.Error).To(BeNil())
		return
	}
	Expect(c.Status.Error).NotTo(BeNil())
	Expect(c.Status.Error.Kind).To(Equal(v.kind))
	Expect(c.Status.Error.Reason).To(Equal(v.reason))
	Expect(c.Status.Error.Tool).To(Equal(testkit.ToolName))
	Expect(c.Status.Error.Message).To(And(HavePrefix(testkit.ToolName+" "), ContainSubstring(v.says), Not(ContainSubstring("\n"))))
}

// expectEvents: one of the submission, one of the end.
func (v verdict) expectEvents(w *world, c *v1alpha1.ToolCall) {
	GinkgoHelper()
	want := []string{"Submitted", v.reason}
	if v.unsubmitted {
		want = want[1:]
	}
	Eventually(func() []string { return w.reasons(c) }).Should(ConsistOf(want))
}

// released waits for the word that no process of a call is left.
func released(w *world, c *v1alpha1.ToolCall) {
	GinkgoHelper()
	w.eventually(c, func(g Gomega, c *v1alpha1.ToolCall) {
		g.Expect(meta.IsStatusConditionTrue(c.Status.Conditions, v1alpha1.ConditionPodReleased)).To(BeTrue())
	})
}

// awaitsRelease expects that processes of a call may be left.
func awaitsRelease(w *world, c *v1alpha1.ToolCall) {
	GinkgoHelper()
	Expect(meta.IsStatusConditionFalse(latest(w, c).Status.Conditions, v1alpha1.ConditionPodReleased)).To(BeTrue())
}
