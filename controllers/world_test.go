//go:build apiserver

package controllers_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/testkit"
)

// world is one spec's part of a cluster: a namespace of its own, with stand-ins
// for the controllers and the kubelet that an API server alone does not have.
type world struct {
	// Client reads and writes past any cache.
	client.Client
	ctx     context.Context
	ns      string
	clock   *clock
	history *history
	jobs    *jobController
	kubelet *kubelet
	// running are the goroutines of the stand-ins.
	running sync.WaitGroup
}

// newWorld makes a world that ends with the spec. Its operator is yet to be started.
func newWorld() *world {
	GinkgoHelper()
	ctx, cancel := context.WithCancel(context.Background())
	w := &world{ctx: ctx, clock: &clock{}, history: newHistory()}
	var err error
	w.Client, err = client.New(config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "spec-"}}
	Expect(w.Create(ctx, ns)).To(Succeed())
	w.ns = ns.Name
	w.jobs = newJobController(w)
	w.kubelet = newKubelet(w)
	w.watch()
	DeferCleanup(func() {
		cancel()
		w.running.Wait()
	})
	return w
}

// watch feeds the history and the stand-ins with everything that happens.
func (w *world) watch() {
	GinkgoHelper()
	informers, err := cache.New(config, cache.Options{Scheme: scheme, DefaultNamespaces: map[string]cache.Config{w.ns: {}}})
	Expect(err).NotTo(HaveOccurred())
	for _, kind := range []client.Object{&v1alpha1.ToolBatch{}, &v1alpha1.ToolCall{}, &batchv1.Job{}, &corev1.Pod{}} {
		informer, err := informers.GetInformer(w.ctx, kind, cache.BlockUntilSynced(false))
		Expect(err).NotTo(HaveOccurred())
		_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc:    func(obj any) { w.saw(obj, false) },
			UpdateFunc: func(_, obj any) { w.saw(obj, false) },
			DeleteFunc: func(obj any) { w.saw(obj, true) },
		})
		Expect(err).NotTo(HaveOccurred())
	}
	w.do(func() error { return informers.Start(w.ctx) })
	Expect(informers.WaitForCacheSync(w.ctx)).To(BeTrue())
}

func (w *world) saw(obj any, deleted bool) {
	if last, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
		obj = last.Obj
	}
	o := obj.(client.Object)
	w.history.add(o, deleted)
	w.jobs.saw(o, deleted)
	if pod, ok := o.(*corev1.Pod); ok && !deleted {
		w.kubelet.saw(pod)
	}
}

// do runs a stand-in's work beside the spec. What it works on may have gone.
func (w *world) do(work func() error) {
	w.running.Go(func() {
		defer GinkgoRecover()
		if err := work(); err != nil && w.ctx.Err() == nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			Fail(fmt.Sprintf("a stand-in failed: %v", err))
		}
	})
}

// create creates an object and gives it back as the API server keeps it.
func create[T client.Object](w *world, obj T) T {
	GinkgoHelper()
	obj.SetNamespace(w.ns)
	Expect(w.Create(w.ctx, obj)).To(Succeed())
	return obj
}

// latest is an object as it is now.
func latest[T client.Object](w *world, obj T) T {
	GinkgoHelper()
	fresh := obj.DeepCopyObject().(T)
	Expect(w.Get(w.ctx, client.ObjectKeyFromObject(obj), fresh)).To(Succeed())
	return fresh
}

// call is the least that a call may say, with a tool that a spec drives by hand.
func (w *world) call(name string) *testkit.Call { return testkit.MakeCall(w.ns, name) }

// callOf is a call whose tool is a program.
func (w *world) callOf(name string, p program) *testkit.Call {
	return w.call(name).Template(p.template())
}

// batch is a batch without calls yet.
func (w *world) batch(name string) *testkit.Batch { return testkit.MakeBatch(w.ns, name) }

// eventually waits for a call to fulfil some expectations.
func (w *world) eventually(c *v1alpha1.ToolCall, want func(g Gomega, c *v1alpha1.ToolCall)) *v1alpha1.ToolCall {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		g.Expect(w.Get(w.ctx, client.ObjectKeyFromObject(c), c)).To(Succeed())
		want(g, c)
	}).Should(Succeed())
	return c
}

// inPhase waits for a call to be in a phase.
func (w *world) inPhase(c *v1alpha1.ToolCall, phase v1alpha1.ToolCallPhase) *v1alpha1.ToolCall {
	GinkgoHelper()
	return w.eventually(c, func(g Gomega, c *v1alpha1.ToolCall) { g.Expect(c.Status.Phase).To(Equal(phase)) })
}

// ended waits for a call's verdict.
func (w *world) ended(c *v1alpha1.ToolCall) *v1alpha1.ToolCall {
	GinkgoHelper()
	return w.eventually(c, func(g Gomega, c *v1alpha1.ToolCall) { g.Expect(c.Status.CompletionTime).NotTo(BeNil()) })
}

