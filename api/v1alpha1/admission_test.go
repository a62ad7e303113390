//go:build apiserver

package v1alpha1_test

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/testkit"
)

// durationFields are all fields that take a duration, with an object to set each in.
var durationFields = []struct {
	path, name string
	obj        client.Object
}{
	{"/spec/timeout", "spec.timeout", someCall()},
	{"/spec/inherited", "spec.inherited.callTimeout", someCall()},
	{"/spec/callTimeout", "spec.callTimeout", someBatch()},
	{"/spec/calls/1/timeout", "spec.calls[1].timeout", someBatch()},
}

func someCall() *v1alpha1.ToolCall { return testkit.MakeCall("", "call").Obj() }

func someBatch() *v1alpha1.ToolBatch {
	return testkit.MakeBatch("", "batch").
		Call("first", "", testkit.MakeTemplate()).
		Call("", "", testkit.MakeTemplate()).
		Obj()
}

// created is the API server's answer to an object with some edits.
func created(ctx context.Context, obj client.Object, edits ...edit) error {
	manifest := edited(obj, edits...)
	manifest.SetNamespace(newNamespace(ctx))
	return api.Create(ctx, manifest, client.FieldValidation("Strict"))
}

// refusal is an answer that names the field and what is allowed there.
func refusal(parts ...string) types.GomegaMatcher {
	all := make([]types.GomegaMatcher, len(parts))
	for i, part := range parts {
		all[i] = MatchError(ContainSubstring(part))
	}
	return And(all...)
}

var _ = Describe("Admission of durations", func() {
	const format = "([0-9]{1,5}(h|m|s|ms)){1,4}"

	for _, field := range durationFields {
		value := func(v any) edit {
			if strings.HasSuffix(field.path, "inherited") {
				v = map[string]any{"callTimeout": v}
			}
			return set(field.path, v)
		}
		DescribeTable(field.name+" refuses", func(ctx SpecContext, v any, allowed string) {
			Expect(created(ctx, field.obj, value(v))).To(refusal(field.name, allowed))
		},
			Entry("B017 a fraction", "1.5s", format),
			Entry("B017 leading spaces", "  5s", format),
			Entry("B017 a bare number", "5", format),
			Entry("B017 days", "1d", format),
			Entry("B017 an inner minus", "1h-1s", format),
			Entry("B016, C25 a negative number", -5, "string"),
			Entry("B016, C25 a negative duration", "-5s", format),
			Entry("C26 more than five digits", "100000h", format),
			Entry("more than four terms", "1h1m1s1ms1ms", format),
			Entry("C29 a boolean", true, "string"),
			Entry("C29 a number", 5, "string"),
			Entry("C29 NaN", "NaN", format),
			Entry("an empty string", "", format),
			Entry("capitals", "5S", format),
			Entry("a line break at the end", "5s\n", format),
		)
		DescribeTable(field.name+" takes", func(ctx SpecContext, v string) {
			Expect(created(ctx, field.obj, value(v))).To(Succeed())
		},
			Entry("B016, B017 no limit", "0s"),
			Entry("B017 a millisecond", "1ms"),
			Entry("B017, C30 milliseconds", "400ms"),
			Entry("B017 almost a second", "999ms"),
			Entry("B017 a second", "1s"),
			Entry("all units", "1h2m3s4ms"),
			Entry("C26 the longest", "99999h"),
		)
	}
})

