//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
)

var _ = Describe("The deadline of a call", func() {
	It("is in the status, and what timed out is in the error (C3)", func(ctx SpecContext) {
		s := newSpace(ctx)
		web := hung().with(func(spec *corev1.PodSpec) { spec.Containers[0].Name = "web-search" })
		c := s.finished(ctx, s.run(ctx, call(web).timeout("100ms")))

		Expect(c).To(And(haveTimedOut(), s.haveEndedOnTime(100*time.Millisecond)))
		Expect(c.Status.Deadline).To(And(
			HaveField("Timeout", v1alpha1.Duration("100ms")),
			HaveField("Source", v1alpha1.SourceCall),
		))
		Expect(c.Status.Error.Tool).To(Equal("web-search"))
		Expect(c.Status.Error.Message).To(Equal("web-search timed out after 100ms (limit from Call); its effect is unknown"))
	})

	It("does not touch a call that is faster (C4)", func(ctx SpecContext) {
		s := newSpace(ctx)
		c := s.finished(ctx, s.run(ctx, call(shell("echo fast")).timeout("10s")))

		Expect(c).To(And(haveSucceeded(), haveOutput("fast\n")))
		Expect(c.Status.CompletionTime.Time).To(BeTemporally("<", c.Status.Deadline.DeadlineAt.Time))
	})

	It("is absent where the timeout is 0s, on the pod, too (C5)", func(ctx SpecContext) {
		s := newSpace(ctx)
		c := s.finished(ctx, s.run(ctx, call(shell("sleep 2; echo done")).timeout("0s")))

		Expect(c).To(And(haveSucceeded(), haveOutput("done\n")))
		Expect(c.Status.Deadline).To(And(
			HaveField("Timeout", v1alpha1.Duration("0s")),
			HaveField("StartedAt", Not(BeNil())),
			HaveField("DeadlineAt", BeNil()),
		))
		for _, seen := range s.pods.all() {
			Expect(seen.Object.Spec.ActiveDeadlineSeconds).To(BeNil())
		}
	})

	It("may be shorter than a second (C30)", func(ctx SpecContext) {
		s := newSpace(ctx)
		c := s.finished(ctx, s.run(ctx, call(hung()).timeout("400ms")))

		Expect(c).To(And(haveTimedOut(), s.haveEndedOnTime(400*time.Millisecond)))
		Expect(c.Status.Deadline.Timeout).To(Equal(v1alpha1.Duration("400ms")))
		Expect(*s.podOf(ctx, c).Spec.ActiveDeadlineSeconds).To(BeNumerically(">=", 1))
	})

	It("comes although nothing happens to the pod (B001)", func(ctx SpecContext) {
		s := newSpace(ctx)
		busy := shell("sleep 120").withGrace(1)
		c := s.finished(ctx, s.run(ctx, call(busy).timeout("3s")))

		Expect(c).To(And(haveTimedOut(), s.haveEndedOnTime(3*time.Second)))
	})

	It("holds for every one of many calls that were applied at once (B002)", func(ctx SpecContext) {
		const calls = 50
		s := newSpace(ctx)
		out, err := s.apply(ctx, manyCalls(calls, call(hung()).timeout("5s")))
		Expect(err).NotTo(HaveOccurred())
		Expect(strings.Count(out, "created")).To(Equal(calls))

		list := &v1alpha1.ToolCallList{}
		Eventually(ctx, func(ctx context.Context) (unfinished int, err error) {
			err = k8s.List(ctx, list, client.InNamespace(s.name))
			for i := range list.Items {
				if list.Items[i].Status.CompletionTime == nil {
					unfinished++
				}
			}
			return unfinished, err
		}).WithTimeout(atScale).Should(BeZero())
		Expect(list.Items).To(HaveLen(calls))
		for i := range list.Items {
			Expect(&list.Items[i]).To(And(haveTimedOut(), s.haveEndedOnTime(5*time.Second)))
		}
	})

	It("is not extended by output (B007)", func(ctx SpecContext) {
		s := newSpace(ctx)
		c := s.released(ctx, s.run(ctx, call(beating()).timeout("5s")))

		Expect(c).To(And(haveTimedOut(), s.haveEndedOnTime(5*time.Second)))
		lines := strings.Fields(c.Status.Result.Output)
		ran := c.Status.CompletionTime.Sub(c.Status.Attempts[0].StartTime.Time)
		Expect(strconv.Atoi(lines[len(lines)-1])).To(BeNumerically("<=", ran.Seconds()+3))
	})

	It("is not moved by clients who write to the call, its Job or its pod (C98, B008)", func(ctx SpecContext) {
		s := newSpace(ctx)
		c := s.run(ctx, call(hung()).timeout("4s"))
		writing, stop := context.WithCancel(ctx)
		defer stop()
		go annotate(writing, s, c.DeepCopy())

		c = s.released(ctx, c)
		stop()
		Expect(c).To(And(haveTimedOut(), s.haveEndedOnTime(4*time.Second)))
		Expect(c.Annotations).To(HaveKey(progress), "what others wrote survives")
		Expect(s.pods.of(s.podOf(ctx, c).UID)).To(ContainElement(HaveField("Object.Annotations", HaveKey(progress))))
		s.expectOneVerdict(ctx, c)
	})

	DescribeTable("holds however the calls are arranged (B009)",
		func(ctx SpecContext, mode v1alpha1.BatchMode, members int) {
			s := newSpace(ctx)
			arranged := []memberBuilder{member("hung", hung()).timeout("1s")}
			for len(arranged) < members {
				arranged = append(arranged, member(fmt.Sprint("next-", len(arranged)), shell("echo done")))
			}
			b := s.finishedBatch(ctx, s.runBatch(ctx, batch(mode, arranged...)))

			for i, c := range s.members(ctx, b) {
				if i == 0 {
					Expect(c).To(And(haveTimedOut(), s.haveEndedOnTime(time.Second)))
				} else {
					Expect(c).To(haveSucceeded())
				}
			}
			Expect(b.Status.Counts).To(HaveValue(And(
				HaveField("TimedOut", BeEquivalentTo(1)),
				HaveField("Succeeded", BeEquivalentTo(members-1)),
			)))
		},
		Entry("alone in order", v1alpha1.ModeSequential, 1),
		Entry("three in order", v1alpha1.ModeSequential, 3),
		Entry("alone together", v1alpha1.ModeConcurrent, 1),
		Entry("three together", v1alpha1.ModeConcurrent, 3),
	)

	It("holds for a call without a batch (B009)", func(ctx SpecContext) {
		s := newSpace(ctx)
		c := s.released(ctx, s.run(ctx, call(hung()).timeout("1s")))

		Expect(c).To(And(haveTimedOut(), s.haveEndedOnTime(time.Second)))
		s.expectOneVerdict(ctx, c)
	})

	DescribeTable("holds however the tool is made (B013)",
		func(ctx SpecContext, t tool) {
			s := newSpace(ctx)
			c := s.released(ctx, s.run(ctx, call(t.withGrace(1)).timeout("1s")))

			Expect(c).To(And(haveTimedOut(), s.haveEndedOnTime(time.Second)))
			Eventually(ctx, processesOf).WithArguments(s.podOf(ctx, c).UID).Should(BeEmpty())
		},
		Entry("a program", command("sleep", "600")),
		Entry("only arguments", command().with(func(spec *corev1.PodSpec) { spec.Containers[0].Args = []string{"sleep", "600"} })),
		Entry("a shell that ends on SIGTERM", shell(`trap "exit 143" TERM; while :; do sleep 1; done`)),
		Entry("a shell that ignores SIGTERM", hung()),
		Entry("a busy loop", shell("while :; do :; done")),
		Entry("behind an init container", hung().with(func(spec *corev1.PodSpec) {
			spec.InitContainers = []corev1.Container{{Name: "prepare", Image: toolImage(), Command: []string{"true"}}}
		})),
		Entry("beside a sidecar", hung().with(func(spec *corev1.PodSpec) {
			spec.InitContainers = []corev1.Container{{
				Name: "proxy", Image: toolImage(), Command: []string{"sleep", "600"},
				RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways),
			}}
		})),
		Entry("beside a second container", hung().with(func(spec *corev1.PodSpec) {
			spec.Containers = append(spec.Containers, corev1.Container{Name: "helper", Image: toolImage(), Command: []string{"sleep", "600"}})
		})),
	)

	DescribeTable("of one call is not another's (C35)",
		func(ctx SpecContext, mode v1alpha1.BatchMode) {
			s := newSpace(ctx)
			b := s.finishedBatch(ctx, s.runBatch(ctx, batch(mode,
				member("short", hung()).timeout("1s"),
				member("long", shell("sleep 4; echo done")).timeout("2m"),
				member("none", shell("echo done")),
			)))

			calls := s.members(ctx, b)
			Expect(calls[0]).To(And(haveTimedOut(), s.haveEndedOnTime(time.Second)))
			Expect(calls[1]).To(And(haveSucceeded(), haveOutput("done\n")))
			Expect(calls[1].Status.Deadline.Timeout).To(Equal(v1alpha1.Duration("2m")))
			Expect(calls[2]).To(haveSucceeded())
			Expect(calls[2].Status.Deadline).To(And(
				HaveField("Timeout", v1alpha1.Duration("7m")),
				HaveField("Source", v1alpha1.SourceDefault),
			))
		},
		Entry("in order", v1alpha1.ModeSequential),
		Entry("together", v1alpha1.ModeConcurrent),
	)

	It("leaves the effect Unknown only of a tool that started and did not end by itself (C9)", func(ctx SpecContext) {
		s := newSpace(ctx)
		b := s.finishedBatch(ctx, s.runBatch(ctx, concurrent(
			member("stopped", hung()).timeout("1s"),
			member("never-ran", command("true").with(func(spec *corev1.PodSpec) { spec.Containers[0].Image = "UPPER CASE::" })),
			member("failed", shell("exit 1")),
			member("good", shell("exit 0")),
		)))

		calls := s.members(ctx, b)
		Expect(calls[0]).To(haveTimedOut())
		Expect(calls[1]).To(haveFailed(v1alpha1.ReasonStartFailed, v1alpha1.EffectNone))
		Expect(calls[2]).To(haveFailed(v1alpha1.ReasonExitCode, ""))
		Expect(calls[3]).To(haveSucceeded())
	})
})