// batchEnded waits for a batch's end.
func (w *world) batchEnded(b *v1alpha1.ToolBatch) *v1alpha1.ToolBatch {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		g.Expect(w.Get(w.ctx, client.ObjectKeyFromObject(b), b)).To(Succeed())
		g.Expect(b.Status.CompletionTime).NotTo(BeNil())
	}).Should(Succeed())
	return b
}

// childOf waits for the ToolCall of a batch's call.
func (w *world) childOf(b *v1alpha1.ToolBatch, index int) *v1alpha1.ToolCall {
	GinkgoHelper()
	list := &v1alpha1.ToolCallList{}
	Eventually(func(g Gomega) {
		g.Expect(w.List(w.ctx, list, client.InNamespace(w.ns), client.MatchingLabels{
			v1alpha1.LabelBatchUID: string(b.UID), v1alpha1.LabelIndex: fmt.Sprint(index),
		})).To(Succeed())
		g.Expect(list.Items).To(HaveLen(1))
	}).Should(Succeed())
	return &list.Items[0]
}

// patch sends a merge patch, as an outside client would.
func (w *world) patch(obj client.Object, patch string) {
	GinkgoHelper()
	Expect(w.Patch(w.ctx, obj, client.RawPatch(types.MergePatchType, []byte(patch)))).To(Succeed())
}

// nudge changes an annotation, so that the operator looks at an object again.
func (w *world) nudge(obj client.Object) {
	GinkgoHelper()
	w.patch(obj, fmt.Sprintf(`{"metadata":{"annotations":{"example.com/nudge":%q}}}`, time.Now().String()))
}

// settle returns once the operator has worked through all that happened before:
// it takes a call from its creation to its verdict.
func (w *world) settle() {
	GinkgoHelper()
	canary := &v1alpha1.ToolCall{ObjectMeta: metav1.ObjectMeta{GenerateName: "canary-"}}
	canary.Spec.Template = runs(0).template().Obj()
	w.ended(create(w, canary))
}

// reasons are those of all events about an object, in the order they came.
func (w *world) reasons(obj client.Object) []string {
	list := &eventsv1.EventList{}
	if err := w.List(w.ctx, list, client.InNamespace(w.ns)); err != nil {
		return []string{err.Error()}
	}
	var reasons []string
	for _, e := range list.Items {
		if e.Regarding.UID != obj.GetUID() {
			continue
		}
		reasons = append(reasons, e.Reason)
		if e.Series != nil {
			for range e.Series.Count - 1 {
				reasons = append(reasons, e.Reason)
			}
		}
	}
	return reasons
}

// clock is the time of a world, which can be moved ahead.
type clock struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *clock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}

// history remembers every version of every object.
type history struct {
	mu       sync.Mutex
	versions map[types.UID][]client.Object
	order    []types.UID
	gone     map[types.UID]bool
}

func newHistory() *history {
	return &history{versions: map[types.UID][]client.Object{}, gone: map[types.UID]bool{}}
}

func (h *history) add(obj client.Object, deleted bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	uid := obj.GetUID()
	if h.versions[uid] == nil {
		h.order = append(h.order, uid)
	}
	h.versions[uid] = append(h.versions[uid], obj)
	h.gone[uid] = h.gone[uid] || deleted
}

func (h *history) isGone(uid types.UID) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.gone[uid]
}

// ever are the last versions of all objects of a kind that ever were and that
// pass a filter, in the order in which they were first seen.
func ever[T client.Object](h *history, keep func(T) bool) []T {
	return slices.DeleteFunc(lastVersions[T](h), func(obj T) bool { return !keep(obj) })
}

func lastVersions[T client.Object](h *history) []T {
	h.mu.Lock()
	defer h.mu.Unlock()
	var found []T
	for _, uid := range h.order {
		versions := h.versions[uid]
		if last, ok := versions[len(versions)-1].(T); ok {
			found = append(found, last)
		}
	}
	return found
}

// versionsOf are all versions of an object, oldest first.
func versionsOf[T client.Object](h *history, obj T) []T {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []T
	for _, version := range h.versions[obj.GetUID()] {
		all = append(all, version.(T))
	}
	return all
}

// jobsOf are all Jobs that a call ever had, podsOf all its pods.
func (w *world) jobsOf(c *v1alpha1.ToolCall) []*batchv1.Job {
	return ever(w.history, func(job *batchv1.Job) bool { return metav1.IsControlledBy(job, c) })
}

func (w *world) podsOf(c *v1alpha1.ToolCall) []*corev1.Pod {
	return ever(w.history, func(pod *corev1.Pod) bool { return pod.Labels[v1alpha1.LabelCallUID] == string(c.UID) })
}
