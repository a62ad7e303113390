//go:build apiserver

package v1alpha1_test

import (
	"context"
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/testkit"
)

// fullCall is a call with every field set.
func fullCall() *v1alpha1.ToolCall {
	return testkit.MakeCall("", "call").Timeout("5s").TTL(60).Inherited("10s").
		Template(testkit.MakeTemplate().Args("--query", "weather").Label("a", "b")).Obj()
}

// fullBatch is a batch with every field set.
func fullBatch() *v1alpha1.ToolBatch {
	return testkit.MakeBatch("", "batch").Concurrent(2).CallTimeout("10s").
		Call("first", "5s", testkit.MakeTemplate().Args("1")).
		Call("", "", testkit.MakeTemplate().Args("2")).Obj()
}

// existing creates an object, some of whose fields may have been edited away.
func existing(ctx context.Context, obj client.Object, edits ...edit) *unstructured.Unstructured {
	GinkgoHelper()
	manifest := edited(obj, edits...)
	manifest.SetNamespace(newNamespace(ctx))
	Expect(api.Create(ctx, manifest)).To(Succeed())
	return manifest
}

var _ = Describe("B176 A ToolCall that exists", func() {
	DescribeTable("refuses", func(ctx SpecContext, change edit, field string) {
		Expect(patched(ctx, existing(ctx, fullCall()), change)).To(refusal(field, "immutable"))
	},
		Entry("another image", set("/spec/template/spec/containers/0/image", "x"), "spec.template"),
		Entry("other arguments", set("/spec/template/spec/containers/0/args/1", "x"), "spec.template"),
		Entry("no arguments", remove("/spec/template/spec/containers/0/args"), "spec.template"),
		Entry("another variable", set("/spec/template/spec/containers/0/env", []any{map[string]any{"name": "A"}}), "spec.template"),
		Entry("another label of the template", set("/spec/template/metadata/labels/a", "x"), "spec.template"),
		Entry("another container", set("/spec/template/spec/containers/-", map[string]any{"name": "b", "image": "x"}), "spec.template"),
		Entry("another timeout", set("/spec/timeout", "6s"), "spec.timeout"),
		Entry("no timeout", remove("/spec/timeout"), "spec.timeout"),
		Entry("another inherited timeout", set("/spec/inherited/callTimeout", "6s"), "spec.inherited"),
		Entry("no inherited timeout", remove("/spec/inherited/callTimeout"), "spec.inherited"),
		Entry("nothing inherited", remove("/spec/inherited"), "spec.inherited"),
	)

	DescribeTable("refuses a field that it was created without", func(ctx SpecContext, path string, value any, field string) {
		Expect(patched(ctx, existing(ctx, fullCall(), remove(path)), set(path, value))).To(refusal(field, "immutable"))
	},
		Entry("a timeout", "/spec/timeout", "6s", "spec.timeout"),
		Entry("something inherited", "/spec/inherited", map[string]any{}, "spec.inherited"),
		Entry("an inherited timeout", "/spec/inherited/callTimeout", "6s", "spec.inherited"),
	)

	DescribeTable("B042 takes", func(ctx SpecContext, change edit) {
		Expect(patched(ctx, existing(ctx, fullCall()), change)).To(Succeed())
	},
		Entry("another time to live", set("/spec/ttlSecondsAfterFinished", 5)),
		Entry("no time to live", remove("/spec/ttlSecondsAfterFinished")),
		Entry("a label", set("/metadata/labels", map[string]any{"a": "b"})),
		Entry("an annotation", set("/metadata/annotations", map[string]any{"a": "b"})),
		Entry("a foreign finalizer", set("/metadata/finalizers", []any{"example.com/hold"})),
	)
})

