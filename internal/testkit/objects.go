//go:build apiserver

package testkit

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
)

// ToolName is the container of the templates made here.
const ToolName = "search"

// Template makes a pod template with one container.
type Template struct {
	pod v1alpha1.ToolTemplate
}

// MakeTemplate begins with the least that a template may say.
func MakeTemplate() *Template {
	t := &Template{}
	t.pod.Spec.Containers = []corev1.Container{{Name: ToolName, Image: "example.com/search:1"}}
	return t
}

// Args sets the arguments of the tool.
func (t *Template) Args(args ...string) *Template {
	t.pod.Spec.Containers[0].Args = args
	return t
}

// Image sets the image of the tool.
func (t *Template) Image(image string) *Template {
	t.pod.Spec.Containers[0].Image = image
	return t
}

// Env adds a variable to the tool's environment.
func (t *Template) Env(name, value string) *Template {
	t.pod.Spec.Containers[0].Env = append(t.pod.Spec.Containers[0].Env, corev1.EnvVar{Name: name, Value: value})
	return t
}

// Init adds an init container.
func (t *Template) Init(name string) *Template {
	t.pod.Spec.InitContainers = append(t.pod.Spec.InitContainers, corev1.Container{Name: name, Image: "example.com/" + name + ":1"})
	return t
}

// Beside adds an ordinary container beside the tool.
func (t *Template) Beside(name string) *Template {
	t.pod.Spec.Containers = append(t.pod.Spec.Containers, corev1.Container{Name: name, Image: "example.com/" + name + ":1"})
	return t
}

// Label sets a label of the pod.
func (t *Template) Label(key, value string) *Template {
	t.pod.Labels = with(t.pod.Labels, key, value)
	return t
}

// Grace sets the grace period of the pod, in seconds.
func (t *Template) Grace(seconds int64) *Template {
	t.pod.Spec.TerminationGracePeriodSeconds = &seconds
	return t
}

// Obj is the template.
func (t *Template) Obj() v1alpha1.ToolTemplate { return *t.pod.DeepCopy() }

// Call makes a ToolCall.
type Call struct {
	call v1alpha1.ToolCall
}

// MakeCall begins with the least that a call may say.
func MakeCall(namespace, name string) *Call {
	c := &Call{}
	c.call.ObjectMeta = metav1.ObjectMeta{Namespace: namespace, Name: name}
	c.call.Spec.Template = MakeTemplate().Obj()
	return c
}

// Template sets the pod template.
func (c *Call) Template(t *Template) *Call {
	c.call.Spec.Template = t.Obj()
	return c
}

// Timeout sets the timeout of the call.
func (c *Call) Timeout(d v1alpha1.Duration) *Call {
	c.call.Spec.Timeout = &d
	return c
}

// TTL sets how many seconds the call stays after its end.
func (c *Call) TTL(seconds int32) *Call {
	c.call.Spec.TTLSecondsAfterFinished = &seconds
	return c
}

// Inherited sets what the call takes from a batch.
func (c *Call) Inherited(callTimeout v1alpha1.Duration) *Call {
	c.call.Spec.Inherited = &v1alpha1.Inherited{CallTimeout: &callTimeout}
	return c
}

// Obj is the call.
func (c *Call) Obj() *v1alpha1.ToolCall { return c.call.DeepCopy() }

// Batch makes a ToolBatch.
type Batch struct {
	batch v1alpha1.ToolBatch
}

// MakeBatch begins with a sequential batch without calls.
func MakeBatch(namespace, name string) *Batch {
	b := &Batch{}
	b.batch.ObjectMeta = metav1.ObjectMeta{Namespace: namespace, Name: name}
	b.batch.Spec.Mode = v1alpha1.ModeSequential
	return b
}

// Concurrent lets calls run together.
func (b *Batch) Concurrent(maxParallel int32) *Batch {
	b.batch.Spec.Mode, b.batch.Spec.MaxParallel = v1alpha1.ModeConcurrent, maxParallel
	return b
}

// CallTimeout sets the timeout of calls that set none.
func (b *Batch) CallTimeout(d v1alpha1.Duration) *Batch {
	b.batch.Spec.CallTimeout = &d
	return b
}

// Call adds a call. Without a name it is called by its index, without a timeout
// it has the batch's.
func (b *Batch) Call(name string, timeout v1alpha1.Duration, t *Template) *Batch {
	call := v1alpha1.BatchCall{Template: t.Obj()}
	if name != "" {
		call.Name = ptr.To(name)
	}
	if timeout != "" {
		call.Timeout = &timeout
	}
	b.batch.Spec.Calls = append(b.batch.Spec.Calls, call)
	return b
}

// Calls adds n unnamed calls of one template.
func (b *Batch) Calls(n int, t *Template) *Batch {
	for range n {
		b.Call("", "", t)
	}
	return b
}

// Obj is the batch.
func (b *Batch) Obj() *v1alpha1.ToolBatch { return b.batch.DeepCopy() }

func with(base map[string]string, key, value string) map[string]string {
	all := map[string]string{key: value}
	maps.Copy(all, base)
	all[key] = value
	return all
}
