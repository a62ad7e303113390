// Command demo runs a batch of four tool calls on a cluster that has the
// operator, shows their progress, and ends with their typed results.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/toolcall-dev/toolcall-operator/hack/internal/cluster"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	name := cluster.Local
	flags := flag.NewFlagSet("demo", flag.ExitOnError)
	flags.Var(&name, "cluster", "`which` cluster: local, kind or current")
	sample := flags.String("batch", "config/samples/toolbatch_demo.yaml", "`file` with the ToolBatch")
	image := flags.String("tool-image", "", "`image` to run in place of the ones in the file")
	timeout := flags.Duration("timeout", 2*time.Minute, "give up after this long")
	_ = flags.Parse(args) // exits on an error

	root, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the checkout: %w", err)
	}
	access, err := cluster.Open(name, root)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, *timeout, fmt.Errorf("the batch did not end within %s", *timeout))
	defer cancel()
	d, err := connect(access)
	if err != nil {
		return err
	}
	return explain(ctx, d.play(ctx, *sample, *image))
}

// explain puts the reason of an ended context in place of its bare error.
func explain(ctx context.Context, err error) error {
	if err != nil && errors.Is(err, ctx.Err()) {
		return context.Cause(ctx)
	}
	return err
}

// play runs the batch from a clean start to the report.
func (d *demo) play(ctx context.Context, sample, image string) error {
	batch, err := load(sample, image)
	if err != nil {
		return err
	}
	if err := d.checkOperator(ctx); err != nil {
		return err
	}
	if err := d.create(ctx, batch); err != nil {
		return err
	}
	fmt.Printf("\nRunning %d tool calls of an agent, one after the other (%s):\n\n", len(batch.Spec.Calls), sample)
	if err := d.follow(ctx, batch); err != nil {
		return err
	}
	return d.report(ctx, batch)
}
