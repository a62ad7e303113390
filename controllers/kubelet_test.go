//go:build apiserver

package controllers_test

import (
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/toolcall-dev/toolcall-operator/internal/testkit"
)

// program is what a tool does. It travels in the arguments of the tool's
// container, and the kubelet's stand-in carries it out.
type program struct {
	// Run is how long it runs; for ever if it hangs.
	Run  time.Duration `json:"run"`
	Hang bool          `json:"hang,omitempty"`
	// Exit is its exit code.
	Exit int32 `json:"exit,omitempty"`
	// Output goes to its log, Message to its termination message.
	Output  string `json:"output,omitempty"`
	Message string `json:"message,omitempty"`
	// Deaf programs ignore SIGTERM.
	Deaf bool `json:"deaf,omitempty"`
}

func runs(d time.Duration) program { return program{Run: d} }

func hangs() program { return program{Hang: true} }

func (p program) exits(code int32) program {
	p.Exit = code
	return p
}

func (p program) prints(output string) program {
	p.Output = output
	return p
}

func (p program) reports(message string) program {
	p.Message = message
	return p
}

func (p program) deaf() program {
	p.Deaf = true
	return p
}

// template is a pod template whose tool is the program.
func (p program) template() *testkit.Template {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	return testkit.MakeTemplate().Args(string(text)).Grace(1)
}

// programOf is what a pod's tool does; nil if a spec drives it by hand.
func programOf(pod *corev1.Pod) *program {
	p := &program{}
	if args := pod.Spec.Containers[0].Args; len(args) != 1 || json.Unmarshal([]byte(args[0]), p) != nil {
		return nil
	}
	return p
}

// kubelet stands in for the scheduler and the kubelet of one node.
type kubelet struct {
	w *world
	// unreachable nodes stop no pods.
	unreachable atomic.Bool

	mu sync.Mutex
	// started and stopped are the pods that were taken up and told to end.
	started, stopped map[types.UID]bool
	// handles are the pods with what is known of them beside the API.
	handles map[types.UID]*pod
	// alive counts running tools, most is the highest it ever was.
	alive, most int
}

func newKubelet(w *world) *kubelet {
	return &kubelet{w: w, started: map[types.UID]bool{}, stopped: map[types.UID]bool{}, handles: map[types.UID]*pod{}}
}

// saw is called with every version of every pod of the world.
func (k *kubelet) saw(obj *corev1.Pod) {
	p := k.handle(obj)
	if obj.DeletionTimestamp != nil {
		if obj.Spec.NodeName != "" && !k.unreachable.Load() && first(&k.mu, k.stopped, obj.UID) {
			k.w.do(func() error { return p.stop(obj) })
		}
		return
	}
	if program := programOf(obj); program != nil && first(&k.mu, k.started, obj.UID) {
		k.w.do(func() error { return p.execute(program) })
	}
}

func (k *kubelet) handle(obj *corev1.Pod) *pod {
	k.mu.Lock()
	defer k.mu.Unlock()
	p := k.handles[obj.UID]
	if p == nil {
		p = &pod{w: k.w, key: client.ObjectKeyFromObject(obj), uid: obj.UID, term: make(chan struct{})}
		k.handles[obj.UID] = p
	}
	return p
}

// logOf is the log of a tool that has run.
func (k *kubelet) logOf(name types.NamespacedName) (string, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range k.handles {
		if p.key == name {
			return p.printed()
		}
	}
	return "", false
}

// count keeps book of the tools that run.
func (k *kubelet) count(change int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.alive += change
	k.most = max(k.most, k.alive)
}

// mostAlive is how many tools ever ran at once.
func (k *kubelet) mostAlive() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.most
}

// execute takes a program from the pod's creation to its end.
func (p *pod) execute(program *program) error {
	p.prints(program.Output)
	if program.Deaf {
		p.ignoresTERM()
	}
	if err := p.tryStart(); err != nil {
		return err
	}
	p.w.kubelet.count(1)
	defer p.w.kubelet.count(-1)
	end := time.NewTimer(program.Run)
	defer end.Stop()
	if program.Hang {
		end.Stop()
	}
	select {
	case <-end.C:
		return p.tryExit(corev1.ContainerStateTerminated{ExitCode: program.Exit, Message: program.Message})
	case <-p.term:
	case <-p.w.ctx.Done():
	}
	return nil
}

// stop ends a pod that was deleted: it asks the tool to end, kills it after the
// grace period, and lets the pod go.
func (p *pod) stop(obj *corev1.Pod) error {
	close(p.term)
	if tool := toolStatus(obj); tool != nil && tool.State.Running != nil {
		end := corev1.ContainerStateTerminated{ExitCode: 143}
		switch p.reaction() {
		case deaf:
			p.wait(time.Duration(ptr.Deref(obj.DeletionGracePeriodSeconds, 0)) * time.Second)
			end.ExitCode = 137
		case finishes:
			end.ExitCode = 0
		}
		if err := p.tryExit(end); err != nil {
			return err
		}
	}
	return p.w.Delete(p.w.ctx, obj.DeepCopy(), client.GracePeriodSeconds(0), client.Preconditions{UID: &p.uid})
}

// wait lasts for some time, or until the spec is over.
func (p *pod) wait(d time.Duration) {
	select {
	case <-time.After(d):
	case <-p.w.ctx.Done():
	}
}
