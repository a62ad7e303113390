//go:build apiserver

package controllers_test

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/util/sets"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
)

// wire is the line between an operator and the API server. It counts what goes
// over it, can hold up watches, and can be cut.
type wire struct {
	dead atomic.Bool

	mu sync.Mutex
	// writes are the requests that change something, but for events and leases,
	// such as "patch toolcalls/status".
	writes map[string]int
	// conflicts are the requests that were answered with a conflict.
	conflicts int
	// stalled are the resources whose watches are held up.
	stalled map[string]chan struct{}
}

func newWire() *wire {
	return &wire{writes: map[string]int{}, stalled: map[string]chan struct{}{}}
}

var requests = &apirequest.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}

func (w *wire) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		if w.dead.Load() {
			return nil, errors.New("the operator was killed")
		}
		info, err := requests.NewRequestInfo(req)
		if err != nil {
			return nil, err
		}
		resp, err := next.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		if info.Verb == "watch" {
			resp.Body = &heldBody{ReadCloser: resp.Body, hold: func() <-chan struct{} { return w.holdOf(info.Resource) }, closed: make(chan struct{})}
		}
		w.record(info, resp.StatusCode)
		return resp, nil
	})
}

func (w *wire) record(info *apirequest.RequestInfo, code int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if code == http.StatusConflict {
		w.conflicts++
	}
	switch info.Verb {
	case "get", "list", "watch":
		return
	}
	if info.Resource == "events" || info.Resource == "leases" {
		return
	}
	resource := info.Resource
	if info.Subresource != "" {
		resource += "/" + info.Subresource
	}
	w.writes[info.Verb+" "+resource]++
}

// counts are the writes so far.
func (w *wire) counts() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.writes)
}

// conflicted counts the conflicts so far.
func (w *wire) conflicted() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.conflicts
}

// cut drops everything from now on.
func (w *wire) cut() { w.dead.Store(true) }

// stall holds up the watches of a resource until it is resumed, so that caches
// fall behind.
func (w *wire) stall(resource string) (resume func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	hold := make(chan struct{})
	w.stalled[resource] = hold
	return sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.stalled, resource)
		close(hold)
	})
}

// holdOf is nil for watches that may go on.
func (w *wire) holdOf(resource string) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stalled[resource]
}

// heldBody is the stream of a watch.
type heldBody struct {
	io.ReadCloser
	hold   func() <-chan struct{}
	once   sync.Once
	closed chan struct{}
}

// Read gives what came only once the watch may go on.
func (b *heldBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if hold := b.hold(); hold != nil {
		select {
		case <-hold:
		case <-b.closed:
		}
	}
	return n, err
}

func (b *heldBody) Close() error {
	b.once.Do(func() { close(b.closed) })
	return b.ReadCloser.Close()
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
