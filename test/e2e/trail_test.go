//go:build e2e

package e2e

import (
	"context"
	"slices"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// sighting is one version of an object, as a watch showed it.
type sighting[T client.Object] struct {
	At      time.Time
	Deleted bool
	Object  T
}

// trail is every version of every object of one kind in a namespace: what came
// and went between two looks is in it, too.
type trail[T client.Object] struct {
	mu        sync.Mutex
	sightings []sighting[T]
	lost      bool
}

// follow begins a trail, which the spec's end ends.
func follow[T client.Object](ctx context.Context, namespace string, kind client.ObjectList) *trail[T] {
	GinkgoHelper()
	// The spec's own context would end the watch before the spec's cleanup.
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	DeferCleanup(stop)
	w, err := k8s.Watch(watching, kind, client.InNamespace(namespace))
	Expect(err).NotTo(HaveOccurred())
	t := &trail[T]{}
	go func() {
		for event := range w.ResultChan() {
			t.add(event)
		}
		t.end(watching)
	}()
	return t
}

func (t *trail[T]) add(event watch.Event) {
	object, ok := event.Object.(T)
	if !ok {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sightings = append(t.sightings, sighting[T]{At: time.Now(), Deleted: event.Type == watch.Deleted, Object: object})
}

// end notes whether the watch ended before it was told to.
func (t *trail[T]) end(watching context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lost = watching.Err() == nil
}

// all are the sightings so far, in order.
func (t *trail[T]) all() []sighting[T] {
	GinkgoHelper()
	t.mu.Lock()
	defer t.mu.Unlock()
	Expect(t.lost).To(BeFalse(), "the watch ended early, so the trail has a gap")
	return slices.Clone(t.sightings)
}

// of are the sightings of one object.
func (t *trail[T]) of(uid types.UID) []sighting[T] {
	GinkgoHelper()
	return slices.DeleteFunc(t.all(), func(s sighting[T]) bool { return s.Object.GetUID() != uid })
}

// ever are the latest versions of all objects that were ever there, in the order
// in which they came.
func (t *trail[T]) ever() []T {
	GinkgoHelper()
	var latest []T
	for _, s := range t.all() {
		same := func(o T) bool { return o.GetUID() == s.Object.GetUID() }
		if i := slices.IndexFunc(latest, same); i >= 0 {
			latest[i] = s.Object
		} else {
			latest = append(latest, s.Object)
		}
	}
	return latest
}

// goneAt is when an object was seen to be gone; zero while it is there.
func (t *trail[T]) goneAt(uid types.UID) time.Time {
	GinkgoHelper()
	for _, s := range t.of(uid) {
		if s.Deleted {
			return s.At
		}
	}
	return time.Time{}
}