var _ = Describe("B176 A ToolBatch that exists", func() {
	extra := map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "a", "image": "b"}}}}}

	DescribeTable("refuses", func(ctx SpecContext, change edit, field string) {
		Expect(patched(ctx, existing(ctx, fullBatch()), change)).To(refusal(field, "immutable"))
	},
		Entry("another mode", set("/spec/mode", "Sequential"), "spec.mode"),
		Entry("another maxParallel", set("/spec/maxParallel", 3), "spec.maxParallel"),
		Entry("another callTimeout", set("/spec/callTimeout", "6s"), "spec.callTimeout"),
		Entry("no callTimeout", remove("/spec/callTimeout"), "spec.callTimeout"),
		Entry("C100 a call appended", set("/spec/calls/-", extra), "spec.calls"),
		Entry("C100 a call put before the others", set("/spec/calls/0", extra), "spec.calls"),
		Entry("a call removed", remove("/spec/calls/1"), "spec.calls"),
		Entry("another name of a call", set("/spec/calls/0/name", "other"), "spec.calls"),
		Entry("no name of a call", remove("/spec/calls/0/name"), "spec.calls"),
		Entry("a name for an unnamed call", set("/spec/calls/1/name", "other"), "spec.calls"),
		Entry("another timeout of a call", set("/spec/calls/0/timeout", "6s"), "spec.calls"),
		Entry("no timeout of a call", remove("/spec/calls/0/timeout"), "spec.calls"),
		Entry("a timeout for a call without", set("/spec/calls/1/timeout", "6s"), "spec.calls"),
		Entry("another template of a call", set("/spec/calls/0/template/spec/containers/0/image", "x"), "spec.calls"),
	)

	It("refuses a callTimeout that it was created without", func(ctx SpecContext) {
		batch := existing(ctx, fullBatch(), remove("/spec/callTimeout"))
		Expect(patched(ctx, batch, set("/spec/callTimeout", "6s"))).To(refusal("spec.callTimeout", "immutable"))
	})

	DescribeTable("B042 takes", func(ctx SpecContext, change edit) {
		Expect(patched(ctx, existing(ctx, fullBatch()), change)).To(Succeed())
	},
		Entry("a label", set("/metadata/labels", map[string]any{"a": "b"})),
		Entry("an annotation", set("/metadata/annotations", map[string]any{"a": "b"})),
		Entry("a foreign finalizer", set("/metadata/finalizers", []any{"example.com/hold"})),
	)

	It("takes a label on a batch of 1000 calls", func(ctx SpecContext) {
		Expect(patched(ctx, existing(ctx, named(1000)), set("/metadata/labels", map[string]any{"a": "b"}))).To(Succeed())
	})
})

// manifests are what people write: fields that Go would add are not there, and
// some are written in another form than Go's.
var manifests = []TableEntry{
	Entry("a call", `
apiVersion: toolcall.dev/v1alpha1
kind: ToolCall
metadata: {name: again}
spec:
  timeout: 1s500ms
  template:
    metadata: {labels: {a: b}}
    spec:
      containers:
      - name: search
        image: example.com/search:1
        ports: [{containerPort: 80}]
        env: [{name: A, value: b}, {name: C, value: ""}]
        resources: {limits: {cpu: 1, memory: 1024Mi}, requests: {cpu: 500m}}
        livenessProbe: {httpGet: {port: http}}
`),
	Entry("a batch", `
apiVersion: toolcall.dev/v1alpha1
kind: ToolBatch
metadata: {name: again}
spec:
  calls:
  - name: first
    template: {spec: {containers: [{name: search, image: "example.com/search:1"}]}}
  - template: {spec: {containers: [{name: search, image: "example.com/search:1", resources: {limits: {cpu: "2"}}}]}}
`),
}

var _ = Describe("B042 Applying a manifest again", func() {
	versionOf := func(ctx context.Context, namespace, manifest string) string {
		GinkgoHelper()
		return run(ctx, namespace, manifest, "get", "-f", "-", "-o", "jsonpath={.metadata.resourceVersion}")
	}

	DescribeTable("changes nothing on the client's side", func(ctx SpecContext, manifest string) {
		ns := newNamespace(ctx)
		run(ctx, ns, manifest, "apply", "-f", "-")
		before := versionOf(ctx, ns, manifest)
		run(ctx, ns, manifest, "apply", "-f", "-")
		Expect(versionOf(ctx, ns, manifest)).To(Equal(before))
	}, manifests)

	DescribeTable("changes nothing on the server's side", func(ctx SpecContext, manifest string) {
		ns := newNamespace(ctx)
		run(ctx, ns, manifest, "apply", "--server-side", "-f", "-")
		before := versionOf(ctx, ns, manifest)
		Expect(run(ctx, ns, manifest, "apply", "--server-side", "-f", "-")).To(ContainSubstring("serverside-applied"))
		Expect(versionOf(ctx, ns, manifest)).To(Equal(before))
	}, manifests)

	DescribeTable("works on the server's side after the client's", func(ctx SpecContext, manifest string) {
		ns := newNamespace(ctx)
		run(ctx, ns, manifest, "apply", "-f", "-")
		Expect(run(ctx, ns, manifest, "apply", "--server-side", "-f", "-")).To(ContainSubstring("serverside-applied"))
	}, manifests)

	// Go writes fields that the manifest does not have, such as an empty
	// `resources`: they say nothing new.
	It("B042 lets a Go client update the labels of a call made from a manifest", func(ctx SpecContext) {
		ns := newNamespace(ctx)
		run(ctx, ns, `{"apiVersion": "toolcall.dev/v1alpha1", "kind": "ToolCall", "metadata": {"name": "plain"}, "spec":
			{"template": {"spec": {"containers": [{"name": "search", "image": "example.com/search:1"}]}}}}`, "apply", "-f", "-")
		call := &v1alpha1.ToolCall{}
		Expect(api.Get(ctx, client.ObjectKey{Namespace: ns, Name: "plain"}, call)).To(Succeed())
		call.Labels = map[string]string{"a": "b"}
		Expect(api.Update(ctx, call)).To(Succeed())
	})
})