var _ = Describe("Admission of templates", func() {
	// The template is checked the same way in both kinds.
	for _, in := range []struct {
		kind, path, name string
		obj              client.Object
	}{
		{"ToolCall", "/spec/template", "spec.template", someCall()},
		{"ToolBatch", "/spec/calls/1/template", "spec.calls[1].template", someBatch()},
	} {
		DescribeTable(in.kind+" refuses", func(ctx SpecContext, change edit, field, allowed string) {
			change.Path = in.path + change.Path
			Expect(created(ctx, in.obj, change)).To(refusal(in.name+field, allowed))
		},
			Entry("no template", remove(""), "", "Required"),
			Entry("an empty template", set("", map[string]any{}), "", "spec is required: a pod spec with at least one container"),
			Entry("a pod without a list of containers", set("/spec", map[string]any{}), ".spec.containers", "Required"),
			Entry("no containers", set("/spec/containers", []any{}), "", "spec.containers must name at least one container"),
			Entry("a container without a name", remove("/spec/containers/0/name"), ".spec.containers[0].name", "Required"),
			Entry("restartPolicy Always", set("/spec/restartPolicy", "Always"), "", "spec.restartPolicy must be Never or unset"),
			Entry("restartPolicy OnFailure", set("/spec/restartPolicy", "OnFailure"), "", "spec.restartPolicy must be Never or unset"),
			Entry("a deadline of its own", set("/spec/activeDeadlineSeconds", 5), "", "spec.activeDeadlineSeconds must not be set: use the call's timeout"),
			Entry("a field that does not exist", set("/spec/containers/0/imag", "x"), ".spec.containers[0].imag", "unknown field"),
		)
		It(in.kind+" takes restartPolicy Never", func(ctx SpecContext) {
			Expect(created(ctx, in.obj, set(in.path+"/spec/restartPolicy", "Never"))).To(Succeed())
		})
		It(in.kind+" keeps labels and annotations of the template", func(ctx SpecContext) {
			manifest := edited(in.obj, set(in.path+"/metadata", map[string]any{
				"labels":      map[string]any{"kueue.x-k8s.io/queue-name": "tools"},
				"annotations": map[string]any{"example.com/a": "b"},
			}))
			manifest.SetNamespace(newNamespace(ctx))
			Expect(api.Create(ctx, manifest)).To(Succeed())
			Expect(manifest.Object).To(HaveKey("spec"))
			text := fmt.Sprint(manifest.Object["spec"])
			Expect(text).To(And(ContainSubstring("kueue.x-k8s.io/queue-name:tools"), ContainSubstring("example.com/a:b")))
		})
	}
})

var _ = Describe("Admission of ToolCalls", func() {
	DescribeTable("refuses", func(ctx SpecContext, change edit, parts ...string) {
		Expect(created(ctx, someCall(), change)).To(refusal(parts...))
	},
		Entry("no spec", remove("/spec"), "spec", "Required"),
		Entry("a negative time to live", set("/spec/ttlSecondsAfterFinished", -1), "spec.ttlSecondsAfterFinished", "greater than or equal to 0"),
		Entry("a field that does not exist", set("/spec/deadline", "5s"), "spec.deadline", "unknown field"),
		Entry("B118 a name that no object may have", set("/metadata/name", "a.-b"), "metadata.name", "lowercase RFC 1123 subdomain"),
		Entry("B117 a name of 254 characters", set("/metadata/name", strings.Repeat("a", 254)), "metadata.name", "no more than 253"),
	)

	DescribeTable("takes", func(ctx SpecContext, changes ...edit) {
		Expect(created(ctx, someCall(), changes...)).To(Succeed())
	},
		Entry("the least"),
		Entry("no time to live at all", set("/spec/ttlSecondsAfterFinished", 0)),
		Entry("B117 a name of 253 characters", set("/metadata/name", strings.Repeat("a", 253))),
		Entry("B118 a name with dots", set("/metadata/name", "a.b.c")),
	)

	It("warns of unknown fields where they are not refused", func(ctx SpecContext) {
		manifest := edited(someCall(), set("/spec/deadline", "5s"))
		manifest.SetNamespace(newNamespace(ctx))
		Expect(api.Create(ctx, manifest, client.FieldValidation("Warn"))).To(Succeed())
		Expect(manifest.Object["spec"]).NotTo(HaveKey("deadline"))
	})
})

