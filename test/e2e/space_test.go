//go:build e2e

package e2e

import (
	"context"
	"maps"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
)

// space is a namespace for one spec, and the trails of what happens in it.
type space struct {
	name  string
	calls *trail[*v1alpha1.ToolCall]
	jobs  *trail[*batchv1.Job]
	pods  *trail[*corev1.Pod]
}

// newSpace makes a namespace. It is deleted after the spec, which doesn't wait
// for that; before, a failed spec shows what is in it.
func newSpace(ctx context.Context, labels ...map[string]string) *space {
	GinkgoHelper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "e2e-",
		Labels:       map[string]string{"toolcall.dev/e2e": ""},
	}}
	for _, more := range labels {
		maps.Copy(namespace.Labels, more)
	}
	Expect(k8s.Create(ctx, namespace)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) error {
		return client.IgnoreNotFound(k8s.Delete(ctx, namespace))
	})
	s := &space{
		name:  namespace.Name,
		calls: follow[*v1alpha1.ToolCall](ctx, namespace.Name, &v1alpha1.ToolCallList{}),
		jobs:  follow[*batchv1.Job](ctx, namespace.Name, &batchv1.JobList{}),
		pods:  follow[*corev1.Pod](ctx, namespace.Name, &corev1.PodList{}),
	}
	DeferCleanup(func(ctx SpecContext) {
		if CurrentSpecReport().Failed() {
			s.dump(ctx)
		}
	})
	return s
}

// kubectl runs kubectl in the namespace and expects it to work.
func (s *space) kubectl(ctx context.Context, args ...string) string {
	GinkgoHelper()
	out, err := kubectl(ctx, "", append([]string{"--namespace", s.name}, args...)...)
	Expect(err).NotTo(HaveOccurred())
	return out
}

// apply applies a manifest in the namespace, as a user would.
func (s *space) apply(ctx context.Context, manifest string) (string, error) {
	return kubectl(ctx, manifest, "--namespace", s.name, "apply", "--filename", "-")
}

// run creates a call.
func (s *space) run(ctx context.Context, b callBuilder) *v1alpha1.ToolCall {
	GinkgoHelper()
	object := b.object.DeepCopy()
	object.Namespace = s.name
	Expect(k8s.Create(ctx, object)).To(Succeed())
	return object
}

// runBatch creates a batch.
func (s *space) runBatch(ctx context.Context, b batchBuilder) *v1alpha1.ToolBatch {
	GinkgoHelper()
	object := b.object.DeepCopy()
	object.Namespace = s.name
	Expect(k8s.Create(ctx, object)).To(Succeed())
	return object
}

// await waits until an object is as it should be, and leaves it so in obj.
func await[T client.Object](ctx context.Context, obj T, limit time.Duration, what string, reached func(T) bool) T {
	GinkgoHelper()
	Eventually(ctx, func(ctx context.Context) (bool, error) {
		err := k8s.Get(ctx, client.ObjectKeyFromObject(obj), obj)
		return err == nil && reached(obj), err
	}).WithTimeout(limit).Should(BeTrue(), func() string {
		return obj.GetName() + " should come to be " + what
	})
	return obj
}

// running waits until the status says that the tool runs. Where the timeout is
// short and the node busy it may never do so.
func (s *space) running(ctx context.Context, c *v1alpha1.ToolCall) *v1alpha1.ToolCall {
	GinkgoHelper()
	return await(ctx, c, usually, "Running", func(c *v1alpha1.ToolCall) bool {
		return c.Status.Phase == v1alpha1.ToolCallRunning
	})
}

// finished waits for a call's verdict.
func (s *space) finished(ctx context.Context, c *v1alpha1.ToolCall) *v1alpha1.ToolCall {
	GinkgoHelper()
	return await(ctx, c, usually, "finished", func(c *v1alpha1.ToolCall) bool {
		return meta.IsStatusConditionTrue(c.Status.Conditions, v1alpha1.ConditionFinished)
	})
}

