package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Run calls kubectl and returns what it printed, trimmed. The error holds its
// complaint.
func (a Access) Run(ctx context.Context, args ...string) (string, error) {
	return Output(a.command(ctx, args...))
}

func (a Access) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, a.Kubectl, args...)
	if a.Kubeconfig != "" {
		cmd.Env = append(os.Environ(), "KUBECONFIG="+a.Kubeconfig)
	}
	return cmd
}

// Output runs a command and returns its standard output, trimmed. The error
// holds what the command said on its standard error.
func Output(cmd *exec.Cmd) (string, error) {
	var out, complaint strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(complaint.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

// Passthrough runs a command that tells the user itself how far it is.
func Passthrough(cmd *exec.Cmd) error {
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	}
	return nil
}