var _ = Describe("Admission of ToolBatches", func() {
	const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"

	DescribeTable("refuses", func(ctx SpecContext, change edit, parts ...string) {
		Expect(created(ctx, someBatch(), change)).To(refusal(parts...))
	},
		Entry("no spec", remove("/spec"), "spec", "Required"),
		Entry("C65 no list of calls", remove("/spec/calls"), "spec.calls", "Required"),
		Entry("C65 no calls", set("/spec/calls", []any{}), "spec.calls", "at least 1 item"),
		Entry("an unknown mode", set("/spec/mode", "Parallel"), "spec.mode", `"Sequential", "Concurrent"`),
		Entry("maxParallel 0", set("/spec/maxParallel", 0), "spec.maxParallel", "greater than or equal to 1"),
		Entry("a negative maxParallel", set("/spec/maxParallel", -1), "spec.maxParallel", "greater than or equal to 1"),
		Entry("maxParallel 1001", set("/spec/maxParallel", 1001), "spec.maxParallel", "less than or equal to 1000"),
		Entry("a field that does not exist", set("/spec/timeout", "5s"), "spec.timeout", "unknown field"),
		Entry("a field of a call that does not exist", set("/spec/calls/0/toolRef", "x"), "spec.calls[0].toolRef", "unknown field"),
		Entry("B125 a name twice", set("/spec/calls/1/name", "first"), "spec.calls[].name must be unique in the batch"),
		Entry("a name that is a number", set("/spec/calls/0/name", "1"), "spec.calls[0]", "name must not be a plain number"),
		Entry("B122 a letter that is not ASCII", set("/spec/calls/0/name", "campaña"), "spec.calls[0].name", label),
		Entry("B122 capitals", set("/spec/calls/0/name", "MyTool"), "spec.calls[0].name", label),
		Entry("B122 an underscore", set("/spec/calls/0/name", "a_b"), "spec.calls[0].name", label),
		Entry("B122, B125 an empty name", set("/spec/calls/0/name", ""), "spec.calls[0].name", label),
		Entry("B122 a space", set("/spec/calls/0/name", " "), "spec.calls[0].name", label),
		Entry("B122 300 characters", set("/spec/calls/0/name", strings.Repeat("a", 300)), "spec.calls[0].name", "63"),
		Entry("B122 a path", set("/spec/calls/0/name", "../x"), "spec.calls[0].name", label),
		Entry("a dot in a name", set("/spec/calls/0/name", "a.b"), "spec.calls[0].name", label),
		Entry("a hyphen at the end of a name", set("/spec/calls/0/name", "a-"), "spec.calls[0].name", label),
	)

	DescribeTable("takes", func(ctx SpecContext, changes ...edit) {
		Expect(created(ctx, someBatch(), changes...)).To(Succeed())
	},
		Entry("the least"),
		Entry("a name of 63 characters", set("/spec/calls/0/name", strings.Repeat("a", 63))),
		Entry("a name that begins with a digit", set("/spec/calls/0/name", "1abc")),
		Entry("the largest maxParallel", set("/spec/maxParallel", 1000)),
	)

	It("makes a batch sequential, with five calls at a time, where it does not say otherwise", func(ctx SpecContext) {
		manifest := edited(someBatch(), remove("/spec/mode"))
		manifest.SetNamespace(newNamespace(ctx))
		Expect(api.Create(ctx, manifest)).To(Succeed())
		Expect(manifest.Object["spec"]).To(And(HaveKeyWithValue("mode", "Sequential"), HaveKeyWithValue("maxParallel", BeEquivalentTo(5))))
	})

	It("takes 1000 named calls with labels and variables", func(ctx SpecContext) {
		Expect(created(ctx, named(1000))).To(Succeed())
	})

	It("refuses 1001 calls", func(ctx SpecContext) {
		Expect(created(ctx, named(1001))).To(refusal("spec.calls", "at most 1000 items"))
	})

	It("B125 refuses a name twice among 1000 calls", func(ctx SpecContext) {
		Expect(created(ctx, named(1000), set("/spec/calls/999/name", "call-0"))).To(refusal("spec.calls[].name must be unique in the batch"))
	})

	It("B128 refuses a batch that etcd can't hold", func(ctx SpecContext) {
		huge := testkit.MakeBatch("", "huge").Call("", "", testkit.MakeTemplate().Args(strings.Repeat("x", 2<<20))).Obj()
		Expect(created(ctx, huge)).To(MatchError(Or(ContainSubstring("too large"), ContainSubstring("larger than max"))))
	})
})

// named is a batch of n named calls.
func named(n int) *v1alpha1.ToolBatch {
	batch := testkit.MakeBatch("", "batch").Concurrent(10).CallTimeout("30s")
	for i := range n {
		batch.Call(fmt.Sprintf("call-%d", i), "1m", testkit.MakeTemplate().Label("n", fmt.Sprint(i)).Env("N", fmt.Sprint(i)).Args("--query", "weather"))
	}
	return batch.Obj()
}
