//go:build e2e

package e2e

import (
	"encoding/base64"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
)

// maxOutput is the most that the encoded output of a call may take.
const maxOutput = 64 << 10

var _ = Describe("The output of a tool", func() {
	DescribeTable("is kept to the last byte, and cut only above its limit (B107, B112)",
		func(ctx SpecContext, size, kept int) {
			s := newSpace(ctx)
			c := s.finished(ctx, s.run(ctx, call(shell(letters(size))).timeout("1m")))

			Expect(c).To(And(haveSucceeded(), haveOutput(strings.Repeat("a", kept))))
			Expect(c.Status.Result).To(HaveValue(And(
				HaveField("Bytes", BeEquivalentTo(kept)),
				HaveField("Truncated", size > kept),
				HaveField("Source", v1alpha1.OutputLogs),
			)))
		},
		Entry("below what a termination message holds", 4095, 4095),
		Entry("as much as a termination message holds", 4096, 4096),
		Entry("above what a termination message holds", 4097, 4097),
		Entry("at the limit", maxOutput, maxOutput),
		Entry("300 KiB", 300<<10, maxOutput),
		Entry("above 1 MiB", 1<<20+1, maxOutput),
	)

	DescribeTable("is the termination message if there is one (B107)",
		func(ctx SpecContext, size, kept int, truncated bool) {
			s := newSpace(ctx)
			c := s.finished(ctx, s.run(ctx, call(shell("echo ignored; "+letters(size)+" > /dev/termination-log")).timeout("1m")))

			Expect(c).To(And(haveSucceeded(), haveOutput(strings.Repeat("a", kept))))
			Expect(c.Status.Result).To(HaveValue(And(
				HaveField("Truncated", truncated),
				HaveField("Source", v1alpha1.OutputTerminationMessage),
			)))
		},
		Entry("below the kubelet's limit", 4095, 4095, false),
		Entry("at the kubelet's limit, which nobody can tell from above it", 4096, 4096, true),
		Entry("above the kubelet's limit", 4097, 4096, true),
	)

	It("of any length fits the object (B105)", func(ctx SpecContext) {
		s := newSpace(ctx)
		log := s.run(ctx, call(shell(letters(50<<20))).named("log").timeout("2m"))
		message := s.run(ctx, call(shell(letters(5<<20)+" > /dev/termination-log")).named("message").timeout("2m"))

		for _, c := range []*v1alpha1.ToolCall{s.finished(ctx, log), s.finished(ctx, message)} {
			Expect(c).To(haveSucceeded())
			Expect(c.Status.Result.Truncated).To(BeTrue())
			Expect(len(s.kubectl(ctx, "get", "toolcall", c.Name, "--output", "json"))).To(BeNumerically("<", 1<<20))
		}
	})

	DescribeTable("that is not text is Base64 (B109)",
		func(ctx SpecContext, script string, wanted []byte) {
			s := newSpace(ctx)
			c := s.finished(ctx, s.run(ctx, call(shell(script)).timeout("1m")))

			Expect(c).To(haveSucceeded())
			Expect(c.Status.Result.Encoding).To(Equal(v1alpha1.EncodingBase64))
			Expect(base64.StdEncoding.DecodeString(c.Status.Result.Output)).To(Equal(wanted))
			Expect(c.Status.Result.Truncated).To(BeFalse())
		},
		Entry("bytes", `printf '\377\376\000\200'`, []byte("\xff\xfe\x00\x80")),
		Entry("half of a surrogate pair", `printf '\355\240\200'`, []byte("\xed\xa0\x80")),
	)

	It("that is long and not text is cut like any other (B109)", func(ctx SpecContext) {
		s := newSpace(ctx)
		c := s.finished(ctx, s.run(ctx, call(shell("head -c 1048576 /dev/urandom")).timeout("1m")))

		Expect(c).To(haveSucceeded())
		Expect(c.Status.Result).To(HaveValue(And(
			HaveField("Encoding", v1alpha1.EncodingBase64),
			HaveField("Truncated", true),
			HaveField("Output", HaveLen(maxOutput)),
		)))
	})

	DescribeTable("that is odd text stays as it is (B109)",
		func(ctx SpecContext, script string, wanted any) {
			s := newSpace(ctx)
			Expect(s.finished(ctx, s.run(ctx, call(shell(script)).timeout("1m")))).To(And(haveSucceeded(), haveOutput(wanted)))
		},
		Entry("colours", `printf '\033[31mred\033[0m\n'`, "\x1b[31mred\x1b[0m\n"),
		Entry("a progress bar", `printf '10%%\r20%%\r30%%'`, "10%\r20%\r30%"),
		Entry("line ends of Windows, of which a log of containerd keeps half", `printf 'one\r\ntwo\r\n'`, Or(Equal("one\r\ntwo\r\n"), Equal("one\ntwo\n"))),
		Entry("line ends of Windows in a termination message", `printf 'one\r\n' > /dev/termination-log`, "one\r\n"),
		Entry("bytes in a termination message, which the kubelet replaces", `printf 'a\377\376b' > /dev/termination-log`, MatchRegexp("^a\ufffd+b$")),
		Entry("other scripts", `printf 'größe 大小 \360\237\230\200'`, "größe 大小 😀"),
		Entry("both streams", `echo out; echo err >&2`, Or(Equal("out\nerr\n"), Equal("err\nout\n"))),
	)

	DescribeTable("may be empty, which is not the same as unknown (B114)",
		func(ctx SpecContext, t tool, wanted string) {
			s := newSpace(ctx)
			c := s.finished(ctx, s.run(ctx, call(t).timeout("1m")))

			Expect(c).To(And(haveSucceeded(), haveOutput(wanted)))
			Expect(c.Status.Result).To(HaveValue(And(
				HaveField("Source", v1alpha1.OutputLogs),
				HaveField("Bytes", BeEquivalentTo(len(wanted))),
				HaveField("Truncated", false),
			)))
			Expect(s.kubectl(ctx, "get", "toolcall", c.Name, "--output", "jsonpath={.status.result}")).To(ContainSubstring(`"output":`))
		},
		Entry("true", command("true"), ""),
		Entry("an empty string", shell(`printf ''`), ""),
		Entry("a line break", shell(`printf '\n'`), "\n"),
		Entry("0", shell(`printf 0`), "0"),
		Entry("null", shell(`printf null`), "null"),
	)

	It("that came before the deadline outlives the pod (B116)", func(ctx SpecContext) {
		s := newSpace(ctx)
		partial := shell(`trap "" TERM; echo partial result; while :; do sleep 1; done`).withGrace(1)
		c := s.released(ctx, s.run(ctx, call(partial).timeout("2s")))

		Expect(c).To(And(haveTimedOut(), haveOutput("partial result\n")))
		Eventually(ctx, s.pods.goneAt).WithArguments(s.podOf(ctx, c).UID).ShouldNot(BeZero())
		Eventually(ctx, func() bool { return s.jobs.goneAt(ofCall(s.jobs, c)[0].UID).IsZero() }).Should(BeFalse(), "the Job should go, too")
		Expect(s.finished(ctx, c)).To(haveOutput("partial result\n"))
	})
})

// letters is a script that prints n letters, and nothing else.
func letters(n int) string {
	return fmt.Sprintf("head -c %d /dev/zero | tr '\\0' a", n)
}
