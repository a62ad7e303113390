//go:build e2e

package e2e

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("A tool that reads its standard input", func() {
	DescribeTable("finds it empty and does not wait for more (B164)",
		func(ctx SpecContext, t tool, output string) {
			s := newSpace(ctx)
			c := s.finished(ctx, s.run(ctx, call(t).timeout("1m")))
			Expect(c).To(And(haveSucceeded(), haveOutput(output)))
		},
		Entry("cat", command("cat"), ""),
		Entry("read", shell("read x; echo got:$x"), "got:\n"),
	)
})
