package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// build makes bin/manager as `make build` does, and says how far it is: the
// first time takes minutes.
func build(ctx context.Context) error {
	return longStep("Building the operator", func(report func(string)) error {
		cmd := exec.CommandContext(ctx, "make", "build")
		// With -v the go command names each package that it compiles.
		cmd.Env = append(os.Environ(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -v"))
		said, err := cmd.StderrPipe()
		if err != nil {
			return fmt.Errorf("read the compiler's messages: %w", err)
		}
		if err := cmd.Start(); err != nil {
			return fmt.Errorf("start the build: %w", err)
		}
		complaints := watchBuild(bufio.NewScanner(said), report)
		if err := cmd.Wait(); err != nil {
			return errors.Join(fmt.Errorf("make build: %w", err), errors.New(complaints))
		}
		return nil
	})
}

// watchBuild reports compiled packages and returns the other lines.
func watchBuild(lines *bufio.Scanner, report func(string)) string {
	var complaints strings.Builder
	compiled := 0
	for lines.Scan() {
		switch line := lines.Text(); {
		case strings.HasPrefix(line, "go: downloading "):
			report(strings.TrimPrefix(line, "go: "))
		case isPackage(line):
			compiled++
			report(fmt.Sprintf("%d packages compiled", compiled))
		default:
			fmt.Fprintln(&complaints, line)
		}
	}
	return complaints.String()
}

// isPackage tells the name of a package from a complaint.
func isPackage(line string) bool {
	return line != "" && !strings.ContainsAny(line, " :#\t")
}
