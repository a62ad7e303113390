//go:build apiserver

package v1alpha1_test

import (
	"context"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/toolcall-dev/toolcall-operator/internal/testkit"
)

func call() client.Object { return fullCall() }

func batch() client.Object { return fullBatch() }

func mergePatchStatus(ctx context.Context, obj client.Object, patch []byte) error {
	return api.Status().Patch(ctx, obj, client.RawPatch(types.MergePatchType, patch))
}

// A status as the operator leaves it.
const (
	timedOut = `{"status": {"phase": "TimedOut", "error": {"kind": "Timeout", "reason": "DeadlineExceeded", "message": "search timed out after 5s"},
		"effectDisposition": "Unknown", "duration": "5s12ms", "deadline": {"timeout": "5s", "source": "Call"},
		"attempts": [{"number": 1, "nodeName": "node-1"}], "conditions": [
		{"type": "Failed", "status": "True", "reason": "DeadlineExceeded", "message": "", "lastTransitionTime": "2026-01-02T03:04:05Z"},
		{"type": "Finished", "status": "True", "reason": "DeadlineExceeded", "message": "", "lastTransitionTime": "2026-01-02T03:04:05Z"}]}}`
	completed = `{"status": {"phase": "Succeeded", "progress": "2/2", "duration": "7s",
		"counts": {"total": 2, "pending": 0, "active": 0, "succeeded": 1, "failed": 1, "timedOut": 0}, "conditions": [
		{"type": "Complete", "status": "True", "reason": "AllCallsFinished", "message": "", "lastTransitionTime": "2026-01-02T03:04:05Z"},
		{"type": "Finished", "status": "True", "reason": "AllCallsFinished", "message": "", "lastTransitionTime": "2026-01-02T03:04:05Z"}]}}`
)

// table is what kubectl printed, as the cells of a header and of one object.
func table(out string) (header, row []string) {
	GinkgoHelper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	Expect(lines).To(HaveLen(2), out)
	return strings.Fields(lines[0]), strings.Fields(lines[1])
}

