// Command localcluster runs a real one-node Kubernetes cluster on this machine,
// built from source: no container engine, no image registry, no downloaded
// binaries. It is for development and end-to-end tests, never for production.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/toolcall-dev/toolcall-operator/hack/localcluster/internal/cluster"
	"github.com/toolcall-dev/toolcall-operator/hack/localcluster/internal/layout"
	"github.com/toolcall-dev/toolcall-operator/hack/localcluster/internal/progress"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case err == nil:
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "localcluster: interrupted; the same command goes on from here")
		os.Exit(130)
	default:
		fmt.Fprintf(os.Stderr, "localcluster: %v\n", err)
		os.Exit(1)
	}
}

// invocation is one command being run.
type invocation struct {
	launcher cluster.Launcher
	args     []string // after the flags
	out      io.Writer
}

// command is one subcommand. setup may declare flags before they are parsed,
// and returns what to run after.
type command struct {
	name, arguments, help string
	setup                 func(flags *flag.FlagSet) func(context.Context, invocation) error
}

func run(ctx context.Context, args []string, out, messages io.Writer) error {
	if len(args) == 0 || args[0] == "help" || args[0] == "-h" || args[0] == "--help" {
		usage(messages)
		return flag.ErrHelp
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.run(ctx, args[1:], out, messages)
		}
	}
	usage(messages)
	return fmt.Errorf("there is no command %q", args[0])
}

func (c command) run(ctx context.Context, args []string, out, messages io.Writer) error {
	flags := flag.NewFlagSet("localcluster "+c.name, flag.ContinueOnError)
	flags.SetOutput(messages)
	state := flags.String("state", "", "state `directory` (default .cluster at the top of the checkout)")
	body := c.setup(flags)
	flags.Usage = func() {
		fmt.Fprintf(messages, "Usage: localcluster %s [flags] %s\n\n%s.\n\n", c.name, c.arguments, c.help)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return flag.ErrHelp // the flag package has said what is wrong
	}
	place, err := layout.New(*state)
	if err != nil {
		return err
	}
	launcher := cluster.Launcher{Layout: place, Console: newConsole(messages)}
	return body(ctx, invocation{launcher: launcher, args: flags.Args(), out: out})
}

func newConsole(out io.Writer) *progress.Console {
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		width, _, _ := term.GetSize(int(f.Fd())) // 0 if unknown: lines aren't cut
		return progress.New(out, true, width, time.Now)
	}
	return progress.New(out, false, 0, time.Now)
}

func usage(out io.Writer) {
	fmt.Fprint(out, "Runs a real one-node Kubernetes cluster on this machine, built from source.\n\nUsage: localcluster COMMAND [--state DIR] [flags] [arguments]\n\n")
	for _, c := range commands() {
		fmt.Fprintf(out, "  %-32s %s\n", c.name+" "+c.arguments, c.help)
	}
}
