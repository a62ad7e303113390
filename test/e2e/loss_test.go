//go:build e2e

package e2e

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
)

var _ = Describe("A call whose pod is lost", func() {
	It("is told to be out of memory (C102, B060)", func(ctx SpecContext) {
		s := newSpace(ctx)
		greedy := command("tail", "/dev/zero").with(func(spec *corev1.PodSpec) {
			spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("32Mi")}
		})
		c := s.finished(ctx, s.run(ctx, call(greedy).timeout("1m")))

		Expect(c).To(haveFailed(v1alpha1.ReasonOOMKilled, v1alpha1.EffectUnknown))
		Expect(c.Status.Attempts).To(ConsistOf(HaveField("ExitCode", HaveValue(BeEquivalentTo(137)))))
		Expect(c.Status.Error.Message).To(ContainSubstring("memory limit"))
		s.expectOneVerdict(ctx, c)
	})

	It("is told to be evicted, and why (C102)", func(ctx SpecContext) {
		s := newSpace(ctx)
		c := s.run(ctx, call(scribbler()).timeout("5m"))
		c = await(ctx, c, atScale, "finished", func(c *v1alpha1.ToolCall) bool { return c.Status.CompletionTime != nil })

		Expect(c).To(haveFailed(v1alpha1.ReasonEvicted, v1alpha1.EffectUnknown))
		Expect(c.Status.Error.Message).To(And(ContainSubstring("scratch"), ContainSubstring("exceeds the limit")))
		s.expectOneVerdict(ctx, c)
	})

	It("reads the same every time that someone deletes the pod by force (B096, B098)", func(ctx SpecContext) {
		s := newSpace(ctx)
		var calls []*v1alpha1.ToolCall
		for i := range 6 {
			calls = append(calls, s.run(ctx, call(hung()).named("call-%d", i).timeout("2m")))
		}
		for _, c := range calls {
			s.running(ctx, c)
			s.kubectl(ctx, "delete", "pod", s.podOf(ctx, c).Name, "--force", "--grace-period=0")
		}

		for _, c := range calls {
			Expect(s.finished(ctx, c)).To(haveFailed(v1alpha1.ReasonPodLost, v1alpha1.EffectUnknown))
			s.released(ctx, c)
			s.expectOneVerdict(ctx, c)
		}
	})

	It("reads the same when someone deletes the pod with its grace (B098)", func(ctx SpecContext) {
		s := newSpace(ctx)
		c := s.running(ctx, s.run(ctx, call(hung()).timeout("2m")))
		s.kubectl(ctx, "delete", "pod", s.podOf(ctx, c).Name)

		Expect(s.finished(ctx, c)).To(haveFailed(v1alpha1.ReasonPodLost, v1alpha1.EffectUnknown))
		s.released(ctx, c)
		s.expectOneVerdict(ctx, c)
	})

	It("does not hold up the next call of its batch", func(ctx SpecContext) {
		s := newSpace(ctx)
		b := s.runBatch(ctx, sequential(member("lost", hung()), member("next", shell("echo done"))).callTimeout("2m"))
		lost := s.running(ctx, s.member(ctx, b, 0))
		s.kubectl(ctx, "delete", "pod", s.podOf(ctx, lost).Name, "--force", "--grace-period=0")

		s.finishedBatch(ctx, b)
		Expect(b.Status.Calls[0].Reason).To(Equal(v1alpha1.ReasonPodLost))
		Expect(s.member(ctx, b, 1)).To(haveSucceeded())
	})
})

// scribbler writes more than its volume may hold.
func scribbler() tool {
	limit := resource.MustParse("16Mi")
	script := fmt.Sprintf("head -c %d /dev/zero > /scratch/file; sleep 600", 64<<20)
	return shell(script).withGrace(1).with(func(spec *corev1.PodSpec) {
		spec.Volumes = []corev1.Volume{{
			Name:         "scratch",
			VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: ptr.To(limit)}},
		}}
		spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "scratch", MountPath: "/scratch"}}
	})
}