// manyCalls is a manifest of n calls like one.
func manyCalls(n int, b callBuilder) string {
	GinkgoHelper()
	var manifest bytes.Buffer
	for i := range n {
		c := b.named("call-%d", i).object.DeepCopy()
		c.APIVersion, c.Kind = v1alpha1.GroupVersion.String(), "ToolCall"
		document, err := yaml.Marshal(c)
		Expect(err).NotTo(HaveOccurred())
		manifest.WriteString("---\n")
		manifest.Write(document)
	}
	return manifest.String()
}

// progress is an annotation that the operator knows nothing of.
const progress = "example.com/progress"

// annotate writes to a call, its Job and its pod, ten times a second.
func annotate(ctx context.Context, s *space, c *v1alpha1.ToolCall) {
	defer GinkgoRecover()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"%d"}}}`, progress, i))
		targets := []client.Object{c.DeepCopy()}
		for _, job := range s.jobs.ever() {
			targets = append(targets, job.DeepCopy())
		}
		for _, pod := range s.pods.ever() {
			targets = append(targets, pod.DeepCopy())
		}
		for _, target := range targets {
			if err := client.IgnoreNotFound(k8s.Patch(ctx, target, patch)); err != nil && ctx.Err() == nil {
				Fail(fmt.Sprintf("annotate %s: %v", target.GetName(), err))
			}
		}
	}
}
