//go:build e2e

package e2e

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
)

var _ = Describe("A tool that does not start", func() {
	withImage := func(image string, policy corev1.PullPolicy) tool {
		return command("true").with(func(spec *corev1.PodSpec) {
			spec.Containers[0].Image, spec.Containers[0].ImagePullPolicy = image, policy
		})
	}

	DescribeTable("and never can ends at once, without an effect (C9)",
		func(ctx SpecContext, t tool, reason, detail string) {
			s := newSpace(ctx)
			c := s.released(ctx, s.run(ctx, call(t.withGrace(1)).timeout("2m")))

			Expect(c).To(haveFailed(reason, v1alpha1.EffectNone))
			Expect(c.Status.Error.Message).To(ContainSubstring(detail))
			s.expectOneVerdict(ctx, c)
		},
		Entry("for an image name that is none", withImage("UPPER CASE::", ""), v1alpha1.ReasonStartFailed, "InvalidImageName"),
		Entry("for an image that is not there and must not be pulled", withImage("localhost/no-such:dev", corev1.PullNever), v1alpha1.ReasonStartFailed, "ErrImageNeverPull"),
		Entry("for a program that is not there", command("no-such-program"), v1alpha1.ReasonStartFailed, "no-such-program"),
		Entry("for an init container that fails", command("true").with(func(spec *corev1.PodSpec) {
			spec.InitContainers = []corev1.Container{{Name: "prepare", Image: toolImage(), Command: []string{"sh", "-c", "exit 7"}}}
		}), v1alpha1.ReasonInitFailed, "prepare"),
	)

	DescribeTable("shows what it waits for (B023, B142)",
		func(ctx SpecContext, t tool, wanted string) {
			s := newSpace(ctx)
			c := s.run(ctx, call(t).timeout("2m"))

			await(ctx, c, usually, "Starting", func(c *v1alpha1.ToolCall) bool {
				started := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionStarted)
				return started != nil && started.Status == metav1.ConditionFalse && strings.Contains(started.Reason+started.Message, wanted)
			})
			Expect(c.Status.Phase).To(Equal(v1alpha1.ToolCallStarting))
		},
		Entry("an image", withImage("localhost:1/no-such:dev", ""), "Image"),
		Entry("a node", command("true").with(func(spec *corev1.PodSpec) {
			spec.NodeSelector = map[string]string{"example.com/no-such": "node"}
		}), "Unschedulable"),
	)

	It("for a cause that goes away runs then, in the pod that waited (B029)", func(ctx SpecContext) {
		s := newSpace(ctx)
		reader := shell("echo $VALUE").with(func(spec *corev1.PodSpec) {
			spec.Containers[0].Env = []corev1.EnvVar{{Name: "VALUE", ValueFrom: &corev1.EnvVarSource{
				SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "late"}, Key: "value"},
			}}}
		})
		c := s.run(ctx, call(reader).timeout("10s"))
		await(ctx, c, usually, "Starting", func(c *v1alpha1.ToolCall) bool {
			started := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionStarted)
			return started != nil && started.Reason == "CreateContainerConfigError"
		})

		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: "late"}, StringData: map[string]string{"value": "arrived"}}
		Expect(k8s.Create(ctx, secret)).To(Succeed())
		c = s.finished(ctx, c)
		Expect(c).To(And(haveSucceeded(), haveOutput("arrived\n")))
		s.expectOneVerdict(ctx, c)
	})
})