// released waits until the status says that no pod of an ended call is left.
func (s *space) released(ctx context.Context, c *v1alpha1.ToolCall) *v1alpha1.ToolCall {
	GinkgoHelper()
	return await(ctx, c, usually, "released", func(c *v1alpha1.ToolCall) bool {
		return meta.IsStatusConditionTrue(c.Status.Conditions, v1alpha1.ConditionPodReleased)
	})
}

// finishedBatch waits for the end of a batch.
func (s *space) finishedBatch(ctx context.Context, b *v1alpha1.ToolBatch) *v1alpha1.ToolBatch {
	GinkgoHelper()
	return await(ctx, b, atScale, "finished", func(b *v1alpha1.ToolBatch) bool {
		return meta.IsStatusConditionTrue(b.Status.Conditions, v1alpha1.ConditionFinished)
	})
}

// member waits until a call of a batch exists.
func (s *space) member(ctx context.Context, b *v1alpha1.ToolBatch, index int) *v1alpha1.ToolCall {
	GinkgoHelper()
	await(ctx, b, usually, "admitted", func(b *v1alpha1.ToolBatch) bool {
		return len(b.Status.Calls) > index && b.Status.Calls[index].ToolCall != ""
	})
	c := &v1alpha1.ToolCall{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: b.Status.Calls[index].ToolCall}}
	Eventually(ctx, func(ctx context.Context) error { return k8s.Get(ctx, client.ObjectKeyFromObject(c), c) }).Should(Succeed())
	return c
}

// members are all calls of a batch that has admitted them all, in its order.
func (s *space) members(ctx context.Context, b *v1alpha1.ToolBatch) []*v1alpha1.ToolCall {
	GinkgoHelper()
	calls := make([]*v1alpha1.ToolCall, len(b.Spec.Calls))
	for i := range calls {
		calls[i] = s.member(ctx, b, i)
	}
	return calls
}

// podOf is the only pod that a call ever had.
func (s *space) podOf(ctx context.Context, c *v1alpha1.ToolCall) *corev1.Pod {
	GinkgoHelper()
	var pods []*corev1.Pod
	Eventually(ctx, func() []*corev1.Pod {
		pods = ofCall(s.pods, c)
		return pods
	}).Should(HaveLen(1), "pods that the call ever had")
	return pods[0]
}

// ofCall are the objects of a call that were ever there.
func ofCall[T client.Object](t *trail[T], c *v1alpha1.ToolCall) []T {
	GinkgoHelper()
	var objects []T
	for _, o := range t.ever() {
		if o.GetLabels()[v1alpha1.LabelCallUID] == string(c.UID) {
			objects = append(objects, o)
		}
	}
	return objects
}

// callObjects selects the Jobs or pods of a call.
func callObjects(c *v1alpha1.ToolCall) []client.ListOption {
	return []client.ListOption{client.InNamespace(c.Namespace), client.MatchingLabels{v1alpha1.LabelCallUID: string(c.UID)}}
}

// left names the calls, Jobs and pods that are in the namespace now.
func (s *space) left(ctx context.Context) ([]string, error) {
	var names []string
	for _, list := range []client.ObjectList{&v1alpha1.ToolBatchList{}, &v1alpha1.ToolCallList{}, &batchv1.JobList{}, &corev1.PodList{}} {
		if err := k8s.List(ctx, list, client.InNamespace(s.name)); err != nil {
			return nil, err
		}
		err := meta.EachListItem(list, func(o runtime.Object) error {
			names = append(names, objectName(o))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return names, nil
}

// verdictEvents are the events of a call's end.
func (s *space) verdictEvents(ctx context.Context, c *v1alpha1.ToolCall) ([]eventsv1.Event, error) {
	list := &eventsv1.EventList{}
	if err := k8s.List(ctx, list, client.InNamespace(s.name)); err != nil {
		return nil, err
	}
	var events []eventsv1.Event
	for _, e := range list.Items {
		if e.Regarding.UID == c.UID && e.Action == "Finish" {
			events = append(events, e)
		}
	}
	return events, nil
}
