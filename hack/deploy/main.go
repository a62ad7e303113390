// Command deploy puts the operator that was just built into a cluster, waits
// until it serves, and takes it out again.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/toolcall-dev/toolcall-operator/hack/internal/cluster"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "deploy:", err)
		os.Exit(1)
	}
}

// settings come from make.
type settings struct {
	root         string // the top of the checkout, with bin/manager in it
	cluster      cluster.Name
	image        string
	localcluster string
	engine       string
	kindName     string
}

func run(ctx context.Context, args []string) error {
	root, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the checkout: %w", err)
	}
	s := settings{root: root, cluster: cluster.Local}
	flags := flag.NewFlagSet("deploy", flag.ExitOnError)
	flags.Usage = func() {
		fmt.Fprintln(os.Stderr, "Usage: deploy [flags] up|down|purge\n\nup deploys the operator, down removes it, purge removes the demo, too, and a\ncluster that was made for it.")
		flags.PrintDefaults()
	}
	flags.Var(&s.cluster, "cluster", "`which` cluster: local, kind or current")
	flags.StringVar(&s.image, "image", "", "the operator's `image`")
	flags.StringVar(&s.localcluster, "localcluster", "bin/localcluster", "the `program` that runs the local cluster")
	flags.StringVar(&s.engine, "engine", "docker", "the container `program` that kind uses")
	flags.StringVar(&s.kindName, "kind-cluster", "toolcall", "the `name` of the kind cluster")
	_ = flags.Parse(args) // exits on an error
	switch command := flags.Arg(0); command {
	case "up":
		return s.up(ctx)
	case "down":
		return s.down(ctx)
	case "purge":
		return s.purge(ctx)
	default:
		flags.Usage()
		return fmt.Errorf("there is no command %q", command)
	}
}
