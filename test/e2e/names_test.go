//go:build e2e

package e2e

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("A name", func() {
	DescribeTable("that the API takes is good enough to run (B117, B118)",
		func(ctx SpecContext, name string) {
			s := newSpace(ctx)
			c := s.finished(ctx, s.run(ctx, call(shell("echo done")).named("%s", name)))
			Expect(c).To(And(haveSucceeded(), haveOutput("done\n")))

			b := s.finishedBatch(ctx, s.runBatch(ctx, sequential(member(strings.Repeat("m", 63), shell("echo done"))).named("%s", name)))
			Expect(s.members(ctx, b)).To(HaveEach(haveSucceeded()))
		},
		Entry("of 63 characters", strings.Repeat("x", 63)),
		Entry("of 253 characters", strings.Repeat("long.", 50)+"end"),
		Entry("with dots", "a.b.c"),
		Entry("with a digit first", "1abc"),
		Entry("with two dashes", "x--y"),
	)
})
