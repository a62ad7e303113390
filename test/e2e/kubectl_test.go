//go:build e2e

package e2e

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("What kubectl shows", func() {
	It("of a call that timed out", func(ctx SpecContext) {
		s := newSpace(ctx)
		c := s.released(ctx, s.run(ctx, call(hung()).named("stuck").timeout("1s")))

		Expect(s.kubectl(ctx, "wait", "--for=condition=Failed", "toolcall/"+c.Name, "--timeout=30s")).To(ContainSubstring("condition met"))
		Expect(table(s.kubectl(ctx, "get", "tc"))).To(HaveExactElements(
			HaveExactElements("NAME", "TOOL", "PHASE", "REASON", "TIMEOUT", "DURATION", "AGE"),
			HaveExactElements("stuck", "tool", "TimedOut", "DeadlineExceeded", "1s", MatchRegexp(`^1s(\d+ms)?$`), Not(BeEmpty())),
		))
		wide := table(s.kubectl(ctx, "get", "tc", "--output", "wide"))
		Expect(wide[0][7:]).To(HaveExactElements("ATTEMPT", "NODE", "EFFECT", "SOURCE"))
		Expect(wide[1][7:]).To(HaveExactElements("1", s.podOf(ctx, c).Spec.NodeName, "Unknown", "Call"))
		Expect(s.kubectl(ctx, "describe", "toolcall", c.Name)).To(And(
			ContainSubstring("tool timed out after 1s (limit from Call); its effect is unknown"),
			MatchRegexp(`Warning\s+DeadlineExceeded`),
		))
	})

	It("of a call that succeeded", func(ctx SpecContext) {
		s := newSpace(ctx)
		c := s.run(ctx, call(shell("echo done")).named("quick"))

		Expect(s.kubectl(ctx, "wait", "--for=condition=Complete", "tc/"+c.Name, "--timeout=90s")).To(ContainSubstring("condition met"))
		Expect(s.kubectl(ctx, "wait", "--for=condition=Finished", "tc/"+c.Name, "--timeout=30s")).To(ContainSubstring("condition met"))
		Expect(table(s.kubectl(ctx, "get", "toolcalls"))[1]).To(HaveExactElements("quick", "tool", "Succeeded", "7m", Not(BeEmpty()), Not(BeEmpty())))
		Expect(s.kubectl(ctx, "get", "tc", c.Name, "--output", "jsonpath={.status.result.output}")).To(Equal("done\n"))
	})

	It("of a batch", func(ctx SpecContext) {
		s := newSpace(ctx)
		b := s.runBatch(ctx, concurrent(
			member("good", shell("echo done")), member("bad", shell("exit 1")), member("hung", hung()).timeout("1s"),
		).named("mixed"))

		Expect(s.kubectl(ctx, "wait", "--for=condition=Complete", "tb/"+b.Name, "--timeout=90s")).To(ContainSubstring("condition met"))
		Expect(table(s.kubectl(ctx, "get", "tb"))).To(HaveExactElements(
			HaveExactElements("NAME", "MODE", "PHASE", "DONE", "FAILED", "ACTIVE", "AGE"),
			HaveExactElements("mixed", "Concurrent", "Succeeded", "3/3", "1", "0", Not(BeEmpty())),
		))
		Expect(table(s.kubectl(ctx, "get", "toolcall"))).To(HaveLen(4))
	})

	for _, file := range slices.Sorted(maps.Keys(sampleEnds)) {
		It("of the sample "+file, func(ctx SpecContext) {
			s := newSpace(ctx)
			manifest, err := os.ReadFile(filepath.Join(samples, file))
			Expect(err).NotTo(HaveOccurred())
			Expect(s.apply(ctx, strings.ReplaceAll(string(manifest), "localhost/busybox:dev", toolImage()))).To(ContainSubstring("created"))

			Expect(s.kubectl(ctx, "wait", "--for=condition=Finished", "toolcalls,toolbatches", "--all", "--timeout=2m")).To(ContainSubstring("condition met"))
			Expect(s.kubectl(ctx, "get", "toolcalls,toolbatches")).To(MatchRegexp(sampleEnds[file]))
		})
	}

	It("is tested of every sample", func() {
		files, err := filepath.Glob(filepath.Join(samples, "tool*.yaml"))
		Expect(err).NotTo(HaveOccurred())
		Expect(files).To(HaveLen(len(sampleEnds)))
		for _, file := range files {
			Expect(sampleEnds).To(HaveKey(filepath.Base(file)))
		}
	})
})

// samples are what users copy.
var samples = filepath.Join(checkout, "config", "samples")

// sampleEnds are what `kubectl get` shows once a sample is done.
var sampleEnds = map[string]string{
	"toolcall_simple.yaml":      `simple\s+greeter\s+Succeeded`,
	"toolcall_timeout.yaml":     `timeout\s+stubborn\s+TimedOut\s+DeadlineExceeded\s+3s`,
	"toolbatch_concurrent.yaml": `concurrent\s+Concurrent\s+Succeeded\s+3/3\s+0`,
	"toolbatch_sequential.yaml": `sequential\s+Sequential\s+Succeeded\s+3/3\s+1`,
	"toolbatch_demo.yaml":       `demo\s+Sequential\s+Succeeded\s+4/4\s+1`,
}

// table splits what kubectl prints; empty cells are left out.
func table(text string) [][]string {
	var rows [][]string
	for row := range strings.Lines(text) {
		rows = append(rows, strings.Fields(row))
	}
	return rows
}