var _ = Describe("A status", func() {
	startTime := func(value string) []byte {
		GinkgoHelper()
		patch, err := json.Marshal(map[string]any{"status": map[string]any{"startTime": value}})
		Expect(err).NotTo(HaveOccurred())
		return patch
	}

	DescribeTable("refuses a time that Go would not read back", func(ctx SpecContext, value string) {
		for _, obj := range []client.Object{existing(ctx, fullCall()), existing(ctx, fullBatch())} {
			Expect(mergePatchStatus(ctx, obj, startTime(value))).To(refusal("status.startTime"))
		}
	},
		Entry("whole seconds", "2026-01-02T03:04:05Z"),
		Entry("three decimals", "2026-01-02T03:04:05.678Z"),
		Entry("nine decimals", "2026-01-02T03:04:05.678901234Z"),
		Entry("another zone", "2026-01-02T03:04:05.678901+02:00"),
		Entry("a day that does not exist", "2026-02-30T03:04:05.678901Z"),
		Entry("an hour that does not exist", "2026-01-02T24:04:05.678901Z"),
		Entry("a leap second", "2026-12-31T23:59:60.000000Z"),
		Entry("words", "yesterday"),
	)

	DescribeTable("refuses it in every field", func(ctx SpecContext, obj func() client.Object, patch, field string) {
		Expect(mergePatchStatus(ctx, existing(ctx, obj()), []byte(patch))).To(refusal(field, "should match"))
	},
		Entry("of a call's end", call, `{"status": {"completionTime": "2026-01-02T03:04:05Z"}}`, "status.completionTime"),
		Entry("of a call's start", call, `{"status": {"deadline": {"timeout": "1s", "source": "Call", "startedAt": "2026-01-02T03:04:05Z"}}}`, "status.deadline.startedAt"),
		Entry("of a call's deadline", call, `{"status": {"deadline": {"timeout": "1s", "source": "Call", "deadlineAt": "2026-01-02T03:04:05Z"}}}`, "status.deadline.deadlineAt"),
		Entry("of an attempt's start", call, `{"status": {"attempts": [{"number": 1, "startTime": "2026-01-02T03:04:05Z"}]}}`, "status.attempts[0].startTime"),
		Entry("of an attempt's end", call, `{"status": {"attempts": [{"number": 1, "finishTime": "2026-01-02T03:04:05Z"}]}}`, "status.attempts[0].finishTime"),
		Entry("of a batch's end", batch, `{"status": {"completionTime": "2026-01-02T03:04:05Z"}}`, "status.completionTime"),
	)

	DescribeTable("refuses a word that is not in the vocabulary", func(ctx SpecContext, obj func() client.Object, patch, field string) {
		Expect(mergePatchStatus(ctx, existing(ctx, obj()), []byte(patch))).To(refusal(field, "supported values"))
	},
		Entry("as the phase of a call", call, `{"status": {"phase": "Done"}}`, "status.phase"),
		Entry("as the kind of an error", call, `{"status": {"error": {"kind": "Crash", "reason": "x", "message": "x"}}}`, "status.error.kind"),
		Entry("as an effect", call, `{"status": {"effectDisposition": "Some"}}`, "status.effectDisposition"),
		Entry("as the source of a timeout", call, `{"status": {"deadline": {"timeout": "1s", "source": "Moon"}}}`, "status.deadline.source"),
		Entry("as the phase of a batch", batch, `{"status": {"phase": "TimedOut"}}`, "status.phase"),
	)

	It("takes times with six decimals", func(ctx SpecContext) {
		obj := existing(ctx, fullCall())
		Expect(mergePatchStatus(ctx, obj, startTime("2026-01-02T03:04:05.678901Z"))).To(Succeed())
		Expect(api.Get(ctx, client.ObjectKeyFromObject(obj), &v1alpha1.ToolCall{})).To(Succeed())
	})

	It("is Pending from the first moment on", func(ctx SpecContext) {
		for _, obj := range []client.Object{existing(ctx, fullCall()), existing(ctx, fullBatch())} {
			read := &unstructured.Unstructured{}
			read.SetGroupVersionKind(obj.GetObjectKind().GroupVersionKind())
			Expect(api.Get(ctx, client.ObjectKeyFromObject(obj), read)).To(Succeed())
			Expect(read.Object["status"]).To(HaveKeyWithValue("phase", "Pending"))
		}
	})

	It("can't be set with the object", func(ctx SpecContext) {
		obj := existing(ctx, fullCall(), set("/status", map[string]any{"phase": "Succeeded"}))
		read := &v1alpha1.ToolCall{}
		Expect(api.Get(ctx, client.ObjectKeyFromObject(obj), read)).To(Succeed())
		Expect(read.Status.Phase).To(Equal(v1alpha1.ToolCallPending))
	})
})