var _ = Describe("kubectl", func() {
	finished := func(ctx context.Context) string {
		GinkgoHelper()
		ns := newNamespace(ctx)
		for _, obj := range []struct {
			client.Object
			status string
		}{{fullCall(), timedOut}, {fullBatch(), completed}} {
			manifest := edited(obj.Object)
			manifest.SetNamespace(ns)
			Expect(api.Create(ctx, manifest)).To(Succeed())
			Expect(mergePatchStatus(ctx, manifest, []byte(obj.status))).To(Succeed())
		}
		return ns
	}

	It("get tc shows how calls ended", func(ctx SpecContext) {
		header, row := table(run(ctx, finished(ctx), "", "get", "tc"))
		Expect(header).To(Equal(strings.Fields("NAME TOOL PHASE REASON TIMEOUT DURATION AGE")))
		Expect(row[:6]).To(Equal(strings.Fields("call search TimedOut DeadlineExceeded 5s 5s12ms")))
	})

	It("get tc -o wide adds attempt, node, effect and source", func(ctx SpecContext) {
		header, row := table(run(ctx, finished(ctx), "", "get", "tc", "-o", "wide"))
		Expect(header[7:]).To(Equal(strings.Fields("ATTEMPT NODE EFFECT SOURCE")))
		Expect(row[7:]).To(Equal(strings.Fields("1 node-1 Unknown Call")))
	})

	It("get tb shows how far batches are", func(ctx SpecContext) {
		header, row := table(run(ctx, finished(ctx), "", "get", "tb"))
		Expect(header).To(Equal(strings.Fields("NAME MODE PHASE DONE FAILED ACTIVE AGE")))
		Expect(row[:6]).To(Equal(strings.Fields("batch Concurrent Succeeded 2/2 1 0")))
	})

	It("get tb -o wide adds timeouts and the duration", func(ctx SpecContext) {
		header, row := table(run(ctx, finished(ctx), "", "get", "tb", "-o", "wide"))
		Expect(header[7:]).To(Equal(strings.Fields("TIMEDOUT DURATION")))
		Expect(row[7:]).To(Equal(strings.Fields("0 7s")))
	})

	// kubectl looks a word up among the categories before it looks at the kinds.
	DescribeTable("takes every name of a kind for that kind alone", func(ctx SpecContext, name, want string) {
		Expect(run(ctx, finished(ctx), "", "get", name, "-o", "name")).To(Equal(want + "\n"))
	},
		Entry("tc", "tc", "toolcall.toolcall.dev/call"),
		Entry("toolcall", "toolcall", "toolcall.toolcall.dev/call"),
		Entry("toolcalls", "toolcalls", "toolcall.toolcall.dev/call"),
		Entry("tb", "tb", "toolbatch.toolcall.dev/batch"),
		Entry("toolbatch", "toolbatch", "toolbatch.toolcall.dev/batch"),
		Entry("toolbatches", "toolbatches", "toolbatch.toolcall.dev/batch"),
	)

	It("finds one call by its kind and name", func(ctx SpecContext) {
		Expect(run(ctx, finished(ctx), "", "get", "toolcall", "call", "-o", "name")).To(Equal("toolcall.toolcall.dev/call\n"))
	})

	It("deletes a call and not the batch of the same name", func(ctx SpecContext) {
		ns := newNamespace(ctx)
		for _, obj := range []client.Object{testkit.MakeCall(ns, "same").Obj(), testkit.MakeBatch(ns, "same").Calls(1, testkit.MakeTemplate()).Obj()} {
			Expect(api.Create(ctx, obj)).To(Succeed())
		}
		run(ctx, ns, "", "delete", "toolcall", "same")
		Expect(run(ctx, ns, "", "get", "tc,tb", "-o", "name")).To(Equal("toolbatch.toolcall.dev/same\n"))
	})

	DescribeTable("waits for", func(ctx SpecContext, obj func() client.Object, target, condition, status string) {
		manifest := existing(ctx, obj())
		out := make(chan string, 1)
		go func() {
			defer GinkgoRecover()
			defer close(out)
			out <- run(ctx, manifest.GetNamespace(), "", "wait", "--for=condition="+condition, "--timeout=20s", target)
		}()
		Consistently(out, "300ms").ShouldNot(Receive())
		Expect(mergePatchStatus(ctx, manifest, []byte(status))).To(Succeed())
		Eventually(out).Should(Receive(ContainSubstring("condition met")))
	},
		Entry("a call's failure", call, "toolcall/call", "Failed", timedOut),
		Entry("a call's end", call, "toolcall/call", "Finished", timedOut),
		Entry("a batch's completion", batch, "toolbatch/batch", "Complete", completed),
		Entry("a batch's end", batch, "tb/batch", "Finished", completed),
	)

	It("refuses fields that do not exist, and names them", func(ctx SpecContext) {
		_, err := kubectl.Run(ctx, `{"apiVersion": "toolcall.dev/v1alpha1", "kind": "ToolCall", "metadata": {"name": "a"},
			"spec": {"timeuot": "5s", "template": {"spec": {"containers": [{"name": "a", "image": "b"}]}}}}`,
			"--namespace", newNamespace(ctx), "apply", "-f", "-")
		Expect(err).To(refusal(`unknown field "spec.timeuot"`))
	})

	It("applies the CRDs on the server's side, as often as one likes", func(ctx SpecContext) {
		for range 2 {
			out := run(ctx, "default", "", "apply", "--server-side", "--force-conflicts", "--kustomize", manifestDir("crd"))
			Expect(strings.Count(out, "serverside-applied")).To(Equal(2), out)
		}
	})

	It("applies every sample", func(ctx SpecContext) {
		out := run(ctx, newNamespace(ctx), "", "apply", "--validate=strict", "--kustomize", manifestDir("samples"))
		files, err := filepath.Glob(filepath.Join(manifestDir("samples"), "tool*.yaml"))
		Expect(err).NotTo(HaveOccurred())
		Expect(files).NotTo(BeEmpty())
		Expect(strings.Count(out, "created")).To(Equal(len(files)), out)
	})
})

// manifestDir is a directory below config.
func manifestDir(name string) string {
	GinkgoHelper()
	root, err := testkit.ModuleRoot()
	Expect(err).NotTo(HaveOccurred())
	return filepath.Join(root, "config", name)
}
